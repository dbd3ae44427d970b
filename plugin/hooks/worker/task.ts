/**
 * A task as `$.prompt.submit` takes it. It enters byte for byte, but one that begins with `/` is refused, white space
 * before it or not: it would run a command (measured on 2.1.332). Such a task is submitted behind a character that
 * nobody sees, which is taken away where the prompt enters the conversation.
 */

/** ZERO WIDTH SPACE: no white space to JavaScript's `trim`. */
const COVER = '\u200b';
/** A task that has covers of its own gets one more: what was added, and nothing else, is taken away. */
const NEEDS_COVER = /^\u200b*\s*\//;

export function submittedOf(task: string): string {
  return NEEDS_COVER.test(task) ? `${COVER}${task}` : task;
}

/** The task itself, in what entered; undefined where there is nothing to take away. */
export function uncovered(entered: string): string | undefined {
  return entered.startsWith(COVER) && NEEDS_COVER.test(entered) ? entered.slice(COVER.length) : undefined;
}
