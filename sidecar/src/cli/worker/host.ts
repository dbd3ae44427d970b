/** `verbatim worker host`: the process behind an errand, which `worker run` starts. */
import { Errands } from '../../desk/errands.js';
import { isAlive } from '../../process/table.js';
import { stateFolder } from '../../state/state-folder.js';
import { hostErrand } from '../../worker-host/host.js';
import { read } from '../options.js';
import { CommandError } from '../terminal.js';
import { errandAt } from './errand-at.js';

export async function host(args: readonly string[]): Promise<number> {
  const { positionals } = read('worker host', args, {}, ['<errand>']);
  const { id, host: other } = errandAt(new Errands(stateFolder(process.env)), positionals[0] ?? '');
  if (isAlive(other)) throw new CommandError(`verbatim worker host: errand ${id} has a host, process ${other?.pid}`);
  return await hostErrand(id);
}
