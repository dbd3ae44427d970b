/**
 * When the sidecar is to end: its session is gone, its lease is over, or a signal says so.
 *
 * Claude Code is watched by its pid: stdin is closed from the start, one that is killed with SIGKILL tells nobody
 * (measured: it then orphans what it started), and the sidecar does not stand below it (plugin/sidecar/launch.mjs).
 */
import { entryOf, isAlive } from '../process/table.js';

/** How often the session's process is looked at, in milliseconds. */
const SESSION_POLL_MS = 200;

export type EndReason = 'session_gone' | 'lease_over' | 'SIGTERM' | 'SIGINT' | 'SIGHUP';

export type Lifeline = {
  /** Puts the end of the lease off. */
  renew(): void;
  /** A reloaded mod goes on with this sidecar: a SIGTERM meant for the module before it does not end it. */
  adopt(): void;
  /** Stops watching the parent and the lease; signals go on being taken, so that none cuts the ending short. */
  cut(): void;
};

export type LifelineOptions = {
  readonly leaseMs: number;
  /** The process to end with; absent: the parent. */
  readonly session: number | undefined;
  readonly now: () => number;
  readonly end: (reason: EndReason) => void;
};

/** Watches until it is cut, and calls `end` whenever it sees a reason to end: the same one again too. */
export function openLifeline({ leaseMs, session, now, end }: LifelineOptions): Lifeline {
  const isThere = session === undefined ? watchParent() : watch(session);
  let renewedAt = now();
  const timer = setInterval(
    () => {
      if (!isThere()) end('session_gone');
      else if (now() - renewedAt > leaseMs) end('lease_over');
    },
    Math.min(SESSION_POLL_MS, leaseMs),
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

function watchParent(): () => boolean {
  const parent = process.ppid;
  return () => process.ppid === parent;
}

/** By pid and start time where that is cheap; elsewhere a pid given away again keeps the sidecar for its lease. */
function watch(pid: number): () => boolean {
  if (process.platform !== 'linux') return () => isPid(pid);
  const session = entryOf(pid);
  return () => isAlive(session);
}

function isPid(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // ESRCH: gone. EPERM would be another user's process: not the session either.
    return false;
  }
}
