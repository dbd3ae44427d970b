/** `verbatim worker host`: the process behind an errand, which `worker run` starts. */
import { Errands } from '../../desk/errands.js';
import { stateFolder } from '../../state/state-folder.js';
import { hostErrand } from '../../worker-host/host.js';
import { read } from '../options.js';
import { errandAt } from './errand-at.js';

export async function host(args: readonly string[]): Promise<number> {
  const { positionals } = read('worker host', args, {}, ['<errand>']);
  return await hostErrand(errandAt(new Errands(stateFolder(process.env)), positionals[0] ?? '').id);
}
