/**
 * Reads a JSON value of a known form. What does not fit is a `ShapeError` that names the field and the rule.
 */

export class ShapeError extends Error {
  constructor(
    readonly field: string,
    readonly rule: string,
  ) {
    super(`${field} ${rule}`);
    this.name = 'ShapeError';
  }
}

export type Fields = Readonly<Record<string, unknown>>;

export type TextRule = {
  /** Most characters (UTF-16 units) allowed. */
  readonly max: number;
  readonly pattern?: RegExp;
  /** Says `pattern` in words: "must …". */
  readonly patternRule?: string;
};

/** `value` as an object; `field` is what a message calls it. */
export function objectOf(value: unknown, field: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ShapeError(field, `must be an object, it is ${wordFor(value)}`);
  }
  return value as Fields;
}

/** Refuses fields that the form does not have: a misspelt option must not be taken for an absent one. */
export function onlyFields(fields: Fields, known: readonly string[], parent = ''): void {
  for (const name of Object.keys(fields)) {
    if (!known.includes(name)) {
      throw new ShapeError(`${parent}${name.slice(0, 60)}`, `is not a field here; known: ${known.join(', ')}`);
    }
  }
}

export function textOf(fields: Fields, name: string, rule: TextRule, parent = ''): string {
  const value = fields[name];
  const field = `${parent}${name}`;
  if (value === undefined) throw new ShapeError(field, 'is missing');
  if (typeof value !== 'string') throw new ShapeError(field, `must be a string, it is ${wordFor(value)}`);
  if (value.length === 0) throw new ShapeError(field, 'must not be empty');
  if (value.length > rule.max) {
    throw new ShapeError(field, `must have at most ${rule.max} characters, it has ${value.length}`);
  }
  if (rule.pattern !== undefined && !rule.pattern.test(value)) {
    throw new ShapeError(field, rule.patternRule ?? `must match ${rule.pattern.source}`);
  }
  return value;
}

export function optionalTextOf(fields: Fields, name: string, rule: TextRule, parent = ''): string | undefined {
  return fields[name] === undefined ? undefined : textOf(fields, name, rule, parent);
}

export function choiceOf<T extends string>(fields: Fields, name: string, choices: readonly T[], parent = ''): T {
  const value = textOf(fields, name, { max: 200 }, parent);
  const found = choices.find((choice) => choice === value);
  if (found === undefined) {
    throw new ShapeError(`${parent}${name}`, `must be one of ${choices.join(', ')}; it is ${JSON.stringify(value)}`);
  }
  return found;
}

/** A whole number from `min` to `max`. */
export function countOf(fields: Fields, name: string, min: number, max: number, parent = ''): number {
  const value = fields[name];
  const field = `${parent}${name}`;
  if (value === undefined) throw new ShapeError(field, 'is missing');
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw new ShapeError(field, `must be a whole number, it is ${wordFor(value)}`);
  }
  if (value < min || value > max) throw new ShapeError(field, `must be from ${min} to ${max}, it is ${value}`);
  return value;
}

function wordFor(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'boolean') return `${value}`;
  return `a ${typeof value}`;
}
