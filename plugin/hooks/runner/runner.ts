/**
 * A foreign agent's steps: from its job's events to the run's last words.
 *
 * Every decision is here or in a room beside, over a `Host`; register.ts only wires Claude Code's events to it.
 */

import { messageRefused } from '../notes/actions.js';
import { emptyNote, failureText, interruptedNote, refusedHandbackNote } from '../notes/endings.js';
import type { TurnEnded } from '../notes/job-state.js';
import * as unavailable from '../notes/unavailable.js';
import { type Delivery, PERMISSION_MODES, type PermissionMode, POLL_SLICE_MS } from '../protocol/api.js';
import type { JobEvent } from '../protocol/event.js';
import { type Agent, type Run, type SpawnFacts, signal } from './agent.js';
import { type Chunk, chunksOf, HEARTBEAT, type StepAt, type StepResult } from './chunks.js';
import { answerOf, eventsAfter, RETRY_MS } from './client.js';
import { open, send } from './handover.js';
import type { AgentType } from './harnesses.js';
import type { Host } from './host.js';
import { toolResult } from './results.js';
import { Roster, runOf } from './roster.js';
import { mailboxStep, noticeStep, type Step, stepOf, supersededStep } from './steps.js';
import type { ToolName } from './tools.js';

/** A hand-back is tried this often; the engine's own nudges come three times after that (2.1.332). */
const HANDBACKS = 2;
/** How often a run looks at a job that rests before it is sure that nothing is coming: 3 s. */
const RESTING_POLLS = 30;

export type StepFacts = StepAt & { readonly agentId: string };

export class Runner {
  readonly #roster = new Roster();
  #mode: PermissionMode = 'unknown';

  // ── What the engine's events say ──

  /** `agent.spawn` was answered: this agent has this to do. Where its run has begun already, it is handed over now. */
  spawned(host: Host, agentId: string, facts: SpawnFacts): void {
    this.#roster.setFacts(agentId, facts);
    const agent = this.#roster.get(agentId);
    const run = this.#currentRun(agentId);
    if (agent?.opening === undefined || run === undefined) return;
    agent.opening = agent.opening.then(() => {
      agent.opening = undefined;
      return this.#open(host, agent, run);
    });
  }

  /** `turn.start` of an agent's loop: a run begins. */
  turnStarted(agentId: string, turnId: string, text: string): void {
    this.#roster.setTurn(agentId, turnId, text);
  }

  /** `classic.SubagentStart`: the one event that comes before the first step and states the agent's folder. */
  started(host: Host, agentId: string, type: AgentType | undefined, cwd: string | undefined): void {
    if (type === undefined) {
      this.#roster.setOther(agentId);
      return;
    }
    const agent = this.#roster.enrol(agentId, type);
    agent.cwd = cwd;
    const run = this.#roster.currentRun(agent);
    // The harness begins now, beside the engine's own preparation of the first step (45–110 ms on 2.1.332).
    if (run !== undefined && this.#roster.facts(agent) !== undefined) void this.#open(host, agent, run);
  }

  /** The session's permission mode, from an event of the main loop that carries it. */
  modeSeen(mode: string | undefined): void {
    this.#mode = modeOf(mode);
  }

  /** `tool.offer` of the hand-back tool for this agent's list: the engine's own question. */
  handbackOffered(agentId: string, isOffered: boolean): void {
    const run = this.#currentRun(agentId);
    if (run !== undefined) run.isHandbackOwed = isOffered;
  }

  /** How the hand-back tool answered; `refusal` is undefined where it delivered. */
  handbackAnswered(host: Host, agentId: string, refusal: string | undefined): void {
    const agent = this.#roster.get(agentId);
    if (agent?.run === undefined) return;
    if (refusal !== undefined) agent.run.refusals.push(refusal);
    else noteDelivery(host, agent, agent.run, 'handback');
  }

  /**
   * A message goes out to `to`: gives what to do once it was delivered.
   *
   * A running agent's step is let end, so that a tool round brings the message; one that is not running is
   * resumed by the engine with the message as its prompt, and has no mail.
   */
  sendingTo(to: string): () => void {
    const running = this.#roster.all().filter((agent) => agent.isRunning && (agent.id === to || agent.name === to));
    return () => {
      for (const agent of running) agent.mail.raise();
    };
  }

  /** A message reached a running agent (`session.receive`): its raw text joins the turn, or gets one of its own. */
  async received(host: Host, agentId: string, text: string): Promise<void> {
    const agent = this.#roster.get(agentId);
    if (agent === undefined) return;
    agent.mail = signal();
    agent.unsent.push({ id: `msg_${crypto.randomUUID()}`, text });
    await agent.opening;
    await this.#sendOn(host, agent);
  }

  /** Hands over what waits in a run that is under way; one that was refused is said in the next step. */
  async #sendOn(host: Host, agent: Agent): Promise<void> {
    const failure = await send(host, agent, this.#mode);
    if (failure !== undefined) agent.run?.notices.push(messageRefused(failure));
  }

  /**
   * The run `turnId` was aborted (TaskStop, Esc, interrupt): the harness stops too, once a run. What is said of a run that
   * another one has followed stops nothing: that one may have begun a turn already.
   */
  stopped(host: Host, agentId: string, turnId: string | undefined): void {
    const agent = this.#roster.get(agentId);
    const run = agent?.run;
    if (agent === undefined || run === undefined || run.isStopped || run.turnId !== (turnId ?? run.turnId)) return;
    run.isStopped = true;
    const stop = async () => {
      if (agent.job === undefined) return;
      await host.requestDetached({ method: 'POST', path: `/v1/jobs/${agent.job}/stop`, body: { reason: 'stopped' } });
    };
    // A job that is being created is stopped once it is there.
    const isCreating = agent.job === undefined && agent.opening !== undefined;
    agent.stopping = isCreating ? agent.opening?.then(stop) : stop();
  }

  /** The run that an agent is in now, by its turn id: what an abort of a call made in it stops. */
  turnOf(agentId: string): string | undefined {
    return this.#roster.get(agentId)?.run?.turnId;
  }

  /** `turn.complete`: a plain ending is delivered now, an aborted one stops the job. */
  completed(host: Host, agentId: string, turnId: string, isAborted: boolean): void {
    const agent = this.#roster.get(agentId);
    if (agent === undefined) return;
    agent.isRunning = false;
    if (isAborted) this.stopped(host, agentId, turnId);
    else if (agent.run !== undefined && !agent.run.isHandbackOwed) noteDelivery(host, agent, agent.run, 'plain');
    else if (agent.run !== undefined && agent.run.handbacks >= HANDBACKS) {
      noteDelivery(host, agent, agent.run, 'handback_refused');
    }
  }

  // ── Whose step is it ──

  /** Whether an agent is ours, from memory or, after a restart or a reload, from what was kept. */
  async isOurs(host: Host, agentId: string): Promise<boolean> {
    if (this.#roster.isOther(agentId)) return false;
    if (this.#roster.get(agentId) !== undefined) return true;
    const job = await host.jobOf(agentId);
    if (job !== undefined && this.#roster.restore(agentId, job) !== undefined) return true;
    this.#roster.setOther(agentId);
    return false;
  }

  /** A step of an agent that is not known as ours went to the model: counted, should it turn out to be one. */
  passedOn(agentId: string | undefined): void {
    if (agentId !== undefined) this.#roster.notePassed(agentId);
  }

  /** The same from memory alone, for a hook that must not wait. */
  isKnown(agentId: string | undefined): boolean {
    return this.#roster.get(agentId) !== undefined;
  }

  // ── Steps ──

  /** One step of an agent of ours. Never falls through to a model. */
  async *step(host: Host, at: StepFacts): AsyncGenerator<Chunk, StepResult> {
    const agent = this.#roster.get(at.agentId);
    if (agent === undefined) throw new Error(`no agent ${at.agentId}`);
    agent.run ??= await recalledRun(host, agent, at.turnId);
    const run = runOf(agent, at.turnId);
    const step = yield* this.#next(host, agent, run);
    if (step.kind === 'handback') run.handbacks += 1;
    host.keepRun(agent.id, run);
    return yield* chunksOf(at, step);
  }

  /** The step of a hook that failed: the failure as the run's end, through the hand-back where one is owed. */
  *brokenStep(at: StepFacts, detail: string): Generator<Chunk, StepResult> {
    const agent = this.#roster.get(at.agentId);
    const text = failureText(agent?.type.harness ?? 'harness', unavailable.brokenStep(detail), []);
    const step: Step = agent?.run === undefined ? { kind: 'final', text } : lastWords(agent.run, text);
    if (agent?.run !== undefined && step.kind === 'handback') agent.run.handbacks += 1;
    // Blocks of the failed attempt may stand already: ours come after any of them.
    return yield* chunksOf(at, step, 50);
  }

  /** What a call of one of our tools is answered with. */
  async toolResult(
    host: Host,
    tool: ToolName,
    input: Readonly<Record<string, unknown>>,
    agentId: string | undefined,
  ): Promise<string> {
    const agent = this.#roster.get(agentId);
    const caller = {
      ended: agent?.run?.ended,
      endedJob: agent?.run?.endedJob,
      mail: (agent?.mail ?? signal()).raised,
      claudeRequests: agentId === undefined ? 0 : this.#roster.passedSteps(agentId),
    };
    const result = await toolResult(host, tool, input, caller);
    if (result.isCutShort && agent?.run !== undefined) agent.run.reopen = Number(input.seq);
    return result.text;
  }

  async *#next(host: Host, agent: Agent, run: Run): AsyncGenerator<Chunk, Step> {
    const { harness } = agent.type;
    const opened = await this.#open(host, agent, run);
    if (opened.kind === 'failed') return lastWords(run, failureText(harness, opened.failure, []));
    const { job } = opened;
    if (agent.unsent.length > 0) await this.#sendOn(host, agent);
    const notice = run.notices.shift();
    if (notice !== undefined) return noticeStep(job, run.cursor, notice);
    if (run.ended !== undefined) {
      const settled = await settle(host, harness, run, run.ended, job);
      if (settled !== undefined) return settled;
    }
    if (run.reopen !== undefined) {
      const reopened = await startOf(host, job, run.reopen);
      run.reopen = undefined;
      if (reopened !== undefined) return reopened;
    }
    const slice = Math.min(host.heartbeatMs, POLL_SLICE_MS);
    for (let restingPolls = 0, quietMs = 0; ; ) {
      if (agent.mail.isRaised) {
        agent.mail = signal();
        return mailboxStep(job, run.cursor);
      }
      const page = await Promise.race([eventsAfter(host, job, run.cursor, slice), agent.mail.raised]);
      if (page === 'mail') continue;
      if (page.kind === 'failed') return lastWords(run, failureText(harness, page.failure, []));
      for (const event of page.body.events) {
        run.cursor = event.seq;
        run.isOpen ||= hasMessage(event, run.opening);
        if (!run.isOpen) continue;
        if (event.kind === 'turn_ended') {
          run.ended = event;
          run.endedJob = page.body.job;
        }
        const step = stepOf(job, event);
        if (step !== undefined) return step;
      }
      quietMs += slice;
      if (page.body.events.length > 0 || quietMs >= host.heartbeatMs) {
        quietMs = 0;
        yield HEARTBEAT;
      }
      // A job that rests answers at once. A run that it has nothing for (the engine woke the agent without a message)
      // ends as the job's last turn did.
      const isResting = page.body.job.status === 'idle' && page.body.events.length === 0;
      restingPolls = isResting ? restingPolls + 1 : 0;
      if (!isResting) continue;
      await host.sleep(RETRY_MS);
      if (restingPolls < RESTING_POLLS) continue;
      const last = await lastEnd(host, job);
      if (last === undefined) return lastWords(run, failureText(harness, unavailable.noPrompt(), []));
      run.ended = last;
      run.isOpen = true;
      const words = await settle(host, harness, run, last, job);
      if (words !== undefined) return words;
    }
  }

  #open(host: Host, agent: Agent, run: Run) {
    return open(host, this.#roster, agent, run, this.#mode);
  }

  #currentRun(agentId: string): Run | undefined {
    const agent = this.#roster.get(agentId);
    return agent === undefined ? undefined : this.#roster.currentRun(agent);
  }
}

/** After the closing step's tool round: the run's end, or undefined where another turn has begun. */
async function settle(host: Host, harness: string, run: Run, ended: TurnEnded, job: string): Promise<Step | undefined> {
  const { outcome } = ended;
  const asked = outcome.kind === 'completed' ? answerOf(host, job, ended.turn) : undefined;
  const [page, answer] = await Promise.all([eventsAfter(host, job, run.cursor, 0), asked]);
  if (page.kind === 'failed') return lastWords(run, failureText(harness, page.failure, []));
  if (page.body.job.status === 'running' || page.body.events.length > 0) {
    run.ended = undefined;
    return answer?.kind === 'ok' ? supersededStep(job, ended.seq, answer.body) : undefined;
  }
  switch (outcome.kind) {
    case 'completed':
      if (answer?.kind === 'ok') return lastWords(run, answer.body);
      return answer === undefined ? undefined : lastWords(run, failureText(harness, answer.failure, []));
    case 'empty':
      return lastWords(run, emptyNote(harness));
    case 'interrupted':
      return lastWords(run, interruptedNote(harness));
    case 'failed':
      return lastWords(run, failureText(harness, outcome.failure, outcome.partial));
  }
}

/** Whatever ends the run, by the way the engine asks for: the hand-back where one is owed and not refused twice. */
function lastWords(run: Run, text: string): Step {
  if (!run.isHandbackOwed) return { kind: 'final', text };
  if (run.handbacks < HANDBACKS) return { kind: 'handback', text };
  return { kind: 'final', text: `${text}\n\n${refusedHandbackNote(run.refusals)}` };
}

async function lastEnd(host: Host, job: string): Promise<TurnEnded | undefined> {
  const now = await eventsAfter(host, job, Number.MAX_SAFE_INTEGER, 0);
  if (now.kind === 'failed') return undefined;
  // The newest event of a job that rests is its last turn's end.
  const page = await eventsAfter(host, job, now.body.job.lastSeq - 1, 0);
  const last = page.kind === 'failed' ? undefined : page.body.events.at(-1);
  return last?.kind === 'turn_ended' ? last : undefined;
}

/** The step of an action whose call was answered before it had ended. */
async function startOf(host: Host, job: string, seq: number): Promise<Step | undefined> {
  const page = await eventsAfter(host, job, seq - 1, 0);
  const started = page.kind === 'ok' ? page.body.events.find((event) => event.seq === seq) : undefined;
  return started === undefined ? undefined : stepOf(job, started);
}

async function recalledRun(host: Host, agent: Agent, turnId: string): Promise<Run | undefined> {
  const kept = (await host.recallRun(agent.id)) as Run | undefined;
  return kept?.turnId === turnId ? kept : undefined;
}

function noteDelivery(host: Host, agent: Agent, run: Run, how: Delivery['how']): void {
  if (agent.job === undefined || run.ended === undefined) return;
  const body: Delivery = { turn: run.ended.turn, run: run.turnId, how };
  void host.requestDetached({ method: 'POST', path: `/v1/jobs/${agent.job}/deliveries`, body });
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
