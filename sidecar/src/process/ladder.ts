/**
 * Ends processes: ask, wait, SIGTERM, wait, SIGKILL, verify.
 *
 * No signal is sent to a bare pid: (pid, start time) is read again right before each one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, isAlive, type ProcessIdentity } from './table.js';

export type Grace = {
  /** How long a process has to end once its stdin is closed, in milliseconds. */
  readonly askMs: number;
  /** How long after SIGTERM, in milliseconds. */
  readonly termMs: number;
  /** How long the kernel has to take the killed ones away, in milliseconds. */
  readonly killMs: number;
};

/** Codex 0.171.0 ends within 71 ms of a closed stdin or SIGTERM (measured). */
export const GRACE: Grace = { askMs: 1_000, termMs: 1_000, killMs: 2_000 };

const POLL_MS = 10;

/** Sends a signal to exactly this process; false when it is gone or is not ours to signal. */
export function signal(identity: ProcessIdentity, name: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    process.kill(identity.pid, name);
    return true;
  } catch {
    // It ended between the look and the signal, or belongs to another user: `survivors` tells the two apart.
    return false;
  }
}

/** Waits until none of them runs, at most `ms`; resolves to those that still do. */
export async function untilGone(processes: readonly ProcessIdentity[], ms: number): Promise<ProcessIdentity[]> {
  const end = performance.now() + ms;
  let living = processes.filter(isAlive);
  while (living.length > 0 && performance.now() < end) {
    await sleep(POLL_MS);
    living = living.filter(isAlive);
  }
  return living;
}

/**
 * Kills what `find` names until it names nothing more: what a dying process still starts is found by the
 * next look. Resolves to the survivors, as `pid command`.
 */
export async function killAll(find: () => readonly ProcessIdentity[], grace: Grace = GRACE): Promise<string[]> {
  const end = performance.now() + grace.killMs;
  let living = find().filter(isAlive);
  while (living.length > 0 && performance.now() < end) {
    for (const identity of living) signal(identity, 'SIGKILL');
    await untilGone(living, Math.min(200, Math.max(POLL_MS, end - performance.now())));
    living = find().filter(isAlive);
  }
  return living.map(describe);
}
