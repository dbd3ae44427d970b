/** What errands leave that nobody looks after: their host and whoever asked were both killed. */
import type { ErrandRecord } from '../desk/errand.js';
import type { Errands } from '../desk/errands.js';
import { isAlive } from '../process/table.js';
import { closeErrand } from './close.js';

const END = { kind: 'interrupted', detail: 'who asked was killed, and so was its desk' } as const;

/** Whether nobody waits any more for an errand that is open. */
export function isAbandoned(errand: ErrandRecord): boolean {
  return errand.end === null && isAlone(errand);
}

/** Closes the workers of abandoned errands, and what kept workers left that ended by themselves. Resolves to their ids. */
export async function closeLeftovers(errands: Errands): Promise<string[]> {
  const left = errands.list().flatMap((entry) => (entry.kind === 'errand' && isLeft(entry.record) ? entry.record : []));
  await Promise.all(left.map(({ id }) => closeErrand(errands, id, END)));
  return left.map(({ id }) => id);
}

function isLeft(errand: ErrandRecord): boolean {
  const { end, isKept, tmux, worker } = errand;
  // A worker that was asked to be kept stays, whoever was killed.
  const isWanted = isKept && isAlive(worker);
  return isAlone(errand) && !isWanted && (end === null || tmux !== null);
}

function isAlone({ asker, host }: ErrandRecord): boolean {
  return !isAlive(asker) && !isAlive(host);
}
