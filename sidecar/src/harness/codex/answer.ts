/**
 * Which of a turn's messages is its answer, and when the others are shown.
 *
 * The rule (measured on codex 0.171.0, where `turn.items` names an async note as the final message):
 * of the turn's completed messages ignore those delivered `async` and those of white space alone; the last
 * `final_answer` is the answer, else the last one without a phase, else there is none. Deltas are never
 * read: on a stream retry the same item is streamed, and even completed, more than once.
 */
import type { AgentMessage } from './frames.js';

/** Messages that are shown now, oldest first. */
type Shown = readonly string[];

type Held = { readonly id: string; readonly text: string; readonly phase: 'final_answer' | null };

export class AnswerRule {
  /** Candidates, oldest first, one an item id. */
  readonly #held = new Map<string, Held>();
  readonly #shown = new Set<string>();
  /** The last message without a phase that was shown because work went on after it. */
  #passed: Held | null = null;
  readonly #completed = new Map<string, string>();

  /** A message was completed; returns what is to be shown of it now. */
  complete(message: AgentMessage): Shown {
    const { id, text } = message;
    if (text.trim() !== '') this.#completed.set(id, text);
    const isFinal = message.phase === 'final_answer';
    const isAnswerable = message.delivery !== 'async' && (isFinal || (message.phase ?? null) === null);
    if (!isAnswerable) return this.#show(id, text);
    if (text.trim() === '') return [];
    // Completed again after a retry: the last text of an item is the one that stands, at its new place.
    this.#held.delete(id);
    this.#held.set(id, { id, text, phase: isFinal ? 'final_answer' : null });
    return [];
  }

  /** Another item began: a message without a phase that came before it was commentary. */
  workGoesOn(item: string): Shown {
    return [...this.#held.values()]
      .filter((held) => held.phase === null && held.id !== item)
      .flatMap((held) => {
        this.#held.delete(held.id);
        this.#passed = held;
        return this.#show(held.id, held.text);
      });
  }

  /** The turn ended: the answer, or null, and the messages that are not it and were not shown yet. */
  end(): { readonly answer: string | null; readonly shown: Shown } {
    const held = [...this.#held.values()];
    // A turn whose only message came before its last tool call has that one for its answer, although it was shown.
    const chosen =
      held.findLast((each) => each.phase === 'final_answer') ??
      held.findLast((each) => each.phase === null) ??
      this.#passed;
    const shown = held.filter((each) => each !== chosen).flatMap((each) => this.#show(each.id, each.text));
    return { answer: chosen?.text ?? null, shown };
  }

  /** Every completed message with text, oldest first: what a failed turn has to show for itself. */
  get partial(): readonly string[] {
    return [...this.#completed.values()];
  }

  #show(id: string, text: string): Shown {
    if (text.trim() === '' || this.#shown.has(id)) return [];
    this.#shown.add(id);
    return [text];
  }
}
