/** `verbatim worker attach`: shows a worker's terminal in this one. */
import { spawn } from 'node:child_process';
import { Errands } from '../../desk/errands.js';
import { isAlive } from '../../process/table.js';
import { stateFolder } from '../../state/state-folder.js';
import { programOf } from '../../worker-host/programs.js';
import { Tmux } from '../../worker-host/tmux.js';
import { read } from '../options.js';
import { CommandError, oneLine, type Terminal } from '../terminal.js';
import { errandAt } from './errand-at.js';
import { endSentence } from './words.js';

export async function attach(args: readonly string[], terminal: Terminal): Promise<number> {
  const { positionals } = read('worker attach', args, {}, ['<errand>']);
  const errands = new Errands(stateFolder(process.env));
  const { id, tmux, worker } = errandAt(errands, positionals[0] ?? '');
  if (tmux === null || !isAlive(worker)) {
    throw new CommandError(
      `verbatim worker attach: the worker of errand ${id} has ended; see \`verbatim worker list\``,
    );
  }
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new CommandError('verbatim worker attach: a worker is shown in a terminal, and stdin or stdout is none', 2);
  }
  const keys = process.env.TMUX === undefined ? 'Ctrl-b d' : 'Ctrl-b Ctrl-b d (this is a tmux of your own)';
  terminal.complain(`verbatim worker: ${keys} leaves the worker, which goes on`);
  const { program, args: words } = new Tmux(programOf('tmux', process.env), tmux).attachCommand;
  // Inside a tmux of the person's own, tmux would refuse.
  const { TMUX: _, ...env } = process.env;
  const code = await new Promise<number>((settle, fail) => {
    const child = spawn(program, words, { env, stdio: 'inherit' });
    child.once('error', fail);
    child.once('exit', (code) => settle(code ?? 1));
  });
  const { end } = errandAt(errands, id);
  if (end !== null) terminal.complain(`verbatim worker: ${oneLine(endSentence(id, end), 800)}`);
  return code;
}
