/** `verbatim worker stop`: ends an errand that is open, and closes its worker, one that was kept too. */
import { Errands } from '../../desk/errands.js';
import { stateFolder } from '../../state/state-folder.js';
import { closeErrand } from '../../worker-host/close.js';
import { read } from '../options.js';
import { CommandError, oneLine, type Terminal } from '../terminal.js';
import { errandAt } from './errand-at.js';

export async function stop(args: readonly string[], terminal: Terminal): Promise<number> {
  const { positionals } = read('worker stop', args, {}, ['<errand>']);
  const errands = new Errands(stateFolder(process.env));
  const { id, end, tmux } = errandAt(errands, positionals[0] ?? '');
  if (end !== null && tmux === null) {
    throw new CommandError(`verbatim worker stop: errand ${id} has ended, and its worker is closed`);
  }
  const survivors = await closeErrand(errands, id, { kind: 'interrupted', detail: 'verbatim worker stop' });
  for (const survivor of survivors) terminal.complain(`verbatim worker stop: still running: ${oneLine(survivor)}`);
  if (survivors.length === 0) terminal.complain(`verbatim worker stop: the worker of errand ${id} is closed`);
  return survivors.length > 0 ? 1 : 0;
}
