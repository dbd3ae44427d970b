/** The last bytes of a stream, for the note that says why a process ended. */
import { mask } from './secrets.js';

/** Bytes of stderr that are kept of each child. */
const TAIL_LIMIT = 16 * 1024;

/** Colour and cursor codes (CSI and OSC): a log line's decoration, noise in a note. */
const TERMINAL_CODES = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g;

export class Tail {
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(private readonly limit: number = TAIL_LIMIT) {}

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    while (this.#length - (this.#chunks[0]?.length ?? 0) >= this.limit) {
      this.#length -= this.#chunks.shift()?.length ?? 0;
    }
  }

  /** The kept bytes as text, free of terminal codes, secrets masked; a character cut at the front is dropped. */
  text(env: Readonly<Record<string, string | undefined>> = process.env): string {
    let bytes = Buffer.concat(this.#chunks);
    if (bytes.length > this.limit) {
      bytes = bytes.subarray(bytes.length - this.limit);
      let start = 0;
      while (start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
      bytes = bytes.subarray(start);
    }
    return mask(bytes.toString('utf8').replace(TERMINAL_CODES, ''), env).trim();
  }

  /** The last `count` lines of `text`, joined by ` | `: one line, for a note. */
  lastLines(count: number, env?: Readonly<Record<string, string | undefined>>): string {
    return this.text(env)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .slice(-count)
      .join(' | ');
  }
}
