/** How long jobs are kept, and their removal. A job that a sidecar holds is never removed. */
import { rmSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '../errors.js';
import type { ProcessIdentity } from '../process/table.js';
import { type CatalogJob, jobIds, lookAt } from './catalog.js';
import { takeJob } from './owner.js';

export type Retention = {
  /** Jobs that changed longer ago than this go. */
  readonly maxAgeMs: number;
  /** The longest unchanged go until those that stay need no more than this. */
  readonly maxBytes: number;
};

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
 * Removes the jobs below `state` that were kept long enough. Gives the event loop back after each job: there may be
 * thousands, and a sidecar that is just up has a first job to answer.
 */
export async function removeOldJobs(
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
  return removals;
}
