/** `verbatim worker run`: hands a task to a new worker, and prints exactly its answer. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ERRAND_ID, ERRAND_VARIABLE, TASK_LIMIT } from '../../../../plugin/hooks/protocol/errand.js';
import { isBlank } from '../../../../plugin/hooks/protocol/mod-answer.js';
import { Errands } from '../../desk/errands.js';
import { messageOf } from '../../errors.js';
import { ownIdentity } from '../../process/table.js';
import { stateFolder } from '../../state/state-folder.js';
import { closeErrand } from '../../worker/close.js';
import type { HostHears, HostSays } from '../../worker/host.js';
import { DEPTH_LIMIT, depthOf } from '../../worker/launch.js';
import { MissingProgramError, programsOf } from '../../worker/programs.js';
import { read } from '../options.js';
import { CommandError, oneLine, type Terminal } from '../terminal.js';
import { printEnd } from './end.js';
import { errandAt } from './errand-at.js';
import { sayWait } from './words.js';

const DEFAULT_TIMEOUT_MS = 3_600_000;
/** How often a host that was killed is started again. */
const HOSTS = 5;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = read(
    'worker run',
    args,
    {
      file: 'string',
      cwd: 'string',
      model: 'string',
      'permission-mode': 'string',
      depth: 'string',
      timeout: 'string',
      keep: 'boolean',
      json: 'boolean',
    },
    ['[<task>]'],
  );
  const task = checkedTask(await taskOf(positionals[0], values.file));
  const cwd = folderOf(values.cwd);
  const depth = depthOfWorker(values.depth);
  const timeoutMs = values.timeout === undefined ? DEFAULT_TIMEOUT_MS : timeoutOf(values.timeout);
  checkPrograms();
  const errands = new Errands(stateFolder(process.env));
  const parent = process.env[ERRAND_VARIABLE];
  const { id } = errands.open(
    task,
    {
      parent: parent !== undefined && ERRAND_ID.test(parent) ? parent : null,
      cwd,
      model: values.model ?? null,
      mode: values['permission-mode'] ?? null,
      depth,
      timeoutMs,
      isKept: values.keep ?? false,
      asker: ownIdentity(),
    },
    Date.now(),
  );
  const survivors = await waitFor(errands, id, cwd, terminal);
  for (const survivor of survivors) terminal.complain(`verbatim worker: still running: ${oneLine(survivor)}`);
  return await printEnd(errands, errandAt(errands, id), values.json ?? false, terminal);
}

/** Runs the errand in a host of its own, another where that one was killed. Resolves to what outlived the worker. */
async function waitFor(errands: Errands, id: string, cwd: string, terminal: Terminal): Promise<readonly string[]> {
  let host: ChildProcess | undefined;
  let interruption: HostHears | undefined;
  const onSignal = (name: NodeJS.Signals) => {
    interruption = { kind: 'interrupt', detail: name };
    // The second time nobody waits for the worker's end: its host sees to that.
    if (host?.connected) host.send(interruption);
    for (const each of SIGNALS) process.removeListener(each, onSignal);
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  try {
    let isOpened = false;
    for (let tries = 0; tries < HOSTS; tries += 1) {
      host = startHost(id);
      if (interruption !== undefined) host.send(interruption);
      const survivors = await heard(host, (message) => {
        if (message.kind === 'waits') sayWait(message.wait, id, terminal);
        if (message.kind !== 'opened' || isOpened) return;
        isOpened = true;
        terminal.complain(`verbatim worker: ${id} works in ${oneLine(cwd)}; to watch it: verbatim worker attach ${id}`);
      });
      if (survivors !== null) return survivors;
      if (errandAt(errands, id).end !== null) break;
      terminal.complain('verbatim worker: the errand desk was killed; it is started again');
    }
    return await closeErrand(errands, id, { kind: 'failed', detail: `the errand desk was killed ${HOSTS} times` });
  } finally {
    for (const name of SIGNALS) process.removeListener(name, onSignal);
  }
}

/** The process that keeps the errand's desk: out of this terminal's reach, so that Ctrl-C comes to it from us alone. */
function startHost(id: string): ChildProcess {
  const { [ERRAND_VARIABLE]: _, ...env } = process.env;
  return spawn(process.execPath, [process.argv[1] ?? '', 'worker', 'host', id], {
    detached: true,
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    windowsHide: true,
  });
}

/** Resolves to the survivors that the host names at its end; null where it was killed before. */
function heard(host: ChildProcess, onMessage: (message: HostSays) => void): Promise<readonly string[] | null> {
  return new Promise((settle, fail) => {
    host.on('message', (message: HostSays) => {
      if (message.kind === 'ended') settle(message.survivors);
      else onMessage(message);
    });
    host.once('error', fail);
    host.once('exit', () => settle(null));
  });
}

/** The task as it was given: a word, a file, or what stands on stdin. */
async function taskOf(word: string | undefined, file: string | undefined): Promise<Buffer | string> {
  if (file !== undefined && word !== undefined) {
    throw new CommandError('verbatim worker run: give the task or --file, not both', 2);
  }
  if (file !== undefined) {
    try {
      return readFileSync(file);
    } catch (error) {
      throw new CommandError(`verbatim worker run: the task cannot be read: ${messageOf(error)}`);
    }
  }
  if (word !== undefined && word !== '-') return word;
  if (word === undefined && process.stdin.isTTY) {
    throw new CommandError('verbatim worker run: <task> is missing; see `verbatim worker run --help`', 2);
  }
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function checkedTask(given: Buffer | string): string {
  let task: string;
  try {
    task = typeof given === 'string' ? given : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(given);
  } catch {
    throw new CommandError('verbatim worker run: the task is not UTF-8', 2);
  }
  if (isBlank(task)) throw new CommandError('verbatim worker run: the task is blank', 2);
  if (task.length > TASK_LIMIT) {
    throw new CommandError(
      `verbatim worker run: the task has ${task.length} characters, a worker takes ${TASK_LIMIT}; put it in a file in the worker's folder, and name that`,
      2,
    );
  }
  return task;
}

function folderOf(given: string | undefined): string {
  const cwd = resolve(given ?? '.');
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return cwd;
  throw new CommandError(`verbatim worker run: --cwd ${JSON.stringify(oneLine(cwd))} is not a folder`, 2);
}

function depthOfWorker(given: string | undefined): number {
  const least = depthOf(process.env) + 1;
  if (least > DEPTH_LIMIT) {
    throw new CommandError(
      `verbatim worker run: this session is a worker ${least - 1} levels down, and workers may stand at most ${DEPTH_LIMIT} deep; do the task here`,
    );
  }
  if (given === undefined) return least;
  const depth = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  if (depth >= least && depth <= DEPTH_LIMIT) return depth;
  throw new CommandError(
    `verbatim worker run: --depth must be a whole number from ${least} to ${DEPTH_LIMIT}, it is ${JSON.stringify(given)}`,
    2,
  );
}

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;
/** What a timer takes. */
const LONGEST_MS = 2_147_483_647;

function timeoutOf(given: string): number {
  const [, count, unit] = /^(\d{1,7})([smh])$/.exec(given) ?? [];
  const ms = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (ms > 0 && ms <= LONGEST_MS) return ms;
  throw new CommandError(
    `verbatim worker run: --timeout must be a number with s, m or h (90s, 60m, 2h), at most 24 days, it is ${JSON.stringify(given)}`,
    2,
  );
}

function checkPrograms(): void {
  if (process.platform === 'win32') {
    throw new CommandError('verbatim worker: workers need tmux, which Windows does not have; use it inside WSL');
  }
  try {
    programsOf(process.env);
  } catch (error) {
    if (error instanceof MissingProgramError) throw new CommandError(`verbatim worker: ${error.message}`);
    throw error;
  }
}
