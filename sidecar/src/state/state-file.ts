/** What every `state.json` has, whatever it is of: the version of its form, and the name of its folder. */
import { countOf, type Fields, objectOf, ShapeError } from '../shape.js';

/** The last moment that a date can name, in milliseconds since the epoch. */
export const LAST_DATE = 8.64e15;

/**
 * The fields in `text`, which stands in the folder `id`. Throws a ShapeError or a SyntaxError.
 *
 * @param readable The version that the caller reads.
 */
export function stateFieldsOf(text: string, id: string, readable: number): Fields {
  const fields = objectOf(JSON.parse(text), 'state.json');
  const version = countOf(fields, 'version', 1, 1_000_000);
  if (version !== readable) {
    throw new ShapeError('version', `is ${version}; this Verbatim reads ${readable}. Update Verbatim`);
  }
  if (fields.id !== id) throw new ShapeError('id', `must be ${id}, the name of its folder`);
  return fields;
}
