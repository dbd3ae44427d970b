/** Waiting for a condition, always with a bound: a test that waits for nothing says what it waited for. */

export type WaitOptions = {
  /** The bound, in milliseconds. */
  readonly within?: number;
  /** How long to wait between two looks, in milliseconds. */
  readonly every?: number;
  /** What the error adds when the bound is over: a screen, a log's tail. Asked then only. */
  readonly detail?: () => string | Promise<string>;
};

type Seen<T> = Exclude<T, undefined | null | false | 0 | ''>;

/**
 * Looks until `look` gives something truthy, and resolves with it. A `look` that throws has not seen it yet; its
 * last error is part of the message when the bound is over.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<Seen<Awaited<T>>> {
  const { within = 15_000, every = 20, detail } = options;
  const end = Date.now() + within;
  let failure: unknown;
  for (;;) {
    try {
      const seen = await look();
      if (seen) return seen as Seen<Awaited<T>>;
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    if (Date.now() >= end) break;
    await new Promise((next) => setTimeout(next, every));
  }
  const because = failure === undefined ? '' : `; the last look failed: ${messageOf(failure)}`;
  const more = detail === undefined ? '' : `\n${await detail()}`;
  throw new Error(`waited ${within} ms for ${what}${because}${more}`);
}

/** Rejects when `promise` has not settled within the bound. */
export async function within<T>(what: string, ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms} ms for ${what}`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What never comes: a reply that is held for good. */
export const never: Promise<never> = new Promise(() => undefined);

/** A promise with its two ends in reach: the way to hold a scripted reply until a test lets it go. */
export function gate<T = void>(): {
  readonly promise: Promise<T>;
  readonly open: (value: T) => void;
  readonly fail: (error: unknown) => void;
} {
  let open!: (value: T) => void;
  let fail!: (error: unknown) => void;
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open, fail };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
