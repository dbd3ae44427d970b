/** How the demo looks on the terminal. */
import { createHash } from 'node:crypto';

const isColour = process.stdout.isTTY && process.env.NO_COLOR === undefined;

export const dim = (text: string) => (isColour ? `\u001b[2m${text}\u001b[0m` : text);
export const bold = (text: string) => (isColour ? `\u001b[1m${text}\u001b[0m` : text);
const green = (text: string) => (isColour ? `\u001b[32m${text}\u001b[0m` : text);

export const print = (text = '') => process.stdout.write(`${text}\n`);
export const indented = (text: string, by = '      ') => text.trimEnd().replace(/^/gm, by);

/** The same text at several places, with its size and hash at each; returns whether all are equal. */
export function printBytes(rows: readonly (readonly [name: string, text: string])[]): boolean {
  for (const [name, text] of rows) print(`      ${name.padEnd(28)}${size(text)}`);
  const isEqual = rows.every(([, text]) => text === rows[0]?.[1]);
  print(`      ${isEqual ? green('Equal, byte for byte.') : 'NOT EQUAL.'}`);
  return isEqual;
}

function size(text: string): string {
  return `${String(Buffer.byteLength(text)).padStart(5)} bytes  sha256 ${createHash('sha256').update(text).digest('hex')}`;
}

/** The text with its invisible characters drawn: leading and trailing ones too. */
export function visible(text: string): string {
  return text
    .replaceAll('\r', '␍')
    .replaceAll('\t', '→')
    .replace(/^ +| +(?=␍?$)/gm, (spaces) => '·'.repeat(spaces.length))
    .replaceAll('\n', '⏎\n');
}

export const VISIBLE_KEY = '(· space, → tab, ␍ carriage return, ⏎ end of line)';
