/**
 * One agent's life with its harness thread.
 *
 * Does what the turn state machine decides: opens the thread, runs turns, steers, records. Every decision
 * about messages and turns is in ./turn-state.ts; nothing here starts or ends a turn by itself.
 */
import { stat } from 'node:fs/promises';
import { driftNotice } from '../../../plugin/hooks/notes/drift.js';
import type {
  AnswerPage,
  Delivery,
  Disposition,
  EventsPage,
  JobView,
  Message,
  PermissionMode,
} from '../../../plugin/hooks/protocol/api.js';
import type { EventBody } from '../../../plugin/hooks/protocol/event.js';
import type { Failure } from '../../../plugin/hooks/protocol/outcome.js';
import { TESTED } from '../../../plugin/hooks/protocol/tested.js';
import { messageOf } from '../errors.js';
import {
  type Access,
  type Harness,
  HarnessError,
  type HarnessThread,
  type TurnEnd,
  type TurnEvent,
} from '../harness/contract.js';
import type { Log } from '../log.js';
import { accessOfTurn, mayJoin } from './access.js';
import { changedPaths, type Journal } from './journal.js';
import { failureOf, outcomeOf } from './outcome.js';
import { type Effect, type Happening, isBusy, next, restingState, type TurnState } from './turn-state.js';

/** The journal of a job cannot be written; the message names its folder and why. */
export class JournalFault extends Error {}

export type JobLimits = {
  /** How long a turn has to end once it was asked to, in milliseconds, before its thread is closed. */
  readonly interruptMs: number;
  /** How long closing the thread may take, in milliseconds, before the turn is given up. */
  readonly closeMs: number;
  /** How long a steer may stay unanswered after its turn's end, in milliseconds. */
  readonly steerMs: number;
};

const JOB_LIMITS: JobLimits = { interruptMs: 8_000, closeMs: 8_000, steerMs: 5_000 };

export type JobPorts = {
  readonly journal: Journal;
  readonly harness: Harness;
  readonly log: Log;
  readonly now: () => number;
  readonly limits?: JobLimits;
};

/** What the job holds of the turn that is under way. */
type CurrentTurn = {
  readonly turn: number;
  readonly startedAt: number;
  readonly access: Access;
  readonly files: Set<string>;
  end: TurnEnd | null;
  /** Timers that bound the turn's ending; cleared when it has ended. */
  readonly timers: Set<NodeJS.Timeout>;
};

export class Job {
  readonly #journal: Journal;
  readonly #harness: Harness;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #limits: JobLimits;

  #state: TurnState;
  #thread: HarnessThread | null = null;
  #opening: Promise<HarnessThread> | null = null;
  #openFailure: Failure | null = null;
  #startedAt = 0;
  #current: CurrentTurn | null = null;
  /** Resolves, by message id, what became of a message that was to join the running turn. */
  readonly #steers = new Map<string, (disposition: Disposition) => void>();
  /** Long polls and stops that wait for the job to change. */
  readonly #watchers = new Set<() => void>();
  #isClosed = false;
  /** Why the journal could not be written; a reader is told instead of waiting for what cannot come. */
  #fault: Error | null = null;

  constructor(ports: JobPorts) {
    this.#journal = ports.journal;
    this.#harness = ports.harness;
    this.#log = ports.log;
    this.#now = ports.now;
    this.#limits = ports.limits ?? JOB_LIMITS;
    this.#state = restingState(ports.journal.record.turns, ports.journal.waiting);
  }

  get id(): string {
    return this.#journal.record.id;
  }

  get isBusy(): boolean {
    return isBusy(this.#state);
  }

  view(): JobView {
    const { record } = this.#journal;
    return {
      id: record.id,
      harness: record.harness,
      harnessVersion: record.harnessVersion,
      agent: record.agent,
      model: record.model,
      thread: this.#thread?.id ?? record.thread,
      cwd: record.cwd,
      status: this.isBusy ? 'running' : 'idle',
      turns: this.#state.turn,
      lastSeq: this.#journal.lastSeq,
      createdAt: record.createdAt,
    };
  }

  /**
   * Takes a message: it is on disk before this does anything else, and handed to the harness exactly once.
   * Resolves to what became of it, which for a running turn waits for the harness's word; throws where the
   * message could not be kept.
   */
  send(message: Message, mode: PermissionMode): Promise<Disposition> {
    if (this.#journal.hasMessage(message.id)) return Promise.resolve('duplicate');
    this.#journal.accept(message, mode);
    this.#fault = null;
    const isSteerable = this.#current === null || mayJoin(mode, this.#current.access.level);
    if (this.#state.phase === 'idle') {
      this.#apply({ kind: 'message', id: message.id, isSteerable });
      return Promise.resolve('started');
    }
    const disposition = new Promise<Disposition>((resolve) => this.#steers.set(message.id, resolve));
    this.#apply({ kind: 'message', id: message.id, isSteerable });
    return disposition;
  }

  /** Ends the running turn, if there is one; resolves once its end is recorded. Messages that wait stay. */
  async stop(): Promise<void> {
    const { turn } = this.#state;
    if (!this.isBusy) return;
    this.#apply({ kind: 'stop' });
    await this.#until(() => !this.isBusy || this.#state.turn > turn);
  }

  /** Stops the job, ends its thread and lets its folder go. Resolves to the processes that would not end. */
  async close(): Promise<readonly string[]> {
    await this.stop();
    this.#isClosed = true;
    const thread = this.#thread;
    this.#thread = null;
    const survivors = thread === null ? [] : await this.#closeThread(thread);
    this.#journal.close();
    this.#changed();
    return survivors;
  }

  /**
   * The events after number `after`. Holds until there is one, the job is idle, `waitMs` is over or `signal`
   * aborts, whichever is first.
   */
  async events(after: number, waitMs: number, signal: AbortSignal): Promise<EventsPage> {
    const isReady = () => this.#journal.lastSeq > after || !this.isBusy || this.#isClosed || this.#fault !== null;
    if (!isReady() && waitMs > 0) await this.#until(isReady, waitMs, signal);
    if (this.#fault !== null && this.#journal.lastSeq <= after) throw this.#fault;
    return { events: this.#isClosed ? [] : this.#journal.eventsAfter(after), job: this.view() };
  }

  /** The page of a turn's answer that begins at UTF-16 unit `from`. */
  answer(turn: number, from = 0): AnswerPage | null {
    return this.#journal.readAnswer(turn, from);
  }

  deliver(delivery: Delivery): void {
    this.#journal.deliver(delivery);
  }

  #apply(happening: Happening): void {
    const { state, effects } = next(this.#state, happening);
    this.#state = state;
    for (const id of state.waiting) this.#settleSteer(id, 'queued');
    for (const effect of effects) this.#perform(effect);
    this.#changed();
  }

  #perform(effect: Effect): void {
    switch (effect.kind) {
      case 'open':
        this.#startedAt = this.#now();
        this.#run(this.#open(effect.turn));
        return;
      case 'run':
        this.#run(this.#runTurn(effect.turn, effect.messages));
        return;
      case 'steer':
        this.#run(this.#steer(effect.id));
        return;
      case 'interrupt':
        this.#run(this.#interrupt());
        return;
      case 'record_end':
        this.#run(this.#recordEnd(effect.turn));
        return;
      case 'record_unstarted':
        this.#recordUnstarted(effect);
        return;
      default:
        effect satisfies never;
    }
  }

  /** Work that nobody awaits: what goes wrong in it is ours, and is logged. */
  #run(work: Promise<void>): void {
    work.catch((error: unknown) => this.#log('error', `job ${this.id}: an unexpected error`, { error }));
  }

  async #open(turn: number): Promise<void> {
    try {
      await this.#ensureThread();
      this.#apply({ kind: 'opened', turn });
    } catch (error) {
      this.#openFailure = failureOf(error);
      this.#log('warning', `job ${this.id}: the harness's thread could not be opened`, { error });
      this.#apply({ kind: 'open_failed', turn });
    }
  }

  async #ensureThread(): Promise<void> {
    const { record } = this.#journal;
    // Codex takes a folder that is not there without a word and then fails each command (0.171.0).
    if (!(await isFolder(record.cwd))) throw new HarnessError(goneFolder(record.cwd));
    if (this.#thread !== null) return;
    this.#opening ??= this.#harness
      .open({ job: record.id, thread: record.thread, cwd: record.cwd, model: record.requestedModel })
      .finally(() => {
        this.#opening = null;
      });
    this.#thread = await this.#opening;
  }

  async #runTurn(turn: number, ids: readonly string[]): Promise<void> {
    const thread = this.#thread;
    if (thread === null) throw new Error('a turn began without a thread');
    const { record } = this.#journal;
    const messages = ids.map((id) => this.#journal.message(id));
    const current: CurrentTurn = {
      turn,
      startedAt: this.#startedAt,
      access: accessOfTurn(
        record.access,
        messages.map((message) => message.mode),
      ),
      files: new Set(),
      end: null,
      timers: new Set(),
    };
    this.#current = current;
    const settle = (end: TurnEnd) => {
      if (current.end !== null) return;
      current.end = end;
      this.#boundSteer(current);
      this.#apply({ kind: 'settled', turn });
    };
    try {
      this.#journal.handOver(ids, turn, {
        turns: turn,
        thread: thread.id,
        model: thread.model,
        harnessVersion: thread.harnessVersion,
      });
      this.#append(turn, { kind: 'turn_started', messages: ids });
      this.#sayDrift(turn, thread.harnessVersion);
      const end = await thread.run(
        {
          messages: messages.map(({ id, text }) => ({ id, text })),
          access: current.access,
          cwd: record.cwd,
          effort: record.effort,
          stallMs: record.stallMs,
        },
        (event) => this.#onEvent(current, event),
      );
      settle(end);
    } catch (error) {
      this.#log('error', `job ${this.id}: turn ${turn} broke off`, { error });
      settle(endOf({ kind: 'failed', failure: failureOf(error), partial: [] }, thread.model));
    }
  }

  /** Once a job: that its harness is not one that Verbatim was tested with. */
  #sayDrift(turn: number, version: string): void {
    if (turn > 1) return;
    const { harness } = this.#journal.record;
    const text = driftNotice(harness, version, TESTED[harness]);
    if (text !== undefined) this.#append(turn, { kind: 'warning', text });
  }

  #onEvent(current: CurrentTurn, event: TurnEvent): void {
    if (current.end !== null) {
      this.#log('warning', `job ${this.id}: an event came after turn ${current.turn} had ended`, { kind: event.kind });
      return;
    }
    for (const path of changedPaths(event)) current.files.add(path);
    this.#append(current.turn, event);
    this.#changed();
  }

  async #steer(id: string): Promise<void> {
    const thread = this.#thread;
    const current = this.#current;
    let hasJoined = false;
    try {
      if (thread !== null && current !== null) {
        const { text } = this.#journal.message(id);
        hasJoined = (await thread.steer({ id, text })).kind === 'joined';
      }
    } catch (error) {
      // Whether the harness saw it is not known. A message must not be lost: it gets the next turn.
      this.#log('warning', `job ${this.id}: message ${id} could not join the turn; it gets the next one`, { error });
    }
    this.#onSteered(id, hasJoined, current);
  }

  #onSteered(id: string, hasJoined: boolean, current: CurrentTurn | null): void {
    if (this.#state.steering[0] !== id) return;
    if (hasJoined && current !== null) {
      this.#keep(() => this.#journal.handOver([id], current.turn));
      this.#append(current.turn, { kind: 'steered', message: id });
      this.#settleSteer(id, 'steered');
    }
    this.#apply({ kind: 'steered', id, hasJoined });
  }

  /** A steer that the harness never answers must not hold the end of its turn back for ever. */
  #boundSteer(current: CurrentTurn): void {
    const id = this.#state.steering[0];
    if (id === undefined) return;
    this.#later(current, this.#limits.steerMs, () => {
      this.#log(
        'warning',
        `job ${this.id}: the harness did not answer a message that was to join turn ${current.turn}`,
      );
      this.#onSteered(id, false, current);
    });
  }

  async #interrupt(): Promise<void> {
    const current = this.#current;
    const thread = this.#thread;
    if (current === null || thread === null) return;
    this.#later(current, this.#limits.interruptMs, () => this.#run(this.#forceEnd(current, thread)));
    try {
      await thread.interrupt();
    } catch (error) {
      this.#log('warning', `job ${this.id}: the harness refused to interrupt turn ${current.turn}`, { error });
      await this.#forceEnd(current, thread);
    }
  }

  /** The turn did not end when asked: its thread is closed, and if that does not end it either it is given up. */
  async #forceEnd(current: CurrentTurn, thread: HarnessThread): Promise<void> {
    if (current.end !== null || this.#thread !== thread) return;
    this.#log('warning', `job ${this.id}: turn ${current.turn} did not end when asked; its thread is closed`);
    this.#thread = null;
    const survivors = await this.#closeThread(thread);
    if (current.end !== null) return;
    current.end = endOf({ kind: 'interrupted' }, thread.model, survivors);
    this.#boundSteer(current);
    this.#apply({ kind: 'settled', turn: current.turn });
  }

  async #closeThread(thread: HarnessThread): Promise<readonly string[]> {
    let timer: NodeJS.Timeout | undefined;
    const given = new Promise<readonly string[]>((resolve) => {
      timer = setTimeout(() => {
        this.#log('error', `job ${this.id}: the harness's thread ${thread.id} did not close in time`);
        resolve([]);
      }, this.#limits.closeMs);
    });
    try {
      return await Promise.race([thread.close(), given]);
    } catch (error) {
      this.#log('error', `job ${this.id}: the harness's thread ${thread.id} could not be closed`, { error });
      return [];
    } finally {
      clearTimeout(timer);
    }
  }

  async #recordEnd(turn: number): Promise<void> {
    const current = this.#current;
    if (current?.end == null || current.turn !== turn) throw new Error(`turn ${turn} has no end to record`);
    for (const timer of current.timers) clearTimeout(timer);
    const { end } = current;
    const outcome = await outcomeOf(end.ending, (answer) => this.#journal.storeAnswer(turn, answer));
    const model = end.model || this.#journal.record.model;
    if (model !== this.#journal.record.model) this.#keep(() => this.#journal.update({ model }));
    this.#append(turn, {
      kind: 'turn_ended',
      outcome,
      tokens: end.tokens,
      model,
      durationMs: this.#now() - current.startedAt,
      filesChanged: [...current.files],
      survivors: end.survivors,
    });
    this.#current = null;
    this.#apply({ kind: 'recorded', turn });
  }

  #recordUnstarted({ turn, why, messages }: Extract<Effect, { kind: 'record_unstarted' }>): void {
    const failure = this.#openFailure ?? { kind: 'unknown', status: 'failed', message: 'The turn did not start.' };
    this.#openFailure = null;
    const model = this.#journal.record.model;
    this.#keep(() => this.#journal.update({ turns: turn }));
    this.#append(turn, { kind: 'turn_started', messages });
    this.#append(turn, {
      kind: 'turn_ended',
      outcome: why === 'stopped' ? { kind: 'interrupted' } : { kind: 'failed', failure, partial: [] },
      tokens: null,
      model,
      durationMs: this.#now() - this.#startedAt,
      filesChanged: [],
      survivors: [],
    });
    this.#apply({ kind: 'recorded', turn });
  }

  #append(turn: number, body: EventBody): void {
    this.#keep(() => this.#journal.append(turn, body));
  }

  /** Writes to the journal. A disk that is full must not leave the job running for ever: readers are told. */
  #keep(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#fault = new JournalFault(
        `job ${this.id}: its journal ${this.#journal.folder} cannot be written: ${messageOf(error)}`,
      );
      this.#log('error', `job ${this.id}: its journal cannot be written`, { error });
    }
  }

  #settleSteer(id: string, disposition: Disposition): void {
    const resolve = this.#steers.get(id);
    if (resolve === undefined) return;
    this.#steers.delete(id);
    resolve(disposition);
  }

  #later(current: CurrentTurn, ms: number, work: () => void): void {
    const timer = setTimeout(work, ms);
    timer.unref();
    current.timers.add(timer);
  }

  #changed(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  async #until(isSo: () => boolean, ms?: number, signal?: AbortSignal): Promise<void> {
    if (isSo() || signal?.aborted) return;
    await new Promise<void>((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        this.#watchers.delete(look);
        resolve();
      };
      const look = () => {
        if (isSo()) done();
      };
      if (ms !== undefined) timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done, { once: true });
      this.#watchers.add(look);
    });
  }
}

function endOf(ending: TurnEnd['ending'], model: string, survivors: readonly string[] = []): TurnEnd {
  return { ending, tokens: null, model, survivors };
}

function goneFolder(cwd: string): Failure {
  return {
    kind: 'invalid_request',
    status: 'failed',
    message: `The working folder ${cwd} is gone.`,
    hint: 'Make it again, or spawn the agent in another folder.',
  };
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Not there, or not to be looked into: either way no harness could work in it.
    return false;
  }
}
