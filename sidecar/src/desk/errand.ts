/** An errand: a task for a worker session, how it stands, and how it ended. */
import { WAITS, type Waiting } from '../../../plugin/hooks/protocol/errand.js';
import { UNANSWERED, type Unanswered } from '../../../plugin/hooks/protocol/mod-answer.js';
import type { ProcessIdentity } from '../process/table.js';
import { choiceOf, countOf, type Fields, objectOf, textOf } from '../shape.js';
import { LAST_DATE, stateFieldsOf } from '../state/state-file.js';

/** How an errand ended; the first end stands. */
export type ErrandEnd =
  /** The answer is the file `answer`; truncated: the worker's text was longer than a report may be. */
  | { readonly kind: 'answered'; readonly bytes: number; readonly sha256: string; readonly isTruncated: boolean }
  /** The worker ended its turn without a text. */
  | { readonly kind: 'unanswered'; readonly how: Unanswered }
  /** The worker's process ended first; `detail` says how, for a reader. */
  | { readonly kind: 'worker_ended'; readonly detail: string }
  /** `wait`: what it waited for then; `isTaken` false: it had not even taken its task. */
  | { readonly kind: 'timed_out'; readonly isTaken?: boolean; readonly wait?: Wait }
  /** It waits for a person, and whoever asked had said that there is none. */
  | { readonly kind: 'needs_person'; readonly wait: Wait }
  /** Whoever asked took it back; `detail` says how, for a reader. */
  | { readonly kind: 'interrupted'; readonly detail: string }
  /** No worker could be opened, or its desk could not be kept up; `detail` is for a reader. */
  | { readonly kind: 'failed'; readonly detail: string };

const ENDS = ['answered', 'unanswered', 'worker_ended', 'timed_out', 'needs_person', 'interrupted', 'failed'] as const;

/** What a worker that is not up yet waits for a person to do: a dialog of Claude Code's start; `start` is none we know. */
const START_WAITS = [
  'trust',
  'api_key',
  'sign_in',
  'onboarding',
  'mcp_servers',
  'imports',
  'warning',
  'start',
] as const;
export type StartWait = { readonly for: (typeof START_WAITS)[number]; readonly what: string };

/** What a worker waits for a person to do: a dialog of its start, or what its mod says once it is up. */
export type Wait = Waiting | StartWait;

export type ErrandRecord = {
  readonly version: number;
  readonly id: string;
  /** LICH_SESSION_ID of the worker. */
  readonly session: string;
  /** The errand of the worker that opened this one; null: a person did. */
  readonly parent: string | null;
  readonly cwd: string;
  readonly model: string | null;
  /** Claude Code's permission mode; null: the user's default. */
  readonly mode: string | null;
  /** LICH_SUBAGENT_DEPTH of the worker. */
  readonly depth: number;
  readonly timeoutMs: number;
  /** Whether the worker stays open once the errand has ended. */
  readonly isKept: boolean;
  /** Whether nobody is there to answer a dialog: one ends the errand. */
  readonly isUnattended: boolean;
  readonly createdAt: number;
  /** Which request took the task (`TakeTask.take`); null: it was not handed over yet. */
  readonly take: string | null;
  /** Claude Code's id of the session that took it, for `claude --resume`. */
  readonly claudeSession: string | null;
  readonly wait: Wait | null;
  readonly end: ErrandEnd | null;
  readonly endedAt: number | null;
  /** Who waits for the end, and the process that keeps the desk. */
  readonly asker: ProcessIdentity | null;
  readonly host: ProcessIdentity | null;
  /** Where the desk listens: the worker's environment has it, so a desk that is started again takes the same. */
  readonly desk: { readonly port: number; readonly token: string } | null;
  /** The tmux server's socket, and Claude Code itself. */
  readonly tmux: string | null;
  readonly worker: ProcessIdentity | null;
};

export const RECORD_VERSION = 1;

const WORD = { max: 8192 };

/** The record in `text`, of errand `id`. Throws a ShapeError or a SyntaxError. */
export function recordOf(text: string, id: string): ErrandRecord {
  const fields = stateFieldsOf(text, id, RECORD_VERSION);
  return {
    version: RECORD_VERSION,
    id,
    session: textOf(fields, 'session', WORD),
    parent: nullable(fields, 'parent', wordOf),
    cwd: textOf(fields, 'cwd', WORD),
    model: nullable(fields, 'model', wordOf),
    mode: nullable(fields, 'mode', wordOf),
    depth: countOf(fields, 'depth', 1, 1_000_000),
    timeoutMs: countOf(fields, 'timeoutMs', 1, Number.MAX_SAFE_INTEGER),
    isKept: fields.isKept === true,
    isUnattended: fields.isUnattended === true,
    createdAt: countOf(fields, 'createdAt', 0, LAST_DATE),
    take: nullable(fields, 'take', wordOf),
    claudeSession: nullable(fields, 'claudeSession', wordOf),
    wait: nullable(fields, 'wait', waitOf),
    end: nullable(fields, 'end', endOf),
    endedAt: nullable(fields, 'endedAt', (all, name) => countOf(all, name, 0, LAST_DATE)),
    asker: nullable(fields, 'asker', identityOf),
    host: nullable(fields, 'host', identityOf),
    desk: nullable(fields, 'desk', deskOf),
    tmux: nullable(fields, 'tmux', wordOf),
    worker: nullable(fields, 'worker', identityOf),
  };
}

function endOf(all: Fields, name: string): ErrandEnd {
  const fields = objectOf(all[name], name);
  const kind = choiceOf(fields, 'kind', ENDS, `${name}.`);
  switch (kind) {
    case 'answered':
      return {
        kind,
        bytes: countOf(fields, 'bytes', 1, Number.MAX_SAFE_INTEGER, `${name}.`),
        sha256: textOf(fields, 'sha256', WORD, `${name}.`),
        isTruncated: fields.isTruncated === true,
      };
    case 'unanswered':
      return { kind, how: choiceOf(fields, 'how', UNANSWERED, `${name}.`) };
    case 'timed_out':
      return {
        kind,
        ...(typeof fields.isTaken === 'boolean' ? { isTaken: fields.isTaken } : {}),
        ...(fields.wait === undefined ? {} : { wait: waitOf(fields, 'wait') }),
      };
    case 'needs_person':
      return { kind, wait: waitOf(fields, 'wait') };
    case 'worker_ended':
    case 'interrupted':
    case 'failed':
      return { kind, detail: saidIn(fields, 'detail') };
    default:
      return kind satisfies never;
  }
}

function waitOf(all: Fields, name: string): Wait {
  const fields = objectOf(all[name], name);
  return {
    for: choiceOf(fields, 'for', [...WAITS, ...START_WAITS], `${name}.`),
    what: saidIn(fields, 'what'),
  };
}

/** Words for a reader: nothing depends on them, and what was written must be read again whatever they are. */
function saidIn(fields: Fields, name: string): string {
  const said = fields[name];
  return typeof said === 'string' ? said : '';
}

function deskOf(all: Fields, name: string): { port: number; token: string } {
  const fields = objectOf(all[name], name);
  return { port: countOf(fields, 'port', 1, 65_535, `${name}.`), token: textOf(fields, 'token', WORD, `${name}.`) };
}

function identityOf(all: Fields, name: string): ProcessIdentity {
  const fields = objectOf(all[name], name);
  return {
    pid: countOf(fields, 'pid', 1, Number.MAX_SAFE_INTEGER, `${name}.`),
    startTime: typeof fields.startTime === 'string' ? fields.startTime : '',
  };
}

function wordOf(fields: Fields, name: string): string {
  return textOf(fields, name, WORD);
}

function nullable<T>(fields: Fields, name: string, read: (fields: Fields, name: string) => T): T | null {
  return fields[name] === null ? null : read(fields, name);
}
