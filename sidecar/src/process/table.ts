/**
 * The processes of this machine, and who a process is.
 *
 * A pid alone names nobody: it is given away again. A process is (pid, start time), and that pair is read
 * again right before each signal. On Linux both come from /proc; elsewhere from `ps`, whose start time has a
 * resolution of one second. On Windows there is no table: only the child itself can be ended.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** One process, told from any later one with the same pid. */
export type ProcessIdentity = {
  readonly pid: number;
  /** Ticks since boot on Linux, the `lstart` text elsewhere: compared, never computed with. */
  readonly startTime: string;
};

export type ProcessEntry = ProcessIdentity & {
  readonly parent: number;
  /** A zombie has ended: it only waits to be read by its parent. */
  readonly isZombie: boolean;
  /** The program's short name, as the kernel keeps it. */
  readonly name: string;
};

const IS_LINUX = process.platform === 'linux';

/** Every process now. One that ends while the table is read is left out. */
export function processTable(): ProcessEntry[] {
  if (IS_LINUX) {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => entryOf(Number(name)))
      .filter((entry) => entry !== null);
  }
  if (process.platform === 'win32') return [];
  return psTable();
}

/** The process with this pid now, or null when there is none. */
export function entryOf(pid: number): ProcessEntry | null {
  if (process.platform === 'win32') return null;
  if (!IS_LINUX) return psTable(pid)[0] ?? null;
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // Gone (ENOENT, ESRCH), which is the answer.
    return null;
  }
}

/** This process. */
export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startTime: entryOf(process.pid)?.startTime ?? '' };
}

/** Whether exactly this process still runs; a zombie does not, and neither does none. */
export function isAlive(identity: ProcessIdentity | null): boolean {
  if (identity === null) return false;
  const entry = entryOf(identity.pid);
  return entry !== null && !entry.isZombie && entry.startTime === identity.startTime;
}

/** `/proc/<pid>/stat`: the name stands in parentheses and may itself hold spaces and parentheses. */
export function parseStat(stat: string): ProcessEntry | null {
  const open = stat.indexOf('(');
  const close = stat.lastIndexOf(')');
  if (open === -1 || close === -1) return null;
  const rest = stat.slice(close + 2).split(' ');
  const [state, parent] = rest;
  const startTime = rest[19];
  if (state === undefined || parent === undefined || startTime === undefined) return null;
  return {
    pid: Number(stat.slice(0, open)),
    parent: Number(parent),
    startTime,
    isZombie: state === 'Z' || state === 'X',
    name: stat.slice(open + 1, close),
  };
}

/** What a process was started as, for a reader; its short name where that cannot be read. */
export function describe(identity: ProcessIdentity): string {
  const entry = entryOf(identity.pid);
  let command = entry?.name ?? 'unknown';
  if (IS_LINUX) {
    try {
      const line = readFileSync(`/proc/${identity.pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      if (line !== '') command = line;
    } catch {
      // Gone meanwhile: the short name serves.
    }
  }
  return `${identity.pid} ${command.slice(0, 200)}`;
}

/**
 * The living processes whose environment has one of these variables with this value.
 *
 * Linux only, and only for processes of our own user; elsewhere it finds none.
 *
 * @param since Processes that started before this one are not looked at.
 */
export function carrying(name: string, values: readonly string[], since?: ProcessIdentity): ProcessEntry[] {
  if (!IS_LINUX || values.length === 0) return [];
  const wanted = new Set(values.map((value) => `${name}=${value}`));
  return processTable().filter((entry) => {
    if (entry.isZombie || entry.pid === process.pid) return false;
    if (since && BigInt(entry.startTime) < BigInt(since.startTime)) return false;
    return environmentOf(entry.pid).some((variable) => wanted.has(variable));
  });
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    // Another user's (EACCES) or gone: not ours either way.
    return [];
  }
}

/** The table, or the one process, by `ps`. */
function psTable(pid?: number): ProcessEntry[] {
  const columns = ['-o', 'pid=,ppid=,stat=,lstart=,comm='];
  const which = pid === undefined ? ['-A'] : ['-p', String(pid)];
  let text: string;
  try {
    text = execFileSync('ps', [...which, ...columns], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });
  } catch {
    // `ps -p` of a pid that nobody has ends with 1.
    return [];
  }
  return parsePs(text);
}

/** The lines of `ps -o pid=,ppid=,stat=,lstart=,comm=` in the C locale. */
export function parsePs(text: string): ProcessEntry[] {
  const line = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s+(.*)$/gm;
  return [...text.matchAll(line)].map(([, pid, parent, state = '', startTime = '', name = '']) => ({
    pid: Number(pid),
    parent: Number(parent),
    startTime,
    isZombie: state.startsWith('Z'),
    name,
  }));
}
