/** Handing an agent's task and messages to its job, each once. */

import * as unavailable from '../notes/unavailable.js';
import type { PermissionMode } from '../protocol/api.js';
import type { Failure } from '../protocol/outcome.js';
import type { Agent, Opened, Run } from './agent.js';
import { createJob, RETRY_MS, sendMessage } from './client.js';
import type { Host } from './host.js';
import type { Roster } from './roster.js';

/** How long the first step waits for the events that say what the agent is to do, in tries of RETRY_MS. */
const FACTS_TRIES = 50;
/** How long a hand-over waits for the stop before it, in milliseconds: a hook has 10 s of its own (2.1.332). */
const STOP_LIMIT_MS = 8_000;

/** Begins a run: what waits is handed over, and the job is made where there is none. Once a run. */
export function open(host: Host, roster: Roster, agent: Agent, run: Run, mode: PermissionMode): Promise<Opened> {
  agent.opening ??= handOver(host, roster, agent, run, mode);
  return agent.opening;
}

async function handOver(host: Host, roster: Roster, agent: Agent, run: Run, mode: PermissionMode): Promise<Opened> {
  // A message that follows a stop must not reach the turn that is being stopped.
  if (agent.stopping !== undefined) await Promise.race([agent.stopping, host.sleep(STOP_LIMIT_MS)]);
  agent.stopping = undefined;
  // A new agent has no job to look up.
  if (roster.facts(agent)?.isResume !== false) agent.job ??= await host.jobOf(agent.id);
  for (let tries = 0; roster.facts(agent) === undefined && agent.job === undefined && tries < FACTS_TRIES; tries += 1) {
    await host.sleep(RETRY_MS);
  }
  const facts = roster.takeFacts(agent);
  if (facts?.isResume === true && agent.job === undefined && agent.unsent.length === 0) {
    return { kind: 'failed', failure: unavailable.jobLost() };
  }
  // An agent that the engine wakes without a message has nothing new to do, and one with an empty task nothing at all.
  if (facts !== undefined && facts.prompt !== '') agent.unsent.push({ id: run.opening, text: facts.prompt });
  run.opening = agent.unsent[0]?.id ?? run.opening;
  if (agent.job === undefined) {
    const failure = await create(host, agent);
    if (failure !== undefined) return { kind: 'failed', failure };
  }
  const failure = await send(host, agent, mode);
  if (failure !== undefined) return { kind: 'failed', failure };
  return agent.job === undefined
    ? { kind: 'failed', failure: unavailable.noPrompt() }
    : { kind: 'open', job: agent.job };
}

async function create(host: Host, agent: Agent): Promise<Failure | undefined> {
  const [message, ...rest] = agent.unsent;
  if (message === undefined) return unavailable.noPrompt();
  if (agent.cwd === undefined) return unavailable.noFolder();
  const created = await createJob(host, {
    harness: agent.type.harness,
    agent: agent.id,
    session: agent.session,
    cwd: agent.cwd,
    mode: agent.mode,
    message,
    ...(agent.model === undefined ? {} : { model: agent.model }),
    options: host.jobOptions,
  });
  if (created.kind === 'failed') {
    if (isRefused(created.failure)) agent.unsent = rest;
    return created.failure;
  }
  agent.job = created.body.job.id;
  agent.unsent = rest;
  await host.keepJob(agent.id, agent.job);
  return undefined;
}

/**
 * Hands over what waits, in order. What was refused for itself is dropped, so that it does not hold up those behind it,
 * and its failure given; what failed otherwise stays for the next try.
 */
export async function send(host: Host, agent: Agent, mode: PermissionMode): Promise<Failure | undefined> {
  let refusal: Failure | undefined;
  for (;;) {
    const message = agent.unsent[0];
    if (message === undefined || agent.job === undefined) return refusal;
    const sent = await sendMessage(host, agent.job, message, mode === 'unknown' ? agent.mode : mode);
    if (sent.kind === 'failed' && !isRefused(sent.failure)) return sent.failure;
    if (sent.kind === 'failed') refusal ??= sent.failure;
    agent.unsent = agent.unsent.filter((one) => one.id !== message.id);
  }
}

/** A message that is too long, or wrong in itself, would be refused each time, and everything behind it with it. */
function isRefused(failure: Failure): boolean {
  return failure.kind === 'invalid_request';
}
