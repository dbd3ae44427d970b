/** How long jobs and errands are kept, and the jobs' removal. A job that a sidecar holds is never removed. */
import { lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Errands } from '../desk/errands.js';
import { removeOldErrands } from '../desk/retention.js';
import { messageOf } from '../errors.js';
import type { ProcessIdentity } from '../process/table.js';
import { namesIn } from '../state/private-files.js';
import { logsFolder } from '../state/state-folder.js';
import { type CatalogJob, jobIds, lookAt } from './catalog.js';
import { takeJob } from './owner.js';

const KEEP_MS = 30 * 24 * 3_600_000;
const KEEP_BYTES = 1024 ** 3;

export type Retention = {
  /** Jobs that changed longer ago than this go. */
  readonly maxAgeMs: number;
  /** The longest unchanged go until those that stay need no more than this. */
  readonly maxBytes: number;
};

export const RETENTION: Retention = { maxAgeMs: KEEP_MS, maxBytes: KEEP_BYTES };

/** Which of `jobs` are to go, the longest unchanged first. */
function expired(jobs: readonly CatalogJob[], { maxAgeMs, maxBytes }: Retention, now: number): CatalogJob[] {
  const oldestFirst = [...jobs].sort((a, b) => a.record.updatedAt - b.record.updatedAt);
  let total = jobs.reduce((sum, job) => sum + job.bytes, 0);
  return oldestFirst.filter((job) => {
    if (job.isHeld) return false;
    if (now - job.record.updatedAt <= maxAgeMs && total <= maxBytes) return false;
    total -= job.bytes;
    return true;
  });
}

export type Removal =
  | { readonly kind: 'removed'; readonly job: CatalogJob }
  /** A sidecar took it up meanwhile, or it could not be removed; `why` is for a reader. */
  | { readonly kind: 'kept'; readonly job: CatalogJob; readonly why: string };

/** Removes a job's folder, having taken it first so that no sidecar can take it up meanwhile. */
export function remove(job: CatalogJob, self: ProcessIdentity): Removal {
  try {
    takeJob(job.folder, job.id, self);
    rmSync(job.folder, { recursive: true, force: true });
    return { kind: 'removed', job };
  } catch (error) {
    return { kind: 'kept', job, why: messageOf(error) };
  }
}

/**
 * Applies the retention to the jobs, errands and logs below `state`. Gives the event loop back after each job: there
 * may be thousands, and a sidecar that is just up has a first job to answer.
 */
export async function applyRetention(
  state: string,
  self: ProcessIdentity,
  retention: Retention,
  now: number,
): Promise<Removal[]> {
  const jobs: CatalogJob[] = [];
  for (const id of jobIds(state)) {
    const entry = lookAt(state, id);
    if (entry?.kind === 'job') jobs.push(entry);
    await nextTurn();
  }
  const removals: Removal[] = [];
  for (const job of expired(jobs, retention, now)) {
    removals.push(remove(job, self));
    await nextTurn();
  }
  removeOldErrands(new Errands(state), now - retention.maxAgeMs);
  removeOldLogs(state, now - retention.maxAgeMs);
  return removals;
}

function removeOldLogs(state: string, before: number): void {
  for (const name of namesIn(logsFolder(state)).filter((each) => /^(?:sidecar|errand)-[\w-]+\.jsonl$/.test(each))) {
    const path = join(logsFolder(state), name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && stat.mtimeMs < before) rmSync(path, { force: true });
  }
}
