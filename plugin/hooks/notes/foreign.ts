/**
 * Foreign strings inside a text of ours.
 *
 * What a harness, a model or a file name says is hostile here: it must not be able to end our bracket,
 * open a tag, start a line or imitate one of our blocks. The answer itself never passes through this.
 */

/** Longest foreign string in a text of ours, in UTF-16 units. */
const FOREIGN_LIMIT = 600;

// Control characters, line and paragraph separators, and every format character: bidi and zero-width ones, and the tags
// (U+E0000…), which spell a text that a model reads and nobody sees.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** One line of at most FOREIGN_LIMIT units: no control characters, `<`, `>` and `]` escaped with a backslash. */
export function foreign(text: string, limit: number = FOREIGN_LIMIT): string {
  const line = text.replace(INVISIBLE, ' ').replace(/ {2,}/g, ' ').trim();
  return cut(line, limit).replace(/[<>\]]/g, '\\$&');
}

/** The first `limit` units of a text and `…` where it was longer; a surrogate pair is never split. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 2);
  const end = last >= 0xd800 && last <= 0xdbff ? limit - 2 : limit - 1;
  return `${text.slice(0, end)}…`;
}
