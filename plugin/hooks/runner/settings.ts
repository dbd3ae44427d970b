/** What the session's environment and the plugin's options decide. */
import type { JobOptions } from '../protocol/api.js';

/** The engine ends an agent after so long without a chunk, where its own variable does not say otherwise (2.1.332). */
const STALL_DEFAULT_MS = 600_000;
/** A claude harness that loads this plugin offers no agents from this depth on, so that none can recurse. */
const DEPTH_LIMIT = 2;

/**
 * How long a step may wait before it says that it lives, in milliseconds: four signs in a stall's length, and no fewer
 * than three a minute.
 *
 * @param stall CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS
 */
export function heartbeatOf(stall: string | undefined): number {
  const stallMs = Number(stall) > 0 ? Number(stall) : STALL_DEFAULT_MS;
  return Math.max(200, Math.min(20_000, Math.floor(stallMs / 4)));
}

/** @param depth VERBATIM_DEPTH */
export function isDepthLeft(depth: string | undefined): boolean {
  return (Number(depth) || 0) < DEPTH_LIMIT;
}

export type ModelVariables = {
  /** CLAUDE_CODE_SUBAGENT_MODEL */
  readonly model: string | undefined;
  /** CLAUDE_CODE_SUBAGENT_MODEL_FORCE */
  readonly force: string | undefined;
  /** CLAUDE_CODE_WORKFLOW_SUBAGENT_MODEL */
  readonly workflowModel: string | undefined;
};

/** Whether the session puts a Claude model on the agent whatever a hook says (measured on 2.1.332). */
export function isModelForced({ model, force, workflowModel }: ModelVariables, isWorkflow: boolean): boolean {
  if (model && force && !/^(0|false|no|off)$/i.test(force)) return true;
  return isWorkflow && Boolean(workflowModel);
}

/** The options of new jobs; `stallMinutes` is the plugin's own option. */
export function jobOptionsOf(stallMinutes: unknown): JobOptions {
  const isSet = typeof stallMinutes === 'number' && stallMinutes > 0;
  return isSet ? { stallMs: Math.round(stallMinutes * 60_000) } : {};
}
