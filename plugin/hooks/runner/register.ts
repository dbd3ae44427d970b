/**
 * Wiring of the runner's half: Claude Code's events to the runner, and the runner's Host to `$`.
 *
 * Order of an agent's events, measured on 2.1.332: turn.start, agent.spawn's answer, SubagentStart,
 * tool.offer and the hand-back note (where one is owed), turn.step.
 */
import type { EngineInterface, On } from 'claude-code';
import { COMPACTED } from '../notes/actions.js';
import { driftNotice } from '../notes/drift.js';
import { REFUSED_FORCED_MODEL, REFUSED_TEAMMATE, resultFailed, spawnFailed } from '../notes/unavailable.js';
import type { JobOptions } from '../protocol/api.js';
import { TESTED } from '../protocol/tested.js';
import { HANDBACK } from './chunks.js';
import { AGENT_TYPES, agentTypeOf, askedModel } from './harnesses.js';
import type { Host } from './host.js';
import { modeOf, Runner } from './runner.js';
import { heartbeatOf, isDepthLeft, isModelForced, jobOptionsOf, type ModelVariables } from './settings.js';
import { type Fetch, Sidecar, type SidecarPorts } from './sidecar.js';
import { fullName, TOOLS } from './tools.js';
import { typedText } from './typed.js';

/** The plugin's name as its manifest has it: the prefix of its agent types and tools (`$.state` wants it spelled out). */
const PLUGIN = 'verbatim';
const OWN_TOOLS = TOOLS.map((tool) => fullName(PLUGIN, tool.name));
/** How often the sidecar is told that this session lives, in milliseconds: its lease is 10 minutes. */
const LEASE_MS = 60_000;

const sidecar = new Sidecar();
const runner = new Runner();
/** The session's own way out: it outlives the hook that an abort ends. */
let detached: Fetch | undefined;
let options: JobOptions = {};
let heartbeatMs = heartbeatOf(undefined);

/** @param stallMinutes The plugin's own option, as it is set. */
export function registerRunner(on: On, stallMinutes: unknown): void {
  options = jobOptionsOf(stallMinutes);

  on('session.start', async ($, e, next) => {
    detached = fetchOf($);
    const ports = sidecarPortsOf($);
    sidecar.bind(ports);
    // A sidecar that a reload left behind is taken over before Claude Code ends it.
    if ((await ports.recall()) !== undefined) renewLease();
    heartbeatMs = heartbeatOf(await $.env.get('CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS'));
    if (isDepthLeft(await $.env.get('VERBATIM_DEPTH'))) await registerAgents($);
    await sayDrift($);
    $.clock.every(LEASE_MS, () => {
      if (sidecar.isUp) renewLease();
    });
    return next(e);
  });

  on('agent.spawn', async ($, e, next) => {
    const type = agentTypeOf(PLUGIN, e.subagentType);
    if (e.parentAgentId === undefined) runner.modeSeen(e.permissionMode);
    if (type === undefined) return next(e);
    if (e.isTeammate) return { deny: REFUSED_TEAMMATE };
    if (isModelForced(await modelVariables($), e.workflow !== undefined)) return { deny: REFUSED_FORCED_MODEL };
    if (!sidecar.isUp)
      void hostOf($).requestDetached({ method: 'POST', path: '/v1/warm', body: { harness: type.harness } });
    // Asked beside the spawn, so that the hand-over does not wait for it.
    const session = $.session.id();
    const model = askedModel(type, e.model);
    const spawned = await next({ ...e, model: model === undefined ? type.model : `${type.harness}/${model}` });
    if (spawned.agentId !== undefined) {
      runner.spawned(hostOf($), spawned.agentId, {
        type,
        prompt: e.prompt,
        mode: modeOf(e.permissionMode),
        model,
        name: e.name,
        isResume: e.resume !== undefined,
        session: await session,
      });
    }
    return spawned;
  }).catch((_$, e, next) =>
    agentTypeOf(PLUGIN, e.subagentType) && !next.called ? { deny: spawnFailed(reasonOf(next.error)) } : next(e),
  );

  on('turn.start', (_$, e, next) => {
    if (e.agentId !== undefined) runner.turnStarted(e.agentId, e.turnId, e.text);
    return next(e);
  });

  on('classic.SubagentStart', ($, e, next) => {
    runner.started(hostOf($), e.agent_id, agentTypeOf(PLUGIN, e.agent_type), e.cwd);
    return next(e);
  });

  on('classic.UserPromptSubmit', (_$, e, next) => {
    runner.modeSeen(e.permission_mode);
    return next(e);
  });

  on('tool.offer', { tool: HANDBACK, for: 'list' }, async (_$, e, next) => {
    const offered = await next(e);
    if (e.agentId !== undefined) runner.handbackOffered(e.agentId, offered.isOffered);
    return offered;
  });

  // Our tools are our agents' alone: no other model pays for them in its prompt.
  on('tool.offer', { tool: OWN_TOOLS }, (_$, e, next) =>
    e.subagentType !== undefined && agentTypeOf(PLUGIN, e.subagentType) !== undefined ? next(e) : { isOffered: false },
  );

  on('session.append', { door: 'delivery', origin: { kind: 'composer' } }, async ($, e, next) => {
    const { agentId } = e;
    if (agentId !== undefined && (await runner.isOurs(hostOf($), agentId))) {
      const framed = e.message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      await runner.received(hostOf($), agentId, typedText(framed));
    }
    return next(e);
  });

  on('session.send', async (_, e, next) => {
    const delivered = runner.sendingTo(e.to);
    const sent = await next(e);
    if (sent.isDelivered) delivered();
    return sent;
  });

  on('session.receive', async ($, e, next) => {
    const received = await next(e);
    // Not from memory alone: after a reload this may be the first that the module hears of the agent.
    const { agentId } = e;
    if (agentId !== undefined && (await runner.isOurs(hostOf($), agentId))) {
      await runner.received(hostOf($), agentId, e.text);
    }
    return received;
  });

  on('turn.step', async function* ($, e, next) {
    if (e.agentId === undefined || !(await runner.isOurs(hostOf($), e.agentId))) {
      runner.passedOn(e.agentId);
      return yield* next(e);
    }
    const { agentId } = e;
    next.signal.addEventListener('abort', () => runner.stopped(hostOf($), agentId, e.turnId));
    return yield* runner.step(hostOf($), { turnId: e.turnId, index: e.index, agentId, plugin: PLUGIN });
  }).catch(async function* ($, e, next) {
    const { agentId } = e;
    const isOurs = runner.isKnown(agentId) || AGENT_TYPES.some((type) => e.model.startsWith(`${type.harness}/`));
    if (agentId === undefined || !isOurs) return yield* next(e);
    const reason = reasonOf(next.error);
    $.ui.log(`a step of ${agentId} failed: ${reason}`);
    return yield* runner.brokenStep({ turnId: e.turnId, index: e.index, agentId, plugin: PLUGIN }, reason);
  });

  on('tool.call', { tool: OWN_TOOLS }, async ($, e, next) => {
    const tool = TOOLS.find((one) => fullName(PLUGIN, one.name) === e.tool);
    if (tool === undefined) return next(e);
    const { agentId } = e;
    if (agentId !== undefined) {
      const turnId = runner.turnOf(agentId);
      next.signal.addEventListener('abort', () => runner.stopped(hostOf($), agentId, turnId));
    }
    return { result: await runner.toolResult(hostOf($), tool.name, e as Record<string, unknown>, agentId) };
  }).catch((_$, _e, next) => ({ deny: resultFailed(reasonOf(next.error)) }));

  on('tool.call', { tool: /^SubagentHandback$/ }, async ($, e, next) => {
    const called = await next(e);
    if (e.agentId !== undefined && (await runner.isOurs(hostOf($), e.agentId))) {
      const isRefused = called.deny !== undefined || called.isError === true;
      runner.handbackAnswered(hostOf($), e.agentId, isRefused ? (called.deny ?? called.text ?? '') : undefined);
    }
    return called;
  });

  on('turn.complete', async ($, e, next) => {
    if (e.agentId !== undefined && (await runner.isOurs(hostOf($), e.agentId)))
      runner.completed(hostOf($), e.agentId, e.turnId, e.isAborted);
    return next(e);
  });

  on('session.compact', (_$, e, next) =>
    // The harness keeps its own context. A summary would be a Claude request, and a skip kills the agent.
    runner.isKnown(e.agentId) ? { messages: [{ role: 'user', text: COMPACTED, toolUses: [] }] } : next(e),
  );
}

function reasonOf(error: { readonly message?: string; readonly kind: string }): string {
  return error.message ?? error.kind;
}

async function registerAgents($: EngineInterface): Promise<void> {
  for (const tool of TOOLS) {
    await $.tool.register({
      name: tool.name,
      description: tool.description,
      inputSchema: { type: 'object' },
      isDeferred: false,
    });
  }
  for (const type of AGENT_TYPES) {
    await $.agent.register({
      name: type.name,
      description: type.description,
      prompt: `${type.harness} answers this agent's steps; no Claude model does.`,
      model: type.model,
      tools: OWN_TOOLS,
      omitClaudeMd: true,
    });
  }
}

/** A Claude Code outside the tested versions is said once a session, where the session keeps its log. */
async function sayDrift($: EngineInterface): Promise<void> {
  const { version, base } = await $.session.version();
  const notice = driftNotice('Claude Code', base ?? version, TESTED.claude_code);
  if (notice !== undefined) $.ui.log(notice);
}

/** Starts the sidecar; resolves to why what started it ended, which for one that came up says nothing. */
async function startSidecar($: EngineInterface, onOutput: (piece: string) => void): Promise<{ detail: string }> {
  const child = $.process.spawn({ argv: ['node', `${$.plugin.root}/sidecar/launch.mjs`] });
  let said = '';
  for (;;) {
    const piece = await child.next();
    if (piece.done) {
      const { code, signal } = piece.value;
      return { detail: `${said.trim().slice(-600) || 'it said nothing'} (${signal ?? `exit code ${code}`})` };
    }
    if (piece.value.stream === 'stdout') onOutput(piece.value.text);
    else said = (said + piece.value.text).slice(-2_000);
  }
}

function sidecarPortsOf($: EngineInterface): SidecarPorts {
  return {
    start: (onOutput) => startSidecar($, onOutput),
    sleep: (ms) => $.clock.sleep(ms),
    recall: async () => (await $.state.get({ plugin: 'verbatim', key: 'sidecar' })).value,
    keep: async (handshake) => {
      await $.state.set({ plugin: 'verbatim', key: 'sidecar' }, handshake);
    },
    fetch: fetchOf($),
  };
}

function renewLease(): void {
  if (detached !== undefined) void sidecar.request(detached, { method: 'POST', path: '/v1/lease', body: {} });
}

async function modelVariables($: EngineInterface): Promise<ModelVariables> {
  const [model, force, workflowModel] = await Promise.all([
    $.env.get('CLAUDE_CODE_SUBAGENT_MODEL'),
    $.env.get('CLAUDE_CODE_SUBAGENT_MODEL_FORCE'),
    $.env.get('CLAUDE_CODE_WORKFLOW_SUBAGENT_MODEL'),
  ]);
  return { model, force, workflowModel };
}

function fetchOf($: EngineInterface): Fetch {
  return (url, init) => $.http.fetch(url, init);
}

function hostOf($: EngineInterface): Host {
  const fetch = fetchOf($);
  return {
    request: (request) => sidecar.request(fetch, request),
    requestDetached: (request) => sidecar.request(detached ?? fetch, request),
    jobOf: async (agent) => jobIdOf(await $.store.get(`agent:${agent}`)),
    keepJob: (agent, job) => $.store.set(`agent:${agent}`, job),
    recallRun: async (agent) => (await $.state.get({ plugin: 'verbatim', key: 'runs', id: agent })).value,
    keepRun: (agent, run) => {
      // Where it cannot be kept (the module is being unloaded) a reload goes by the journal alone.
      $.state.set({ plugin: 'verbatim', key: 'runs', id: agent }, run).catch(() => undefined);
    },
    jobOptions: options,
    heartbeatMs,
    sleep: (ms) => $.clock.sleep(ms),
  };
}

function jobIdOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
