/**
 * Frames a byte stream into lines: cut at `\n` on bytes, cap, then decode.
 *
 * Decoding comes last, so that a character that is split between two chunks arrives whole.
 */

/** Largest line of a harness, in bytes: a 2 MB answer and its 1 MiB command outputs fit many times over. */
export const LINE_LIMIT = 64 * 1024 * 1024;

const NEWLINE = 0x0a;

export class LineTooLong extends Error {
  constructor(readonly limit: number) {
    super(`a line is longer than ${limit} bytes; nothing after it can be read`);
    this.name = 'LineTooLong';
  }
}

export class LineFramer {
  #parts: Buffer[] = [];
  #length = 0;

  constructor(
    private readonly onLine: (line: string) => void,
    private readonly limit: number = LINE_LIMIT,
  ) {}

  /**
   * Takes the next bytes and hands on each line that they complete, without its `\n`.
   *
   * @throws LineTooLong when the line under way grows past the limit; the framer is then of no more use.
   */
  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE, from); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      this.#hold(chunk.subarray(from, at));
      this.#flush();
      from = at + 1;
    }
    this.#hold(chunk.subarray(from));
  }

  /** Hands on what came after the last `\n`, if anything did. */
  end(): void {
    if (this.#length > 0) this.#flush();
  }

  #hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#length += bytes.length;
    if (this.#length > this.limit) throw new LineTooLong(this.limit);
    this.#parts.push(bytes);
  }

  #flush(): void {
    const [only] = this.#parts;
    const line = this.#parts.length === 1 && only ? only : Buffer.concat(this.#parts, this.#length);
    this.#parts = [];
    this.#length = 0;
    this.onLine(line.toString('utf8'));
  }
}
