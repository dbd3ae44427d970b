/**
 * The jobs on disk, for a reader: nothing is taken, repaired or changed.
 *
 * A folder that cannot be read is an entry of its own, with what is wrong: it never hides the others.
 */
import { closeSync, constants, fstatSync, lstatSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { JobEvent } from '../../../plugin/hooks/protocol/event.js';
import type { Outcome } from '../../../plugin/hooks/protocol/outcome.js';
import { codeOf, messageOf } from '../errors.js';
import { choiceOf, objectOf, textOf } from '../shape.js';
import { beginningOf, checkPrivateFolder, isThere, namesIn, openPrivate, readPrivate } from '../state/private-files.js';
import { jobFolder, jobsFolder } from '../state/state-folder.js';
import { isJobId } from './job-id.js';
import { livingOwner } from './owner.js';
import { type JobRecord, recordOf } from './record.js';

export type JobStatus =
  /** A turn is under way, or about to start. */
  | 'running'
  | 'idle'
  /** Its sidecar ended while a turn was under way; the next message to the agent takes it up again. */
  | 'broken_off';

export type CatalogJob = {
  readonly kind: 'job';
  readonly id: string;
  readonly folder: string;
  readonly record: JobRecord;
  readonly status: JobStatus;
  /** How the newest turn ended; null while it runs and before the first. */
  readonly lastOutcome: Outcome | null;
  /** The newest event; null before the first. */
  readonly lastEvent: JobEvent | null;
  /** The beginning of the task that the job was made with. */
  readonly task: string;
  /** Whether a sidecar that is up has it. */
  readonly isHeld: boolean;
  readonly bytes: number;
};

export type CatalogProblem = {
  readonly kind: 'problem';
  readonly id: string;
  readonly folder: string;
  /** What is wrong with the folder, naming it. */
  readonly problem: string;
};

export type CatalogEntry = CatalogJob | CatalogProblem;

/** Every job below the state folder, the one that changed last first, then the folders that cannot be read. */
export function listJobs(state: string): CatalogEntry[] {
  const entries = jobIds(state).flatMap((id) => lookAt(state, id) ?? []);
  return entries.sort((a, b) => changedAt(b) - changedAt(a) || (a.id < b.id ? -1 : 1));
}

/** The ids of the jobs below the state folder; none where Verbatim has not kept any yet. */
export function jobIds(state: string): string[] {
  const folder = jobsFolder(state);
  if (!isThere(folder)) return [];
  checkPrivateFolder(folder);
  return namesIn(folder).filter(isJobId);
}

/** One job; null where there is none. */
export function lookAt(state: string, id: string): CatalogEntry | null {
  const folder = jobFolder(state, id);
  try {
    checkPrivateFolder(folder);
    const record = recordOf(readPrivate(join(folder, 'state.json')).toString('utf8'), id);
    const last = lastEvent(join(folder, 'events.jsonl'));
    const isHeld = livingOwner(folder) !== null;
    const isOpen = last !== null && last.kind !== 'turn_ended';
    return {
      kind: 'job',
      id,
      folder,
      record,
      status: isHeld && (isOpen || last === null) ? 'running' : isOpen ? 'broken_off' : 'idle',
      lastOutcome: last?.kind === 'turn_ended' ? last.outcome : null,
      lastEvent: last,
      task: beginningOf(join(folder, 'prompts', '1')),
      isHeld,
      bytes: bytesBelow(folder),
    };
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && !isThere(folder)) return null;
    const problem = codeOf(error) === 'ENOENT' ? `${folder} has no state.json` : problemOf(error, folder);
    return { kind: 'problem', id, folder, problem };
  }
}

/** The newest event in a log that may be growing: a last line that is not whole does not count. */
function lastEvent(path: string): JobEvent | null {
  let descriptor: number;
  try {
    descriptor = openPrivate(path, constants.O_RDONLY);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
  try {
    const { size } = fstatSync(descriptor);
    // Most lines are short; one that holds a large text needs a longer look back.
    for (let length = Math.min(size, 64 * 1024); length > 0; length = Math.min(size, length * 8)) {
      const bytes = Buffer.alloc(length);
      const count = readSync(descriptor, bytes, 0, length, size - length);
      const event = lastEventIn(bytes.subarray(0, count), length === size);
      if (event !== null || length === size) return event;
    }
    return null;
  } finally {
    closeSync(descriptor);
  }
}

function lastEventIn(bytes: Buffer, isWhole: boolean): JobEvent | null {
  let end = bytes.lastIndexOf(0x0a);
  while (end > 0) {
    const before = bytes.lastIndexOf(0x0a, end - 1);
    if (before === -1 && !isWhole) return null;
    try {
      return shownEventOf(JSON.parse(bytes.subarray(before + 1, end).toString('utf8')));
    } catch {
      // A damaged line, or a newer Verbatim's: the one before it is the newest that can be read.
      end = before;
    }
  }
  return null;
}

const KINDS: Readonly<Record<JobEvent['kind'], true>> = {
  turn_started: true,
  message: true,
  reasoning: true,
  plan: true,
  action_started: true,
  action_completed: true,
  retry: true,
  approval: true,
  warning: true,
  steered: true,
  turn_ended: true,
};
const OUTCOMES: readonly Outcome['kind'][] = ['completed', 'empty', 'interrupted', 'failed'];
const WORD = { max: Number.MAX_SAFE_INTEGER };

/** `value` as an event, where what is shown of it is there. Throws a ShapeError where it is not. */
function shownEventOf(value: unknown): JobEvent {
  const fields = objectOf(value, 'the event');
  const kind = choiceOf(fields, 'kind', Object.keys(KINDS));
  if (kind === 'action_started' || kind === 'action_completed') {
    const action = objectOf(fields.action, 'action');
    textOf(action, 'tool', WORD);
    if (action.tool === 'other') textOf(action, 'name', WORD);
  }
  if (kind === 'turn_ended') {
    if (fields.tokens !== null) objectOf(fields.tokens, 'tokens');
    const outcome = objectOf(fields.outcome, 'outcome');
    if (choiceOf(outcome, 'kind', OUTCOMES) === 'failed') {
      const failure = objectOf(outcome.failure, 'failure');
      for (const name of ['kind', 'status', 'message']) textOf(failure, name, WORD);
    }
  }
  return value as JobEvent;
}

function bytesBelow(path: string): number {
  let stat: ReturnType<typeof lstatSync>;
  try {
    stat = lstatSync(path);
  } catch (error) {
    // A draft that has just been renamed.
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesBelow(join(path, name)), 0);
}

function changedAt(entry: CatalogEntry): number {
  return entry.kind === 'job' ? entry.record.updatedAt : Number.NEGATIVE_INFINITY;
}

function problemOf(error: unknown, folder: string): string {
  const message = messageOf(error);
  return message.includes(folder) ? message : `${folder}: ${message}`;
}
