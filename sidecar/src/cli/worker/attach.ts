/** `verbatim worker attach`: shows a worker's terminal in this one. */
import { spawn } from 'node:child_process';
import { Errands } from '../../desk/errands.js';
import { isAlive } from '../../process/table.js';
import { stateFolder } from '../../state/state-folder.js';
import { programOf } from '../../worker-host/programs.js';
import { Tmux } from '../../worker-host/tmux.js';
import { read } from '../options.js';
import { CommandError, type Terminal } from '../terminal.js';
import { errandAt } from './errand-at.js';

export async function attach(args: readonly string[], terminal: Terminal): Promise<number> {
  const { positionals } = read('worker attach', args, {}, ['<errand>']);
  const { id, tmux, worker } = errandAt(new Errands(stateFolder(process.env)), positionals[0] ?? '');
  if (tmux === null || !isAlive(worker)) {
    throw new CommandError(
      `verbatim worker attach: the worker of errand ${id} has ended; see \`verbatim worker list\``,
    );
  }
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new CommandError('verbatim worker attach: this is no terminal that a worker could be shown in', 2);
  }
  terminal.complain('verbatim worker: Ctrl-b d leaves the worker, which goes on');
  const { program, args: words } = new Tmux(programOf('tmux', process.env), tmux).attachCommand;
  // Inside a tmux of the person's own, tmux would refuse.
  const { TMUX: _, ...env } = process.env;
  return await new Promise((settle, fail) => {
    const child = spawn(program, words, { env, stdio: 'inherit' });
    child.once('error', fail);
    child.once('exit', (code) => settle(code ?? 1));
  });
}
