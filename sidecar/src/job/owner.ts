/**
 * Which sidecar a job belongs to: the file `owner` in its folder, held from the moment it takes the job up
 * until it lets it go. Two sidecars must never drive one thread.
 */
import { closeSync, constants, linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../errors.js';
import { isAlive, type ProcessIdentity } from '../process/table.js';
import { objectOf } from '../shape.js';
import { openPrivate, readIfThere } from '../state/private-files.js';

/** Another sidecar, alive, has the job. */
export class JobTakenError extends Error {
  constructor(
    readonly job: string,
    readonly owner: ProcessIdentity,
  ) {
    super(
      `job ${job} belongs to another Verbatim sidecar that is running (pid ${owner.pid}); ` +
        'end that Claude Code session, or wait for it to let the job go',
    );
    this.name = 'JobTakenError';
  }
}

/** A sidecar's instance id: what its children carry as VERBATIM_SIDECAR, and the name of its files. */
export function sidecarId({ pid, startTime }: ProcessIdentity): string {
  // Elsewhere than on Linux the start time is a date with spaces and colons.
  return `${pid}-${startTime.replace(/[^A-Za-z0-9]+/g, '_')}`;
}

/** Takes the job for `self`. Throws JobTakenError where a living sidecar has it; a dead one's claim is replaced. */
export function takeJob(folder: string, job: string, self: ProcessIdentity): void {
  const path = join(folder, 'owner');
  for (let attempt = 0; attempt < 20; attempt++) {
    if (claim(path, self)) return;
    const owner = readOwner(path);
    if (owner === null) continue;
    if (owner.pid === self.pid && owner.startTime === self.startTime) return;
    if (isOwnerAlive(owner)) throw new JobTakenError(job, owner);
    removeDead(path, owner, self);
  }
  throw new Error(`cannot take job ${job}: ${path} changes hands again and again`);
}

export function letJobGo(folder: string, self: ProcessIdentity): void {
  const path = join(folder, 'owner');
  const owner = readOwner(path);
  if (owner?.pid === self.pid && owner.startTime === self.startTime) rmSync(path, { force: true });
}

/** The living sidecar that has the job in `folder`; null where none has. */
export function livingOwner(folder: string): ProcessIdentity | null {
  const owner = readOwner(join(folder, 'owner'));
  return owner !== null && isOwnerAlive(owner) ? owner : null;
}

function isOwnerAlive(owner: ProcessIdentity): boolean {
  if (owner.startTime !== '') return isAlive(owner);
  // Windows: no start time to compare; a pid in use is taken for the owner, so that no thread has two drivers.
  try {
    process.kill(owner.pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function claim(path: string, self: ProcessIdentity): boolean {
  // Written whole beside it, then linked into place: nobody ever reads half an owner.
  const draft = `${path}.${self.pid}`;
  rmSync(draft, { force: true });
  const descriptor = openPrivate(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  try {
    try {
      writeFileSync(descriptor, JSON.stringify({ pid: self.pid, startTime: self.startTime }));
    } finally {
      closeSync(descriptor);
    }
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Removes a dead sidecar's claim, and puts it back where another took the job between our look and now. */
function removeDead(path: string, dead: ProcessIdentity, self: ProcessIdentity): void {
  const aside = `${path}.${self.pid}.dead`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  const moved = readOwner(aside);
  try {
    if (moved !== null && (moved.pid !== dead.pid || moved.startTime !== dead.startTime)) linkSync(aside, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function readOwner(path: string): ProcessIdentity | null {
  const bytes = readIfThere(path);
  if (bytes === null) return null;
  try {
    const fields = objectOf(JSON.parse(bytes.toString('utf8')), 'owner');
    return { pid: Number(fields.pid), startTime: String(fields.startTime) };
  } catch {
    // Damaged (a full disk): whoever wrote it is not to be found by it, so it names nobody alive.
    return { pid: 0, startTime: 'damaged' };
  }
}
