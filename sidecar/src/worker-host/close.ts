/** Takes a worker away: its terminal, all that it started, and the workers that it opened in its turn. */
import { ERRAND_VARIABLE } from '../../../plugin/hooks/protocol/errand.js';
import type { ErrandEnd, ErrandRecord } from '../desk/errand.js';
import type { Errands } from '../desk/errands.js';
import { GRACE, killAll, signal, untilGone } from '../process/ladder.js';
import { carrying, isAlive, type ProcessIdentity } from '../process/table.js';
import { ProcessTree } from '../process/tree.js';
import { MissingProgramError, programOf } from './programs.js';
import { Tmux } from './tmux.js';

/** How long Claude Code has to end by itself once its terminal is gone, in milliseconds. */
const HANG_UP_MS = 3_000;
/** How long another errand's host has to close its own worker, in milliseconds. */
const HOST_MS = 8_000;

/** Ends the worker of an errand. Resolves to the survivors, as `pid command`. */
export async function closeWorker(
  errands: Errands,
  { id, tmux, worker }: ErrandRecord,
  tree: ProcessTree | null = worker === null ? null : new ProcessTree(worker),
): Promise<string[]> {
  tree?.sample();
  // Not the worker's process alone: where `claude` is a script of the user's, Claude Code itself stands below it.
  const inTerminal = worker === null ? [] : below(worker);
  if (tmux !== null) await closeTerminal(tmux);
  // Their terminal is gone, which ends them: 1.6 s with a command at work, for a transcript is written (2.1.332).
  const left = await untilGone(inTerminal, HANG_UP_MS);
  for (const each of left) signal(each, 'SIGTERM');
  await untilGone(left, GRACE.termMs);
  const survivors = await killAll(() => [...(tree?.living() ?? []), ...carrying(ERRAND_VARIABLE, [id])]);
  // A worker below it stands in a terminal of its own, and its host may have been among those that were killed.
  for (const entry of errands.list()) {
    if (entry.kind !== 'errand' || entry.record.parent !== id || entry.record.tmux === null) continue;
    const end = { kind: 'interrupted', detail: `the worker that asked, ${id}, was closed` } as const;
    survivors.push(...(await closeErrand(errands, entry.record.id, end)));
  }
  return survivors;
}

/**
 * Ends an errand from outside its host, which does it where it is there. Resolves to the survivors.
 *
 * @param end How the errand ended, where it was open.
 */
export async function closeErrand(errands: Errands, id: string, end: ErrandEnd): Promise<string[]> {
  // First: a host that starts or hangs meanwhile finds it, and lets it stand.
  const before = errands.read(id);
  if (before !== null && before.end === null) errands.save({ ...before, end, endedAt: Date.now(), wait: null });
  const host = before?.host ?? null;
  if (host !== null && isAlive(host)) {
    signal(host, 'SIGTERM');
    await untilGone([host], HOST_MS);
    signal(host, 'SIGKILL');
  }
  const record = errands.read(id);
  // Removed meanwhile: what it started still has its name.
  if (record === null) return await killAll(() => carrying(ERRAND_VARIABLE, [id]));
  const survivors = await closeWorker(errands, record);
  errands.save({
    ...record,
    ...(record.end === null ? { end, endedAt: Date.now() } : {}),
    ...{ wait: null, host: null, desk: null, tmux: null, worker: null },
  });
  return survivors;
}

function below(root: ProcessIdentity): ProcessIdentity[] {
  const tree = new ProcessTree(root);
  tree.sample();
  return tree.living();
}

async function closeTerminal(socket: string): Promise<void> {
  try {
    await new Tmux(programOf('tmux', process.env), socket).close();
  } catch (error) {
    // Its server is one of the processes that are ended anyway.
    if (!(error instanceof MissingProgramError)) throw error;
  }
}
