/** What a person is told of a worker, and how its states are called. */
import type { ErrandEnd, ErrandRecord, Wait } from '../../desk/errand.js';
import { isAlive } from '../../process/table.js';
import { isAbandoned } from '../../worker-host/leftovers.js';
import { oneLine, type Terminal } from '../terminal.js';

/** Says on stderr what the worker waits for, and how to get to it. */
export function sayWait(wait: Wait | null, id: string, terminal: Terminal): void {
  if (wait === null) terminal.complain('verbatim worker: it goes on');
  else terminal.complain(`verbatim worker: ${waitSentence(wait)}: verbatim worker attach ${id}`);
}

/** What the worker waits for, as a sentence without its end. */
export function waitSentence({ for: what, what: detail }: Wait): string {
  const said = detail === '' ? '' : ` (${oneLine(detail, 300)})`;
  switch (what) {
    case 'trust':
      return 'it asks whether you trust its folder';
    case 'api_key':
      return 'it asks whether to use the API key in ANTHROPIC_API_KEY';
    case 'sign_in':
      return 'it asks you to sign in';
    case 'onboarding':
      return 'it is at the questions of a first start';
    case 'mcp_servers':
      return "it asks about the project's MCP servers";
    case 'imports':
      return 'it asks about files that CLAUDE.md imports';
    case 'warning':
      return 'it asks you to accept the risk of its permission mode';
    case 'start':
      return `it has not taken its task${said}`;
    case 'permission':
      return `it asks for permission${said}`;
    case 'question':
      return `it asks a question${said}`;
    case 'task_refused':
      return `Claude Code did not take the task${said}`;
    case 'turn_failed':
      return `its turn failed${said}; it waits for a message`;
    default:
      return what satisfies never;
  }
}

/** How an errand ended, as a sentence. */
export function endSentence(id: string, end: ErrandEnd): string {
  switch (end.kind) {
    case 'answered':
      return `errand ${id} was answered`;
    case 'unanswered':
      return `errand ${id} has no answer: ${UNANSWERED_WORDS[end.how]}`;
    case 'worker_ended':
      return `the worker of errand ${id} ended before it answered: ${end.detail}`;
    case 'timed_out':
      return `errand ${id} was not answered in time${timeOutWords(end)}`;
    case 'needs_person':
      return `the worker of errand ${id} needs somebody, and is unattended: ${waitSentence(end.wait)}`;
    case 'interrupted':
      return `errand ${id} was interrupted: ${end.detail}`;
    case 'failed':
      return `errand ${id} failed: ${end.detail}`;
    default:
      return end satisfies never;
  }
}

function timeOutWords({ isTaken, wait }: Extract<ErrandEnd, { kind: 'timed_out' }>): string {
  if (wait !== undefined) return `: ${waitSentence(wait)}`;
  return isTaken === false ? ': its worker had not started yet' : '';
}

const UNANSWERED_WORDS = {
  blank: 'the worker ended its turn with a blank message',
  error: "the worker's turn failed",
  refusal: "the worker's model refused",
} as const;

export type ErrandStatus = ErrandEnd['kind'] | 'abandoned' | 'waiting' | 'starting' | 'working';

export function statusOf(errand: ErrandRecord): ErrandStatus {
  const { end, wait, take } = errand;
  if (end !== null) return end.kind;
  if (isAbandoned(errand)) return 'abandoned';
  if (wait !== null) return 'waiting';
  return take === null ? 'starting' : 'working';
}

/** Whether the worker of an errand that has ended is still there to go on with. */
export function isKeptOpen({ end, isKept, worker }: ErrandRecord): boolean {
  return end !== null && isKept && isAlive(worker);
}

/** The state of an errand in a few words. */
export function statusWord(errand: ErrandRecord): string {
  const { wait } = errand;
  const status = statusOf(errand);
  if (status === 'waiting' && wait !== null) return `waits: ${wait.for.replaceAll('_', ' ')}`;
  return `${status.replaceAll('_', ' ')}${isKeptOpen(errand) ? ', kept open' : ''}`;
}
