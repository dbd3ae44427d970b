/** Errands on disk: `errands/<id>/{state.json, task, answer}`, written whole before anybody is told. */
import { randomBytes } from 'node:crypto';
import { lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ERRAND_ID } from '../../../plugin/hooks/protocol/errand.js';
import { codeOf, messageOf } from '../errors.js';
import {
  beginningOf,
  checkPrivateFolder,
  ensurePrivateFolder,
  isThere,
  namesIn,
  readIfThere,
  readPrivate,
  writeAtomic,
} from '../state/private-files.js';
import { errandsFolder, logsFolder } from '../state/state-folder.js';
import { type ErrandRecord, RECORD_VERSION, recordOf } from './errand.js';

const STATE = 'state.json';
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** What is decided when an errand is opened. */
export type NewErrand = Pick<
  ErrandRecord,
  'parent' | 'cwd' | 'model' | 'mode' | 'depth' | 'timeoutMs' | 'isKept' | 'isUnattended' | 'asker'
>;

export type ErrandEntry =
  /** `task` is how it begins: a task may be large, and errands many. */
  | { readonly kind: 'errand'; readonly record: ErrandRecord; readonly task: string }
  /** `problem` names the folder and what is wrong with it. */
  | { readonly kind: 'problem'; readonly id: string; readonly problem: string };

export class Errands {
  /** @param state Verbatim's state folder. */
  constructor(private readonly state: string) {}

  open(task: string, errand: NewErrand, now: number): ErrandRecord {
    const record: ErrandRecord = {
      version: RECORD_VERSION,
      id: `e${letters()}`,
      session: `w${letters()}`,
      ...errand,
      createdAt: now,
      take: null,
      claudeSession: null,
      wait: null,
      end: null,
      endedAt: null,
      host: null,
      desk: null,
      tmux: null,
      worker: null,
    };
    ensurePrivateFolder(this.state);
    ensurePrivateFolder(errandsFolder(this.state));
    ensurePrivateFolder(this.folderOf(record.id));
    this.#write(record.id, 'task', task);
    // Last: a folder without it is no errand.
    this.save(record);
    return record;
  }

  save(record: ErrandRecord): void {
    this.#write(record.id, STATE, JSON.stringify(record));
  }

  /** The errand; null where there is none. Throws where its folder or its record is not of our form. */
  read(id: string): ErrandRecord | null {
    if (!ERRAND_ID.test(id) || !isThere(this.folderOf(id))) return null;
    this.#check(id);
    const bytes = readIfThere(join(this.folderOf(id), STATE));
    return bytes === null ? null : recordOf(bytes.toString('utf8'), id);
  }

  taskOf(id: string): string {
    return readPrivate(join(this.folderOf(id), 'task')).toString('utf8');
  }

  keepAnswer(id: string, text: string): void {
    this.#write(id, 'answer', text);
  }

  answerOf(id: string): Buffer | null {
    return readIfThere(join(this.folderOf(id), 'answer'));
  }

  /** Every errand, the newest first, then the folders that cannot be read. One that is being made or removed is none. */
  list(): ErrandEntry[] {
    const entries = this.ids().flatMap((id) => this.#look(id) ?? []);
    return entries.sort((a, b) => madeAt(b) - madeAt(a));
  }

  /** The folders that became no errand, or are none any more: whoever made or removed them was killed at it. */
  remains(before: number): string[] {
    return this.ids().filter((id) => {
      const folder = lstatSync(this.folderOf(id), { throwIfNoEntry: false });
      return folder?.isDirectory() && folder.mtimeMs < before && !isThere(join(this.folderOf(id), STATE));
    });
  }

  /** Removes an errand, and the log of its host. */
  remove(id: string): void {
    this.#check(id);
    // First: what is left where this is broken off is no errand.
    rmSync(join(this.folderOf(id), STATE), { force: true });
    rmSync(this.folderOf(id), { recursive: true, force: true });
    rmSync(join(logsFolder(this.state), `errand-${id}.jsonl`), { force: true });
  }

  folderOf(id: string): string {
    return join(errandsFolder(this.state), id);
  }

  ids(): string[] {
    const folder = errandsFolder(this.state);
    if (!isThere(folder)) return [];
    checkPrivateFolder(folder);
    return namesIn(folder).filter((name) => ERRAND_ID.test(name));
  }

  #look(id: string): ErrandEntry | null {
    const folder = this.folderOf(id);
    try {
      const record = this.read(id);
      return record === null ? null : { kind: 'errand', record, task: beginningOf(join(folder, 'task')) };
    } catch (error) {
      if (codeOf(error) === 'ENOENT' && !isThere(join(folder, STATE))) return null;
      const message = messageOf(error);
      return { kind: 'problem', id, problem: message.includes(folder) ? message : `${folder}: ${message}` };
    }
  }

  #write(id: string, name: string, text: string): void {
    this.#check(id);
    writeAtomic(join(this.folderOf(id), name), text);
  }

  /** No link is followed, to whatever it points. */
  #check(id: string): void {
    checkPrivateFolder(errandsFolder(this.state));
    checkPrivateFolder(this.folderOf(id));
  }
}

function madeAt(entry: ErrandEntry): number {
  return entry.kind === 'errand' ? entry.record.createdAt : Number.NEGATIVE_INFINITY;
}

/** Twenty base-32 letters, drawn: 100 bits. */
function letters(): string {
  return [...randomBytes(20)].map((byte) => ALPHABET[byte & 31]).join('');
}
