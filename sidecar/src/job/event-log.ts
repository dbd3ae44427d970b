/**
 * `events.jsonl`: one event a line, only ever appended to.
 *
 * Events are read back from the file by their offsets; only the newest stay in memory, so a job of many
 * thousand events costs what a short one does.
 */
import { closeSync, constants, fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JobEvent } from '../../../plugin/hooks/protocol/event.js';
import { openPrivate } from '../state/private-files.js';

/** Newest events kept in memory: what a reader that follows along asks for. */
const KEPT_EVENTS = 32;
const KEPT_CHARACTERS = 512 * 1024;
/** Most that one page holds, in bytes of journal lines; at least one event always goes. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_EVENTS = 500;

type Kept = { readonly seq: number; readonly line: string };

export class EventLog {
  readonly #descriptor: number;
  /** Where event n begins is `#offsets[n - 1]`; the last entry is the end of the file. */
  readonly #offsets: number[];
  #kept: Kept[] = [];
  #keptCharacters = 0;

  private constructor(descriptor: number, offsets: number[]) {
    this.#descriptor = descriptor;
    this.#offsets = offsets;
  }

  /**
   * Opens the log, makes it where it is not there, and calls `onEvent` for every event in it.
   * Whatever follows the last whole event (a line torn by a crash) is moved to `events.damaged`: it was
   * never published, for an event is published only once its line is whole.
   */
  static open(path: string, onEvent: (event: JobEvent) => void): EventLog {
    const descriptor = openPrivate(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND);
    try {
      const { size } = fstatSync(descriptor);
      const offsets = [0];
      readLines(descriptor, size, (line, end) => {
        const event = eventIn(line, offsets.length);
        if (event === null) return false;
        offsets.push(end);
        onEvent(event);
        return true;
      });
      const good = offsets[offsets.length - 1] ?? 0;
      if (good < size) {
        setAside(descriptor, good, size, join(dirname(path), 'events.damaged'));
        ftruncateSync(descriptor, good);
      }
      return new EventLog(descriptor, offsets);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  get lastSeq(): number {
    return this.#offsets.length - 1;
  }

  /** Appends `event`, whose `seq` must be the next one. Once it returns, the event survives this process. */
  append(event: JobEvent): void {
    if (event.seq !== this.lastSeq + 1) throw new Error(`event ${event.seq} cannot follow event ${this.lastSeq}`);
    const line = JSON.stringify(event);
    const bytes = Buffer.from(`${line}\n`, 'utf8');
    const end = this.#offsets[this.#offsets.length - 1] ?? 0;
    try {
      writeWhole(this.#descriptor, bytes);
    } catch (error) {
      // A part of a line must not be there when the next one comes.
      ftruncateSync(this.#descriptor, end);
      throw error;
    }
    this.#offsets.push(end + bytes.length);
    this.#keep({ seq: event.seq, line });
  }

  /** The events after number `after`, oldest first, as many as a page holds. */
  after(after: number): JobEvent[] {
    if (after >= this.lastSeq) return [];
    const oldest = this.#kept[0];
    if (oldest !== undefined && after + 1 >= oldest.seq) {
      return this.#kept.slice(after + 1 - oldest.seq).map((kept) => JSON.parse(kept.line) as JobEvent);
    }
    return this.#read(after);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #read(after: number): JobEvent[] {
    const start = this.#offsets[after] ?? 0;
    let last = after;
    while (
      last < this.lastSeq &&
      last - after < PAGE_EVENTS &&
      (last === after || (this.#offsets[last + 1] ?? 0) - start <= PAGE_BYTES)
    ) {
      last += 1;
    }
    const bytes = Buffer.alloc((this.#offsets[last] ?? 0) - start);
    readWhole(this.#descriptor, bytes, start);
    return bytes
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as JobEvent);
  }

  #keep(kept: Kept): void {
    this.#kept.push(kept);
    this.#keptCharacters += kept.line.length;
    while (this.#kept.length > KEPT_EVENTS || this.#keptCharacters > KEPT_CHARACTERS) {
      const dropped = this.#kept.shift();
      if (dropped === undefined) break;
      this.#keptCharacters -= dropped.line.length;
    }
  }
}

/** Calls `onLine` with each whole line and where it ends, until it answers false. Reads in pieces, splits on bytes. */
function readLines(descriptor: number, size: number, onLine: (line: Buffer, end: number) => boolean): void {
  const piece = Buffer.alloc(256 * 1024);
  let parts: Buffer[] = [];
  let position = 0;
  while (position < size) {
    const count = readSync(descriptor, piece, 0, piece.length, position);
    if (count === 0) return;
    let from = 0;
    for (;;) {
      const at = piece.subarray(0, count).indexOf(0x0a, from);
      if (at === -1) break;
      const line = Buffer.concat([...parts, piece.subarray(from, at)]);
      parts = [];
      from = at + 1;
      if (!onLine(line, position + from)) return;
    }
    parts.push(Buffer.from(piece.subarray(from, count)));
    position += count;
  }
}

/** The event in `line`, null where it is none or does not have the number that comes next. */
function eventIn(line: Buffer, seq: number): JobEvent | null {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    if (typeof value !== 'object' || value === null) return null;
    const event = value as JobEvent;
    return event.seq === seq && typeof event.kind === 'string' && typeof event.turn === 'number' ? event : null;
  } catch {
    // Not JSON: a torn or damaged line, which the caller sets aside.
    return null;
  }
}

function setAside(descriptor: number, from: number, to: number, path: string): void {
  const bytes = Buffer.alloc(to - from);
  readWhole(descriptor, bytes, from);
  const target = openPrivate(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND);
  try {
    writeWhole(target, Buffer.concat([bytes, Buffer.from('\n')]));
  } finally {
    closeSync(target);
  }
}

function writeWhole(descriptor: number, bytes: Buffer): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(descriptor, bytes, written);
}

function readWhole(descriptor: number, bytes: Buffer, position: number): void {
  let read = 0;
  while (read < bytes.length) {
    const count = readSync(descriptor, bytes, read, bytes.length - read, position + read);
    if (count === 0) throw new Error('the event log is shorter than it was: something else changed it');
    read += count;
  }
}
