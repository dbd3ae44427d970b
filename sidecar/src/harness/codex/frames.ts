/**
 * The frames of `codex app-server` that we read: tolerant of what we do not know, strict on what we use.
 *
 * Unknown fields, item types, methods and enum values pass through (Codex adds some in every version); a
 * frame of a kind that we use without the fields that we need is a `FrameFault`, never a guess.
 * Shapes: `codex app-server generate-ts --experimental` of 0.171.0, confirmed in runs.
 */
import * as z from 'zod/mini';
import { cut } from '../../../../plugin/hooks/notes/foreign.js';

/** Characters of a line that cannot be read which its fault repeats. */
const EXCERPT = 200;

/** A line or a frame that is not what Codex 0.171.0 sends. */
export class FrameFault extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'FrameFault';
  }
}

const rpcError = z.looseObject({ code: z.number(), message: z.string(), data: z.optional(z.unknown()) });
export type RpcErrorBody = z.infer<typeof rpcError>;

const message = z.looseObject({
  id: z.optional(z.union([z.number(), z.string()])),
  method: z.optional(z.string()),
  params: z.optional(z.unknown()),
  result: z.optional(z.unknown()),
  error: z.optional(rpcError),
});

export type RequestId = number | string;

export type Frame =
  | { readonly kind: 'result'; readonly id: RequestId; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: RequestId; readonly error: RpcErrorBody }
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown };

/** @throws FrameFault when the line is not a JSON-RPC message. */
export function parseFrame(line: string): Frame {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new FrameFault(`a line that is not JSON: ${cut(line, EXCERPT)}`);
  }
  const parsed = message.safeParse(value);
  if (!parsed.success) throw new FrameFault(`a line that is no JSON-RPC message: ${cut(line, EXCERPT)}`);
  const { id, method, params, result, error } = parsed.data;
  if (method !== undefined) {
    return id === undefined ? { kind: 'notification', method, params } : { kind: 'request', id, method, params };
  }
  if (id === undefined) throw new FrameFault(`a message with neither id nor method: ${cut(line, EXCERPT)}`);
  return error ? { kind: 'error', id, error } : { kind: 'result', id, result };
}

/** Reads `value` by `schema`. @throws FrameFault that names the frame and the first field that is wrong. */
export function read<T>(schema: z.ZodMiniType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new FrameFault(
    `${what} without a usable ${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'unreadable'}`,
  );
}

// --- answers to our requests ---

export const initialized = z.looseObject({ userAgent: z.string() });

export const threadOpened = z.looseObject({
  thread: z.looseObject({ id: z.string() }),
  model: z.string(),
});

export const turnBegun = z.looseObject({ turn: z.looseObject({ id: z.string() }) });

export const account = z.looseObject({
  account: z.nullish(z.unknown()),
  requiresOpenaiAuth: z.boolean(),
});

export const modelList = z.looseObject({
  data: z.array(z.looseObject({ id: z.string() })),
  nextCursor: z.nullish(z.string()),
});

export const configRead = z.looseObject({
  config: z.looseObject({ model: z.nullish(z.string()), model_provider: z.nullish(z.string()) }),
});

// --- notifications ---

/** Whose notification it is; both are null in those of the whole server. */
const addressed = z.looseObject({ threadId: z.nullish(z.string()), turnId: z.nullish(z.string()) });

export type Address = { readonly threadId: string | null; readonly turnId: string | null };

/** `turn/started` and `turn/completed` carry the turn's id inside `turn`. */
const turnHolder = z.looseObject({ turn: z.looseObject({ id: z.string() }) });

export function addressOf(params: unknown): Address {
  const read = addressed.safeParse(params);
  const threadId = read.success ? (read.data.threadId ?? null) : null;
  const turnId = read.success ? (read.data.turnId ?? null) : null;
  if (turnId !== null) return { threadId, turnId };
  const holder = turnHolder.safeParse(params);
  return { threadId, turnId: holder.success ? holder.data.turn.id : null };
}

/** `"usageLimitExceeded"`, or `{httpConnectionFailed: {httpStatusCode}}`; new ones of either form pass. */
const errorInfo = z.nullish(z.union([z.string(), z.record(z.string(), z.unknown())]));

const turnError = z.looseObject({
  message: z.string(),
  codexErrorInfo: errorInfo,
  additionalDetails: z.nullish(z.string()),
});
export type CodexError = z.infer<typeof turnError>;

export const errorNotice = z.looseObject({ error: turnError, willRetry: z.boolean() });

export const turnCompleted = z.looseObject({
  turn: z.looseObject({
    id: z.string(),
    status: z.string(),
    error: z.nullish(turnError),
  }),
});

const tokens = z.looseObject({
  inputTokens: z.number(),
  cachedInputTokens: z.number(),
  outputTokens: z.number(),
});

export const tokenUsage = z.looseObject({ tokenUsage: z.looseObject({ total: tokens }) });

export const planUpdated = z.looseObject({
  explanation: z.nullish(z.string()),
  plan: z.array(z.looseObject({ step: z.string(), status: z.string() })),
});

export const warning = z.looseObject({ message: z.string() });

export const rerouted = z.looseObject({ fromModel: z.string(), toModel: z.string() });

const window = z.nullish(z.looseObject({ usedPercent: z.number(), resetsAt: z.nullish(z.number()) }));

export const rateLimits = z.looseObject({ rateLimits: z.looseObject({ primary: window, secondary: window }) });
export type RateLimits = z.infer<typeof rateLimits>['rateLimits'];

const itemHolder = z.looseObject({ item: z.looseObject({ type: z.string(), id: z.string() }) });

// --- items ---

const base = { id: z.string() };

const agentMessage = z.looseObject({
  ...base,
  type: z.literal('agentMessage'),
  text: z.string(),
  phase: z.nullish(z.string()),
  delivery: z.nullish(z.string()),
});

const reasoning = z.looseObject({ ...base, type: z.literal('reasoning'), summary: z.array(z.string()) });

const commandExecution = z.looseObject({
  ...base,
  type: z.literal('commandExecution'),
  command: z.string(),
  cwd: z.string(),
  status: z.string(),
  aggregatedOutput: z.nullish(z.string()),
  exitCode: z.nullish(z.number()),
  durationMs: z.nullish(z.number()),
});

const fileChange = z.looseObject({
  ...base,
  type: z.literal('fileChange'),
  status: z.string(),
  changes: z.array(z.looseObject({ path: z.string(), kind: z.looseObject({ type: z.string() }), diff: z.string() })),
});

const mcpToolCall = z.looseObject({
  ...base,
  type: z.literal('mcpToolCall'),
  server: z.string(),
  tool: z.string(),
  status: z.string(),
  arguments: z.optional(z.unknown()),
  result: z.nullish(z.looseObject({ content: z.array(z.unknown()) })),
  error: z.nullish(z.looseObject({ message: z.string() })),
  durationMs: z.nullish(z.number()),
});

const dynamicToolCall = z.looseObject({
  ...base,
  type: z.literal('dynamicToolCall'),
  tool: z.string(),
  status: z.string(),
  arguments: z.optional(z.unknown()),
  contentItems: z.nullish(z.array(z.unknown())),
  durationMs: z.nullish(z.number()),
});

const collabAgentToolCall = z.looseObject({
  ...base,
  type: z.literal('collabAgentToolCall'),
  tool: z.string(),
  status: z.string(),
  prompt: z.nullish(z.string()),
  receiverThreadIds: z.array(z.string()),
  agentsStates: z.optional(z.record(z.string(), z.looseObject({ status: z.string(), message: z.nullish(z.string()) }))),
});

const subAgentActivity = z.looseObject({
  ...base,
  type: z.literal('subAgentActivity'),
  kind: z.string(),
  agentThreadId: z.string(),
  agentPath: z.string(),
});

const webSearch = z.looseObject({ ...base, type: z.literal('webSearch'), query: z.string() });

const imageView = z.looseObject({ ...base, type: z.literal('imageView'), path: z.string() });

const userMessage = z.looseObject({ ...base, type: z.literal('userMessage') });

const ITEMS = {
  agentMessage,
  reasoning,
  commandExecution,
  fileChange,
  mcpToolCall,
  dynamicToolCall,
  collabAgentToolCall,
  subAgentActivity,
  webSearch,
  imageView,
  userMessage,
} as const;

type Items = { [Name in keyof typeof ITEMS]: z.infer<(typeof ITEMS)[Name]> };
export type Item = Items[keyof Items];
export type AgentMessage = Items['agentMessage'];
export type OtherItem = { readonly type: 'unknown'; readonly id: string; readonly name: string };

/** The item of an `item/started` or `item/completed`. @throws FrameFault when one that we use lacks a field. */
export function itemOf(params: unknown): Item | OtherItem {
  const { item } = read(itemHolder, params, 'an item notification');
  if (Object.hasOwn(ITEMS, item.type)) {
    return read<Item>(
      ITEMS[item.type as keyof typeof ITEMS] as unknown as z.ZodMiniType<Item>,
      item,
      `a ${item.type} item`,
    );
  }
  return { type: 'unknown', id: item.id, name: item.type };
}
