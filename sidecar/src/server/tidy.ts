/** What each sidecar does once, at its start, for those before it: ends what they left, removes what was kept long enough. */
import { lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Errands } from '../desk/errands.js';
import { removeOldErrands } from '../desk/retention.js';
import { reap } from '../job/reaper.js';
import { type Removal, type Retention, removeOldJobs } from '../job/retention.js';
import type { Log } from '../log.js';
import type { ProcessIdentity } from '../process/table.js';
import { namesIn } from '../state/private-files.js';
import { logsFolder } from '../state/state-folder.js';

export const RETENTION: Retention = { maxAgeMs: 30 * 24 * 3_600_000, maxBytes: 1024 ** 3 };

export async function tidy(state: string, self: ProcessIdentity, log: Log): Promise<void> {
  try {
    for (const { sidecar, ended, survivors } of await reap(state, log)) {
      log('warning', `sidecar ${sidecar} had left processes running; they were ended`, { ended, survivors });
    }
    for (const removal of await applyRetention(state, self, RETENTION, Date.now())) {
      if (removal.kind === 'removed') log('info', `job ${removal.job.id} was removed: it was kept long enough`);
      else log('warning', `job ${removal.job.id} could not be removed`, { why: removal.why });
    }
  } catch (error) {
    log('error', 'what earlier sidecars left could not be tidied', { error });
  }
}

/** Applies the retention to the jobs, errands and logs below `state`. Resolves to what became of the jobs. */
export async function applyRetention(
  state: string,
  self: ProcessIdentity,
  retention: Retention,
  now: number,
): Promise<Removal[]> {
  const removals = await removeOldJobs(state, self, retention, now);
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
