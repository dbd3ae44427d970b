/** How many reports a session may send: a worker sends one a turn, a loop that went wrong thousands. */

/** Reports at once, and how many more each second. */
const BURST = 40;
const PER_SECOND = 20;
/** Sessions that are told apart; those beyond share one measure, so that made-up names cost no memory. */
const SESSIONS = 1_000;

export class Rate {
  readonly #left = new Map<string, { reports: number; at: number }>();

  /** @param now In milliseconds. */
  constructor(private readonly now: () => number) {}

  /** Whether one more report of this session is taken now. */
  allows(session: string): boolean {
    const name = this.#left.has(session) || this.#left.size < SESSIONS ? session : '';
    const now = this.now();
    const { reports, at } = this.#left.get(name) ?? { reports: BURST, at: now };
    const left = Math.min(BURST, reports + ((now - at) / 1_000) * PER_SECOND);
    this.#left.set(name, { reports: left >= 1 ? left - 1 : left, at: now });
    return left >= 1;
  }
}
