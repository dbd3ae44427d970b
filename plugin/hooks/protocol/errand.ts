/**
 * What Verbatim's own desk adds to the mod-answer contract: it hands the task over, and hears what a worker waits for.
 *
 * Same address, token and header as a report (`mod-answer.ts`); asked only by a worker whose environment names its
 * errand in ERRAND_VARIABLE, so never of another orchestrator.
 */

/** Names the errand that a worker was opened for. */
export const ERRAND_VARIABLE = 'VERBATIM_ERRAND';
/** Errand ids: `e` and 20 lower-case base-32 characters. */
export const ERRAND_ID = /^e[a-z2-7]{20}$/;

/**
 * Longest task, in UTF-16 units: JSON may need six bytes for one, and `$.http.fetch` takes a response of 4 MiB at most
 * (measured on 2.1.332).
 */
export const TASK_LIMIT = 600_000;

/**
 * `POST /verbatim/task` → 200 `Task`, or 204 where the session has no task that is still to be handed over. The same
 * `take` again gets the same task again: an answer that was lost on its way loses no task.
 */
export const TASK_PATH = '/verbatim/task';
export type TakeTask = {
  readonly session_id: string;
  readonly take: string;
  /** Claude Code's own id of the session. */
  readonly claude_session: string;
};
export type Task = { readonly task: string };

/** What a worker can wait for a person to do, once it is up. */
export const WAITS = ['permission', 'question', 'task_refused', 'turn_failed'] as const;
/** `what` is a word or two for a reader: the tool, the question, the reason. */
export type Waiting = { readonly for: (typeof WAITS)[number]; readonly what: string };

/** `POST /verbatim/waiting` → 204: what the worker waits for; null: it goes on. */
export const WAITING_PATH = '/verbatim/waiting';
export type SayWaiting = { readonly session_id: string; readonly waiting: Waiting | null };
/** Longest `what`, in UTF-16 units. */
export const WAITING_LIMIT = 300;
