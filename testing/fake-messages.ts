/**
 * A scripted Anthropic Messages API on 127.0.0.1, in this process: what Claude Code talks to in tests, demo and bench.
 *
 * ```ts
 * const claude = await fakeMessages();
 * claude.main([calls(agent('verbatim:codex', 'Do it.')), says('done')]);   // one step a request of the main loop
 * claude.main((request) => says(`you said ${request.lastText}`));          // or a function of the request
 * claude.bill();  // how many requests of each class were made, and how many bytes of prompt they carried
 * ```
 *
 * Requests are told apart by what Claude Code itself says of them: with CLAUDE_CODE_GATEWAY_HINT_HEADERS=1 (which the
 * drivers set) each carries `x-claude-code-request-class`, and a subagent's its `x-claude-code-agent-id` (measured on
 * 2.1.332). Where the headers are missing the request's form decides: no tools and the stop sequence `</block>` is auto
 * mode's classifier, `cc_is_subagent=true` in the first system block a subagent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './wait.js';

export type RequestClass =
  | 'main'
  /** An agent's own loop: one of the Agent tool, or one of a workflow. */
  | 'subagent'
  | 'workflow'
  | 'compaction'
  /** Auto mode's review of an action, of a hand-back, or of what an agent did. */
  | 'classifier'
  /** A title, a summary, or anything else that Claude Code asks beside a loop. */
  | 'auxiliary'
  | 'count_tokens'
  /** Not the Messages API: answered 404. */
  | 'other';

/** One request that Claude Code made. */
export type MessagesRequest = {
  /** From 0, in order of arrival. */
  readonly index: number;
  readonly class: RequestClass;
  /** The subagent that asks; absent for the main loop. */
  readonly agent?: string;
  readonly session: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The body as it was parsed; `{}` when it is not JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly bytes: number;
  readonly model: string;
  /** Names of the tools that it offers. */
  readonly tools: readonly string[];
  /** All text of the last message, tool results included, in order. */
  readonly lastText: string;
  /** All text of all messages, tool results included, in order. */
  readonly text: string;
  /** The tool results in the request, oldest first. */
  readonly results: readonly ToolOutcome[];
  /** Resolves when Claude Code hung up or the reply was sent whole. */
  readonly closed: Promise<'sent' | 'hung_up'>;
};

export type ToolOutcome = {
  readonly tool: string;
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
};

export type ToolCall = {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly id?: string;
};

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool'; readonly call: ToolCall }
  /** Holds the stream until the promise settles: the way to a race without a clock. */
  | { readonly kind: 'hold'; readonly until: Promise<unknown> };

export type MessagesReply =
  | {
      readonly kind: 'message';
      readonly parts: readonly Part[];
      /** The stop reason; absent: what the parts make it. */
      readonly stop?: string;
    }
  | { readonly kind: 'http'; readonly status: number; readonly body: string };

export type MessagesScript = (request: MessagesRequest) => MessagesReply | Promise<MessagesReply>;
/** One step of the main loop: a reply, or a function that makes it when its request has come. */
export type Step = MessagesReply | MessagesScript;

export type Bill = Readonly<Record<RequestClass, number>> & {
  /** Requests that an agent's own loop caused: its steps and its compactions. */
  readonly ofAgents: number;
  /** Bytes of prompt of all requests, the classifier's excepted. */
  readonly bytes: number;
  readonly classifierBytes: number;
};

export type FakeMessages = {
  /** ANTHROPIC_BASE_URL. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly MessagesRequest[];
  /** Scripts the main loop: steps taken one a request, the default once they are used up; or a function of each. */
  main(script: readonly Step[] | MessagesScript): void;
  /** Scripts the loops of subagents that Claude's model runs (the nested cases); the default names the imposture. */
  subagent(script: MessagesScript): void;
  /** Scripts auto mode's classifier; the default lets everything pass. */
  classifier(script: MessagesScript): void;
  /** Resolves with the first request, made or to come, that fits. */
  request(what: string, fits: (request: MessagesRequest) => boolean, ms?: number): Promise<MessagesRequest>;
  of(kind: RequestClass): readonly MessagesRequest[];
  bill(): Bill;
  /** Forgets requests and scripts. */
  reset(): void;
  close(): Promise<void>;
};

/** What a subagent's loop is answered where no script was given: a test that finds it has caught Claude in our name. */
export const IMPOSTURE = 'CLAUDE ANSWERED IN THE AGENT’S NAME';

/** Auto mode's reviewer lets the action pass. It asks in two forms: for a verdict, and (of an agent's work) for a grade. */
export const lets = (request: MessagesRequest): MessagesReply =>
  says(asksForGrade(request) ? '<severity>3</severity>' : '<block>no</block>');

/** Auto mode's reviewer blocks the action; an agent's work is then delivered flagged. */
export const blocks = (request: MessagesRequest): MessagesReply =>
  says(
    asksForGrade(request)
      ? '<severity>95</severity><category>Data Exfiltration</category>'
      : '<block>yes</block><category>Data Exfiltration</category><reason>a test</reason>',
  );

const asksForGrade = (request: MessagesRequest): boolean => request.lastText.includes('<severity>N</severity>');

/** The reply of a main loop whose script is used up. */
export const DEFAULT_REPLY = 'Understood.';

export const says = (text: string): MessagesReply => ({ kind: 'message', parts: [{ kind: 'text', text }] });

/** A reply without any block. */
export const SAYS_NOTHING: MessagesReply = { kind: 'message', parts: [] };

/** A reply that the model's safeguards stopped after these words. */
export const declines = (text: string): MessagesReply => ({
  kind: 'message',
  parts: [{ kind: 'text', text }],
  stop: 'refusal',
});

/** A reply that calls tools, in order, at once. */
export const calls = (...all: readonly ToolCall[]): MessagesReply => ({
  kind: 'message',
  parts: all.map((call) => ({ kind: 'tool', call })),
});

/** A reply that is held until the promise settles, then made. */
export function after(promise: Promise<unknown>, step: Step): MessagesScript {
  return async (request) => {
    await promise;
    return typeof step === 'function' ? step(request) : step;
  };
}

/** A reply whose stream has begun and says nothing more until the promise settles. */
export const holds = (promise: Promise<unknown>, text = DEFAULT_REPLY): MessagesReply => ({
  kind: 'message',
  parts: [
    { kind: 'hold', until: promise },
    { kind: 'text', text },
  ],
});

export const refuses = (status: number, type: string, message: string): MessagesReply => ({
  kind: 'http',
  status,
  body: JSON.stringify({ type: 'error', error: { type, message } }),
});

export type AgentOptions = {
  readonly description?: string;
  /** Absent: what Claude Code decides, which in the TUI is always the background. */
  readonly background?: boolean;
  readonly model?: string;
  readonly isolation?: 'worktree';
  readonly name?: string;
};

/** The Agent tool. */
export function agent(type: string, prompt: string, options: AgentOptions = {}): ToolCall {
  const { description = 'a task', background, model, isolation, name } = options;
  return {
    name: 'Agent',
    input: {
      subagent_type: type,
      description,
      prompt,
      ...(background === undefined ? {} : { run_in_background: background }),
      ...(model === undefined ? {} : { model }),
      ...(isolation === undefined ? {} : { isolation }),
      ...(name === undefined ? {} : { name }),
    },
  };
}

export const sendMessage = (to: string, message: string): ToolCall => ({
  name: 'SendMessage',
  input: { to, summary: 'a message', message },
});

export const taskStop = (id: string): ToolCall => ({ name: 'TaskStop', input: { task_id: id } });

/** The Workflow tool; `body` is the script below its meta, and what it returns is the workflow's result. */
export const workflow = (body: string): ToolCall => ({
  name: 'Workflow',
  input: {
    script: `export const meta = { name: 'test', description: 'a test', phases: [{ title: 'run' }] };\n${body}\n`,
  },
});

export const bash = (command: string): ToolCall => ({ name: 'Bash', input: { command, description: 'a command' } });

/** Starts the fake; `close` it when the test ends. */
export async function fakeMessages(): Promise<FakeMessages> {
  const requests: MessagesRequest[] = [];
  let main: MessagesScript = () => says(DEFAULT_REPLY);
  let subagent: MessagesScript = () => says(IMPOSTURE);
  let classifier: MessagesScript = lets;

  const scriptOf = (request: MessagesRequest): MessagesScript => {
    switch (request.class) {
      case 'main':
        return main;
      case 'subagent':
      case 'workflow':
        return subagent;
      case 'classifier':
        return classifier;
      case 'compaction':
      case 'auxiliary':
        return () => says(DEFAULT_REPLY);
      case 'count_tokens':
        return () => ({ kind: 'http', status: 200, body: JSON.stringify({ input_tokens: tokensOf(request.bytes) }) });
      case 'other':
        return () => refuses(404, 'not_found_error', `${request.path} is not part of this fake`);
    }
  };

  const server = createServer((message, response) => {
    void (async () => {
      const request = await requestOf(message, response, requests.length);
      requests.push(request);
      let reply: MessagesReply;
      try {
        reply = await scriptOf(request)(request);
      } catch (error) {
        // A script that throws is a broken test: the words reach Claude Code and from there the test's log.
        reply = refuses(400, 'invalid_request_error', `the test's script failed: ${String(error)}`);
      }
      await write(response, request, reply);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;

  const fake: FakeMessages = {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    main(script) {
      if (typeof script === 'function') {
        main = script;
        return;
      }
      const steps = [...script];
      main = (request) => {
        const step = steps.shift() ?? says(DEFAULT_REPLY);
        return typeof step === 'function' ? step(request) : step;
      };
    },
    subagent(script) {
      subagent = script;
    },
    classifier(script) {
      classifier = script;
    },
    request: (what, fits, ms = 15_000) =>
      until(`a request to the Messages API: ${what}`, () => requests.find(fits), { within: ms, every: 5 }),
    of: (kind) => requests.filter((request) => request.class === kind),
    bill() {
      const count = (kind: RequestClass) => requests.filter((request) => request.class === kind).length;
      const bytes = (fits: (request: MessagesRequest) => boolean) =>
        requests.filter(fits).reduce((sum, request) => sum + request.bytes, 0);
      return {
        main: count('main'),
        subagent: count('subagent'),
        workflow: count('workflow'),
        compaction: count('compaction'),
        classifier: count('classifier'),
        auxiliary: count('auxiliary'),
        count_tokens: count('count_tokens'),
        other: count('other'),
        ofAgents: requests.filter((request) => request.agent !== undefined).length,
        bytes: bytes((request) => request.class !== 'classifier' && request.class !== 'other'),
        classifierBytes: bytes((request) => request.class === 'classifier'),
      };
    },
    reset() {
      requests.length = 0;
      main = () => says(DEFAULT_REPLY);
      subagent = () => says(IMPOSTURE);
      classifier = lets;
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
  return fake;
}

type Block = {
  readonly type: string;
  readonly text?: string;
  readonly content?: unknown;
  readonly id?: string;
  readonly name?: string;
  readonly tool_use_id?: string;
  readonly is_error?: boolean;
};
type BodyMessage = { readonly role: string; readonly content: string | readonly Block[] };

async function requestOf(message: IncomingMessage, response: ServerResponse, index: number): Promise<MessagesRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  const body = parsed(raw.toString('utf8'));
  const messages = (Array.isArray(body.messages) ? body.messages : []) as readonly BodyMessage[];
  const tools = (Array.isArray(body.tools) ? body.tools : []) as readonly { readonly name?: string }[];
  const path = (message.url ?? '/').split('?')[0] ?? '/';
  const system = textOf(body.system as string | readonly Block[] | undefined);
  const agentHeader = message.headers['x-claude-code-agent-id'];
  const isAgent = agentHeader !== undefined || system.includes('cc_is_subagent=true');
  const last = messages.at(-1);
  const request = {
    index,
    class: classOf(message, path, body, system, isAgent),
    ...(isAgent ? { agent: String(agentHeader ?? 'unnamed') } : {}),
    session: String(message.headers['x-claude-code-session-id'] ?? ''),
    path,
    headers: message.headers,
    body,
    bytes: raw.length,
    model: typeof body.model === 'string' ? body.model : '',
    tools: tools.map((tool) => tool.name ?? ''),
    lastText: last === undefined ? '' : textOf(last.content),
    text: messages.map(({ content }) => textOf(content)).join('\n'),
    results: resultsOf(messages),
    closed: new Promise<'sent' | 'hung_up'>((resolve) => {
      response.once('close', () => resolve(response.writableFinished ? 'sent' : 'hung_up'));
    }),
  };
  return request;
}

function classOf(
  message: IncomingMessage,
  path: string,
  body: Readonly<Record<string, unknown>>,
  system: string,
  isAgent: boolean,
): RequestClass {
  if (message.method !== 'POST') return 'other';
  if (path === '/v1/messages/count_tokens') return 'count_tokens';
  if (path !== '/v1/messages') return 'other';
  const hasTools = Array.isArray(body.tools) && body.tools.length > 0;
  const stops = Array.isArray(body.stop_sequences) ? body.stop_sequences : [];
  if (
    !hasTools &&
    (stops.includes('</block>') || system.includes('security monitor for autonomous AI coding agents'))
  ) {
    return 'classifier';
  }
  switch (message.headers['x-claude-code-request-class']) {
    case 'main':
      return 'main';
    case 'subagent':
      return 'subagent';
    case 'workflow':
      return 'workflow';
    case 'compaction':
      return 'compaction';
    case 'auxiliary':
    case 'side_reply':
      return 'auxiliary';
    default:
      if (isAgent) return 'subagent';
      return hasTools ? 'main' : 'auxiliary';
  }
}

function resultsOf(messages: readonly BodyMessage[]): readonly ToolOutcome[] {
  const names = new Map<string, string>();
  const results: ToolOutcome[] = [];
  for (const { content } of messages) {
    if (typeof content === 'string') continue;
    for (const block of content) {
      if (block.type === 'tool_use') names.set(block.id ?? '', block.name ?? '');
      if (block.type !== 'tool_result') continue;
      const id = block.tool_use_id ?? '';
      const text = textOf(block.content as string | readonly Block[] | undefined);
      results.push({ tool: names.get(id) ?? '', id, text, isError: block.is_error === true });
    }
  }
  return results;
}

/** All text of a message's content, a tool result's included. */
function textOf(content: string | readonly Block[] | undefined): string {
  if (content === undefined || typeof content === 'string') return content ?? '';
  return content
    .map((block) => {
      if (block.type === 'text') return block.text ?? '';
      if (block.type === 'tool_result') return textOf(block.content as string | readonly Block[] | undefined);
      return '';
    })
    .join('\n');
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** A count of tokens that looks like one. */
const tokensOf = (bytes: number): number => Math.ceil(bytes / 4);

let made = 0;
const nextId = (prefix: string): string => `${prefix}_fake${String(++made).padStart(8, '0')}`;

async function write(response: ServerResponse, request: MessagesRequest, reply: MessagesReply): Promise<void> {
  if (response.destroyed) return;
  if (reply.kind === 'http') {
    response.writeHead(reply.status, { 'content-type': 'application/json' });
    response.end(reply.body);
    return;
  }
  const content = reply.parts.flatMap((part) => (part.kind === 'hold' ? [] : [blockOf(part)]));
  const stop = reply.stop ?? (content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn');
  const message = {
    id: nextId('msg'),
    type: 'message',
    role: 'assistant',
    model: request.model,
    stop_sequence: null,
  };
  const input = { input_tokens: tokensOf(request.bytes), cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  const output = tokensOf(JSON.stringify(content).length);
  if (request.body.stream !== true) {
    for (const part of reply.parts) if (part.kind === 'hold') await part.until;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ ...message, content, stop_reason: stop, usage: { ...input, output_tokens: output } }),
    );
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (type: string, data: Record<string, unknown>) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  send('message_start', {
    message: { ...message, content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } },
  });
  let index = 0;
  for (const part of reply.parts) {
    if (part.kind === 'hold') {
      await part.until;
      if (response.destroyed) return;
      continue;
    }
    const block = blockOf(part);
    if (block.type === 'text') {
      send('content_block_start', { index, content_block: { type: 'text', text: '' } });
      send('content_block_delta', { index, delta: { type: 'text_delta', text: block.text } });
    } else {
      send('content_block_start', { index, content_block: { ...block, input: {} } });
      send('content_block_delta', {
        index,
        delta: { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
      });
    }
    send('content_block_stop', { index });
    index += 1;
  }
  send('message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: output } });
  send('message_stop', {});
  response.end();
}

type WrittenBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown };

function blockOf(part: Exclude<Part, { kind: 'hold' }>): WrittenBlock {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  return { type: 'tool_use', id: part.call.id ?? nextId('toolu'), name: part.call.name, input: part.call.input };
}
