/** Which command was asked for, and what its end is to the shell. */

import { VERSION } from '../../../plugin/hooks/protocol/version.js';
import { serve } from '../server/serve.js';
import { UnsafePathError } from '../state/private-files.js';
import { NoStateFolderError } from '../state/state-folder.js';
import { answer } from './answer.js';
import { doctor } from './doctor.js';
import { type CommandName, HELP, helpOf, isCommand } from './help.js';
import { jobs } from './jobs.js';
import { read } from './options.js';
import { purge } from './purge.js';
import { CommandError, oneLine, type Terminal } from './terminal.js';
import { worker } from './worker/worker.js';

/** Runs what `args` ask for. Resolves to the exit code: 0 done, 1 not done, 2 asked for wrongly. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(args, terminal);
  } catch (error) {
    if (error instanceof CommandError) {
      // An argument that it names may hold what steers a terminal.
      terminal.complain(oneLine(error.message, 4_000));
      return error.exitCode;
    }
    if (error instanceof UnsafePathError || error instanceof NoStateFolderError) {
      terminal.complain(`verbatim: ${oneLine(error.message, 600)}`);
      return 1;
    }
    // A fault of ours: the whole of it is what a report of it needs.
    terminal.complain(`verbatim: an unexpected error: ${error instanceof Error ? error.stack : String(error)}`);
    return 1;
  }
}

async function dispatch(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined) {
    terminal.complain(HELP.trimEnd());
    return 2;
  }
  if (name === '--version' || name === '-V') {
    await terminal.print(`${VERSION}\n`);
    return 0;
  }
  if (name === '--help' || name === '-h' || name === 'help') {
    const [topic, ...further] = rest;
    if (topic !== undefined && !isCommand(topic)) throw unknown(topic);
    await terminal.print(topic === undefined ? HELP : helpOf(topic, further));
    return 0;
  }
  if (!isCommand(name)) throw unknown(name);
  const options = rest.slice(0, rest.includes('--') ? rest.indexOf('--') : undefined);
  if (options.includes('--help') || options.includes('-h')) {
    await terminal.print(helpOf(name, rest));
    return 0;
  }
  return await perform(name, rest, terminal);
}

function unknown(name: string): CommandError {
  const what = name.startsWith('-') ? 'option' : 'command';
  return new CommandError(
    `verbatim: there is no ${what} ${JSON.stringify(oneLine(name, 60))}; see \`verbatim --help\``,
    2,
  );
}

async function perform(name: CommandName, args: readonly string[], terminal: Terminal): Promise<number> {
  switch (name) {
    case 'doctor':
      return await doctor(args, terminal);
    case 'jobs':
      return await jobs(args, terminal);
    case 'answer':
      return await answer(args, terminal);
    case 'purge':
      return await purge(args, terminal);
    case 'worker':
      return await worker(args, terminal);
    case 'serve':
      return await serve({ session: sessionOf(read('serve', args, { session: 'string' }).values.session) });
    default:
      return name satisfies never;
  }
}

/** The pid that `--session` names. */
function sessionOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^[1-9]\d{0,9}$/.test(value)) return Number(value);
  throw new CommandError(`verbatim serve: --session needs a process id, it was given ${JSON.stringify(value)}`, 2);
}
