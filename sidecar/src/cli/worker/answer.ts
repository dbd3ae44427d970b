/** `verbatim worker answer`: an errand's answer, as `worker run` printed it. */
import type { ErrandRecord } from '../../desk/errand.js';
import { Errands } from '../../desk/errands.js';
import { stateFolder } from '../../state/state-folder.js';
import { read } from '../options.js';
import { CommandError, type Terminal } from '../terminal.js';
import { printEnd } from './end.js';
import { errandAt } from './errand-at.js';
import { statusOf, waitSentence } from './words.js';

export async function answer(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = read('worker answer', args, { json: 'boolean' }, ['<errand>']);
  const errands = new Errands(stateFolder(process.env));
  const errand = errandAt(errands, positionals[0] ?? '');
  const { id, end, claudeSession } = errand;
  if (end === null) throw new CommandError(`verbatim worker: ${whyOpen(errand)}`);
  return await printEnd(errands, { id, end, claudeSession }, values.json ?? false, terminal);
}

/** Why an errand that is open has no answer. */
function whyOpen(errand: ErrandRecord): string {
  const { id, wait } = errand;
  if (statusOf(errand) === 'abandoned') {
    return `errand ${id} is abandoned: who asked and its desk were killed, so no answer will come; to close its worker: verbatim worker stop ${id}`;
  }
  const state = wait === null ? 'its worker is at work' : waitSentence(wait);
  return `errand ${id} has no answer yet: ${state}`;
}
