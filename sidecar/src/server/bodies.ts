/** The bodies of the local API's requests: read, checked field by field, refused with the field and the rule. */
import { isAbsolute } from 'node:path';
import {
  type CreateJob,
  DELIVERY_WAYS,
  type Delivery,
  HARNESS_NAMES,
  type JobOptions,
  MESSAGE_ID,
  type Message,
  PERMISSION_MODES,
  type PermissionMode,
  type SendMessage,
  type StopJob,
  type WarmHarness,
} from '../../../plugin/hooks/protocol/api.js';
import { choiceOf, countOf, type Fields, objectOf, onlyFields, optionalTextOf, ShapeError, textOf } from '../shape.js';

const ID = { max: 512 };
/** A week: a longer silence of a model is no setting but a mistake. */
const LONGEST_STALL_MS = 7 * 24 * 3_600_000;

export function createJobOf(value: unknown): CreateJob {
  const body = objectOf(value, 'the body');
  onlyFields(body, ['harness', 'agent', 'session', 'cwd', 'mode', 'message', 'model', 'effort', 'options']);
  const cwd = textOf(body, 'cwd', { max: 4096, pattern: /^[^\0]*$/, patternRule: 'must not hold a NUL character' });
  if (!isAbsolute(cwd)) throw new ShapeError('cwd', `must be an absolute path, it is ${JSON.stringify(cwd)}`);
  return {
    harness: choiceOf(body, 'harness', HARNESS_NAMES),
    agent: textOf(body, 'agent', ID),
    session: textOf(body, 'session', ID),
    cwd,
    mode: modeOf(body),
    message: messageOf(body),
    model: optionalTextOf(body, 'model', { max: 200 }),
    effort: optionalTextOf(body, 'effort', { max: 200 }),
    options: body.options === undefined ? undefined : optionsOf(body.options),
  };
}

export function sendMessageOf(value: unknown): SendMessage {
  const body = objectOf(value, 'the body');
  onlyFields(body, ['message', 'mode']);
  return { message: messageOf(body), mode: modeOf(body) };
}

export function stopJobOf(value: unknown): StopJob {
  const body = objectOf(value, 'the body');
  onlyFields(body, ['reason']);
  return { reason: choiceOf(body, 'reason', ['stopped', 'session_ended']) };
}

export function deliveryOf(value: unknown): Delivery {
  const body = objectOf(value, 'the body');
  onlyFields(body, ['turn', 'run', 'how']);
  return {
    turn: countOf(body, 'turn', 1, Number.MAX_SAFE_INTEGER),
    run: textOf(body, 'run', ID),
    how: choiceOf(body, 'how', DELIVERY_WAYS),
  };
}

export function warmHarnessOf(value: unknown): WarmHarness {
  const body = objectOf(value, 'the body');
  onlyFields(body, ['harness']);
  return { harness: choiceOf(body, 'harness', HARNESS_NAMES) };
}

/** A number of the query, e.g. `after`; `fallback` where it is absent. */
export function queryCount(query: URLSearchParams, name: string, max: number, fallback: number): number {
  const text = query.get(name);
  if (text === null) return fallback;
  if (!/^\d{1,16}$/.test(text) || Number(text) > max) {
    throw new ShapeError(name, `must be a whole number from 0 to ${max}, it is ${JSON.stringify(text.slice(0, 60))}`);
  }
  return Number(text);
}

/** Refuses names in the query that the route does not have. */
export function onlyQuery(query: URLSearchParams, known: readonly string[]): void {
  onlyFields(Object.fromEntries(query), known, '?');
}

function messageOf(body: Fields): Message {
  const message = objectOf(body.message, 'message');
  onlyFields(message, ['id', 'text'], 'message.');
  return {
    id: textOf(
      message,
      'id',
      { max: 128, pattern: MESSAGE_ID, patternRule: 'must hold only letters, digits, "_" and "-"' },
      'message.',
    ),
    // The body's own limit bounds it.
    text: textOf(message, 'text', { max: Number.MAX_SAFE_INTEGER }, 'message.'),
  };
}

function modeOf(body: Fields): PermissionMode {
  return choiceOf(body, 'mode', [...PERMISSION_MODES, 'unknown']);
}

function optionsOf(value: unknown): JobOptions {
  const options = objectOf(value, 'options');
  onlyFields(options, ['stallMs'], 'options.');
  if (options.stallMs === undefined) return {};
  return { stallMs: countOf(options, 'stallMs', 1, LONGEST_STALL_MS, 'options.') };
}
