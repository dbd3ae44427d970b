/**
 * Which of a worker's turns answers its task, and with what.
 *
 * Measured on Claude Code 2.1.332: `classic.Stop` fires on the main loop alone, before the `turn.complete` of its turn,
 * whose answer equals its last message; a turn that was aborted, refused or failed fires none, nor does one whose dialog
 * was left with Esc, which completes as if it had answered with nothing.
 */
import { isBlank, type Report } from '../protocol/mod-answer.js';
import { type Cron, isWakeup } from './wakeups.js';

/** What `classic.Stop` says of the turn that is about to complete. */
export type Stop = {
  readonly last_assistant_message?: string;
  readonly background_tasks?: readonly unknown[];
  readonly session_crons?: readonly Cron[];
};

/** The main loop's turns: each Stop is read by the completion that follows it, and by no other. */
export class Turns {
  #stop: Stop | undefined;
  /** The last text that a Stop had. */
  #previous = '';

  /** A Stop of the main loop; where a Stop hook of the user's sends the turn on, another one follows. */
  stopping(stop: Stop): void {
    this.#take();
    this.#stop = stop;
  }

  /**
   * What a turn that ended with an answer reports; undefined: nothing.
   *
   * @param now In milliseconds since the epoch.
   */
  answered(session_id: string, answer: string, now: number): Report | undefined {
    const previous = this.#previous;
    const stop = this.#take();
    if (stop === undefined) return undefined;
    const text = stop.last_assistant_message ?? '';
    // The Stop of a turn without any block has the text of the turn before (measured on 2.1.332).
    const isStale = text === previous;
    if (goesOn(stop, now)) return undefined;
    if (isBlank(answer)) return isBlank(text) || isStale ? { session_id, unanswered: 'blank' } : undefined;
    return text === answer ? { session_id, text } : undefined;
  }

  /** A turn that was aborted, refused or failed: it must not leave its Stop to the next. */
  endedOtherwise(): void {
    this.#take();
  }

  #take(): Stop | undefined {
    const stop = this.#stop;
    this.#stop = undefined;
    this.#previous = stop?.last_assistant_message || this.#previous;
    return stop;
  }
}

/** Whether Claude Code will take the work up again by itself: the turn that it then begins is the one that answers. */
function goesOn({ background_tasks = [], session_crons = [] }: Stop, now: number): boolean {
  return background_tasks.length > 0 || session_crons.some((cron) => isWakeup(cron, now));
}
