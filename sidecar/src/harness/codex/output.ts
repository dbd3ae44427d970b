/** Caps long output: its head, a line that says what was left out, its tail. */

const HEAD = 20_000;
const TAIL = 10_000;

/** Characters (UTF-16 units) of a command's output, a diff or a tool's result that an event carries. */
export const OUTPUT_LIMIT = HEAD + TAIL;

export type Capped = { readonly text: string; readonly omitted: number };

/** `text` itself up to `head + tail` characters, else both with a line between. A surrogate pair is never split. */
export function capped(text: string, head: number = HEAD, tail: number = TAIL): Capped {
  if (text.length <= head + tail) return { text, omitted: 0 };
  let headEnd = head;
  if (isHigh(text.charCodeAt(headEnd - 1)) && isLow(text.charCodeAt(headEnd))) headEnd -= 1;
  let tailStart = text.length - tail;
  if (isHigh(text.charCodeAt(tailStart - 1)) && isLow(text.charCodeAt(tailStart))) tailStart += 1;
  const omitted = tailStart - headEnd;
  const note = `[… ${omitted.toLocaleString('en-US')} characters left out …]`;
  return { text: `${text.slice(0, headEnd)}\n${note}\n${text.slice(tailStart)}`, omitted };
}

const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;

const SHELL = /^(?:\/(?:usr\/)?bin\/)?(?:bash|sh|zsh) -l?c (.*)$/s;

/**
 * What the model asked to run: Codex reports it inside its shell (`/bin/bash -lc '…'`), quoted for a shell.
 *
 * A command that is not exactly one shell word after `-lc` is returned as it is.
 */
export function unwrapped(command: string): string {
  const word = SHELL.exec(command)?.[1];
  if (word === undefined) return command;
  return shellWord(word) ?? command;
}

/** The value of one shell word (bare, single- or double-quoted parts), or null where it is not exactly one. */
function shellWord(word: string): string | null {
  let value = '';
  let at = 0;
  while (at < word.length) {
    const char = word[at] as string;
    if (char === "'") {
      const end = word.indexOf("'", at + 1);
      if (end === -1) return null;
      value += word.slice(at + 1, end);
      at = end + 1;
    } else if (char === '"') {
      at += 1;
      while (word[at] !== '"') {
        if (at >= word.length) return null;
        if (word[at] === '\\' && /["\\$`\n]/.test(word[at + 1] ?? '')) at += 1;
        value += word[at];
        at += 1;
      }
      at += 1;
    } else if (char === '\\') {
      if (at + 1 >= word.length) return null;
      value += word[at + 1];
      at += 2;
    } else if (/[\s;&|<>()$`]/.test(char)) {
      return null;
    } else {
      value += char;
      at += 1;
    }
  }
  return value;
}
