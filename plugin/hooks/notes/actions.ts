import type { Action, ActionResult } from '../protocol/event.js';
import type { Failure } from '../protocol/outcome.js';
import { foreign } from './foreign.js';

/** What an action's tool call is answered with: the output as the harness reported it, then how it ended. */
export function actionText(action: Action, result: ActionResult): string {
  const ending = `[${endingOf(action, result)}]`;
  return result.output === '' ? ending : `${result.output}${result.output.endsWith('\n') ? '' : '\n'}${ending}`;
}

function endingOf(action: Action, result: ActionResult): string {
  const took = result.durationMs === null ? '' : `, ${(result.durationMs / 1000).toFixed(1)} s`;
  const code = result.exitCode === null ? '' : `exit code ${result.exitCode}`;
  switch (result.status) {
    case 'completed':
      return `${code || 'completed'}${took}`;
    case 'failed':
      return `${code ? `${code}, ` : ''}failed${took}`;
    case 'declined':
      return `declined: it did not run`;
    case 'interrupted':
      return `interrupted${action.tool === 'command' ? '' : ` (${foreign(action.tool)})`}${took}`;
  }
}

/** The answer to an action's call when its turn ended, or its sidecar, before the action did. */
export const ACTION_UNFINISHED = '[the turn ended before this finished]';
export const ACTION_STILL_RUNNING = '[still running; the agent looks for messages and comes back to it]';
export const ACTION_UNKNOWN = '[no result: Verbatim has no record of this action. Its outcome is in `verbatim jobs`.]';
/** The answer to the calls that only carry a step. */
export const NOTED = '[noted]';
/** What a compaction of an agent's context leaves of it. */
export const COMPACTED = '[the harness keeps the conversation]';

/** A message that the running agent's job would not take: it is dropped, and this is all that is said of it. */
export function messageRefused(failure: Failure): string {
  return `A message to this agent was not handed over (${failure.kind}): ${foreign(failure.message)}`;
}
