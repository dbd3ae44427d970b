/**
 * A scripted OpenAI Responses API on 127.0.0.1, in this process: what Codex talks to in tests, demo and bench.
 *
 * ```ts
 * const model = await fakeResponses();
 * model.next(turn(shell('ls'), usage(100, 5)), turn(say('done')));   // two requests, in order
 * model.script((request) => turn(say(`you said ${request.lastUserText}`))); // every further one
 * ```
 *
 * A reply is built of parts; each part is streamed as the server-sent events that Codex 0.171.0 reads. Every
 * request is recorded in `model.requests`, so a test can say which texts reached the model, and how often.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Phase = 'commentary' | 'final_answer' | null;

export type Part =
  | {
      readonly kind: 'message';
      readonly text: string;
      readonly phase: Phase;
      readonly deltas: number;
      readonly refusal?: boolean;
    }
  | { readonly kind: 'reasoning'; readonly summary: string }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly namespace?: string;
      readonly arguments: string;
      readonly custom: boolean;
    }
  | { readonly kind: 'usage'; readonly input: number; readonly cached: number; readonly output: number }
  /** Holds the stream until the promise settles: the way to a race without a clock. */
  | { readonly kind: 'hold'; readonly until: Promise<unknown> };

export type Reply =
  | { readonly kind: 'stream'; readonly parts: readonly Part[]; readonly end: StreamEnd }
  | {
      readonly kind: 'http';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  /** The connection is reset without a byte. */
  | { readonly kind: 'reset' };

export type StreamEnd =
  | { readonly kind: 'completed' }
  /** The connection closes before `response.completed`. */
  | { readonly kind: 'cut' }
  /** Nothing more is sent and the connection stays open. */
  | { readonly kind: 'idle' }
  | { readonly kind: 'incomplete'; readonly reason: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** One request that the harness made. */
export type ModelRequest = {
  /** From 0, in order of arrival. */
  readonly index: number;
  /** The body as it was parsed; `{}` when it is not JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: number;
  /** The Codex thread that asks (header `thread-id`), to tell threads on one server apart. */
  readonly thread: string;
  /** Whether a sub-agent of Codex asks; its history may begin with its parent's. */
  readonly isSubAgent: boolean;
  readonly model: string;
  /** The texts of every user message in the request, oldest first, environment context among them. */
  readonly userTexts: readonly string[];
  readonly lastUserText: string;
  /** The outputs of the tool calls in the request, oldest first. */
  readonly toolOutputs: readonly string[];
  /** Resolves when the harness hung up or the reply was sent whole. */
  readonly closed: Promise<'sent' | 'hung_up'>;
};

export type Script = (request: ModelRequest) => Reply | Promise<Reply>;

export type FakeResponses = {
  /** Ends in `/v1`: Codex's `base_url`. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ModelRequest[];
  /** Queues replies, one a request, before the script is asked. */
  next(...replies: readonly Reply[]): void;
  /** Answers every request that the queue does not; the default says `ok`. */
  script(script: Script): void;
  /** Resolves with the first request, made or to come, that fits. */
  request(fits: (request: ModelRequest) => boolean): Promise<ModelRequest>;
  /** How many requests carried a user message that contains `text`; how often it stands in the last of them. */
  seen(text: string): { readonly requests: number; readonly inLast: number };
  /** Forgets requests, queue and script. */
  reset(): void;
  close(): Promise<void>;
};

/** A message of the model. `phase` null is what models without phases send. */
export function say(text: string, options: { phase?: Phase; deltas?: number; refusal?: boolean } = {}): Part {
  const { phase = 'final_answer', deltas = 1, refusal = false } = options;
  return { kind: 'message', text, phase, deltas, refusal };
}

export const comment = (text: string): Part => say(text, { phase: 'commentary' });

export const think = (summary: string): Part => ({ kind: 'reasoning', summary });

/** A call of a function tool by its name (and namespace): whatever the request's list of tools offers. */
export function call(name: string, args: unknown, namespace?: string): Part {
  return { kind: 'call', name, namespace, arguments: JSON.stringify(args), custom: false };
}

/** JavaScript for the `exec` tool of models of the "code mode" kind (`gpt-5.6` and later), which has `tools.exec_command` and so on. */
export function code(javascript: string): Part {
  return { kind: 'call', name: 'exec', arguments: javascript, custom: true };
}

/** Starts a sub-agent, on models that have the `collaboration` tools (`gpt-5.6` and later). */
export const spawnAgent = (name: string, message: string): Part =>
  call('spawn_agent', { task_name: name, message }, 'collaboration');

/** Waits for news of a sub-agent. */
export const waitAgent = (ms: number): Part => call('wait_agent', { timeout_ms: ms }, 'collaboration');

/** A note to the user on the side, on models that have the tool (`gpt-6.2-sol`). */
export const aside = (message: string): Part => call('send_message_to_user_async', { message });

/** Runs a command through the tool that Codex gives to models of the classic kind (`gpt-5.5`). */
export function shell(command: string, options: { yieldMs?: number; escalate?: string } = {}): Part {
  const { yieldMs, escalate } = options;
  return call('exec_command', {
    cmd: command,
    ...(yieldMs === undefined ? {} : { yield_time_ms: yieldMs }),
    ...(escalate === undefined ? {} : { sandbox_permissions: 'require_escalated', justification: escalate }),
  });
}

/** An `apply_patch` call; `patch` is the whole envelope (`*** Begin Patch` … `*** End Patch`). */
export function patch(envelope: string): Part {
  return { kind: 'call', name: 'apply_patch', arguments: envelope, custom: true };
}

/** An `apply_patch` call that adds a file. */
export function addFile(path: string, text: string): Part {
  const lines = text.split('\n').map((line) => `+${line}`);
  return patch(['*** Begin Patch', `*** Add File: ${path}`, ...lines, '*** End Patch', ''].join('\n'));
}

export function plan(...steps: readonly { step: string; status: 'pending' | 'in_progress' | 'completed' }[]): Part {
  return call('update_plan', { plan: steps });
}

export const usage = (input: number, output: number, cached = 0): Part => ({ kind: 'usage', input, cached, output });

export const hold = (until: Promise<unknown>): Part => ({ kind: 'hold', until });

/** A reply that ends well. */
export function turn(...parts: readonly Part[]): Reply {
  return { kind: 'stream', parts, end: { kind: 'completed' } };
}

export const cut = (...parts: readonly Part[]): Reply => ({ kind: 'stream', parts, end: { kind: 'cut' } });

export const idle = (...parts: readonly Part[]): Reply => ({ kind: 'stream', parts, end: { kind: 'idle' } });

export function incomplete(reason: string, ...parts: readonly Part[]): Reply {
  return { kind: 'stream', parts, end: { kind: 'incomplete', reason } };
}

/** A `response.failed` event inside a stream that began with 200. */
export function failed(code: string, message: string, ...parts: readonly Part[]): Reply {
  return { kind: 'stream', parts, end: { kind: 'failed', code, message } };
}

/** An HTTP error; an object becomes `{"error": …}`, a string is the body as it stands. */
export function httpError(status: number, body: unknown = {}, headers: Record<string, string> = {}): Reply {
  const isText = typeof body === 'string';
  return {
    kind: 'http',
    status,
    headers: { 'content-type': isText ? 'text/plain' : 'application/json', ...headers },
    body: isText ? body : JSON.stringify({ error: body }),
  };
}

export const reset = (): Reply => ({ kind: 'reset' });

/** Starts the fake on a free port of 127.0.0.1. */
export async function fakeResponses(): Promise<FakeResponses> {
  const requests: ModelRequest[] = [];
  const queue: Reply[] = [];
  const ok: Script = () => turn(say('ok'));
  let script = ok;
  let waiters: { fits: (request: ModelRequest) => boolean; resolve: (request: ModelRequest) => void }[] = [];

  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', () => response.destroy());
    incoming.on('end', () => {
      if (incoming.method !== 'POST' || !incoming.url?.endsWith('/responses')) {
        response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"not found"}}');
        return;
      }
      const request = requestOf(requests.length, incoming, Buffer.concat(chunks), response);
      requests.push(request);
      waiters = waiters.filter(({ fits, resolve }) => {
        const isFit = fits(request);
        if (isFit) resolve(request);
        return !isFit;
      });
      void answer(request, response);
    });
  });

  async function answer(request: ModelRequest, response: ServerResponse): Promise<void> {
    try {
      await send(queue.shift() ?? (await script(request)), request, response);
    } catch (error) {
      // A script that throws is a broken test: Codex is told so instead of being left to wait.
      if (!response.headersSent) response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `the fake's script failed: ${String(error)}` } }));
    }
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    next: (...replies) => {
      queue.push(...replies);
    },
    script: (next) => {
      script = next;
    },
    request: (fits) => {
      const made = requests.find(fits);
      return made ? Promise.resolve(made) : new Promise((resolve) => waiters.push({ fits, resolve }));
    },
    seen: (text) => {
      const carrying = requests.filter((request) => request.userTexts.some((user) => user.includes(text)));
      return {
        requests: carrying.length,
        inLast: carrying.at(-1)?.userTexts.filter((user) => user.includes(text)).length ?? 0,
      };
    },
    reset: () => {
      requests.length = 0;
      queue.length = 0;
      script = ok;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function requestOf(index: number, incoming: IncomingMessage, raw: Buffer, response: ServerResponse): ModelRequest {
  const body = parsed(raw);
  const input = Array.isArray(body.input) ? body.input.filter(isRecord) : [];
  const userTexts = input.filter((item) => item.role === 'user').flatMap(textsOf);
  return {
    index,
    body,
    headers: incoming.headers,
    bytes: raw.length,
    thread: String(incoming.headers['thread-id'] ?? ''),
    isSubAgent: incoming.headers['x-openai-subagent'] !== undefined,
    model: String(body.model ?? ''),
    userTexts,
    lastUserText: userTexts.at(-1) ?? '',
    toolOutputs: input
      .filter((item) => item.type === 'function_call_output' || item.type === 'custom_tool_call_output')
      .map((item) => (typeof item.output === 'string' ? item.output : JSON.stringify(item.output))),
    closed: new Promise((resolve) => {
      response.once('close', () => resolve(response.writableFinished ? 'sent' : 'hung_up'));
    }),
  };
}

function textsOf(item: Record<string, unknown>): string[] {
  if (typeof item.content === 'string') return [item.content];
  if (!Array.isArray(item.content)) return [];
  return item.content
    .filter(isRecord)
    .map((part) => part.text)
    .filter((text) => typeof text === 'string');
}

async function send(reply: Reply, request: ModelRequest, response: ServerResponse): Promise<void> {
  switch (reply.kind) {
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'http':
      response.writeHead(reply.status, reply.headers).end(reply.body);
      return;
    case 'stream':
      await stream(reply.parts, reply.end, request, response);
      return;
  }
}

async function stream(
  parts: readonly Part[],
  end: StreamEnd,
  request: ModelRequest,
  response: ServerResponse,
): Promise<void> {
  const id = `resp_${request.index}`;
  const events = eventWriter(response);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  events.write('response.created', { response: { id } });
  let tokens = { input: 10, cached: 0, output: 5 };
  for (const [at, part] of parts.entries()) {
    if (part.kind === 'usage') tokens = part;
    else await streamPart(part, `${id}_${at}`, at, events, request);
    if (response.destroyed) return;
  }
  switch (end.kind) {
    case 'completed':
      events.write('response.completed', { response: { id, usage: usageOf(tokens) } });
      response.end();
      return;
    case 'cut':
      response.end();
      return;
    case 'idle':
      return;
    case 'incomplete':
      events.write('response.incomplete', { response: { id, incomplete_details: { reason: end.reason } } });
      response.end();
      return;
    case 'failed':
      events.write('response.failed', { response: { id, error: { code: end.code, message: end.message } } });
      response.end();
      return;
  }
}

type EventWriter = { write(type: string, fields: Record<string, unknown>): void };

function eventWriter(response: ServerResponse): EventWriter {
  let sequence = 0;
  return {
    write: (type, fields) => {
      const data = JSON.stringify({ type, sequence_number: sequence++, ...fields });
      if (!response.destroyed) response.write(`event: ${type}\ndata: ${data}\n\n`);
    },
  };
}

async function streamPart(
  part: Exclude<Part, { kind: 'usage' }>,
  id: string,
  output_index: number,
  events: EventWriter,
  request: ModelRequest,
): Promise<void> {
  const item = (type: 'added' | 'done', fields: Record<string, unknown>) =>
    events.write(`response.output_item.${type}`, { output_index, item: fields });
  switch (part.kind) {
    case 'message': {
      const message = {
        type: 'message',
        role: 'assistant',
        id: `msg_${id}`,
        ...(part.phase ? { phase: part.phase } : {}),
      };
      item('added', { ...message, content: [] });
      for (const delta of part.refusal ? [] : slices(part.text, part.deltas)) {
        events.write('response.output_text.delta', { item_id: message.id, output_index, content_index: 0, delta });
      }
      const content = part.refusal ? { type: 'refusal', refusal: part.text } : { type: 'output_text', text: part.text };
      item('done', { ...message, content: [content] });
      return;
    }
    case 'reasoning': {
      const reasoning = { type: 'reasoning', id: `rs_${id}` };
      item('added', { ...reasoning, summary: [] });
      events.write('response.reasoning_summary_part.added', { item_id: reasoning.id, output_index, summary_index: 0 });
      events.write('response.reasoning_summary_text.delta', {
        item_id: reasoning.id,
        output_index,
        summary_index: 0,
        delta: part.summary,
      });
      item('done', { ...reasoning, summary: [{ type: 'summary_text', text: part.summary }] });
      return;
    }
    case 'call': {
      const call_id = `call_${id}`;
      if (part.custom) {
        item('done', { type: 'custom_tool_call', id: `ctc_${id}`, call_id, name: part.name, input: part.arguments });
      } else {
        item('done', {
          type: 'function_call',
          id: `fc_${id}`,
          call_id,
          name: part.name,
          ...(part.namespace === undefined ? {} : { namespace: part.namespace }),
          arguments: part.arguments,
        });
      }
      return;
    }
    case 'hold':
      await Promise.race([part.until, request.closed]);
      return;
  }
}

/** Cuts a text into about `count` deltas, never inside a surrogate pair. */
function slices(text: string, count: number): string[] {
  const points = count <= 1 ? [text] : Array.from(text);
  const size = Math.max(1, Math.ceil(points.length / Math.max(1, count)));
  const cuts: string[] = [];
  for (let at = 0; at < points.length; at += size) cuts.push(points.slice(at, at + size).join(''));
  return cuts;
}

function usageOf(tokens: { input: number; cached: number; output: number }): unknown {
  return {
    input_tokens: tokens.input,
    input_tokens_details: { cached_tokens: tokens.cached },
    output_tokens: tokens.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: tokens.input + tokens.output,
  };
}

function parsed(raw: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(raw.toString('utf8'));
    return isRecord(value) ? value : {};
  } catch {
    // Recorded as an empty body: `bytes` still says that something came.
    return {};
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
