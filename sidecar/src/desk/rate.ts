/** How many requests a session may send: a worker sends a few a turn, a loop that went wrong thousands. */

/** Requests at once, and how many more each second. */
const BURST = 40;
const PER_SECOND = 20;

export class Rate {
  readonly #left = new Map<string, { requests: number; at: number }>();

  /** @param now In milliseconds. */
  constructor(private readonly now: () => number) {}

  /** Whether one more request of this name is taken now. Every name is kept: the caller bounds how many there are. */
  allows(name: string): boolean {
    const now = this.now();
    const { requests, at } = this.#left.get(name) ?? { requests: BURST, at: now };
    const left = Math.min(BURST, requests + ((now - at) / 1_000) * PER_SECOND);
    this.#left.set(name, { requests: left >= 1 ? left - 1 : left, at: now });
    return left >= 1;
  }
}
