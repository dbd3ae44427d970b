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
  /**
   * What the Stop of a turn without any block has for its last message: the last words before that turn, or Claude Code's
   * own about a turn that failed (measured on 2.1.332); null where those are not known.
   */
  #before: string | null = '';

  /** A Stop of the main loop: the turn ends, unless a Stop hook of the user's sends it on. */
  stopping(stop: Stop): void {
    this.#take();
    this.#stop = stop;
  }

  /** A Stop hook of the user's has sent the turn on: what was read is no end, and another Stop follows. */
  sentOn(): void {
    this.#take();
  }

  /**
   * What a turn that ended with an answer reports; undefined: nothing.
   *
   * @param now In milliseconds since the epoch.
   */
  answered(session_id: string, answer: string, now: number): Report | undefined {
    const before = this.#before;
    const stop = this.#take();
    if (stop === undefined || goesOn(stop, now)) return undefined;
    const text = stop.last_assistant_message ?? '';
    if (!isBlank(answer)) return text === answer ? { session_id, text } : undefined;
    const isStale = before === null || text === before;
    return isBlank(text) || isStale ? { session_id, unanswered: 'blank' } : undefined;
  }

  /** A turn that was aborted, refused or failed: it must not leave its Stop to the next. */
  endedOtherwise(): void {
    this.#take();
    this.#before = null;
  }

  #take(): Stop | undefined {
    const stop = this.#stop;
    this.#stop = undefined;
    if (stop?.last_assistant_message) this.#before = stop.last_assistant_message;
    return stop;
  }
}

/** Whether Claude Code will take the work up again by itself: the turn that it then begins is the one that answers. */
function goesOn({ background_tasks = [], session_crons = [] }: Stop, now: number): boolean {
  return background_tasks.length > 0 || session_crons.some((cron) => isWakeup(cron, now));
}
