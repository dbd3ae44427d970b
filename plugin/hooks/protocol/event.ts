/**
 * What a harness does, in one vocabulary, numbered per job from 1.
 *
 * The journal keeps these lines (events.jsonl), the local API serves them, the runner turns each into
 * one step. Every string that came from a harness is foreign: it is escaped where it enters a text of ours.
 */
import type { Outcome, TurnTokens } from './outcome.js';

export type FileChange = {
  readonly path: string;
  readonly change: 'add' | 'update' | 'delete';
  /** Unified diff as the harness gave it, capped (`omitted` counts the characters left out). */
  readonly diff: string;
  readonly omitted: number;
};

export type PlanStep = { readonly step: string; readonly status: 'pending' | 'in_progress' | 'completed' };

/** A tool-like action of the harness. `started` and `completed` of one action share `item`. */
export type Action =
  | { readonly tool: 'command'; readonly command: string; readonly cwd: string }
  /** `moreFiles` counts the changes that are left out. */
  | { readonly tool: 'edit'; readonly changes: readonly FileChange[]; readonly moreFiles?: number }
  /** Anything else: an MCP tool, a web search, a sub-agent, an image viewed. */
  | { readonly tool: 'other'; readonly name: string; readonly input: string };

export type ActionStatus = 'completed' | 'failed' | 'declined' | 'interrupted';

export type ActionResult = {
  readonly status: ActionStatus;
  /** A command's exit code, where it has one. */
  readonly exitCode: number | null;
  /** What the action printed or returned, capped: its head and its tail, with a line between that says what was left out. */
  readonly output: string;
  /** Characters of the output that the cap left out. */
  readonly omitted: number;
  readonly durationMs: number | null;
};

export type EventBody =
  /** A harness turn began; `messages` are the ids of the messages that it answers, the prompt's among them. */
  | { readonly kind: 'turn_started'; readonly messages: readonly string[] }
  /** A message of the harness that is not (or no longer) the turn's answer. */
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'plan'; readonly steps: readonly PlanStep[]; readonly explanation: string }
  | { readonly kind: 'action_started'; readonly item: string; readonly action: Action }
  | { readonly kind: 'action_completed'; readonly item: string; readonly action: Action; readonly result: ActionResult }
  /** The harness tries a request again by itself; `of` is null where it does not say how often it will. */
  | { readonly kind: 'retry'; readonly attempt: number | null; readonly of: number | null; readonly reason: string }
  /** A permission request of the harness and what was answered. */
  | {
      readonly kind: 'approval';
      readonly subject: string;
      readonly decision: 'allowed' | 'declined';
      readonly reason: string;
    }
  | { readonly kind: 'warning'; readonly text: string }
  /** A message that joined the running turn. */
  | { readonly kind: 'steered'; readonly message: string }
  | {
      readonly kind: 'turn_ended';
      readonly outcome: Outcome;
      readonly tokens: TurnTokens | null;
      /** The model that answered, as the harness names it. */
      readonly model: string;
      readonly durationMs: number;
      readonly filesChanged: readonly string[];
      /** How many more files the turn changed than are named. */
      readonly moreFiles?: number;
      /** Processes of the turn that were still alive after the kill ladder, as `pid command`. */
      readonly survivors: readonly string[];
    };

export type JobEvent = EventBody & {
  /** The event's number in its job, from 1, without gaps. */
  readonly seq: number;
  /** The turn it belongs to, from 1. */
  readonly turn: number;
  /** When it was recorded, in milliseconds since the epoch. */
  readonly at: number;
};
