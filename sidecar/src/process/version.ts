/** Which version a program says that it is. */
import { dirname } from 'node:path';
import { Child } from './child.js';
import { GRACE } from './ladder.js';

/** How long a program may take to answer `--version`, in milliseconds. */
const ANSWER_MS = 10_000;

export type VersionAnswer =
  /** `version` null: what it said holds no version. */
  | { readonly kind: 'answered'; readonly version: string | null }
  /** `why` is a sentence part: `it ended with exit code 1`. */
  | { readonly kind: 'failed'; readonly why: string };

/** Asks a program for its version. One that says nothing within a bound is ended with all that it started. */
export async function askVersion(
  program: string,
  env: Readonly<Record<string, string | undefined>>,
  limitMs: number = ANSWER_MS,
): Promise<VersionAnswer> {
  const lines: string[] = [];
  const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const child = Child.start({
    program,
    args: ['--version'],
    cwd: dirname(program),
    env: Object.fromEntries(set),
    onLine: (line) => lines.push(line),
  });
  let ending: Promise<unknown> | null = null;
  const timer = setTimeout(() => {
    ending = child.end(() => [], { ...GRACE, askMs: 0, termMs: 0 });
  }, limitMs);
  const { code, signal, fault } = await child.exited;
  clearTimeout(timer);
  await ending;
  if (ending !== null) return { kind: 'failed', why: `it said nothing within ${limitMs / 1000} s` };
  if (fault !== null) return { kind: 'failed', why: fault.message };
  if (code !== 0)
    return { kind: 'failed', why: signal === null ? `it ended with exit code ${code}` : `${signal} ended it` };
  return { kind: 'answered', version: /\d+\.\d+\.\d+\S*/.exec(lines.join('\n'))?.[0] ?? null };
}
