/**
 * A job on disk: `jobs/<id>/{state.json, events.jsonl, prompts/<n>, answers/<turn>, owner}`.
 *
 * Whatever a caller is told has been written before: a message before it is acknowledged, an answer before
 * its turn is said to have ended, an event before it is served.
 */
import { join } from 'node:path';
import type { AnswerPage, Delivery, Message, PermissionMode } from '../../../plugin/hooks/protocol/api.js';
import type { EventBody, JobEvent } from '../../../plugin/hooks/protocol/event.js';
import type { AnswerRecord, Outcome } from '../../../plugin/hooks/protocol/outcome.js';
import type { ProcessIdentity } from '../process/table.js';
import { checkPrivateFolder, ensurePrivateFolder, isThere, readPrivate, writeAtomic } from '../state/private-files.js';
import { jobFolder, jobsFolder } from '../state/state-folder.js';
import { rememberedAfter } from './access.js';
import { answerRecord, readAnswer, storeAnswer } from './answers.js';
import { boundedEvent } from './bounded-event.js';
import { EventLog } from './event-log.js';
import { type Mask, maskEvent } from './mask-event.js';
import { letJobGo, takeJob } from './owner.js';
import { type JobRecord, type MessageRecord, recordOf } from './record.js';

export type JournalPlace = {
  /** Verbatim's state folder. */
  readonly state: string;
  readonly self: ProcessIdentity;
  readonly mask: Mask;
  readonly now: () => number;
};

/** What the events of a job say of its last turn, where that turn has no end: its sidecar died while it ran. */
type OpenTurn = { turn: number; startedAt: number; messages: string[]; files: Set<string> };

/** How a run is said to have been delivered contradicts what the journal has. */
export class DeliveryConflict extends Error {}

export class Journal {
  #record: JobRecord;
  readonly #log: EventLog;
  readonly #ids: Set<string>;

  private constructor(
    private readonly place: JournalPlace,
    readonly folder: string,
    record: JobRecord,
    log: EventLog,
  ) {
    this.#record = record;
    this.#log = log;
    this.#ids = new Set(record.messages.map((message) => message.id));
  }

  /** Makes the folder of a new job and takes it. */
  static create(place: JournalPlace, record: JobRecord): Journal {
    ensurePrivateFolder(place.state);
    ensurePrivateFolder(jobsFolder(place.state));
    const folder = jobFolder(place.state, record.id);
    ensurePrivateFolder(folder);
    ensurePrivateFolder(join(folder, 'prompts'));
    ensurePrivateFolder(join(folder, 'answers'));
    takeJob(folder, record.id, place.self);
    writeAtomic(join(folder, 'state.json'), JSON.stringify(record));
    return new Journal(
      place,
      folder,
      record,
      EventLog.open(join(folder, 'events.jsonl'), () => {}),
    );
  }

  /**
   * Takes up a job that is on disk; null where there is none. A turn that its sidecar left open is ended:
   * as completed where its answer had been stored whole, else as failed (`crashed`) with what it had said.
   *
   * Throws JobTakenError where a living sidecar has it, UnsafePathError where the folder is not ours alone,
   * ShapeError where state.json is not of our form.
   */
  static open(place: JournalPlace, id: string): Journal | null {
    const folder = jobFolder(place.state, id);
    if (!isThere(folder)) return null;
    for (const path of [jobsFolder(place.state), folder]) checkPrivateFolder(path);
    for (const name of ['prompts', 'answers']) ensurePrivateFolder(join(folder, name));
    if (!isThere(join(folder, 'state.json'))) return null;
    takeJob(folder, id, place.self);
    try {
      const record = recordOf(readPrivate(join(folder, 'state.json')).toString('utf8'), id);
      let open: OpenTurn | null = null;
      let turns = 0;
      const log = EventLog.open(join(folder, 'events.jsonl'), (event) => {
        open = openTurnAfter(open, event);
        turns = event.turn;
      });
      const journal = new Journal(place, folder, record, log);
      if (record.turns > turns) journal.#takeBack(turns);
      if (open !== null) journal.#endAbandoned(open);
      return journal;
    } catch (error) {
      letJobGo(folder, place.self);
      throw error;
    }
  }

  get record(): JobRecord {
    return this.#record;
  }

  get lastSeq(): number {
    return this.#log.lastSeq;
  }

  /** The ids of the messages that no turn has taken, oldest first. */
  get waiting(): string[] {
    return this.#record.messages.filter((message) => message.turn === null).map((message) => message.id);
  }

  hasMessage(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Keeps a message: once this returns it cannot be lost. What the job may do becomes as strict as its mode. */
  accept(message: Message, mode: PermissionMode): void {
    const { messages, access } = this.#record;
    writeAtomic(this.#promptFile(messages.length + 1), message.text);
    this.update({
      messages: [...messages, { id: message.id, mode, turn: null }],
      access: rememberedAfter(access, mode),
    });
    this.#ids.add(message.id);
  }

  message(id: string): MessageRecord & { readonly text: string } {
    const index = this.#record.messages.findIndex((message) => message.id === id);
    const message = this.#record.messages[index];
    if (message === undefined) throw new Error(`job ${this.#record.id} has no message ${id}`);
    return { ...message, text: readPrivate(this.#promptFile(index + 1)).toString('utf8') };
  }

  /** Says that these messages are handed to `turn`: from now on they are never handed over again. */
  handOver(ids: readonly string[], turn: number, changes: Partial<JobRecord> = {}): void {
    const messages = this.#record.messages.map((message) =>
      ids.includes(message.id) && message.turn === null ? { ...message, turn } : message,
    );
    this.update({ ...changes, messages });
  }

  update(changes: Partial<JobRecord>): void {
    const record = { ...this.#record, ...changes, updatedAt: this.place.now() };
    writeAtomic(join(this.folder, 'state.json'), JSON.stringify(record));
    this.#record = record;
  }

  /** Appends an event, masked, under the next number. */
  append(turn: number, body: EventBody): JobEvent {
    const event: JobEvent = {
      ...maskEvent(boundedEvent(body), this.place.mask),
      seq: this.#log.lastSeq + 1,
      turn,
      at: this.place.now(),
    };
    this.#log.append(event);
    return event;
  }

  eventsAfter(seq: number): JobEvent[] {
    return this.#log.after(seq);
  }

  async storeAnswer(turn: number, text: string): Promise<AnswerRecord> {
    return await storeAnswer(this.folder, turn, text);
  }

  readAnswer(turn: number, from = 0): AnswerPage | null {
    return readAnswer(this.folder, turn, from);
  }

  /** Notes how a run was delivered. The same again changes nothing; something else for one run is a conflict. */
  deliver(delivery: Delivery): void {
    const { deliveries } = this.#record;
    const before = deliveries.find((known) => known.run === delivery.run);
    if (before === undefined) {
      this.update({ deliveries: [...deliveries, { ...delivery, at: this.place.now() }] });
      return;
    }
    if (before.turn !== delivery.turn || before.how !== delivery.how) {
      throw new DeliveryConflict(
        `run ${delivery.run} was delivered already: turn ${before.turn}, ${before.how}; a run is delivered once`,
      );
    }
  }

  /** Closes the files and lets the job go, for another sidecar to take up. */
  close(): void {
    this.#log.close();
    letJobGo(this.folder, this.place.self);
  }

  /**
   * The sidecar died between noting that messages go to a turn and beginning it: the harness has not seen
   * them (a turn is handed over only once its begin is in the events), so they wait again.
   */
  #takeBack(turns: number): void {
    const messages = this.#record.messages.map((message) =>
      message.turn !== null && message.turn > turns ? { ...message, turn: null } : message,
    );
    this.update({ turns, messages });
  }

  #endAbandoned(open: OpenTurn): void {
    const answer = answerRecord(this.folder, open.turn);
    const outcome: Outcome =
      answer !== null
        ? { kind: 'completed', answer }
        : {
            kind: 'failed',
            failure: {
              kind: 'crashed',
              status: 'failed',
              message: 'The sidecar that ran this turn ended before the turn did.',
              hint: 'Send a message to go on: the thread is kept.',
            },
            partial: open.messages,
          };
    this.append(open.turn, {
      kind: 'turn_ended',
      outcome,
      tokens: null,
      model: this.#record.model,
      durationMs: Math.max(0, this.place.now() - open.startedAt),
      filesChanged: [...open.files],
      survivors: [],
    });
  }

  #promptFile(number: number): string {
    return join(this.folder, 'prompts', String(number));
  }
}

function openTurnAfter(open: OpenTurn | null, event: JobEvent): OpenTurn | null {
  if (event.kind === 'turn_started') {
    return { turn: event.turn, startedAt: event.at, messages: [], files: new Set() };
  }
  if (event.kind === 'turn_ended') return null;
  if (open === null) return null;
  if (event.kind === 'message') open.messages.push(event.text);
  for (const path of changedPaths(event)) open.files.add(path);
  return open;
}

/** The files that an event says were changed: those of a completed edit. */
export function changedPaths(event: EventBody): string[] {
  const isEdit = event.kind === 'action_completed' && event.action.tool === 'edit';
  return isEdit && event.result.status === 'completed' ? event.action.changes.map((change) => change.path) : [];
}
