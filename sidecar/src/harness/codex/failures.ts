/**
 * The one place that says what a Codex error means. Structured fields only (`codexErrorInfo`, JSON-RPC codes);
 * a message is compared only where Codex gives nothing else, and never a text of the model.
 *
 * Each row was measured on codex 0.171.0; `docs/failures.md` lists them with their tests.
 */
import type { Failure, FailureKind } from '../../../../plugin/hooks/protocol/outcome.js';
import type { CodexError, RateLimits, RpcErrorBody } from './frames.js';

export const INSTALL = 'npm install -g @openai/codex';

export const SIGN_IN_HINT = 'Run `codex login`.';

/** Largest input of a turn, in characters (Codex counts Unicode scalar values). */
export const INPUT_LIMIT = 1_048_576;

/** What else is known when a turn fails. */
export type Circumstances = {
  readonly rateLimits: RateLimits | null;
  readonly model: string;
};

export function failure(kind: FailureKind, message: string, hint?: string): Failure {
  return hint === undefined ? { kind, status: 'failed', message } : { kind, status: 'failed', message, hint };
}

/** Codex sent `what` (a noun phrase), which is not what 0.171.0 sends. */
export function unreadable(what: string): Failure {
  return failure('protocol', `Codex sent ${what}.`, 'Run `verbatim doctor`; Codex may have changed its protocol.');
}

/** The app-server ended under its threads; `message` says how. */
export function serverEnded(message: string): Failure {
  return failure('crashed', message, 'Send a message to go on: the thread is kept.');
}

/** A turn that ended `failed`, by its `error`. */
export function turnFailure(error: CodexError | null | undefined, known: Circumstances): Failure {
  if (!error) return failure('unknown', 'The turn failed and Codex gave no error.');
  const message = messageOf(error);
  const { name, httpStatus } = infoOf(error);
  const kind = kindOf(name, httpStatus, error.message);
  return failure(kind, message, hintFor(kind, known));
}

/** The HTTP status that an error carries; null where it names none. */
export function httpStatusOf(error: CodexError): number | null {
  return infoOf(error).httpStatus;
}

function infoOf(error: CodexError): { name: string | null; httpStatus: number | null } {
  const info = error.codexErrorInfo ?? null;
  if (info === null) return { name: null, httpStatus: null };
  if (typeof info === 'string') return { name: info, httpStatus: null };
  const [entry] = Object.entries(info);
  if (!entry) return { name: null, httpStatus: null };
  const [name, body] = entry;
  const status =
    typeof body === 'object' && body !== null ? (body as { httpStatusCode?: unknown }).httpStatusCode : null;
  return { name, httpStatus: typeof status === 'number' ? status : null };
}

function kindOf(name: string | null, httpStatus: number | null, message: string): FailureKind {
  switch (name) {
    case 'contextWindowExceeded':
      return 'context_window';
    case 'usageLimitExceeded':
    case 'sessionBudgetExceeded':
      return 'quota';
    case 'rateLimitExceeded':
      return 'rate_limit';
    case 'serverOverloaded':
    case 'internalServerError':
    case 'flexUnavailable':
    case 'policyCapacityUnavailable':
      return 'capacity';
    case 'modelNotFound':
      return 'model';
    case 'cyberPolicy':
    case 'bioPolicy':
    case 'misalignmentPolicyViolation':
      return 'policy';
    case 'inferenceHookDenied':
    case 'tooManyDenials':
    case 'sandboxError':
      return 'permission';
    case 'unauthorized':
      return 'sign_in';
    case 'badRequest':
    case 'threadRollbackFailed':
    case 'activeTurnNotSteerable':
      return 'invalid_request';
    case 'httpConnectionFailed':
    case 'responseStreamConnectionFailed':
    case 'responseStreamDisconnected':
    case 'responseTooManyFailedAttempts':
      return kindOfStatus(httpStatus);
    case 'other':
    case null:
      return kindOfOther(message);
    default:
      return 'unknown';
  }
}

function kindOfStatus(status: number | null): FailureKind {
  if (status === null) return 'network';
  if (status === 401 || status === 403) return 'sign_in';
  if (status === 429) return 'rate_limit';
  if (status >= 500) return 'capacity';
  if (status === 408) return 'network';
  return 'invalid_request';
}

/** `other` is told apart by Codex's own fixed sentences; what fits none is a request that the provider refused. */
function kindOfOther(message: string): FailureKind {
  const cut = 'stream disconnected before completion';
  if (message.endsWith('Incomplete response returned, reason: content_filter')) return 'policy';
  if (message.startsWith(`${cut}: idle timeout`)) return 'stalled';
  if (message.startsWith(cut) || message.startsWith('Incomplete response returned')) return 'network';
  if (message.startsWith('Missing environment variable')) return 'sign_in';
  return isJson(message) ? 'invalid_request' : 'unknown';
}

function isJson(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null;
  } catch {
    // Not JSON: one of Codex's own sentences.
    return false;
  }
}

/** A provider's raw body as the sentence in it, where it has one; the cause comes first. */
function messageOf(error: CodexError): string {
  const text = bodyMessage(error.message) ?? error.message;
  const details = error.additionalDetails ?? '';
  return details === '' || text.includes(details) ? text : `${text} ${details}`;
}

function bodyMessage(text: string): string | null {
  try {
    const body = JSON.parse(text) as { error?: { message?: unknown }; message?: unknown; detail?: unknown };
    for (const candidate of [body?.error?.message, body?.message, body?.detail]) {
      if (typeof candidate === 'string' && candidate.trim() !== '') return candidate;
    }
    return null;
  } catch {
    // Prose: it is the message.
    return null;
  }
}

export function hintFor(kind: FailureKind, known: Circumstances): string | undefined {
  switch (kind) {
    case 'sign_in':
      return `${SIGN_IN_HINT} If the provider takes a key from a variable, set that variable and start again.`;
    case 'quota':
      return `Wait for the limit to reset${resetText(known.rateLimits)}, or see \`codex\` → /status for your plan.`;
    case 'rate_limit':
      return `Wait${resetText(known.rateLimits) || ' a minute'}, then send the message again.`;
    case 'capacity':
      return 'The provider is overloaded; send the message again in a few minutes, or use another model.';
    case 'context_window':
      return 'The thread no longer fits the model; start a new agent with a shorter task.';
    case 'model':
      return `Choose another model than ${known.model}, or set \`model\` in Codex's config.toml.`;
    case 'stalled':
      return 'The provider may be limiting requests, or is down; send the message again later.';
    case 'network':
      return 'Check the network and the provider, then send the message again.';
    case 'thread_lost':
      return 'Start a new agent; the old conversation cannot be continued.';
    case 'thread_busy':
      return 'Close the other Codex that has this thread open, then send the message again.';
    default:
      return undefined;
  }
}

/** ` until 2026-11-30T18:00:00Z`, by the window that is used up; empty where Codex reported no reset time. */
function resetText(limits: RateLimits | null): string {
  const windows = [limits?.primary, limits?.secondary].filter((each) => each?.resetsAt != null);
  const used = windows.filter((each) => (each?.usedPercent ?? 0) >= 100);
  const resetsAt = Math.max(...(used.length > 0 ? used : windows).map((each) => each?.resetsAt ?? 0), 0);
  // A value that is no sensible time (seconds since the epoch) would only mislead.
  if (resetsAt <= 0 || resetsAt > 253_402_300_799) return '';
  return ` until ${new Date(resetsAt * 1000).toISOString().replace('.000Z', 'Z')}`;
}

/** A refused JSON-RPC request: all of Codex's own are -32600, told apart by their fixed sentences. */
export function rpcFailure(error: RpcErrorBody, known: Circumstances): Failure {
  const kind = rpcKind(error);
  return failure(kind, error.message, hintFor(kind, known));
}

function rpcKind(error: RpcErrorBody): FailureKind {
  const { message } = error;
  if (message.includes('already has an active writer')) return 'thread_busy';
  if (message.includes('no rollout found') || message.startsWith('thread not found')) return 'thread_lost';
  if (error.code === -32602 || error.code === -32600) return 'invalid_request';
  return 'unknown';
}
