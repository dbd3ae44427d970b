import { expect, test } from 'vitest';
import { LineFramer, LineTooLong } from '../../../sidecar/src/process/lines.js';

/** Frames with characters of one to four bytes, an empty line, CR, NUL, and no newline at the end. */
const FRAMES = ['{"a":"é€😀👩‍👩‍👧"}', '', 'cr\r', 'nul \u0000', '\ufeffbom\u2028', 'last'];
const BYTES = Buffer.from(FRAMES.join('\n'));

function framesOf(...chunks: readonly Buffer[]): string[] {
  const lines: string[] = [];
  const framer = new LineFramer((line) => lines.push(line));
  for (const chunk of chunks) framer.push(chunk);
  framer.end();
  return lines;
}

test('lines are the same wherever the bytes are split in two', () => {
  for (let at = 0; at <= BYTES.length; at += 1) {
    expect(framesOf(BYTES.subarray(0, at), BYTES.subarray(at)), `split at byte ${at}`).toEqual(FRAMES);
  }
});

test('lines are the same when each byte comes alone', () => {
  expect(framesOf(...Array.from(BYTES, (byte) => Buffer.from([byte])))).toEqual(FRAMES);
});

test('a line over the limit is refused before it is kept', () => {
  const lines: string[] = [];
  const framer = new LineFramer((line) => lines.push(line), 8);
  framer.push(Buffer.from('12345678\n1234'));
  expect(() => framer.push(Buffer.from('56789'))).toThrow(LineTooLong);
  expect(lines).toEqual(['12345678']);
});
