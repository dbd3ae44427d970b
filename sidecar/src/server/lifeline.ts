/**
 * When the sidecar is to end: its parent is gone, its lease is over, or a signal says so.
 *
 * The parent is watched by its pid: stdin is closed from the start, and Claude Code that is killed with
 * SIGKILL tells nobody (measured: it then orphans what it started).
 */

/** How often the parent is looked at, in milliseconds. */
const PARENT_POLL_MS = 200;

export type EndReason = 'parent_gone' | 'lease_over' | 'SIGTERM' | 'SIGINT' | 'SIGHUP';

export type Lifeline = {
  /** Puts the end of the lease off. */
  renew(): void;
  /**
   * A reloaded mod goes on with this sidecar. Claude Code sends SIGTERM for the old module's sake, seconds after the
   * reload (measured on 2.1.332): from here on the parent's end alone counts, which is noticed as soon.
   */
  adopt(): void;
  /** Stops watching the parent and the lease; signals go on being taken, so that none cuts the ending short. */
  cut(): void;
};

/** Watches until it is cut, and calls `end` whenever it sees a reason to end: the same one again too. */
export function openLifeline(leaseMs: number, now: () => number, end: (reason: EndReason) => void): Lifeline {
  const parent = process.ppid;
  let renewedAt = now();
  const timer = setInterval(
    () => {
      if (process.ppid !== parent) end('parent_gone');
      else if (now() - renewedAt > leaseMs) end('lease_over');
    },
    Math.min(PARENT_POLL_MS, leaseMs),
  );
  let isAdopted = false;
  const onSignal = (name: NodeJS.Signals) => {
    if (!(isAdopted && name === 'SIGTERM')) end(name as EndReason);
  };
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, onSignal);
  return {
    renew() {
      renewedAt = now();
    },
    adopt() {
      isAdopted = true;
    },
    cut() {
      clearInterval(timer);
    },
  };
}
