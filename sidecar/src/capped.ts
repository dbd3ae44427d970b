/** Caps long texts: the head, a line that says what was left out, the tail. */

const HEAD = 20_000;
const TAIL = 10_000;

/** Characters (UTF-16 units) of a command's output, a diff or a tool's result that an event carries. */
export const OUTPUT_LIMIT = HEAD + TAIL;

export type Capped = {
  readonly text: string;
  /** Characters (UTF-16 units) of the original that `text` leaves out. */
  readonly omitted: number;
};

/** `text` itself up to `head + tail` characters, else both with a line between. A surrogate pair is never split. */
export function capped(text: string, head: number = HEAD, tail: number = TAIL): Capped {
  if (text.length <= head + tail) return { text, omitted: 0 };
  const headEnd = isInsidePair(text, head) ? head - 1 : head;
  const tailStart = text.length - tail + (isInsidePair(text, text.length - tail) ? 1 : 0);
  const omitted = tailStart - headEnd;
  const note = `[… ${omitted.toLocaleString('en-US')} characters left out …]`;
  const parts = [text.slice(0, headEnd), note, ...(tail > 0 ? [text.slice(tailStart)] : [])];
  return { text: parts.join('\n'), omitted };
}

/** Whether a cut before unit `at` would split a surrogate pair. */
function isInsidePair(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff;
}
