/**
 * Bounds what one event carries, so that each fits into one page of the local API: Claude Code refuses a response over
 * 4 MiB (2.1.332). Commands' output and diffs come capped already, one by one; this is for texts and for their sum.
 */
import type { Action, EventBody, FileChange } from '../../../plugin/hooks/protocol/event.js';
import { capped } from '../capped.js';

/** Characters (UTF-16 units) of one event's texts, together. */
export const EVENT_LIMIT = 200_000;

export function boundedEvent<T extends EventBody>(body: T): T;
export function boundedEvent(body: EventBody): EventBody {
  switch (body.kind) {
    case 'message':
    case 'reasoning':
    case 'warning':
      return { ...body, text: bounded(body.text, EVENT_LIMIT) };
    case 'retry':
      return { ...body, reason: bounded(body.reason, EVENT_LIMIT) };
    case 'approval':
      return {
        ...body,
        subject: bounded(body.subject, EVENT_LIMIT / 2),
        reason: bounded(body.reason, EVENT_LIMIT / 2),
      };
    case 'plan': {
      const share = Math.floor(EVENT_LIMIT / 2 / Math.max(1, body.steps.length));
      return {
        ...body,
        explanation: bounded(body.explanation, EVENT_LIMIT / 2),
        steps: body.steps.map((one) => ({ ...one, step: bounded(one.step, share) })),
      };
    }
    case 'action_started':
      return { ...body, action: boundedAction(body.action) };
    case 'action_completed':
      return {
        ...body,
        action: boundedAction(body.action),
        result: { ...body.result, output: bounded(body.result.output, EVENT_LIMIT) },
      };
    case 'turn_ended':
      return { ...body, ...boundedEnd(body) };
    case 'turn_started':
    case 'steered':
      return body;
  }
}

function boundedAction(action: Action): Action {
  switch (action.tool) {
    case 'command':
      return { ...action, command: bounded(action.command, EVENT_LIMIT) };
    case 'edit': {
      const share = Math.floor(EVENT_LIMIT / Math.max(1, action.changes.length));
      return { ...action, changes: action.changes.map((change) => boundedChange(change, share)) };
    }
    case 'other':
      return { ...action, name: bounded(action.name, 1_000), input: bounded(action.input, EVENT_LIMIT) };
  }
}

function boundedChange(change: FileChange, limit: number): FileChange {
  const { text, omitted } = capped(change.diff, limit, 0);
  return { ...change, diff: text, omitted: change.omitted + omitted };
}

function boundedEnd(body: Extract<EventBody, { kind: 'turn_ended' }>): Partial<typeof body> {
  const filesChanged = body.filesChanged.slice(0, 1_000);
  if (body.outcome.kind !== 'failed') return { filesChanged };
  const share = Math.floor(EVENT_LIMIT / Math.max(1, body.outcome.partial.length));
  const partial = body.outcome.partial.map((text) => bounded(text, share));
  return { filesChanged, outcome: { ...body.outcome, partial } };
}

/** The text's beginning and how much was left out, where it is longer than `limit`. */
function bounded(text: string, limit: number): string {
  return capped(text, limit, 0).text;
}
