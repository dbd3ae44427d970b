/**
 * The sidecar's log: one file a sidecar, a JSON object a line, 0600, masked and capped.
 *
 * For the person who looks after something went wrong. Nothing of a prompt or an answer is logged.
 */
import { closeSync, constants, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { ensurePrivateFolder, openPrivate } from './state/private-files.js';

/** Largest log of one sidecar, in bytes; what comes after is left out, and the last line says so. */
export const LOG_LIMIT = 4 * 1024 * 1024;

export type LogLevel = 'info' | 'warning' | 'error';
/** `what` is a sentence for a reader; `details` are the values it speaks of. */
export type Log = (level: LogLevel, what: string, details?: Readonly<Record<string, unknown>>) => void;

export type LogFile = { readonly log: Log; close(): void };

export function openLog(path: string, mask: (text: string) => string, now: () => number): LogFile {
  ensurePrivateFolder(dirname(path));
  const descriptor = openPrivate(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND);
  let left = LOG_LIMIT;
  let isClosed = false;
  const write = (line: string) => {
    const bytes = Buffer.from(`${line}\n`, 'utf8');
    left -= bytes.length;
    writeSync(descriptor, bytes);
  };
  return {
    log(level, what, details = {}) {
      if (isClosed || left <= 0) return;
      try {
        write(mask(JSON.stringify({ at: new Date(now()).toISOString(), level, what, ...plain(details) })));
        if (left <= 0) write(JSON.stringify({ level: 'warning', what: 'the log is full; the rest is left out' }));
      } catch {
        // A full disk: there is nowhere to say so, and a log must never end a job.
        left = 0;
      }
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      closeSync(descriptor);
    },
  };
}

/** Errors as text: JSON has no form for them. */
function plain(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(details).map(([key, value]) => [
      key,
      value instanceof Error ? (value.stack ?? value.message) : value,
    ]),
  );
}
