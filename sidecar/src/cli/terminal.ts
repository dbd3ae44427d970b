/** What a command prints to, and how foreign text is shown there. */
import { cut } from '../../../plugin/hooks/notes/foreign.js';
import { codeOf } from '../errors.js';

export type Terminal = {
  /** Writes to stdout; resolves once it is handed over whole, so that leaving cuts nothing off. */
  print(what: string | Uint8Array): Promise<void>;
  /** Writes a line to stderr. */
  complain(line: string): void;
  /** Whether stdout is a person's terminal. */
  readonly isTerminal?: boolean;
};

export const TERMINAL: Terminal = {
  isTerminal: process.stdout.isTTY,
  print: (what) =>
    new Promise((resolve, reject) => {
      hearErrors(process.stdout);
      process.stdout.write(what, (error) => {
        // The reader went away (`| head`): there is nobody left to tell.
        if (error == null || codeOf(error) === 'EPIPE') resolve();
        else reject(new CommandError(`verbatim: the output could not be written: ${error.message}`));
      });
    }),
  complain: (line) => {
    hearErrors(process.stderr);
    process.stderr.write(`${line}\n`);
  },
};

/** A failed write is raised as an event too, which ends the process where nobody listens. */
function hearErrors(stream: NodeJS.WriteStream): void {
  if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
}

function ignore(): void {}

/** What went wrong with a command, for the person who typed it. */
export class CommandError extends Error {
  /** @param exitCode 1: it could not be done; 2: it was asked for wrongly. */
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
    this.name = 'CommandError';
  }
}

/** Foreign text as one line that cannot steer a terminal, at most `limit` characters. */
export function oneLine(text: string, limit = 200): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return cut(plain, limit);
}

/** A value as JSON, on lines; what could steer a terminal is escaped, which means the same to who reads it. */
export function jsonOf(value: unknown): string {
  const escaped = (found: string) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    );
  return `${JSON.stringify(value, null, 2).replace(/[\u007f-\u009f\p{Cf}]/gu, escaped)}\n`;
}

/** `rows` as columns; the last one is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) => {
      const cells = row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)));
      return `${cells.join('  ')}\n`;
    })
    .join('');
}

/** A size for a reader, e.g. `1.2 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** How long ago, for a reader, e.g. `3 h ago`. */
export function ago(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / 1440)} days ago`;
}
