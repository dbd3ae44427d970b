/** Reads a command's arguments; what is wrong with them is said by name. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { CommandError } from './terminal.js';

type OptionTypes = Readonly<Record<string, 'boolean' | 'string'>>;
type Values<T extends OptionTypes> = { readonly [K in keyof T]?: T[K] extends 'boolean' ? boolean : string };

/**
 * The options and positionals in `args`. Throws a CommandError (2) for an option that the command does not
 * have, a value that is missing or too much, an option given twice, and for more than `positionals`; one in
 * brackets may be left out.
 */
export function read<T extends OptionTypes>(
  command: string,
  args: readonly string[],
  types: T,
  positionals: readonly string[] = [],
): { readonly values: Values<T>; readonly positionals: readonly string[] } {
  const hint = `see \`verbatim ${command} --help\``;
  const options: ParseArgsConfig['options'] = Object.fromEntries(
    Object.entries(types).map(([name, type]) => [name, { type }]),
  );
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
  const values: Record<string, string | boolean> = {};
  const found: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') found.push(token.value);
    if (token.kind !== 'option') continue;
    const type = Object.hasOwn(types, token.name) ? types[token.name] : undefined;
    if (type === undefined) throw wrong(`there is no option ${token.rawName} here; ${hint}`);
    if (Object.hasOwn(values, token.name)) throw wrong(`${token.rawName} is given twice`);
    if (type === 'boolean' && token.value !== undefined) {
      throw wrong(`${token.rawName} takes no value, it was given ${JSON.stringify(token.value)}`);
    }
    if (type === 'string' && (token.value === undefined || token.value === '')) {
      throw wrong(`${token.rawName} needs a value; ${hint}`);
    }
    values[token.name] = token.value ?? true;
  }
  const surplus = found[positionals.length];
  if (surplus !== undefined) throw wrong(`${JSON.stringify(surplus)} is one argument too many; ${hint}`);
  const missing = positionals[found.length];
  if (missing !== undefined && !missing.startsWith('[')) throw wrong(`${missing} is missing; ${hint}`);
  return { values: values as Values<T>, positionals: found };

  function wrong(message: string): CommandError {
    return new CommandError(`verbatim ${command}: ${message}`, 2);
  }
}
