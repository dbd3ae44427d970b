/**
 * Files and folders that belong to this user alone: folders 0700, files 0600, no link followed, owner checked.
 *
 * What is not so is an `UnsafePathError`, never silently repaired where someone else could have put it there.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../errors.js';

export class UnsafePathError extends Error {
  constructor(
    readonly path: string,
    readonly why: string,
  ) {
    super(`${path} ${why}`);
    this.name = 'UnsafePathError';
  }
}

// Absent on Windows, where links need a privilege of their own.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
// A pipe in a file's place must not hold us until somebody writes into it.
const NO_WAIT = constants.O_NONBLOCK ?? 0;

/** Makes `path` if it is not there (its parents too) and checks that it is a folder of ours alone. */
export function ensurePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  checkPrivateFolder(path);
}

/** Checks that `path` is a real folder of this user; closes it to others where it is ours and open. */
export function checkPrivateFolder(path: string): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) throw new UnsafePathError(path, 'is a link; Verbatim does not follow links here');
  if (!stat.isDirectory()) throw new UnsafePathError(path, 'is not a folder');
  checkOwner(path, stat.uid);
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) chmodSync(path, 0o700);
}

/** Opens a file of ours; `flags` may hold O_CREAT. The caller closes the descriptor. */
export function openPrivate(path: string, flags: number): number {
  let descriptor: number;
  try {
    descriptor = openSync(path, flags | NO_FOLLOW | NO_WAIT, 0o600);
  } catch (error) {
    // Linux says ELOOP, FreeBSD EMLINK.
    if (codeOf(error) === 'ELOOP' || codeOf(error) === 'EMLINK') {
      throw new UnsafePathError(path, 'is a link; Verbatim does not follow links here');
    }
    throw error;
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw new UnsafePathError(path, 'is not a file');
    checkOwner(path, stat.uid);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** The bytes of a file of ours. Throws ENOENT where it is not there. */
export function readPrivate(path: string): Buffer {
  const descriptor = openPrivate(path, constants.O_RDONLY);
  try {
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The bytes of a file of ours; null where it is not there. */
export function readIfThere(path: string): Buffer | null {
  try {
    return readPrivate(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Bytes of a text that are read for showing how it begins. */
const BEGINNING = 400;

/** How a text of ours begins; '' where it is not there. */
export function beginningOf(path: string): string {
  let descriptor: number;
  try {
    descriptor = openPrivate(path, constants.O_RDONLY);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
  try {
    const bytes = Buffer.alloc(BEGINNING);
    const count = readSync(descriptor, bytes, 0, BEGINNING, 0);
    // A character that the end of the piece cuts is left out.
    return new TextDecoder().decode(bytes.subarray(0, count), { stream: true });
  } finally {
    closeSync(descriptor);
  }
}

/** Whether something stands at `path`, whatever it is; a link counts as itself. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The names in a folder; none where it is not there. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Replaces a file whole: after a crash of this process at any point it holds the old bytes or the new ones. It is not
 * forced to the disk: that takes longer than Codex's own start of a turn, and a machine that loses its power loses the
 * turn anyway. An answer is (`writeAtomicLarge`).
 */
export function writeAtomic(path: string, bytes: string | Buffer): void {
  const draft = draftOf(path);
  rmSync(draft, { force: true });
  const descriptor = openPrivate(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  try {
    try {
      writeFileSync(descriptor, bytes);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, path);
  } catch (error) {
    // On a full disk half a draft would hold the room that the next, smaller file needs.
    rmSync(draft, { force: true });
    throw error;
  }
}

/** `writeAtomic` off the event loop, for what may be large; the folder's entry is on disk too when it resolves. */
export async function writeAtomicLarge(path: string, bytes: Buffer): Promise<void> {
  const draft = draftOf(path);
  await rm(draft, { force: true });
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;
  const handle = await open(draft, flags, 0o600);
  try {
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  if (process.platform === 'win32') return;
  const folder = await open(dirname(path), constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function draftOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}.draft`);
}

function checkOwner(path: string, uid: number): void {
  const own = process.getuid?.();
  if (own !== undefined && uid !== own) {
    throw new UnsafePathError(path, `belongs to another user (uid ${uid}, not ${own})`);
  }
}
