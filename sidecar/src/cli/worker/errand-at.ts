/** The errand that an argument names. */
import { ERRAND_ID } from '../../../../plugin/hooks/protocol/errand.js';
import type { ErrandRecord } from '../../desk/errand.js';
import type { Errands } from '../../desk/errands.js';
import { ShapeError } from '../../shape.js';
import { CommandError, oneLine } from '../terminal.js';

export function errandAt(errands: Errands, id: string): ErrandRecord {
  if (!ERRAND_ID.test(id)) {
    const given = JSON.stringify(oneLine(id, 60));
    const what = `${given} is no errand id: "e" and 20 letters or digits, as \`verbatim worker list\` lists them`;
    throw new CommandError(`verbatim worker: ${what}`, 2);
  }
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
