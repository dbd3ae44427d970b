/** A turn's answer on disk: exactly its UTF-8 bytes, there whole before anyone hears that the turn has ended. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ANSWER_PAGE, type AnswerPage } from '../../../plugin/hooks/protocol/api.js';
import type { AnswerRecord } from '../../../plugin/hooks/protocol/outcome.js';
import { namesIn, readIfThere, writeAtomicLarge } from '../state/private-files.js';

const LONE_SURROGATE = /\p{Surrogate}/u;

/** The file that holds the bytes of a turn's answer. */
export function answerFile(folder: string, turn: number): string {
  return join(folder, 'answers', String(turn));
}

/** The turns that have an answer, the newest first. */
export function answeredTurns(folder: string): number[] {
  const turns = namesIn(join(folder, 'answers')).filter((name) => /^[1-9]\d{0,8}$/.test(name));
  return turns.map(Number).sort((a, b) => b - a);
}

/** Stores `text` and answers what was stored. */
export async function storeAnswer(folder: string, turn: number, text: string): Promise<AnswerRecord> {
  const bytes = Buffer.from(text, 'utf8');
  // A lone surrogate has no UTF-8 form: the file then holds U+FFFD for it, and the text stands beside it as JSON.
  if (LONE_SURROGATE.test(text)) {
    await writeAtomicLarge(jsonFile(folder, turn), Buffer.from(JSON.stringify(text), 'utf8'));
  }
  await writeAtomicLarge(answerFile(folder, turn), bytes);
  return recordOf(folder, turn, bytes);
}

/** The bytes of a turn's answer; null where that turn has none. */
export function readAnswerBytes(folder: string, turn: number): Buffer | null {
  return readIfThere(answerFile(folder, turn));
}

/** A turn's whole answer; null where that turn has none. */
export function readWholeAnswer(folder: string, turn: number): (AnswerRecord & { readonly text: string }) | null {
  const bytes = readAnswerBytes(folder, turn);
  if (bytes === null) return null;
  const json = readIfThere(jsonFile(folder, turn));
  const text = json === null ? bytes.toString('utf8') : (JSON.parse(json.toString('utf8')) as string);
  return { text, ...recordOf(folder, turn, bytes) };
}

/** The page of a turn's answer that begins at UTF-16 unit `from`; null where that turn has no answer. */
export function readAnswer(folder: string, turn: number, from = 0): AnswerPage | null {
  const whole = readWholeAnswer(folder, turn);
  if (whole === null) return null;
  const { text, bytes, sha256 } = whole;
  const end = from + ANSWER_PAGE;
  return { turn, text: text.slice(from, end), next: end < text.length ? end : null, bytes, sha256 };
}

/** What `storeAnswer` answered for an answer that is there; null where there is none. */
export function answerRecord(folder: string, turn: number): AnswerRecord | null {
  const bytes = readAnswerBytes(folder, turn);
  return bytes === null ? null : recordOf(folder, turn, bytes);
}

function jsonFile(folder: string, turn: number): string {
  return `${answerFile(folder, turn)}.json`;
}

function recordOf(folder: string, turn: number, bytes: Buffer): AnswerRecord {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { bytes: bytes.length, sha256, file: answerFile(folder, turn) };
}
