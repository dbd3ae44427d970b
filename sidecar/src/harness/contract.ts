/**
 * The one interface that every harness implements.
 *
 * A job drives a `HarnessThread` turn by turn and knows nothing else of the program behind it; nothing
 * of a harness's quirks leaves its folder.
 */

import type { HarnessName } from '../../../plugin/hooks/protocol/api.js';
import type { EventBody } from '../../../plugin/hooks/protocol/event.js';
import type { Failure, TurnTokens } from '../../../plugin/hooks/protocol/outcome.js';

/** What Claude Code's mode lets the harness do: `../job/access.ts` derives it, the harness maps it to its own sandbox. */
export type Access =
  | { readonly level: 'read_only' }
  /** Writes below the working folder (and the repository of a worktree), no network. */
  | { readonly level: 'workspace_write' }
  | { readonly level: 'full' };

export type Detection =
  | {
      readonly kind: 'found';
      readonly version: string;
      readonly program: string;
      readonly signedIn: 'yes' | 'no' | 'unknown';
    }
  /** `lookedFor` says what was looked for and where; `install` is the command that installs it. */
  | { readonly kind: 'missing'; readonly lookedFor: string; readonly install: string };

export type OpenThread = {
  /** The job the thread belongs to: reaches every command of the thread as VERBATIM_JOB. */
  readonly job: string;
  /** The harness's own thread id to resume; null opens a new thread. */
  readonly thread: string | null;
  readonly cwd: string;
  /** A model of the harness's own; null: its default. */
  readonly model: string | null;
};

export type TurnInput = {
  /** The texts the turn answers, oldest first, each with its message id. */
  readonly messages: readonly { readonly id: string; readonly text: string }[];
  readonly access: Access;
  readonly cwd: string;
  readonly effort: string | null;
  /** Silence of the model, in milliseconds, after which the turn ends as `stalled`. */
  readonly stallMs: number;
};

/** What a turn reports while it runs; `turn_started` and `turn_ended` are the job's own. */
export type TurnEvent = Exclude<EventBody, { kind: 'turn_started' | 'turn_ended' | 'steered' }>;

/** How a turn ended, with the answer's text still in it: the job stores it before anyone sees it. */
export type TurnEnd = {
  readonly ending:
    | { readonly kind: 'completed'; readonly answer: string }
    | { readonly kind: 'empty' }
    | { readonly kind: 'interrupted' }
    | { readonly kind: 'failed'; readonly failure: Failure; readonly partial: readonly string[] };
  readonly tokens: TurnTokens | null;
  readonly model: string;
  /** Processes of the turn still alive after the kill ladder, as `pid command`. */
  readonly survivors: readonly string[];
};

export type Steering = { readonly kind: 'joined' } | { readonly kind: 'no_turn' };

export interface HarnessThread {
  /** The harness's thread id; it resumes by this. */
  readonly id: string;
  readonly model: string;
  readonly harnessVersion: string;
  /**
   * Runs one turn to its terminal event; never rejects for what the harness did (that is a `failed` ending).
   * `onEvent` is called in order, before the promise settles, never after. It may be called again after any
   * ending: where the program behind the thread is gone, the thread brings it back, by its id.
   */
  run(turn: TurnInput, onEvent: (event: TurnEvent) => void): Promise<TurnEnd>;
  /** Hands a message to the running turn; `no_turn` when none took it, and then it was not seen. */
  steer(message: { readonly id: string; readonly text: string }): Promise<Steering>;
  /** Asks the running turn to end; its `run` then settles as `interrupted`, or as what it had become. */
  interrupt(): Promise<void>;
  /** Ends the thread and every process it left; resolves to the survivors, as `pid command`. */
  close(): Promise<readonly string[]>;
}

export interface Harness {
  readonly name: HarnessName;
  detect(): Promise<Detection>;
  /** Starts the program behind the harness ahead of the first `open`; never rejects: what is wrong shows at `open`. */
  warm?(): Promise<void>;
  /** Opens or resumes a thread. Rejects with a `HarnessError` that carries the `Failure`. */
  open(request: OpenThread): Promise<HarnessThread>;
  /** Ends the program behind the harness and all that it started; resolves to the survivors, as `pid command`. */
  close(): Promise<readonly string[]>;
}

/** A failure before there was a turn: not installed, not signed in, a thread that is gone. */
export class HarnessError extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
    this.name = 'HarnessError';
  }
}
