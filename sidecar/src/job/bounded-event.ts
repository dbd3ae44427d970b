/**
 * Bounds what one event carries, so that each fits into one page of the local API: Claude Code refuses a response over
 * 4 MiB (2.1.332). Commands' output and diffs come capped already, one by one; this is for texts and for their sum.
 */
import type { Action, EventBody, FileChange } from '../../../plugin/hooks/protocol/event.js';
import { capped } from '../capped.js';

/** Characters (UTF-16 units) of one event's texts, together. */
export const EVENT_LIMIT = 200_000;
/** Entries of a list that an event keeps; how many more there were is said. */
export const LIST_LIMIT = 500;
/** Characters of a text that is a name: a path, a model, an item's id. */
const NAME_LIMIT = 400;

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
      const { kept, share, omitted } = boundedList(body.steps, EVENT_LIMIT / 2);
      const steps = kept.map((one) => ({ ...one, step: bounded(one.step, share) }));
      if (omitted > 0) steps.push({ step: leftOut(omitted, 'steps'), status: 'pending' });
      return { ...body, explanation: bounded(body.explanation, EVENT_LIMIT / 2), steps };
    }
    case 'action_started':
      return { ...body, item: name(body.item), action: boundedAction(body.action) };
    case 'action_completed':
      return {
        ...body,
        item: name(body.item),
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
      return { ...action, command: bounded(action.command, EVENT_LIMIT), cwd: name(action.cwd) };
    case 'edit': {
      const { kept, share, omitted } = boundedList(action.changes, EVENT_LIMIT);
      const changes = kept.map((change) => boundedChange(change, share));
      return { ...action, changes, ...(omitted > 0 ? { moreFiles: omitted } : {}) };
    }
    case 'other':
      return { ...action, name: name(action.name), input: bounded(action.input, EVENT_LIMIT) };
  }
}

function boundedChange(change: FileChange, limit: number): FileChange {
  const { text, omitted } = capped(change.diff, limit, 0);
  return { ...change, path: name(change.path), diff: text, omitted: change.omitted + omitted };
}

function boundedEnd(body: Extract<EventBody, { kind: 'turn_ended' }>): Partial<typeof body> {
  const files = boundedList(body.filesChanged, EVENT_LIMIT);
  const ended = {
    model: name(body.model),
    filesChanged: files.kept.map(name),
    ...(files.omitted > 0 ? { moreFiles: files.omitted } : {}),
    survivors: boundedList(body.survivors, EVENT_LIMIT).kept.map(name),
  };
  if (body.outcome.kind !== 'failed') return ended;
  const { failure } = body.outcome;
  const { kept, share, omitted } = boundedList(body.outcome.partial, EVENT_LIMIT);
  // The last ones say how far the turn had come.
  const partial = [
    ...(omitted > 0 ? [leftOut(omitted, 'messages')] : []),
    ...body.outcome.partial.slice(-kept.length).map((text) => bounded(text, share)),
  ];
  const message = bounded(failure.message, EVENT_LIMIT / 4);
  return { ...ended, outcome: { ...body.outcome, failure: { ...failure, message }, partial } };
}

/** The first entries of a list, what each of them may hold where they share `limit`, and how many are left out. */
function boundedList<T>(all: readonly T[], limit: number): { kept: readonly T[]; share: number; omitted: number } {
  const kept = all.slice(0, LIST_LIMIT);
  return { kept, share: Math.floor(limit / Math.max(1, kept.length)), omitted: all.length - kept.length };
}

function leftOut(count: number, what: string): string {
  return `[… ${count.toLocaleString('en-US')} ${what} left out …]`;
}

function name(text: string): string {
  return bounded(text, NAME_LIMIT);
}

/** The text's beginning and how much was left out, where it is longer than `limit`. */
function bounded(text: string, limit: number): string {
  return capped(text, limit, 0).text;
}
