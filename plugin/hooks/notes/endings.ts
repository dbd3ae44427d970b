import type { Failure } from '../protocol/outcome.js';
import { cut, foreign } from './foreign.js';

/** Longest partial message shown above a failure note, in UTF-16 units. */
const PARTIAL_LIMIT = 20_000;

/** `[the <harness> turn <status> (<kind>): <message> <hint>]`, always one line. */
function failureNote(harness: string, failure: Failure): string {
  const message = foreign(failure.message) || 'the harness gave no reason';
  const hint = failure.hint === undefined ? '' : ` ${foreign(failure.hint)}`;
  return `[the ${harness} turn ${failure.status} (${failure.kind}): ${message}${hint}]`;
}

/** The text a failed turn ends with: what it had said so far, labelled partial, and the note as the last line. */
export function failureText(harness: string, failure: Failure, partial: readonly string[]): string {
  const note = failureNote(harness, failure);
  if (partial.length === 0) return note;
  const said = partial.map((text) => cut(text, PARTIAL_LIMIT)).join('\n\n');
  return `[partial: the ${harness} turn said this before it ended]\n${said}\n\n${note}`;
}

export function interruptedNote(harness: string): string {
  return `[the ${harness} turn was interrupted]`;
}

export function emptyNote(harness: string): string {
  return `[the ${harness} turn completed and returned no text]`;
}

/** What follows an answer whose hand-back was refused twice: it claims no delivery. */
export function refusedHandbackNote(reasons: readonly string[]): string {
  const said = [...new Set(reasons.map((reason) => foreign(reason)).filter((reason) => reason !== ''))].join(' / ');
  return `[not delivered: SubagentHandback refused this report twice: ${said || 'no reason was given'}]`;
}
