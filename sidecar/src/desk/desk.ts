/**
 * The errand desk: hands tasks over and takes the workers' answers.
 *
 * A report ends an errand only where exactly one is open for its session; the first end stands, and whatever comes
 * later changes nothing. An errand is open for a report once its worker has taken the task.
 */
import { createHash } from 'node:crypto';
import { isCut, type Report } from '../../../plugin/hooks/protocol/mod-answer.js';
import { messageOf } from '../errors.js';
import type { ErrandEnd, ErrandRecord, Wait } from './errand.js';
import type { Errands } from './errands.js';

type Held = {
  record: ErrandRecord;
  readonly ended: Promise<ErrandEnd>;
  readonly settle: (end: ErrandEnd) => void;
};

export class Desk {
  readonly #held = new Map<string, Held>();

  constructor(
    private readonly errands: Errands,
    private readonly now: () => number,
    /** Called when what a worker waits for has changed. */
    private readonly onWait: (errand: ErrandRecord) => void = () => {},
    /** Called where an end, or what a worker waits for, could not be written. */
    private readonly onUnwritten: (error: unknown) => void = () => {},
  ) {}

  /** Takes an errand up that is on disk, a new one or one of a desk that is gone. Throws where there is none. */
  takeUp(id: string): ErrandRecord {
    const record = this.errands.read(id);
    if (record === null) throw new Error(`there is no errand ${id}`);
    let settle: (end: ErrandEnd) => void = () => {};
    const ended = new Promise<ErrandEnd>((resolve) => {
      settle = resolve;
    });
    if (record.end !== null) settle(record.end);
    this.#held.set(id, { record, ended, settle });
    return record;
  }

  errand(id: string): ErrandRecord {
    return this.#at(id).record;
  }

  /** Whether an errand of this desk, open or not, is that session's. */
  knows(session: string): boolean {
    return [...this.#held.values()].some(({ record }) => record.session === session);
  }

  /** Resolves to how the errand ended. */
  ended(id: string): Promise<ErrandEnd> {
    return this.#at(id).ended;
  }

  /** Keeps what is known of the errand's desk, worker and host. */
  note(id: string, facts: Partial<Pick<ErrandRecord, 'host' | 'desk' | 'tmux' | 'worker'>>): void {
    this.#change(this.#at(id), facts);
  }

  /**
   * The task that a session is to take; null where it has none, or took it by another request.
   *
   * @param claudeSession Claude Code's own id of the session, '' where it is not known.
   */
  take(session: string, take: string, claudeSession = ''): string | null {
    const errand = this.#only(({ record }) => record.session === session && [null, take].includes(record.take));
    if (errand === null) return null;
    try {
      if (errand.record.take === null) this.#change(errand, { take, claudeSession: claudeSession || null });
    } catch (error) {
      this.end(errand.record.id, { kind: 'failed', detail: `its state could not be written: ${messageOf(error)}` });
      throw error;
    }
    if (errand.record.end !== null) return null;
    this.#wait(errand, null);
    return this.errands.taskOf(errand.record.id);
  }

  /** Throws where it could not be written: the errand has failed then. A report that was answered is not sent again. */
  report(report: Report): void {
    const errand = this.#only(({ record }) => record.session === report.session_id);
    if (errand === null || errand.record.take === null) return;
    try {
      // Ended from outside meanwhile: the report comes late.
      if (this.errands.read(errand.record.id)?.end) this.#change(errand, {});
      else this.#end(errand, this.#endBy(report, errand.record.id));
    } catch (error) {
      this.end(errand.record.id, { kind: 'failed', detail: `its answer could not be written: ${messageOf(error)}` });
      throw error;
    }
  }

  /** What the worker of a session waits for a person to do; null: it goes on. */
  sessionWaits(session: string, wait: Wait | null): void {
    const errand = this.#only(({ record }) => record.session === session);
    if (errand !== null) this.#wait(errand, wait);
  }

  waits(id: string, wait: Wait | null): void {
    const errand = this.#at(id);
    if (errand.record.end === null) this.#wait(errand, wait);
  }

  /**
   * Ends the errand; false where it had ended already. It ends even where that cannot be written: whoever waits for the
   * end takes the worker away, and nobody else would.
   */
  end(id: string, end: ErrandEnd): boolean {
    const errand = this.#at(id);
    try {
      return this.#end(errand, end);
    } catch (error) {
      errand.record = { ...errand.record, end, endedAt: this.now(), wait: null };
      errand.settle(end);
      this.onUnwritten(error);
      return true;
    }
  }

  #endBy(report: Report, id: string): ErrandEnd {
    if (report.text === undefined) return { kind: 'unanswered', how: report.unanswered };
    const bytes = Buffer.from(report.text, 'utf8');
    this.errands.keepAnswer(id, report.text);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return { kind: 'answered', bytes: bytes.length, sha256, isTruncated: isCut(report) };
  }

  #wait(errand: Held, wait: Wait | null): void {
    const before = errand.record.wait;
    if (before?.for === wait?.for && before?.what === wait?.what) return;
    try {
      this.#change(errand, { wait });
    } catch (error) {
      // A person is told all the same.
      errand.record = { ...errand.record, wait };
      this.onUnwritten(error);
    }
    if (errand.record.end !== null) return;
    this.onWait(errand.record);
    // `start` alone is a guess: a slow machine looks the same.
    if (wait !== null && wait.for !== 'start' && errand.record.isUnattended) {
      this.end(errand.record.id, { kind: 'needs_person', wait });
    }
  }

  #end(errand: Held, end: ErrandEnd): boolean {
    if (errand.record.end !== null) return false;
    this.#change(errand, { end, endedAt: this.now(), wait: null });
    return errand.record.end === end;
  }

  /**
   * Written first: what is not on disk has not happened. An end that stands there by now was written by somebody who
   * closes the errand from outside, and stands.
   */
  #change(errand: Held, facts: Partial<ErrandRecord>): void {
    const now = this.errands.read(errand.record.id);
    const ended = now?.end ? { end: now.end, endedAt: now.endedAt, wait: null } : {};
    const record = { ...errand.record, ...facts, ...ended };
    this.errands.save(record);
    errand.record = record;
    if (record.end !== null) errand.settle(record.end);
  }

  /** The open errand that fits, where it is the only one. */
  #only(fits: (errand: Held) => boolean): Held | null {
    const [first, second] = [...this.#held.values()].filter((each) => each.record.end === null && fits(each));
    return first !== undefined && second === undefined ? first : null;
  }

  #at(id: string): Held {
    const errand = this.#held.get(id);
    if (errand === undefined) throw new Error(`errand ${id} is not at this desk`);
    return errand;
  }
}
