/** `verbatim worker run`: hands a task to a new worker, and prints exactly its answer. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ERRAND_ID, ERRAND_VARIABLE } from '../../../../plugin/hooks/protocol/errand.js';
import { Errands, type NewErrand } from '../../desk/errands.js';
import { codeOf, messageOf } from '../../errors.js';
import { ownIdentity } from '../../process/table.js';
import { stateFolder } from '../../state/state-folder.js';
import { DEPTH_LIMIT, depthOf } from '../../worker-host/launch.js';
import { closeLeftovers } from '../../worker-host/leftovers.js';
import { MissingProgramError, programsOf } from '../../worker-host/programs.js';
import { read } from '../options.js';
import { CommandError, oneLine, type Terminal } from '../terminal.js';
import { printEnd } from './end.js';
import { hosted } from './hosted.js';
import { readTask } from './task.js';

const DEFAULT_TIMEOUT_MS = 3_600_000;

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
      unattended: 'boolean',
      json: 'boolean',
    },
    ['[<task>]'],
  );
  const task = await readTask(positionals[0], values.file);
  for (const name of ['model', 'permission-mode'] as const) checkWord(name, values[name]);
  const cwd = folderOf(values.cwd);
  const errands = new Errands(stateFolder(process.env));
  const parent = parentOf(process.env);
  const depth = depthOfWorker(values.depth, parent === null ? 0 : depthAt(errands, parent));
  const timeoutMs = values.timeout === undefined ? DEFAULT_TIMEOUT_MS : timeoutOf(values.timeout);
  checkPrograms();
  const errand: NewErrand = {
    parent,
    cwd,
    model: values.model ?? null,
    mode: values['permission-mode'] ?? null,
    depth,
    timeoutMs,
    isKept: values.keep ?? false,
    isUnattended: values.unattended ?? false,
    asker: ownIdentity(),
  };
  const id = opened(errands, task, errand);
  // Not below a worker: it could be one of those that nobody waits for any more.
  if (parent === null) await tidyUp(errands, terminal);
  const { survivors, ...ended } = await hosted(errands, id, terminal);
  for (const survivor of survivors) terminal.complain(`verbatim worker: still running: ${oneLine(survivor)}`);
  return await printEnd(errands, { id, ...ended }, values.json ?? false, terminal);
}

/** The errand of the worker that this command runs in; null where it runs in none. */
function parentOf({ [ERRAND_VARIABLE]: id }: NodeJS.ProcessEnv): string | null {
  return id !== undefined && ERRAND_ID.test(id) ? id : null;
}

function depthAt(errands: Errands, id: string): number {
  try {
    return errands.read(id)?.depth ?? 0;
  } catch {
    // Damaged, or another Verbatim's: the environment is all there is.
    return 0;
  }
}

/** Closes workers that nobody looks after any more; what cannot be closed now does not hold the task up. */
async function tidyUp(errands: Errands, terminal: Terminal): Promise<void> {
  try {
    for (const id of await closeLeftovers(errands)) {
      terminal.complain(
        `verbatim worker: errand ${id} was left behind by commands that were killed; its worker is closed`,
      );
    }
  } catch (error) {
    terminal.complain(
      `verbatim worker: a worker that was left behind is not closed: ${oneLine(messageOf(error), 300)}`,
    );
  }
}

function opened(errands: Errands, task: string, errand: NewErrand): string {
  try {
    return errands.open(task, errand, Date.now()).id;
  } catch (error) {
    if (codeOf(error) === '') throw error;
    throw new CommandError(`verbatim worker run: the errand cannot be kept: ${messageOf(error)}`);
  }
}

/** Longest model or mode, in characters: no name of Claude Code's is near it. */
const LONGEST_WORD = 200;

function checkWord(name: string, word = ''): void {
  if (word.length <= LONGEST_WORD) return;
  throw new CommandError(`verbatim worker run: --${name} must have at most ${LONGEST_WORD} characters`, 2);
}

function folderOf(given = '.'): string {
  let cwd: string;
  try {
    cwd = resolve(given);
  } catch {
    throw new CommandError('verbatim worker run: the folder that this runs in was removed; name one with --cwd', 1);
  }
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return cwd;
  throw new CommandError(`verbatim worker run: --cwd ${JSON.stringify(oneLine(cwd))} is not a folder`, 2);
}

/** @param around The depth of the worker that this runs in, as its errand has it: its environment may say what it likes. */
function depthOfWorker(given: string | undefined, around: number): number {
  const least = Math.max(depthOf(process.env), around) + 1;
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
    `verbatim worker run: --timeout must be a number with s, m or h (90s, 60m, 2h), at most 576h, it is ${JSON.stringify(given)}`,
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
