/** Why a run ended without its sidecar's word: each failure for the note that is the run's last line. */
import type { ApiErrorCode } from '../protocol/api.js';
import type { Failure } from '../protocol/outcome.js';

export function noRuntime(detail: string): Failure {
  return {
    kind: 'no_runtime',
    status: 'failed',
    message: ended(`Verbatim's sidecar did not start: ${detail}`),
    hint: 'It needs Node.js 20.19 or newer as `node` on PATH of the shell that starts Claude Code.',
  };
}

export function sidecarLost(detail: string): Failure {
  return {
    kind: 'crashed',
    status: 'failed',
    message: ended(`Verbatim's sidecar no longer answers: ${detail}`),
    hint: 'Send a message to go on: the thread is kept.',
  };
}

export function noFolder(): Failure {
  return {
    kind: 'invalid_request',
    status: 'failed',
    message: 'Claude Code named no working folder for this agent, and Verbatim does not guess one.',
    hint: 'Start the agent again.',
  };
}

export function noPrompt(): Failure {
  return {
    kind: 'invalid_request',
    status: 'failed',
    message: 'Claude Code handed this agent no task that Verbatim could see.',
    hint: 'Start the agent again.',
  };
}

/** The sidecar refused a request of the mod: its own words say which and why. */
export function refused(code: ApiErrorCode, message: string): Failure {
  return { kind: code === 'internal' ? 'unknown' : 'invalid_request', status: 'failed', message: ended(message) };
}

export function jobLost(): Failure {
  return {
    kind: 'thread_lost',
    status: 'failed',
    message: 'Verbatim has no job of this agent, so its thread cannot be resumed.',
    hint: 'Start a new agent with the whole task.',
  };
}

/** The text of a step whose hook itself failed: the agent must never fall through to Claude. */
export function brokenStep(detail: string): Failure {
  return {
    kind: 'unknown',
    status: 'failed',
    message: ended(`Verbatim's own step failed: ${detail}`),
    hint: 'Run `verbatim jobs` for the answer, if the turn had one.',
  };
}

/** A text whose end others worded, as a whole sentence. */
function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Why a spawn is refused, as the Agent tool's error (which settings force a model: measured on 2.1.332). */
export const REFUSED_FORCED_MODEL =
  "verbatim: this session forces a Claude model on every subagent, so Claude could answer in this agent's name. Unset CLAUDE_CODE_SUBAGENT_MODEL_FORCE and CLAUDE_CODE_WORKFLOW_SUBAGENT_MODEL to use Verbatim's agents.";
export const REFUSED_TEAMMATE =
  "verbatim: this agent type cannot be a teammate: a teammate's turns carry no agent type to know it by. Call it with the Agent tool, without a team.";
/** The same, where our own hook broke. */
export function spawnFailed(detail: string): string {
  return ended(`verbatim: the spawn failed: ${detail}`);
}

/** The error of a call of one of our tools whose hook broke. */
export function resultFailed(detail: string): string {
  return ended(`verbatim: no result: ${detail}`);
}
