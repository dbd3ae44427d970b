/** Errands on disk: `errands/<id>/{state.json, task, answer}`, written whole before anybody is told. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ERRAND_ID } from '../../../plugin/hooks/protocol/errand.js';
import { messageOf } from '../errors.js';
import {
  checkPrivateFolder,
  ensurePrivateFolder,
  isThere,
  namesIn,
  readIfThere,
  readPrivate,
  writeAtomic,
} from '../state/private-files.js';
import { errandsFolder } from '../state/state-folder.js';
import { type ErrandRecord, RECORD_VERSION, recordOf } from './errand.js';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** What is decided when an errand is opened. */
export type NewErrand = Pick<
  ErrandRecord,
  'parent' | 'cwd' | 'model' | 'mode' | 'depth' | 'timeoutMs' | 'isKept' | 'asker'
>;

export type ErrandEntry =
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
    writeAtomic(join(this.folderOf(record.id), 'task'), task);
    this.save(record);
    return record;
  }

  save(record: ErrandRecord): void {
    writeAtomic(join(this.folderOf(record.id), 'state.json'), JSON.stringify(record));
  }

  /** The errand; null where there is none. Throws where its folder or its record is not of our form. */
  read(id: string): ErrandRecord | null {
    if (!ERRAND_ID.test(id) || !isThere(this.folderOf(id))) return null;
    checkPrivateFolder(this.folderOf(id));
    return recordOf(readPrivate(join(this.folderOf(id), 'state.json')).toString('utf8'), id);
  }

  taskOf(id: string): string {
    return readPrivate(join(this.folderOf(id), 'task')).toString('utf8');
  }

  keepAnswer(id: string, text: string): void {
    writeAtomic(join(this.folderOf(id), 'answer'), text);
  }

  answerOf(id: string): Buffer | null {
    return readIfThere(join(this.folderOf(id), 'answer'));
  }

  /** Every errand, the newest first, then the folders that cannot be read. */
  list(): ErrandEntry[] {
    const folder = errandsFolder(this.state);
    if (!isThere(folder)) return [];
    checkPrivateFolder(folder);
    const entries = namesIn(folder)
      .filter((name) => ERRAND_ID.test(name))
      .map((id) => this.#look(id));
    return entries.sort((a, b) => madeAt(b) - madeAt(a));
  }

  remove(id: string): void {
    rmSync(this.folderOf(id), { recursive: true, force: true });
  }

  folderOf(id: string): string {
    return join(errandsFolder(this.state), id);
  }

  #look(id: string): ErrandEntry {
    try {
      const record = this.read(id);
      if (record !== null) return { kind: 'errand', record, task: this.taskOf(id) };
      return { kind: 'problem', id, problem: `${this.folderOf(id)} was removed meanwhile` };
    } catch (error) {
      return { kind: 'problem', id, problem: `${this.folderOf(id)}: ${messageOf(error)}` };
    }
  }
}

function madeAt(entry: ErrandEntry): number {
  return entry.kind === 'errand' ? entry.record.createdAt : Number.NEGATIVE_INFINITY;
}

/** Twenty base-32 letters, drawn: 100 bits. */
function letters(): string {
  return [...randomBytes(20)].map((byte) => ALPHABET[byte & 31]).join('');
}
