/** The bodies of the desk's requests: fields that the contract does not name are ignored, as it says. */
import {
  type SayWaiting,
  type TakeTask,
  WAITING_LIMIT,
  WAITS,
  type Waiting,
} from '../../../plugin/hooks/protocol/errand.js';
import { isBlank, REPORT_LIMIT, type Report, UNANSWERED } from '../../../plugin/hooks/protocol/mod-answer.js';
import { choiceOf, type Fields, objectOf, optionalTextOf, ShapeError, textOf } from '../shape.js';

/** The body's own limit bounds it. */
const ANY = { max: REPORT_LIMIT };

export function reportOf(value: unknown): Report {
  const body = objectOf(value, 'the body');
  const session_id = sessionOf(body);
  if (body.text === undefined) {
    if (body.unanswered === undefined) throw new ShapeError('text', 'is missing, and so is unanswered');
    return { session_id, unanswered: choiceOf(body, 'unanswered', UNANSWERED) };
  }
  if (body.unanswered !== undefined) throw new ShapeError('unanswered', 'must not stand beside text');
  const text = textOf(body, 'text', ANY);
  if (isBlank(text)) throw new ShapeError('text', 'must not be blank');
  return { session_id, text };
}

export function takeTaskOf(value: unknown): TakeTask {
  const body = objectOf(value, 'the body');
  return {
    session_id: sessionOf(body),
    take: textOf(body, 'take', { max: 128 }),
    claude_session: optionalTextOf(body, 'claude_session', { max: 128 }) ?? '',
  };
}

export function sayWaitingOf(value: unknown): SayWaiting {
  const body = objectOf(value, 'the body');
  return { session_id: sessionOf(body), waiting: waitingOf(body) };
}

function waitingOf(body: Fields): Waiting | null {
  if (body.waiting === null) return null;
  const waiting = objectOf(body.waiting, 'waiting');
  if (typeof waiting.what !== 'string' || waiting.what.length > WAITING_LIMIT) {
    throw new ShapeError('waiting.what', `must be a string of at most ${WAITING_LIMIT} characters`);
  }
  return { for: choiceOf(waiting, 'for', WAITS, 'waiting.'), what: waiting.what };
}

function sessionOf(body: Fields): string {
  return textOf(body, 'session_id', ANY);
}
