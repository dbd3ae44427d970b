/**
 * Processes as a test sees them: by (pid, start time), from /proc. A pid alone is never trusted, for it may have
 * been given to another process meanwhile. It shares nothing with sidecar/src/process, which the tests hold against it.
 * Linux only, like the tests that need it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { until } from './wait.js';

export type ProcessId = {
  readonly pid: number;
  /** Start time in clock ticks since boot, from /proc/<pid>/stat: with the pid it names one process for ever. */
  readonly started: string;
};

export type ProcessInfo = ProcessId & {
  readonly parent: number;
  /** `Z` is a zombie: it has ended, and waits for its parent to look. */
  readonly state: string;
  readonly command: string;
};

/** The process with this pid as it is now; undefined when there is none. */
export function processOf(pid: number): ProcessInfo | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name stands in parentheses and may hold anything, parentheses too: the last one ends it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean).join(' ');
    return { pid, state: fields[0] ?? '?', parent: Number(fields[1]), started: fields[19] ?? '', command };
  } catch {
    return undefined;
  }
}

export function allProcesses(): readonly ProcessInfo[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => processOf(Number(name)) ?? []);
}

/** Every process below `pid`, itself not among them. */
export function descendants(pid: number): readonly ProcessInfo[] {
  const all = allProcesses();
  const found: ProcessInfo[] = [];
  let parents = new Set([pid]);
  while (parents.size > 0) {
    const children = all.filter((one) => parents.has(one.parent));
    found.push(...children);
    parents = new Set(children.map((one) => one.pid));
  }
  return found;
}

/** Whether this very process still runs; a zombie does not. */
export function isAlive(id: ProcessId): boolean {
  const now = processOf(id.pid);
  return now !== undefined && now.started === id.started && now.state !== 'Z';
}

export const stillAlive = (ids: readonly ProcessId[]): readonly ProcessInfo[] =>
  ids.filter(isAlive).flatMap((id) => processOf(id.pid) ?? []);

/** The environment that a process was started with; empty when it cannot be read. */
export function environmentOf(pid: number): Readonly<Record<string, string>> {
  try {
    const pairs = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
    return Object.fromEntries(
      pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    );
  } catch {
    return {};
  }
}

/** Every live process whose environment holds `name`, with `value` where one is given. */
export function withEnvironment(name: string, value?: string): readonly ProcessInfo[] {
  return allProcesses().filter((one) => {
    if (one.state === 'Z') return false;
    const held = environmentOf(one.pid)[name];
    return held !== undefined && (value === undefined || held === value);
  });
}

/** Every live process whose command line is this. */
export const running = (command: string): readonly ProcessInfo[] =>
  allProcesses().filter((one) => one.state !== 'Z' && one.command === command);

/** Every live process whose command line contains `text`, this one excepted. */
export const withCommand = (text: string): readonly ProcessInfo[] =>
  allProcesses().filter((one) => one.pid !== process.pid && one.state !== 'Z' && one.command.includes(text));

/** Waits until none of them runs any more; the error names those that do. */
export async function untilGone(ids: readonly ProcessId[], ms = 10_000): Promise<void> {
  await until('processes to end', () => stillAlive(ids).length === 0, {
    within: ms,
    detail: () =>
      stillAlive(ids)
        .map((one) => `  still alive: ${one.pid} ${one.command.slice(0, 200)}`)
        .join('\n'),
  });
}

/** Sends a signal to this very process; does nothing where it has ended. */
export function signal(id: ProcessId, name: NodeJS.Signals): void {
  if (!isAlive(id)) return;
  try {
    process.kill(id.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
