/**
 * The tokens of one turn.
 *
 * Codex reports a total a thread, cumulative over its turns and across resumes; the turn's own is the
 * difference. A sub-agent is a thread of its own: its tokens are counted with the turn that it worked for.
 */
import type { TurnTokens } from '../../../../plugin/hooks/protocol/outcome.js';
import { read, tokenUsage } from './frames.js';

export type Total = { readonly inputTokens: number; readonly cachedInputTokens: number; readonly outputTokens: number };

/** The total in a `thread/tokenUsage/updated`. @throws FrameFault */
export function totalOf(params: unknown): Total {
  return read(tokenUsage, params, 'thread/tokenUsage/updated').tokenUsage.total;
}

const NONE: Total = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };

export class TokenMeter {
  /** Newest total of the thread; null when it is not known, which it is not right after a resume. */
  #own: Total | null;
  readonly #descendants = new Map<string, Total>();
  #start: Total | null = null;
  #startDescendants = new Map<string, Total>();
  #hasReport = false;

  /** @param isNew A new thread starts at 0; a resumed one at the total that Codex repeats for its last turn. */
  constructor(isNew: boolean) {
    this.#own = isNew ? NONE : null;
  }

  /** A total reported for the turn under way. */
  during(total: Total): void {
    this.#own = total;
    this.#hasReport = true;
  }

  /** A total reported for an earlier turn: what a resumed thread stands at. It may come after `begin`. */
  before(total: Total): void {
    this.#start ??= total;
    if (!this.#hasReport) this.#own = total;
  }

  descendant(thread: string, total: Total): void {
    this.#descendants.set(thread, total);
    this.#hasReport = true;
  }

  begin(): void {
    this.#start = this.#own;
    this.#startDescendants = new Map(this.#descendants);
    this.#hasReport = false;
  }

  /** The tokens since `begin`; null when nothing was reported, or nothing to subtract from is known. */
  end(): TurnTokens | null {
    if (!this.#hasReport || !this.#start || !this.#own) return null;
    const sums = { input: 0, cached: 0, output: 0 };
    const add = (now: Total, then: Total) => {
      sums.input += now.inputTokens - then.inputTokens;
      sums.cached += now.cachedInputTokens - then.cachedInputTokens;
      sums.output += now.outputTokens - then.outputTokens;
    };
    add(this.#own, this.#start);
    for (const [thread, total] of this.#descendants) add(total, this.#startDescendants.get(thread) ?? NONE);
    return sums;
  }
}
