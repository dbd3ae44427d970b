/** The engine's loop of one subagent, as 2.1.332 runs it: the events in their measured order, then step by step. */

import type { On } from 'claude-code';
import type { Engine } from 'claude-code/testing';
import { TESTED } from '../hooks/protocol/tested.js';
import { ScriptedSidecar, type ScriptedTurn, TOKEN } from './scripted-sidecar.js';

export const AGENT = 'a1b2c3';

export type Block =
  | { kind: 'text'; text: string }
  | { kind: 'call'; tool: string; input: Record<string, unknown>; result: string };
export type Step = { blocks: Block[]; usage: unknown };

export type World = {
  readonly sidecar: ScriptedSidecar;
  readonly steps: Step[];
  /** What the hand-back tool was given, in order. */
  readonly handbacks: string[];
  /** Steps that reached the model beneath the plugin. */
  modelSteps: number;
  /** The models that the spawns beneath the plugin's hook were given. */
  readonly spawnedModels: string[];
  /** What the plugin wrote into the session's log. */
  readonly log: string[];
  /** The agents that the plugin registered. */
  readonly registered: string[];
};

export type WorldOptions = {
  readonly turns: readonly ScriptedTurn[];
  /** How the hand-back tool answers, call by call; the last one again. Absent: it delivers. */
  readonly handbackAnswers?: readonly ('delivered' | { refused: string })[];
  /** What the engine offers the agent: the hand-back, in auto mode. */
  readonly isHandbackOffered?: boolean | ((turnId: string) => boolean);
  /** A message that the sidecar refuses. */
  readonly refused?: string;
  /** What the sidecar says on stderr before it ends at once; absent: it starts. */
  readonly sidecarSays?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Claude Code's version; absent: the one that the plugin was tested with. */
  readonly version?: string;
};

/** Puts the scripted sidecar and an engine's bottom beneath the plugin. */
export function world(on: On, options: WorldOptions): World {
  const made: World = {
    sidecar: new ScriptedSidecar(options.turns, options.refused),
    steps: [],
    handbacks: [],
    modelSteps: 0,
    spawnedModels: [],
    registered: [],
    log: [],
  };
  const store = new Map<string, unknown>();
  let turn = '';
  on('session.start', (_, e) => ({ cwd: e.cwd }));
  on('session.id', () => ({ value: 'session-1' }));
  on('tool.register', (_, e) => ({ value: { tool: `mcp__verbatim__${e.name}` } }));
  on('agent.register', (_, e) => {
    made.registered.push(e.name);
    return { value: { agent: `verbatim:${e.name}` } };
  });
  on('clock.every', () => ({ value: undefined }) as never);
  on('env.get', (_, e) => ({ value: options.env?.[e.name] }));
  // Short waits pass at once; a bound is never reached.
  on('clock.sleep', (_, e) => (e.ms < 1000 ? { value: undefined } : new Promise<never>(() => undefined)));
  on('ui.log', (_, e) => {
    made.log.push(e.text);
    return { value: undefined } as never;
  });
  on('session.version', () => ({ value: { version: options.version ?? TESTED.claude_code.to } }));
  on('store.get', (_, e) => ({ value: store.get(e.key) }));
  on('store.set', (_, e) => {
    store.set(e.key, e.value);
    return { value: undefined };
  });
  on('process.spawn', async function* () {
    if (options.sidecarSays !== undefined) {
      yield { stream: 'stderr', text: options.sidecarSays } as const;
      return { value: { code: 127, signal: null } } as never;
    }
    yield {
      stream: 'stdout',
      text: `${JSON.stringify({ verbatim: '0', protocol: 1, pid: 1, socket: '/s', token: TOKEN })}\n`,
    } as const;
    await new Promise(() => undefined);
    return { value: { code: 0, signal: null } } as never;
  });
  on('http.fetch', (_, e) => {
    const reply = made.sidecar.answer(
      e.init?.method ?? 'GET',
      e.url,
      e.init?.headers?.authorization,
      e.init?.body as string | undefined,
    );
    return { value: { status: reply.status, ok: reply.status < 400, headers: {}, text: reply.text } };
  });
  on('agent.spawn', (_, e) => {
    made.spawnedModels.push(e.model ?? 'claude');
    return { model: e.model ?? 'claude', agentId: e.resume?.agentId ?? AGENT };
  });
  on('classic.SubagentStart', () => ({}));
  on('turn.start', (_, e) => {
    turn = e.turnId;
    return { turnId: e.turnId } as never;
  });
  on('turn.complete', (_, e) => ({ text: e.answer }) as never);
  on('session.receive', (_, e) => ({ text: e.text }));
  on('session.send', () => ({ isDelivered: true }));
  on('tool.offer', (_, e) => {
    const offered = options.isHandbackOffered ?? false;
    if (e.tool !== 'SubagentHandback') return { isOffered: true };
    return { isOffered: typeof offered === 'function' ? offered(turn) : offered };
  });
  on('turn.step', async function* (_, e) {
    made.modelSteps += 1;
    yield { kind: 'text', index: 0, text: 'Claude answered' } as const;
    return {
      turnId: e.turnId,
      index: e.index,
      answer: 'Claude answered',
      toolUses: [],
      stopReason: 'end_turn',
      usage: null,
    } as const;
  });
  on('tool.call', { tool: /^SubagentHandback$/ } as never, (_, e) => {
    const answers = options.handbackAnswers ?? ['delivered'];
    const answer = answers[Math.min(made.handbacks.length, answers.length - 1)] ?? 'delivered';
    made.handbacks.push((e as unknown as { message: string }).message);
    return answer === 'delivered'
      ? { result: { success: true, message: 'Report delivered to your caller.' } }
      : { deny: answer.refused };
  });
  return made;
}

/** Starts the session that the plugin is loaded in. */
export async function begin($: Engine): Promise<void> {
  await $.session.start({ cwd: '/w', surface: null, isInteractive: false });
}

/** The spawn alone, as the Agent tool or a workflow raises it. */
export async function spawn(
  $: Engine,
  given: Record<string, unknown>,
): Promise<{ deny?: string | undefined; model?: string | undefined }> {
  return $.agent.spawn({
    tool_use_id: 'toolu_1',
    prompt: 'do the thing',
    description: 'thing',
    subagentType: 'verbatim:codex',
    provider: { plugin: 'verbatim', tier: 'user' },
    parentModel: 'claude',
    permissionMode: 'default',
    background: true,
    fork: false,
    ...given,
  } as never);
}

export type RunOptions = {
  readonly agentId?: string;
  /** The text `turn.start` gives, where it is not the prompt itself. */
  readonly framed?: string;
  /** `agent.spawn` is answered only once the first step waits. */
  readonly isSpawnLate?: boolean;
  /** A workflow's retry: no `agent.spawn` is raised. */
  readonly hasNoSpawn?: boolean;
  readonly turnId?: string;
  readonly prompt?: string;
  readonly model?: string;
  readonly mode?: string;
  readonly isResume?: boolean;
  /** Whether the engine's own note asks for the hand-back. */
  readonly isHandbackAsked?: boolean;
  /** A message that arrives at the tool round after this step (0 for the first). */
  readonly mailAfter?: { readonly step: number; readonly text: string; readonly and?: string };
  /** The same, as a person types it in the agent's view: in the engine's frame. */
  readonly typedAfter?: { readonly step: number; readonly text: string };
  /** Steps the engine asks for after a plain ending, as its nudges do. */
  readonly nudges?: number;
};

/** Runs one turn of the agent to its end: `final` is its last text, `delivered` what the hand-back delivered. */
export async function run(
  $: Engine,
  world: World,
  options: RunOptions = {},
): Promise<{ final: string; delivered: string | undefined }> {
  const turnId = options.turnId ?? 'turn-1';
  const agentId = options.agentId ?? AGENT;
  const prompt = options.prompt ?? 'do the thing';
  await $.turn.start({ text: options.framed ?? prompt, turnId, agentId });
  const spawning = () =>
    spawn($, {
      prompt,
      permissionMode: options.mode ?? 'default',
      ...(options.model === undefined ? {} : { model: options.model }),
      ...(options.isResume === true ? { resume: { agentId } } : {}),
    });
  if (options.hasNoSpawn !== true && options.isSpawnLate !== true) await spawning();
  await $.classic.SubagentStart({ agent_id: agentId, agent_type: 'verbatim:codex', cwd: '/w' });
  await $.tool.offer({
    tool: 'SubagentHandback',
    provider: { plugin: 'engine', tier: 'core' },
    for: 'list',
    agentId,
    subagentType: 'verbatim:codex',
  });
  await appended($, agentId, 'prompt', 'coordinator', prompt, false);
  if (options.isHandbackAsked === true) {
    await appended(
      $,
      agentId,
      'note',
      'engine',
      '<system-reminder>\nYour final report is delivered through SubagentHandback: call it.',
      true,
    );
  }
  if (options.isSpawnLate === true) void Promise.resolve().then(spawning);
  let nudges = options.nudges ?? 0;
  for (let index = 0; index < 200; index += 1) {
    const step = await oneStep($, agentId, turnId, index);
    world.steps.push(step);
    const call = step.blocks.find((block) => block.kind === 'call');
    if (call === undefined) {
      const final = lastText(step);
      if (nudges-- > 0) {
        await appended($, agentId, 'note', 'engine', '[handback-send-enforce] call SubagentHandback', true);
        continue;
      }
      await $.turn.complete({
        answer: final.trim(),
        durationMs: 1,
        isAborted: false,
        turnId,
        agentId,
        reason: 'answer',
      } as never);
      return { final, delivered: undefined };
    }
    if (call.tool === 'SubagentHandback' && call.result.startsWith('{"success":true')) {
      return { final: lastText(step), delivered: String(call.input.message) };
    }
    if (options.typedAfter?.step === index) {
      const content = [{ type: 'text', text: options.typedAfter.text }];
      const message = { type: 'attachment', name: 'queued_command', role: 'user', content };
      const row = { message, door: 'delivery', origin: { kind: 'composer' }, uuid: crypto.randomUUID(), agentId };
      await $.session.append(row as never);
    }
    if (options.mailAfter?.step === index) {
      await $.session.receive({ origin: { kind: 'coordinator' }, text: options.mailAfter.text, agentId });
      const second = options.mailAfter.and;
      if (second !== undefined) {
        await $.session.receive({ origin: { kind: 'coordinator' }, text: second, agentId });
      }
    }
  }
  throw new Error('the run did not end in 200 steps');
}

async function appended(
  $: Engine,
  agentId: string,
  door: 'prompt' | 'note',
  kind: 'coordinator' | 'engine',
  text: string,
  isMeta: boolean,
): Promise<void> {
  const message = {
    type: 'user',
    role: 'user',
    ...(isMeta ? { isMeta: true } : {}),
    content: [{ type: 'text', text }],
  };
  await $.session.append({ message, door, origin: { kind }, uuid: crypto.randomUUID(), agentId } as never);
}

async function oneStep($: Engine, agentId: string, turnId: string, index: number): Promise<Step> {
  const stream = $.turn.step({ turnId, index, model: 'codex/default', messageCount: 1, agentId } as never);
  const texts = new Map<number, string>();
  const calls = new Map<number, { id: string; name: string; json: string }>();
  let usage: unknown;
  for (;;) {
    const { done, value } = await stream.next();
    if (done === true) break;
    if (value.kind === 'text') texts.set(value.index, (texts.get(value.index) ?? '') + value.text);
    if (value.kind === 'tool') calls.set(value.index, { id: value.id, name: value.name, json: '' });
    if (value.kind === 'input') {
      const call = calls.get(value.index);
      if (call !== undefined) call.json += value.json;
    }
    if (value.kind === 'stop') usage = value.usage;
  }
  const blocks: Block[] = [...texts.values()].map((text) => ({ kind: 'text', text }));
  for (const call of calls.values()) {
    const input = JSON.parse(call.json) as Record<string, unknown>;
    const answer = await $.tool.call({ tool: call.name, tool_use_id: call.id, ...input, agentId } as never);
    const result = answer.deny ?? (typeof answer.result === 'string' ? answer.result : JSON.stringify(answer.result));
    blocks.push({ kind: 'call', tool: call.name, input, result });
  }
  return { blocks, usage };
}

function lastText(step: Step): string {
  const texts = step.blocks.filter((block) => block.kind === 'text');
  return texts.at(-1)?.text ?? '';
}
