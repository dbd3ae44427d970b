/**
 * A foreign agent's steps: from its job's events to the run's last words.
 *
 * Every decision is here or below, over a `Host`; register.ts only wires Claude Code's events to it.
 */

import * as actions from '../notes/actions.js';
import { emptyNote, failureText, interruptedNote, refusedHandbackNote } from '../notes/endings.js';
import { jobState } from '../notes/job-state.js';
import * as unavailable from '../notes/unavailable.js';
import type { AnswerPage, EventsPage, JobView, PermissionMode } from '../protocol/api.js';
import { PERMISSION_MODES, POLL_LIMIT_MS } from '../protocol/api.js';
import type { JobEvent } from '../protocol/event.js';
import type { Failure } from '../protocol/outcome.js';
import { type Agent, newRun, type Run, type SpawnFacts, signal, type Unsent } from './agent.js';
import { type Chunk, chunksOf, HEARTBEAT, type StepAt, type StepResult } from './chunks.js';
import { AGENT_TYPES, type AgentType } from './harnesses.js';
import type { ApiRequest, Host } from './host.js';
import { mailboxStep, type Step, stepOf, supersededStep } from './steps.js';
import type { ToolName } from './tools.js';

/** A hand-back is tried this often; the engine's own nudges come three times after that (2.1.332). */
const HANDBACKS = 2;
/** How often, and how far apart, a request is sent again to a sidecar that is being started anew. */
const RETRIES = 40;
const RETRY_MS = 100;
/** How long the first step waits for the events that say what the agent is to do, in tries of RETRY_MS. */
const FACTS_TRIES = 50;

type Opened = { readonly kind: 'open'; readonly job: string } | { readonly kind: 'failed'; readonly failure: Failure };
type Reply<T> = { readonly kind: 'ok'; readonly body: T } | { readonly kind: 'failed'; readonly failure: Failure };

export type StepFacts = StepAt & { readonly agentId: string };

export class Runner {
  readonly #agents = new Map<string, Agent>();
  /** Agents known not to be ours, so that their steps are passed on at once. */
  readonly #others = new Set<string>();
  /** What spawned agents were to do, by agent id, and by the framed text that a workflow's retry repeats. */
  readonly #facts = new Map<string, SpawnFacts>();
  readonly #framed = new Map<string, SpawnFacts>();
  readonly #turns = new Map<string, { turnId: string; text: string }>();
  readonly #opening = new Map<string, Promise<Opened>>();
  #mode: PermissionMode = 'unknown';

  // ── What the engine's events say ──

  /** `agent.spawn` was answered: this agent has this to do. */
  spawned(agentId: string, facts: SpawnFacts): void {
    this.#facts.set(agentId, facts);
    const turn = this.#turns.get(agentId);
    if (turn !== undefined && turn.text !== facts.prompt) this.#framed.set(turn.text, facts);
    const agent = this.#agents.get(agentId);
    if (agent !== undefined) this.#adopt(agent, facts);
  }

  /** `turn.start` of an agent's loop: a run begins, and its text is how a workflow's retry is known. */
  turnStarted(agentId: string, turnId: string, text: string): void {
    if (this.#others.has(agentId)) return;
    this.#turns.set(agentId, { turnId, text });
  }

  /** `classic.SubagentStart`: the one event that comes before the first step and states the agent's folder. */
  started(host: Host, agentId: string, type: AgentType | undefined, cwd: string | undefined): void {
    if (type === undefined) {
      this.#others.add(agentId);
      this.#turns.delete(agentId);
      return;
    }
    const agent = this.#agentOf(agentId, type);
    agent.cwd = cwd;
    const turn = this.#turns.get(agentId);
    const facts = this.#facts.get(agentId) ?? (turn === undefined ? undefined : this.#framed.get(turn.text));
    if (facts !== undefined) this.#adopt(agent, facts);
    // The harness begins now, beside the engine's own preparation of the first step (45–110 ms on 2.1.332).
    if (turn !== undefined && facts !== undefined) void this.#open(host, agent, this.#runOf(agent, turn.turnId));
  }

  /** The session's permission mode, from an event of the main loop that carries it. */
  modeSeen(mode: string | undefined): void {
    this.#mode = modeOf(mode);
  }

  /** `tool.offer` of the hand-back tool for this agent's list: the engine's own question. */
  handbackOffered(agentId: string, isOffered: boolean): void {
    const run = this.#currentRun(agentId);
    if (run !== undefined) run.isOffered = isOffered;
  }

  /** The engine's note (never a prompt) told the agent to hand its report back. */
  handbackAsked(agentId: string): void {
    const run = this.#currentRun(agentId);
    if (run !== undefined) run.isInstructed = true;
  }

  /** How the hand-back tool answered; `refusal` is undefined where it delivered. */
  handbackAnswered(host: Host, agentId: string, refusal: string | undefined): void {
    const agent = this.#agents.get(agentId);
    if (agent?.run === undefined) return;
    if (refusal !== undefined) agent.run.refusals.push(refusal);
    else this.#noteDelivery(host, agent, 'handback');
  }

  /**
   * A message goes out to `to`: gives what to do once it was delivered.
   *
   * A running agent's step is let end, so that a tool round brings the message; one that is not running is
   * resumed by the engine with the message as its prompt, and has no mail.
   */
  sendingTo(to: string): () => void {
    const running = [...this.#agents.values()].filter(
      (agent) => agent.isRunning && (agent.id === to || agent.name === to),
    );
    return () => {
      for (const agent of running) agent.mail.raise();
    };
  }

  /** A message reached a running agent (`session.receive`): its raw text joins the turn, or gets one of its own. */
  async received(host: Host, agentId: string, text: string): Promise<void> {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) return;
    agent.mail = signal();
    agent.unsent.push({ id: `msg_${crypto.randomUUID()}`, text });
    const opening = this.#opening.get(agentId);
    if (opening !== undefined) await opening;
    if (agent.job !== undefined) await this.#send(host, agent, agent.job);
  }

  /** The run was aborted (TaskStop, Esc, interrupt): the harness stops too. */
  stopped(host: Host, agentId: string): void {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) return;
    const stop = () => {
      if (agent.job === undefined) return;
      host.requestDetached({ method: 'POST', path: `/v1/jobs/${agent.job}/stop`, body: { reason: 'stopped' } });
    };
    // A job that is being created is stopped once it is there.
    const opening = agent.job === undefined ? this.#opening.get(agentId) : undefined;
    if (opening === undefined) stop();
    else void opening.then(stop);
  }

  /** `turn.complete`: a plain ending is delivered now, an aborted one stops the job. */
  completed(host: Host, agentId: string, isAborted: boolean): void {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) return;
    agent.isRunning = false;
    if (isAborted) this.stopped(host, agentId);
    else if (agent.run !== undefined && !isOwed(agent.run)) this.#noteDelivery(host, agent, 'plain');
  }

  // ── Whose step is it ──

  /** Whether an agent is ours, from memory or, after a restart or a reload, from what was kept. */
  async isOurs(host: Host, agentId: string | undefined): Promise<boolean> {
    if (agentId === undefined || this.#others.has(agentId)) return false;
    if (this.#agents.has(agentId)) return true;
    const job = await host.jobOf(agentId);
    if (job === undefined) {
      this.#others.add(agentId);
      return false;
    }
    const type = AGENT_TYPES[0];
    if (type === undefined) return false;
    this.#agentOf(agentId, type).job = job;
    return true;
  }

  /** The same from memory alone, for a hook that must not wait. */
  isKnown(agentId: string | undefined): boolean {
    return agentId !== undefined && this.#agents.has(agentId);
  }

  // ── Steps ──

  /** One step of an agent of ours. Never falls through to a model. */
  async *step(host: Host, at: StepFacts): AsyncGenerator<Chunk, StepResult> {
    const agent = this.#agents.get(at.agentId);
    if (agent === undefined) throw new Error(`no agent ${at.agentId}`);
    const run = await this.#restoredRun(host, agent, at.turnId);
    const step = yield* this.#next(host, agent, run);
    if (step.kind === 'handback') run.handbacks += 1;
    await host.keepRun(agent.id, run);
    return yield* chunksOf(at, step);
  }

  /** The step of a hook that failed: the failure as the run's end, through the hand-back where one is owed. */
  *brokenStep(at: StepFacts, detail: string): Generator<Chunk, StepResult> {
    const agent = this.#agents.get(at.agentId);
    const run = agent?.run;
    const text = failureText(agent?.type.harness ?? 'harness', unavailable.brokenStep(detail), []);
    const step: Step = run === undefined ? { kind: 'final', text } : this.#lastWords(run, text);
    if (run !== undefined && step.kind === 'handback') run.handbacks += 1;
    // Blocks of the failed attempt may stand already: ours come after any of them.
    return yield* chunksOf(at, step, 50);
  }

  /** What a call of one of our tools is answered with: from the journal alone, so that a reload changes nothing. */
  async toolResult(
    host: Host,
    tool: ToolName,
    input: Readonly<Record<string, unknown>>,
    agentId: string | undefined,
  ): Promise<string> {
    const { job, seq } = input;
    if (tool === 'plan' || tool === 'progress') return actions.NOTED;
    if (typeof job !== 'string' || typeof seq !== 'number') return actions.ACTION_UNKNOWN;
    const agent = agentId === undefined ? undefined : this.#agents.get(agentId);
    return tool === 'job' ? this.#jobState(host, job, seq) : this.#actionResult(host, job, seq, agent);
  }

  async *#next(host: Host, agent: Agent, run: Run): AsyncGenerator<Chunk, Step> {
    const opened = await this.#open(host, agent, run);
    if (opened.kind === 'failed') return this.#lastWords(run, failureText(agent.type.harness, opened.failure, []));
    const { job } = opened;
    if (run.ended !== undefined) {
      const settled = await this.#settle(host, agent, run, run.ended, job);
      if (settled !== undefined) return settled;
    }
    if (run.reopen !== undefined) {
      const reopened = await this.#reopened(host, job, run.reopen);
      run.reopen = undefined;
      if (reopened !== undefined) return reopened;
    }
    for (;;) {
      if (agent.mail.isRaised) {
        agent.mail = signal();
        return mailboxStep(job, run.cursor);
      }
      const page = await Promise.race([this.#events(host, job, run.cursor, host.heartbeatMs), agent.mail.raised]);
      if (page === 'mail') continue;
      if (page.kind === 'failed') return this.#lastWords(run, failureText(agent.type.harness, page.failure, []));
      for (const event of page.body.events) {
        run.cursor = event.seq;
        run.isOpen ||= hasMessage(event, run.opening);
        if (!run.isOpen) continue;
        if (event.kind === 'turn_ended') run.ended = event;
        const step = stepOf(job, event);
        if (step !== undefined) return step;
      }
      yield HEARTBEAT;
    }
  }

  /** After the closing step's tool round: the run's end, or undefined where another turn has begun. */
  async #settle(
    host: Host,
    agent: Agent,
    run: Run,
    ended: JobEventOf<'turn_ended'>,
    job: string,
  ): Promise<Step | undefined> {
    const page = await this.#events(host, job, run.cursor, 0);
    if (page.kind === 'failed') return this.#lastWords(run, failureText(agent.type.harness, page.failure, []));
    if (page.body.job.status === 'running' || page.body.events.length > 0) {
      run.ended = undefined;
      if (ended.outcome.kind !== 'completed') return undefined;
      const answer = await this.#answer(host, job, ended.turn);
      return answer.kind === 'ok' ? supersededStep(job, ended.seq, answer.body.text) : undefined;
    }
    const { outcome } = ended;
    const { harness } = agent.type;
    switch (outcome.kind) {
      case 'completed': {
        const answer = await this.#answer(host, job, ended.turn);
        return this.#lastWords(run, answer.kind === 'ok' ? answer.body.text : failureText(harness, answer.failure, []));
      }
      case 'empty':
        return this.#lastWords(run, emptyNote(harness));
      case 'interrupted':
        return this.#lastWords(run, interruptedNote(harness));
      case 'failed':
        return this.#lastWords(run, failureText(harness, outcome.failure, outcome.partial));
    }
  }

  /** Whatever ends the run, by the way the engine asks for: the hand-back where one is owed and not refused twice. */
  #lastWords(run: Run, text: string): Step {
    if (!isOwed(run)) return { kind: 'final', text };
    if (run.handbacks < HANDBACKS) return { kind: 'handback', text };
    return { kind: 'final', text: `${text}\n\n${refusedHandbackNote(run.refusals)}` };
  }

  // ── The job ──

  #open(host: Host, agent: Agent, run: Run): Promise<Opened> {
    const begun = this.#opening.get(agent.id);
    if (begun !== undefined) return begun;
    const opening = this.#handOver(host, agent, run).then((opened) => {
      // A failure is this run's answer; the next run tries again. So does a run whose facts came late.
      if (opened.kind === 'open' && agent.unsent.length > 0) this.#opening.delete(agent.id);
      return opened;
    });
    this.#opening.set(agent.id, opening);
    return opening;
  }

  async #handOver(host: Host, agent: Agent, run: Run): Promise<Opened> {
    for (let tries = 0; !this.#facts.has(agent.id) && agent.job === undefined && tries < FACTS_TRIES; tries += 1) {
      await host.sleep(RETRY_MS);
      const turn = this.#turns.get(agent.id);
      const framed = turn === undefined ? undefined : this.#framed.get(turn.text);
      if (framed !== undefined && !this.#facts.has(agent.id)) this.#adopt(agent, framed);
    }
    const facts = this.#facts.get(agent.id);
    agent.job ??= await host.jobOf(agent.id);
    if (facts !== undefined) {
      this.#facts.delete(agent.id);
      agent.unsent.push({ id: run.opening, text: facts.prompt });
      if (facts.isResume && agent.job === undefined && agent.unsent.length === 1) {
        agent.unsent = [];
        return { kind: 'failed', failure: unavailable.jobLost() };
      }
    }
    if (agent.job === undefined) {
      const [first, ...rest] = agent.unsent;
      if (first === undefined) return { kind: 'failed', failure: unavailable.noPrompt() };
      const created = await this.#create(host, agent, first);
      if (created.kind === 'failed') return created;
      agent.job = created.body.job.id;
      agent.unsent = rest;
      run.opening = first.id;
      await host.keepJob(agent.id, agent.job);
    } else {
      run.opening = agent.unsent[0]?.id ?? run.opening;
    }
    const sent = await this.#send(host, agent, agent.job);
    return sent === undefined ? { kind: 'open', job: agent.job } : { kind: 'failed', failure: sent };
  }

  async #create(host: Host, agent: Agent, message: Unsent): Promise<Reply<{ job: JobView }>> {
    if (agent.cwd === undefined) return { kind: 'failed', failure: unavailable.noFolder() };
    return this.#ask<{ job: JobView }>(host, {
      method: 'POST',
      path: '/v1/jobs',
      body: {
        harness: agent.type.harness,
        agent: agent.id,
        session: await host.sessionId(),
        cwd: agent.cwd,
        mode: agent.mode,
        message,
        ...(agent.model === undefined ? {} : { model: agent.model }),
        options: host.jobOptions,
      },
    });
  }

  /** Hands over what waits, in order; what a failure left stays for the next try. */
  async #send(host: Host, agent: Agent, job: string): Promise<Failure | undefined> {
    for (;;) {
      const message = agent.unsent[0];
      if (message === undefined) return undefined;
      const sent = await this.#ask<{ job: JobView }>(host, {
        method: 'POST',
        path: `/v1/jobs/${job}/messages`,
        body: { message, mode: this.#mode === 'unknown' ? agent.mode : this.#mode },
      });
      if (sent.kind === 'failed') return sent.failure;
      agent.unsent = agent.unsent.filter((one) => one.id !== message.id);
    }
  }

  #events(host: Host, job: string, after: number, wait: number): Promise<Reply<EventsPage>> {
    return this.#ask<EventsPage>(host, { method: 'GET', path: `/v1/jobs/${job}/events?after=${after}&wait=${wait}` });
  }

  #answer(host: Host, job: string, turn: number): Promise<Reply<AnswerPage>> {
    return this.#ask<AnswerPage>(host, { method: 'GET', path: `/v1/jobs/${job}/answers/${turn}` });
  }

  /** One request, sent again while a sidecar that died is being started anew; its journal knows every job. */
  async #ask<T>(host: Host, request: ApiRequest): Promise<Reply<T>> {
    let detail = '';
    for (let tries = 0; tries < RETRIES; tries += 1) {
      if (tries > 0) await host.sleep(RETRY_MS);
      const reply = await host.request(request);
      switch (reply.kind) {
        case 'ok':
          return { kind: 'ok', body: reply.body as T };
        case 'not_started':
          return { kind: 'failed', failure: unavailable.noRuntime(reply.detail) };
        case 'refused':
          if (reply.error.code === 'closing') break;
          return { kind: 'failed', failure: unavailable.refused(reply.error.code, reply.error.message) };
        case 'gone':
          detail = reply.detail;
      }
    }
    return { kind: 'failed', failure: unavailable.sidecarLost(detail) };
  }

  // ── Results of our tools ──

  async #jobState(host: Host, job: string, seq: number): Promise<string> {
    const page = await this.#events(host, job, seq - 1, 0);
    if (page.kind === 'failed') return actions.ACTION_UNKNOWN;
    const ended = page.body.events.find((event) => event.seq === seq);
    return ended?.kind === 'turn_ended' ? jobState(page.body.job, ended) : actions.ACTION_UNKNOWN;
  }

  async #actionResult(host: Host, job: string, seq: number, agent: Agent | undefined): Promise<string> {
    let item: string | undefined;
    let turn: number | undefined;
    let after = seq - 1;
    for (;;) {
      const asked = this.#events(host, job, after, POLL_LIMIT_MS);
      const page = await (agent === undefined ? asked : Promise.race([asked, agent.mail.raised]));
      if (page === 'mail') {
        if (agent?.run !== undefined) agent.run.reopen = seq;
        return actions.ACTION_STILL_RUNNING;
      }
      if (page.kind === 'failed') return actions.ACTION_UNKNOWN;
      for (const event of page.body.events) {
        after = event.seq;
        if (event.seq === seq) {
          if (event.kind !== 'action_started') return actions.ACTION_UNKNOWN;
          item = event.item;
          turn = event.turn;
        } else if (event.kind === 'action_completed' && event.item === item && event.turn === turn) {
          return actions.actionText(event.action, event.result);
        } else if (event.kind === 'turn_ended' && event.turn === turn) {
          return actions.ACTION_UNFINISHED;
        }
      }
      if (item === undefined) return actions.ACTION_UNKNOWN;
      if (page.body.events.length === 0 && page.body.job.status === 'idle') return actions.ACTION_UNFINISHED;
    }
  }

  async #reopened(host: Host, job: string, seq: number): Promise<Step | undefined> {
    const page = await this.#events(host, job, seq - 1, 0);
    const started = page.kind === 'ok' ? page.body.events.find((event) => event.seq === seq) : undefined;
    return started === undefined ? undefined : stepOf(job, started);
  }

  #noteDelivery(host: Host, agent: Agent, how: 'plain' | 'handback'): void {
    const { job, run } = agent;
    if (job === undefined || run?.ended === undefined) return;
    const delivery = {
      turn: run.ended.turn,
      run: run.turnId,
      how: run.handbacks >= HANDBACKS && how === 'plain' ? 'handback_refused' : how,
    };
    host.requestDetached({ method: 'POST', path: `/v1/jobs/${job}/deliveries`, body: delivery });
  }

  // ── Records ──

  #agentOf(id: string, type: AgentType): Agent {
    let agent = this.#agents.get(id);
    if (agent === undefined) {
      agent = {
        id,
        type,
        cwd: undefined,
        name: undefined,
        mode: 'unknown',
        model: undefined,
        job: undefined,
        unsent: [],
        isRunning: false,
        run: undefined,
        mail: signal(),
      };
      this.#agents.set(id, agent);
      this.#others.delete(id);
    }
    return agent;
  }

  #adopt(agent: Agent, facts: SpawnFacts): void {
    this.#facts.set(agent.id, facts);
    agent.type = facts.type;
    agent.mode = facts.mode;
    agent.model = facts.model ?? agent.model;
    agent.name = facts.name ?? agent.name;
  }

  /** The run with this turn id, begun where the agent is in another one. */
  #runOf(agent: Agent, turnId: string): Run {
    if (agent.run?.turnId !== turnId) {
      agent.run = newRun(turnId);
      agent.isRunning = true;
      this.#opening.delete(agent.id);
    }
    return agent.run;
  }

  async #restoredRun(host: Host, agent: Agent, turnId: string): Promise<Run> {
    if (agent.run === undefined) {
      const kept = (await host.recallRun(agent.id)) as Run | undefined;
      if (kept?.turnId === turnId) agent.run = kept;
    }
    return this.#runOf(agent, turnId);
  }

  #currentRun(agentId: string): Run | undefined {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) return undefined;
    const turn = this.#turns.get(agentId);
    return turn === undefined ? agent.run : this.#runOf(agent, turn.turnId);
  }
}

type JobEventOf<K extends JobEvent['kind']> = Extract<JobEvent, { kind: K }>;

function isOwed(run: Run): boolean {
  return run.isOffered && run.isInstructed;
}

function hasMessage(event: JobEvent, id: string): boolean {
  return (
    (event.kind === 'turn_started' && event.messages.includes(id)) || (event.kind === 'steered' && event.message === id)
  );
}

/** A permission mode as the engine spells it, `unknown` for one that it added since 2.1.332. */
export function modeOf(mode: string | undefined): PermissionMode {
  return PERMISSION_MODES.find((one) => one === mode) ?? 'unknown';
}
