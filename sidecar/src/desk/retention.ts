/** Removing errands. One that somebody still waits for, or whose worker is up, is never removed. */
import { lstatSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { ERRAND_VARIABLE } from '../../../plugin/hooks/protocol/errand.js';
import { codeOf, messageOf } from '../errors.js';
import { carrying, isAlive } from '../process/table.js';
import type { ErrandRecord } from './errand.js';
import type { Errands } from './errands.js';

/** How long making or removing an errand's folder takes at most, in milliseconds. */
const FOLDER_MS = 60_000;

export type ErrandRemovals = {
  readonly removed: readonly string[];
  /** `why` is for a reader. */
  readonly kept: readonly { readonly id: string; readonly why: string }[];
  /** Folders that cannot be read; none of them is removed. */
  readonly problems: readonly { readonly id: string; readonly problem: string }[];
};

/** Removes the errands that ended before this moment; one that was never ended counts from when it was opened. */
export function removeOldErrands(errands: Errands, before: number): ErrandRemovals {
  const removed: string[] = [];
  const kept: { id: string; why: string }[] = [];
  const problems: { id: string; problem: string }[] = [];
  for (const entry of errands.list()) {
    if (entry.kind === 'problem') {
      problems.push({ id: entry.id, problem: entry.problem });
      continue;
    }
    const { record } = entry;
    if ((record.endedAt ?? record.createdAt) > before) continue;
    const why = inUse(record) ?? failed(() => removeErrand(errands, record));
    if (why === null) removed.push(record.id);
    else kept.push({ id: record.id, why });
  }
  for (const id of errands.remains(Math.min(before, Date.now() - FOLDER_MS))) {
    const why = failed(() => errands.remove(id));
    if (why !== null) kept.push({ id, why });
  }
  return { removed, kept, problems };
}

/** Why an errand is to stay; null where nobody needs it any more. */
function inUse({ id, end, asker, host, tmux, worker }: ErrandRecord): string | null {
  if (end === null && (isAlive(asker) || isAlive(host))) return 'its worker is at work';
  // A host that was killed may have opened a worker that its record does not name.
  if (isAlive(worker) || (tmux !== null && carrying(ERRAND_VARIABLE, [id]).length > 0)) {
    return `its worker is open; \`verbatim worker stop ${id}\` closes it`;
  }
  if (isAlive(asker) || isAlive(host)) return 'its end is being told';
  return null;
}

function removeErrand(errands: Errands, { id, tmux }: ErrandRecord): void {
  errands.remove(id);
  if (tmux !== null) removeSocket(tmux);
}

/** The socket of a tmux server that ended by itself. Nothing else goes, whatever stands at that path by now. */
function removeSocket(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSocket()) return;
  rmSync(path, { force: true });
  try {
    rmdirSync(dirname(path));
  } catch (error) {
    if (codeOf(error) !== 'ENOTEMPTY') throw error;
  }
}

/** Why `act` failed; null where it did not. */
function failed(act: () => void): string | null {
  try {
    act();
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
