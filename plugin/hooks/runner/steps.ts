/**
 * What a harness event looks like as a step of a Claude Code agent: text, a call of one of our tools, or both.
 */

import { cut, foreign } from '../notes/foreign.js';
import { tokensLine } from '../notes/tokens.js';
import type { Action, FileChange, JobEvent } from '../protocol/event.js';
import type { ToolName } from './tools.js';

export type ToolCall = { readonly tool: ToolName; readonly input: Readonly<Record<string, unknown>> };

export type Step =
  /** A step with a call: the loop goes on. */
  | { readonly kind: 'progress'; readonly text?: string; readonly call: ToolCall }
  /** The run's last words, alone. */
  | { readonly kind: 'final'; readonly text: string }
  /** The same words, through the hand-back. */
  | { readonly kind: 'handback'; readonly text: string };

/** Text of one step past this is cut: an agent whose context refills too fast is killed by the engine. */
const STEP_TEXT_LIMIT = 30_000;
/** Changed files that one step names; past that a count. */
const STEP_FILES = 200;

/** The step that shows an event, or undefined for one that shows with another (a completed action with its start). */
export function stepOf(job: string, event: JobEvent): Step | undefined {
  const at = { job, seq: event.seq };
  switch (event.kind) {
    case 'message':
      return { kind: 'progress', text: cut(event.text, STEP_TEXT_LIMIT), call: progress('message', at) };
    case 'reasoning':
      return { kind: 'progress', text: cut(event.text, STEP_TEXT_LIMIT), call: progress('reasoning', at) };
    case 'plan':
      return {
        kind: 'progress',
        call: { tool: 'plan', input: { explanation: event.explanation, steps: event.steps, ...at } },
      };
    case 'action_started':
      return { kind: 'progress', call: actionCall(event.action, at) };
    case 'retry':
      return {
        kind: 'progress',
        call: progress('retry', at, `reconnecting ${attemptOf(event)}: ${foreign(event.reason)}`),
      };
    case 'approval':
      return {
        kind: 'progress',
        call: progress('permission', at, `${event.decision}: ${foreign(event.subject)} (${foreign(event.reason)})`),
      };
    case 'warning':
      return { kind: 'progress', call: progress('warning', at, foreign(event.text)) };
    case 'turn_ended':
      return {
        kind: 'progress',
        text: tokensLine(event.model, event.tokens),
        call: { tool: 'job', input: { turn: event.turn, ...at } },
      };
    case 'turn_started':
    case 'action_completed':
    case 'steered':
      return undefined;
  }
}

/** A tool round with nothing to show, so that the engine delivers what waits for the agent. */
export function mailboxStep(job: string, seq: number): Step {
  return { kind: 'progress', call: progress('mailbox', { job, seq }) };
}

/** Something of ours that the agent's reader has to know. */
export function noticeStep(job: string, seq: number, text: string): Step {
  return { kind: 'progress', call: progress('notice', { job, seq }, text) };
}

/** An answer that a later message superseded: shown, kept in the journal, not reported. */
export function supersededStep(job: string, seq: number, answer: string): Step {
  return { kind: 'progress', text: cut(answer, STEP_TEXT_LIMIT), call: progress('superseded', { job, seq }) };
}

function progress(about: string, at: { job: string; seq: number }, text?: string): ToolCall {
  return { tool: 'progress', input: { about, ...(text === undefined ? {} : { text }), ...at } };
}

function attemptOf(event: { attempt: number | null; of: number | null }): string {
  if (event.attempt === null) return '';
  return event.of === null ? String(event.attempt) : `${event.attempt}/${event.of}`;
}

function actionCall(action: Action, at: { job: string; seq: number }): ToolCall {
  switch (action.tool) {
    case 'command':
      return { tool: 'command', input: { command: action.command, cwd: action.cwd, ...at } };
    case 'edit':
      return { tool: 'edit', input: { ...shownChanges(action.changes, action.moreFiles), ...at } };
    case 'other':
      return { tool: 'tool', input: { name: action.name, input: action.input, ...at } };
  }
}

/** The changes of an edit within a step's bounds: every file by its name, the diffs as far as they fit. */
function shownChanges(all: readonly FileChange[], leftOut = 0): { changes: FileChange[]; moreFiles?: number } {
  let left = STEP_TEXT_LIMIT;
  const changes = all.slice(0, STEP_FILES).map((change) => {
    const diff = change.diff.length <= left ? change.diff : left < 2 ? '' : cut(change.diff, left);
    left -= diff.length;
    // What `cut` leaves out, its mark not counted.
    const omitted = change.omitted + change.diff.length - (diff === change.diff ? diff : diff.slice(0, -1)).length;
    return { ...change, diff, omitted };
  });
  const moreFiles = all.length - changes.length + leftOut;
  return moreFiles > 0 ? { changes, moreFiles } : { changes };
}
