/** `verbatim worker …`: which of its commands was asked for. */
import { COMMAND_HELP, isWorkerCommand, type WorkerCommand } from '../help.js';
import { CommandError, oneLine, type Terminal } from '../terminal.js';
import { answer } from './answer.js';
import { attach } from './attach.js';
import { host } from './host.js';
import { list } from './list.js';
import { run } from './run.js';
import { stop } from './stop.js';

export async function worker(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined) {
    terminal.complain(COMMAND_HELP.worker.trimEnd());
    return 2;
  }
  if (!isWorkerCommand(name)) {
    throw new CommandError(
      `verbatim worker: there is no command ${JSON.stringify(oneLine(name, 60))}; see \`verbatim worker --help\``,
      2,
    );
  }
  return await perform(name, rest, terminal);
}

async function perform(name: WorkerCommand, args: readonly string[], terminal: Terminal): Promise<number> {
  switch (name) {
    case 'run':
      return await run(args, terminal);
    case 'list':
      return await list(args, terminal);
    case 'attach':
      return await attach(args, terminal);
    case 'answer':
      return await answer(args, terminal);
    case 'stop':
      return await stop(args, terminal);
    case 'host':
      return await host(args);
    default:
      return name satisfies never;
  }
}
