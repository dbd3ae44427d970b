/** `verbatim worker answer`: an errand's answer, as `worker run` printed it. */
import { Errands } from '../../desk/errands.js';
import { stateFolder } from '../../state/state-folder.js';
import { read } from '../options.js';
import type { Terminal } from '../terminal.js';
import { printEnd } from './end.js';
import { errandAt } from './errand-at.js';

export async function answer(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = read('worker answer', args, { json: 'boolean' }, ['<errand>']);
  const errands = new Errands(stateFolder(process.env));
  return await printEnd(errands, errandAt(errands, positionals[0] ?? ''), values.json ?? false, terminal);
}
