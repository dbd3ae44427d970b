/**
 * The engine's main loop of a worker's session, as 2.1.332 runs it: the Stop of a turn, then its completion; and the
 * desk that opened the session, with every request that it was sent.
 */
import type { On } from 'claude-code';
import { type Engine, mock } from 'claude-code/testing';
import { ERRAND_VARIABLE, TASK_PATH, WAITING_PATH, type Waiting } from '../hooks/protocol/errand.js';
import { type World, world } from './engine.js';

/** What an orchestrator sets for a worker. */
export const WORKER = {
  LICH_PORT: '4711',
  LICH_TOKEN: 'to/k+n &=?',
  LICH_SESSION_ID: 'w1',
  LICH_SUBAGENT_DEPTH: '1',
};

/** What Verbatim's own desk sets. */
export const ERRAND = { ...WORKER, [ERRAND_VARIABLE]: 'eabcdefghij234567abcd' };

export type Sent = {
  readonly url: string;
  readonly path: string;
  readonly method: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly body: string;
};

/** How the desk answers: with a status, or not at all. */
export type Reply = { readonly status: number; readonly text?: string } | 'refused' | 'hangs';

export type WorkerWorld = {
  readonly base: World;
  /** Every request to the desk, in order. */
  readonly sent: Sent[];
  /** Resolves once the desk has had this many requests. */
  had(count: number): Promise<void>;
  /**
   * Lets all that is under way come to its end: what was not sent by then is not going to be. Never resolves while a
   * request hangs or a sidecar runs.
   */
  settled(): Promise<void>;
  /** The bodies of all reports. */
  readonly reports: readonly string[];
  /** What the worker said that it waits for. */
  readonly waits: readonly (Waiting | null)[];
  /** The prompts that the plugin submitted. */
  readonly submitted: { readonly text: string; readonly origin: unknown }[];
  /** How long the plugin slept, in milliseconds. */
  readonly slept: number[];
};

export type WorkerOptions = {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How the desk answers a request, its `count`th; absent: it has no task, and takes everything. */
  readonly desk?: (request: Sent, count: number) => Reply | Promise<Reply>;
  /** Why the engine does not take a prompt; absent: it takes it. */
  readonly drop?: string;
};

/** Puts the desk and an engine's bottom beneath the plugin. */
export function worker(
  on: On,
  { env = WORKER, desk = () => ({ status: 204 }), drop }: WorkerOptions = {},
): WorkerWorld {
  const sent: Sent[] = [];
  const submitted: WorkerWorld['submitted'] = [];
  const slept: number[] = [];
  const waiting = new Set<() => void>();

  // Before those of `world`, which answers for the sidecar alone.
  on('http.fetch', { url: /^http:\/\/127\.0\.0\.1:4711\// }, async (_, { url, init }) => {
    const request = { url, path: new URL(url).pathname, method: init?.method, headers: init?.headers };
    sent.push({ ...request, body: String(init?.body) });
    for (const look of [...waiting]) look();
    const reply = await desk({ ...request, body: String(init?.body) }, sent.length);
    if (reply === 'refused') return { deny: 'connection refused' };
    if (reply === 'hangs') return new Promise<never>(() => undefined);
    const { status, text = '' } = reply;
    return { value: { status, ok: status < 400, headers: {}, text } };
  });
  on('clock.sleep', { ms: 1_000 }, (_, e) => {
    slept.push(e.ms);
    return { value: undefined };
  });
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const base = world(on, { turns: [{ answer: 'codex' }], env: Object.fromEntries(given) });
  // It moves no time here, for it hears of none: it says when the event loop has settled.
  const clock = mock.clock((() => undefined) as unknown as On);
  on('classic.Stop', () => ({}));
  on('classic.StopFailure', () => ({}));
  on('classic.PermissionRequest', () => ({}));
  on('classic.PostToolUse', () => ({}));
  on('classic.PostToolUseFailure', () => ({}));
  on('prompt.submit', (_, { text, origin }) => {
    submitted.push({ text, origin });
    if (drop !== undefined) return { drop };
    return origin === undefined ? { text } : { text, origin };
  });

  const bodiesAt = (path: string) => sent.filter((one) => one.path === path).map((one) => one.body);
  return {
    base,
    sent,
    had: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (sent.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    settled: () => clock.settle(),
    get reports() {
      return bodiesAt('/mod/answer');
    },
    get waits() {
      return bodiesAt(WAITING_PATH).map((body) => (JSON.parse(body) as { waiting: Waiting | null }).waiting);
    },
    submitted,
    slept,
  };
}

/** A desk that hands this task over. */
export function deskWith(task: string): NonNullable<WorkerOptions['desk']> {
  return ({ path }) => (path === TASK_PATH ? { status: 200, text: JSON.stringify({ task }) } : { status: 204 });
}

/** Starts the session; a worker's is interactive. */
export async function begin($: Engine, isInteractive = true): Promise<void> {
  await $.session.start({ cwd: '/w', surface: isInteractive ? 'terminal' : null, isInteractive });
}

type StopFields = Partial<Parameters<Engine['classic']['Stop']>[0]>;

/** The Stop of a turn: with this text, and with nothing that runs unless it is given. */
export async function stop($: Engine, text: string | undefined, fields: StopFields = {}): Promise<void> {
  await $.classic.Stop({
    stop_hook_active: false,
    ...(text === undefined ? {} : { last_assistant_message: text }),
    background_tasks: [],
    session_crons: [],
    ...fields,
  });
}

type Completion = {
  readonly reason?: 'answer' | 'aborted' | 'refusal' | 'error';
  readonly agentId?: string;
  readonly isAborted?: boolean;
};

/** The completion of a turn; resolves to what the engine gets from it. */
export async function complete($: Engine, answer: string, fields: Completion = {}): Promise<{ text: string }> {
  const { reason = 'answer' } = fields;
  return $.turn.complete({
    answer,
    durationMs: 1,
    turnId: 'turn',
    reason,
    isAborted: reason === 'aborted',
    ...(reason === 'refusal' ? { refusal: { category: null, explanation: null } } : {}),
    ...fields,
  } as never);
}

/** A whole turn that ends with this text. */
export async function turn($: Engine, text: string, fields: StopFields = {}): Promise<void> {
  await stop($, text, fields);
  await complete($, text);
}

/** A person types this. */
export async function submit($: Engine, text: string): Promise<void> {
  await $.prompt.submit({ text, wait: false, origin: { kind: 'composer' } });
}

/** The prompt that was submitted enters the conversation: resolves to the blocks that the model gets. */
export async function enter(
  $: Engine,
  text: string,
  name = 'verbatim',
  more: readonly object[] = [],
): Promise<unknown> {
  const { message } = await $.session.append({
    message: { type: 'user', role: 'user', content: [{ type: 'text', text }, ...more] },
    door: 'prompt',
    origin: { kind: 'plugin', name, asUser: true },
    uuid: crypto.randomUUID(),
  } as never);
  return message?.content;
}
