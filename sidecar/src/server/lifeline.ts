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
  /** Stops watching. */
  cut(): void;
};

/** Watches, and calls `end` once for each reason to end; a second signal comes through too. */
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
  const onSignal = (name: NodeJS.Signals) => end(name as EndReason);
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, onSignal);
  return {
    renew() {
      renewedAt = now();
    },
    cut() {
      clearInterval(timer);
    },
  };
}
