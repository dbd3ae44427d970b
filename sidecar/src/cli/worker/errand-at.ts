/** The errand that an argument names: by its id, or by a beginning of it that no other one has. */
import { ERRAND_ID } from '../../../../plugin/hooks/protocol/errand.js';
import type { ErrandRecord } from '../../desk/errand.js';
import type { Errands } from '../../desk/errands.js';
import { ShapeError } from '../../shape.js';
import { CommandError, oneLine } from '../terminal.js';

export function errandAt(errands: Errands, given: string): ErrandRecord {
  const id = ERRAND_ID.test(given) ? given : idBeginning(errands, given);
  let record: ErrandRecord | null;
  try {
    record = errands.read(id);
  } catch (error) {
    if (!(error instanceof ShapeError || error instanceof SyntaxError)) throw error;
    throw new CommandError(`verbatim worker: ${errands.folderOf(id)} is damaged: ${oneLine(error.message, 300)}`);
  }
  if (record === null) {
    throw new CommandError(`verbatim worker: there is no errand ${id}; \`verbatim worker list\` lists them`);
  }
  return record;
}

function idBeginning(errands: Errands, given: string): string {
  const shown = JSON.stringify(oneLine(given, 60));
  if (!/^e[a-z2-7]{1,19}$/.test(given)) {
    const what = 'is no errand id: "e" and 20 letters or digits, as `verbatim worker list` lists them';
    throw new CommandError(`verbatim worker: ${shown} ${what}`, 2);
  }
  const [id, second] = errands.ids().filter((each) => each.startsWith(given));
  if (id !== undefined && second === undefined) return id;
  const what = id === undefined ? 'no errand begins with' : 'more than one errand begins with';
  throw new CommandError(`verbatim worker: ${what} ${shown}; \`verbatim worker list\` lists them`);
}
