/**
 * How a harness turn ended, and why where it did not complete.
 *
 * Both halves speak these unions; every consumer switches on `kind` exhaustively.
 */

/** What a failed turn's note may name as its cause: docs/failures.md lists each with its source. */
export type FailureKind =
  | 'sign_in'
  | 'quota'
  | 'rate_limit'
  | 'capacity'
  | 'context_window'
  | 'model'
  | 'policy'
  | 'permission'
  | 'network'
  | 'stalled'
  | 'crashed'
  | 'protocol'
  | 'not_installed'
  | 'no_runtime'
  | 'thread_lost'
  | 'thread_busy'
  | 'invalid_request'
  | 'unknown';

/** The word a failure note gives for how the turn ended. */
export type FailureStatus = 'failed' | 'interrupted' | 'cancelled';

export type Failure = {
  readonly kind: FailureKind;
  readonly status: FailureStatus;
  /** The cause in the harness's words or ours, its first words the cause itself. Foreign: escape it before it is shown. */
  readonly message: string;
  /** What to do about it, in our words. Always there for `sign_in`, `quota`, `rate_limit`, `capacity`. */
  readonly hint?: string;
};

/** Where a completed turn's answer stands; the text itself is fetched, never carried in an event. */
export type AnswerRecord = {
  /** Length of the answer's UTF-8 form, in bytes. */
  readonly bytes: number;
  /** Lower-case hex SHA-256 of the answer's UTF-8 form. */
  readonly sha256: string;
  /** Absolute path of the file that holds exactly the answer's bytes. */
  readonly file: string;
};

export type Outcome =
  | { readonly kind: 'completed'; readonly answer: AnswerRecord }
  /** The turn completed and returned no text, or white space alone. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'interrupted' }
  | {
      readonly kind: 'failed';
      readonly failure: Failure;
      /** The turn's completed messages, oldest first: shown as partial, never stored as an answer. */
      readonly partial: readonly string[];
    };

/** The turn's own tokens, as the harness reported them; `null` is a count that it did not report. */
export type TurnTokens = {
  readonly input: number | null;
  readonly cached: number | null;
  readonly output: number | null;
};
