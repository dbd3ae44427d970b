/**
 * One Codex turn, from `turn/start` to its terminal event and the end of what it started.
 *
 * Only `turn/completed` of this thread and this turn ends it; everything else that can end it (a server that
 * is gone, silence, a stop that is not obeyed) has a bound of its own.
 */
import type { Failure } from '../../../../plugin/hooks/protocol/outcome.js';
import type { Steering, TurnEnd, TurnEvent, TurnInput } from '../contract.js';
import { AnswerRule } from './answer.js';
import { actedOf, CUT_OFF, planSteps } from './events.js';
import { failure, hintFor, httpStatusOf, rpcFailure, serverEnded, turnFailure, unreadable } from './failures.js';
import {
  type Address,
  addressOf,
  type CodexError,
  errorNotice,
  FrameFault,
  type Item,
  itemOf,
  type OtherItem,
  planUpdated,
  read,
  rerouted,
  turnBegun,
  turnCompleted,
  warning,
} from './frames.js';
import { type Answered, answerTo, boundsOf } from './permissions.js';
import type { CodexServer, Settled, ThreadListener } from './server.js';
import { type TokenMeter, totalOf } from './tokens.js';

/** How long Codex may take to end a turn that it was told to interrupt (measured: 14 ms), in milliseconds. */
const INTERRUPT_MS = 5_000;
/** How long the model may be silent after Codex reported a 429, in milliseconds: it waits as long as `Retry-After` says. */
const LIMITED_MS = 120_000;
/** How long items that were open at the turn's end are waited for, in milliseconds. */
const DRAIN_MS = 1_000;
/** How long Codex may take to end the terminals of a thread, in milliseconds. */
const CLEAN_MS = 5_000;

/** How the turn ended, before its leftovers were seen to. */
type Verdict =
  | { readonly kind: 'completed' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly failure: Failure };

type OpenAction = {
  readonly event: Extract<TurnEvent, { kind: 'action_started' }>;
  /** Ends the recording of what it starts. */
  readonly over: () => void;
  /** Whether it is the model that works on it, whose silence counts. */
  readonly isOfModel: boolean;
};

export type TurnContext = {
  readonly server: CodexServer;
  readonly thread: string;
  readonly job: string;
  readonly model: string;
  readonly meter: TokenMeter;
};

export class CodexTurn implements ThreadListener {
  readonly end: Promise<TurnEnd>;
  #resolve!: (end: TurnEnd) => void;
  /** Notifications that came before the turn's id was known. */
  #early: { method: string; params: unknown; address: Address }[] = [];
  #id: string | null = null;
  #isStarted = false;
  #isStopWanted = false;
  /** Set when we stop the turn ourselves: what it ends as, unless it completed meanwhile. */
  #verdictOnStop: Verdict | null = null;
  #verdict: Verdict | null = null;
  #isSettled = false;
  #model: string;
  readonly #rule = new AnswerRule();
  /** Actions under way, by item id. */
  readonly #open = new Map<string, OpenAction>();
  /** Ids of the items that have completed: a stream retry completes some again. */
  readonly #seen = new Set<string>();
  /** Threads of sub-agents that worked in this turn → the turn each is in, null once it ended. */
  readonly #agents = new Map<string, string | null>();
  #hasActed = false;
  #lastRetry: CodexError | null = null;
  #watchdog: NodeJS.Timeout | null = null;
  #stopBound: NodeJS.Timeout | null = null;
  #drained: (() => void) | null = null;
  #survivors: readonly string[] = [];
  readonly #whenStarted: Promise<void>;
  #startedNow!: () => void;

  constructor(
    private readonly context: TurnContext,
    private readonly input: TurnInput,
    private readonly onEvent: (event: TurnEvent) => void,
  ) {
    this.#model = context.model;
    this.end = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#whenStarted = new Promise((resolve) => {
      this.#startedNow = resolve;
    });
    context.meter.begin();
    this.#begin();
  }

  #begin(): void {
    const { messages, cwd, effort, access } = this.input;
    const { thread } = this.context;
    this.#rearm();
    this.context.server.send(
      'turn/start',
      {
        threadId: thread,
        clientUserMessageId: messages.at(-1)?.id,
        input: messages.map(({ text }) => ({ type: 'text', text, text_elements: [] })),
        cwd,
        ...(effort === null ? {} : { effort }),
        ...boundsOf(access, cwd),
      },
      (settled) => this.#begun(settled),
    );
  }

  #begun(settled: Settled): void {
    switch (settled.kind) {
      case 'gone':
        this.#decide({ kind: 'failed', failure: settled.failure });
        return;
      case 'refused':
        this.#decide({ kind: 'failed', failure: rpcFailure(settled.error, this.#known) });
        return;
      case 'result': {
        this.#guarded(() => {
          this.#id = read(turnBegun, settled.result, 'the answer to turn/start').turn.id;
        });
        const early = this.#early;
        this.#early = [];
        for (const { method, params, address } of early) this.notified(method, params, address);
        return;
      }
    }
  }

  // --- what the server says ---

  notified(method: string, params: unknown, address: Address): void {
    if (this.#isSettled) return;
    if (this.#id === null) {
      this.#early.push({ method, params, address });
      return;
    }
    if (address.turnId !== null && address.turnId !== this.#id) {
      // Right after a resume Codex repeats the total of the thread's last turn.
      if (method === 'thread/tokenUsage/updated') this.#guarded(() => this.context.meter.before(totalOf(params)));
      return;
    }
    this.#rearm();
    this.#guarded(() => this.#take(method, params));
  }

  descendant(method: string, params: unknown, thread: string): void {
    if (this.#isSettled) return;
    this.#rearm();
    this.#guarded(() => {
      switch (method) {
        case 'thread/tokenUsage/updated':
          this.context.meter.descendant(thread, totalOf(params));
          return;
        case 'turn/started':
          this.#agents.set(thread, addressOf(params).turnId);
          return;
        case 'turn/completed':
          this.#agents.set(thread, null);
          this.#drained?.();
          return;
        case 'item/started': {
          const item = itemOf(params);
          if (item.type === 'subAgentActivity') this.context.server.adopt(item.agentThreadId, thread);
          return;
        }
        default:
          return; // a sub-agent's own work is its own: its parent reports what came of it
      }
    });
  }

  asked(method: string, params: unknown): Answered {
    const answered = answerTo(method, params, this.#isSettled ? null : this.input.access);
    if (answered.shown) this.#emit({ kind: 'approval', ...answered.shown });
    return answered;
  }

  ended(reason: Failure, survivors: Promise<readonly string[]>): void {
    void survivors.then((left) => {
      this.#survivors = left;
      const onStop: Verdict = this.#verdictOnStop ?? { kind: 'interrupted' };
      this.#decide(this.#isStopWanted ? onStop : { kind: 'failed', failure: reason });
    });
  }

  #take(method: string, params: unknown): void {
    switch (method) {
      case 'turn/started':
        this.#isStarted = true;
        this.#startedNow();
        if (this.#isStopWanted) this.#sendInterrupt();
        return;
      case 'item/started':
        this.#itemStarted(params);
        return;
      case 'item/completed':
        this.#itemCompleted(params);
        return;
      case 'turn/plan/updated': {
        const { plan, explanation } = read(planUpdated, params, method);
        this.#emit({ kind: 'plan', steps: planSteps(plan), explanation: explanation ?? '' });
        return;
      }
      case 'thread/tokenUsage/updated':
        this.context.meter.during(totalOf(params));
        return;
      case 'error': {
        const { error, willRetry } = read(errorNotice, params, method);
        if (!willRetry) return; // turn/completed repeats it
        this.#lastRetry = error;
        this.#emit(retryOf(error));
        this.#rearm();
        return;
      }
      case 'warning':
        this.#emit({ kind: 'warning', text: read(warning, params, method).message });
        return;
      case 'model/rerouted': {
        const { fromModel, toModel } = read(rerouted, params, method);
        this.#model = toModel;
        this.#emit({ kind: 'warning', text: `Codex answers with ${toModel} instead of ${fromModel}.` });
        return;
      }
      case 'turn/completed':
        this.#completed(params);
        return;
      default:
        return; // deltas, diffs and what later versions add: nothing is built from them
    }
  }

  #itemStarted(params: unknown): void {
    const item = itemOf(params);
    if (item.type === 'userMessage') return;
    if (item.type === 'subAgentActivity') this.context.server.adopt(item.agentThreadId, this.context.thread);
    this.#lastRetry = null; // the model answers again
    this.#show(this.#rule.workGoesOn(item.id));
    const acted = actedOf(item);
    if (!acted || this.#open.has(item.id) || this.#seen.has(item.id)) return;
    this.#hasActed = true;
    const event = { kind: 'action_started', item: item.id, action: acted.action } as const;
    const over = acted.action.tool === 'command' ? this.context.server.commandRuns() : () => {};
    this.#open.set(item.id, { event, over, isOfModel: isOfModel(item) });
    this.#emit(event);
    this.#rearm();
  }

  #itemCompleted(params: unknown): void {
    const item = itemOf(params);
    switch (item.type) {
      case 'userMessage':
        return;
      case 'agentMessage':
        this.#show(this.#rule.complete(item));
        return;
      case 'reasoning': {
        const text = item.summary.filter((part) => part.trim() !== '').join('\n\n');
        if (text !== '' && !this.#seen.has(item.id)) this.#emit({ kind: 'reasoning', text });
        this.#seen.add(item.id);
        return;
      }
      default: {
        const acted = actedOf(item);
        if (!acted || this.#seen.has(item.id)) return;
        // Some items only ever complete.
        if (!this.#open.has(item.id)) this.#itemStarted(params);
        this.#seen.add(item.id);
        this.#open.get(item.id)?.over();
        this.#open.delete(item.id);
        this.#emit({ kind: 'action_completed', item: item.id, ...acted });
        this.#rearm();
        this.#drained?.();
      }
    }
  }

  #completed(params: unknown): void {
    const { turn } = read(turnCompleted, params, 'turn/completed');
    switch (turn.status) {
      case 'completed':
        this.#decide(turn.error ? this.#failed(turn.error) : { kind: 'completed' }, true);
        return;
      case 'interrupted':
        // Interrupted by us because it was silent: the verdict that asked for it stands. Interrupted by Codex
        // itself, with an error: that is a failure.
        this.#decide(
          this.#verdictOnStop ??
            (turn.error && !this.#isStopWanted ? this.#failed(turn.error) : { kind: 'interrupted' }),
        );
        return;
      case 'failed':
        this.#decide(this.#verdictOnStop ?? this.#failed(turn.error));
        return;
      default:
        throw new FrameFault(`turn/completed with the status ${turn.status}`);
    }
  }

  #failed(error: CodexError | null | undefined): Verdict {
    return { kind: 'failed', failure: turnFailure(error, this.#known) };
  }

  // --- what we do ---

  /** Hands a message to the turn while it runs. */
  async steer(message: { readonly id: string; readonly text: string }): Promise<Steering> {
    await Promise.race([this.#whenStarted, this.end]);
    if (this.#verdict || this.#id === null) return { kind: 'no_turn' };
    const settled = await this.context.server.request('turn/steer', {
      threadId: this.context.thread,
      expectedTurnId: this.#id,
      clientUserMessageId: message.id,
      input: [{ type: 'text', text: message.text, text_elements: [] }],
    });
    return settled.kind === 'result' ? { kind: 'joined' } : { kind: 'no_turn' };
  }

  /** Asks the turn to end, and resolves once it has: as interrupted, or as what it had become. */
  async interrupt(): Promise<void> {
    this.#stop();
    await this.end;
  }

  #stop(): void {
    if (this.#verdict || this.#isStopWanted) return;
    this.#isStopWanted = true;
    // Between the answer to turn/start and turn/started an interrupt can be refused, and the turn runs on.
    if (this.#isStarted) this.#sendInterrupt();
    this.#stopBound = setTimeout(() => {
      const reason = serverEnded('Codex was ended, for it did not stop a turn when told to.');
      void this.context.server.close(reason).then((left) => {
        this.#survivors = left;
        this.#decide(this.#verdictOnStop ?? { kind: 'interrupted' });
      });
    }, INTERRUPT_MS);
  }

  #sendInterrupt(): void {
    // Its answer says nothing: `{}` comes also when the turn completes, an error when it has. turn/completed tells.
    this.context.server.send('turn/interrupt', { threadId: this.context.thread, turnId: this.#id }, () => {});
  }

  // --- silence ---

  /** Something happened: silence counts from now, and only while nothing but the model can be working. */
  #rearm(): void {
    if (this.#watchdog) clearTimeout(this.#watchdog);
    this.#watchdog = null;
    const isToolBusy = [...this.#open.values()].some((action) => !action.isOfModel);
    if (this.#verdict || this.#isStopWanted || isToolBusy) return;
    const ms = this.#isLimited ? Math.min(LIMITED_MS, this.input.stallMs) : this.input.stallMs;
    this.#watchdog = setTimeout(() => this.#stalled(ms), ms);
  }

  /**
   * A 429 with a long `Retry-After` shows as one retry notice that carries the status, and then as silence for
   * as long as the header says (measured on codex 0.171.0).
   */
  get #isLimited(): boolean {
    return this.#lastRetry !== null && httpStatusOf(this.#lastRetry) === 429;
  }

  #stalled(ms: number): void {
    const kind = this.#isLimited ? 'rate_limit' : 'stalled';
    const last = this.#lastRetry ? ` Codex last said: ${retryText(this.#lastRetry)}` : '';
    const message = this.#isLimited
      ? `The provider refused the request (429) and asks for more than ${seconds(ms)} of waiting.`
      : `The model was silent for ${seconds(ms)}.${last}`;
    this.#verdictOnStop = { kind: 'failed', failure: failure(kind, message, hintFor(kind, this.#known)) };
    this.#stop();
  }

  // --- the end ---

  #decide(verdict: Verdict, hasAnswer = false): void {
    if (this.#verdict) return;
    this.#verdict = verdict;
    if (this.#watchdog) clearTimeout(this.#watchdog);
    if (this.#stopBound) clearTimeout(this.#stopBound);
    this.#startedNow();
    void this.#finish(verdict, hasAnswer);
  }

  async #finish(verdict: Verdict, hasAnswer: boolean): Promise<void> {
    const { server, thread, job } = this.context;
    // A turn that completed and ran nothing has left nothing.
    const mayHaveLeft = this.#hasActed || this.#agents.size > 0 || verdict.kind !== 'completed';
    if (mayHaveLeft && !server.gone) {
      // An interrupt leaves the running command alive, and so can a turn that completed; a sub-agent works on
      // after its parent's last word.
      for (const [agent, turnId] of this.#agents) {
        if (turnId !== null) server.send('turn/interrupt', { threadId: agent, turnId }, () => {});
      }
      const clean = (threadId: string) => server.request('thread/backgroundTerminals/clean', { threadId }, CLEAN_MS);
      await Promise.all([thread, ...this.#agents.keys()].map(clean));
      await this.#drain();
    }
    if (mayHaveLeft) this.#survivors = [...new Set([...this.#survivors, ...(await server.killStrays(job))])];
    for (const { event, over } of this.#open.values()) {
      over();
      this.#emit({ kind: 'action_completed', item: event.item, action: event.action, result: CUT_OFF });
    }
    this.#open.clear();
    const ending = this.#ending(verdict, hasAnswer);
    this.#isSettled = true;
    this.#resolve({ ending, tokens: this.context.meter.end(), model: this.#model, survivors: this.#survivors });
  }

  /** Items complete after `turn/completed` too (a command that was just cleaned away): they are waited for a moment. */
  async #drain(): Promise<void> {
    const isDrained = () => this.#open.size === 0 && !this.#areAgentsBusy;
    if (isDrained()) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, DRAIN_MS);
      this.#drained = () => {
        if (!isDrained()) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  get #areAgentsBusy(): boolean {
    return [...this.#agents.values()].some((turnId) => turnId !== null);
  }

  #ending(verdict: Verdict, hasAnswer: boolean): TurnEnd['ending'] {
    const { answer, shown } = this.#rule.end();
    if (verdict.kind === 'completed' && hasAnswer) {
      this.#show(shown);
      return answer === null ? { kind: 'empty' } : { kind: 'completed', answer };
    }
    this.#show(verdict.kind === 'failed' ? [] : [...shown, ...(answer === null ? [] : [answer])]);
    return verdict.kind === 'failed'
      ? { kind: 'failed', failure: verdict.failure, partial: this.#rule.partial }
      : { kind: 'interrupted' };
  }

  get #known() {
    return { rateLimits: this.context.server.rateLimits, model: this.#model };
  }

  /** A frame of this turn that cannot be read ends this turn, and no other. */
  #guarded(take: () => void): void {
    try {
      take();
    } catch (error) {
      if (!(error instanceof FrameFault)) throw error;
      this.#verdictOnStop ??= {
        kind: 'failed',
        failure: unreadable(error.message),
      };
      this.#stop();
    }
  }

  #show(texts: readonly string[]): void {
    for (const text of texts) this.#emit({ kind: 'message', text });
  }

  #emit(event: TurnEvent): void {
    if (!this.#isSettled) this.onEvent(event);
  }
}

/** A compaction is a request to the model like any other. */
function isOfModel(item: Item | OtherItem): boolean {
  return item.type === 'unknown' && item.name === 'contextCompaction';
}

/** `Reconnecting... 2/5`: Codex states attempt and limit in the sentence alone. */
function retryOf(error: CodexError): TurnEvent {
  const count = /(\d+)\/(\d+)/.exec(error.message);
  return {
    kind: 'retry',
    attempt: count ? Number(count[1]) : null,
    of: count ? Number(count[2]) : null,
    reason: retryText(error),
  };
}

const retryText = (error: CodexError) => error.additionalDetails ?? error.message;

const seconds = (ms: number) => `${ms < 1000 ? ms / 1000 : Math.round(ms / 1000)} s`;
