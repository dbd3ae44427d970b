/**
 * The environment of a harness: the parent's, minus an exact list, plus who it belongs to.
 */

/** Finds what a harness started, and says to whom it belongs. */
export const SIDECAR_VARIABLE = 'VERBATIM_SIDECAR';
export const JOB_VARIABLE = 'VERBATIM_JOB';
/** How many Verbatim sidecars stand above a process: at the limit no agent is registered. */
export const DEPTH_VARIABLE = 'VERBATIM_DEPTH';

/**
 * What no harness inherits, whichever it is.
 *
 * Claude Code's session variables would make a nested Claude Code, or a tool that looks for one, believe that
 * it runs inside this session; `LICH_*` belongs to an orchestrator's session.
 */
const NEVER_INHERITED: readonly RegExp[] = [
  /^CLAUDECODE$/,
  /^CLAUDE_CODE_/,
  /^CLAUDE_(?:PLUGIN|PROJECT|SESSION|ENV|AGENT|EFFORT|AUTOCOMPACT|BASH|BG|JOB|TMPDIR|INTERNAL)(?:_|$)/,
  /^AI_AGENT$/,
  /^LICH_/,
  /^VERBATIM_/,
];

/** Each harness's own credentials: they reach that harness and no other. */
const KEYS_OF = {
  anthropic: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_CUSTOM_HEADERS'],
  openai: ['OPENAI_API_KEY', 'CODEX_API_KEY', 'CODEX_ACCESS_TOKEN'],
  google: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
} as const satisfies Record<string, readonly string[]>;

export type KeyOwner = keyof typeof KEYS_OF;

export type ChildEnvironment = {
  readonly parent: Readonly<Record<string, string | undefined>>;
  /** Whose keys the harness needs; all others are left out. */
  readonly keys: readonly KeyOwner[];
  /** The sidecar's instance id. */
  readonly sidecar: string;
};

/** The environment for a harness's process. */
export function childEnvironment({ parent, keys, sidecar }: ChildEnvironment): Record<string, string> {
  const foreign = new Set<string>(
    Object.entries(KEYS_OF)
      .filter(([owner]) => !keys.includes(owner as KeyOwner))
      .flatMap(([, names]) => names),
  );
  const kept = Object.entries(parent).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !foreign.has(entry[0]) && !NEVER_INHERITED.some((name) => name.test(entry[0])),
  );
  return {
    ...Object.fromEntries(kept),
    [SIDECAR_VARIABLE]: sidecar,
    [DEPTH_VARIABLE]: String(depthIn(parent, DEPTH_VARIABLE) + 1),
  };
}

/** The depth that an environment states in this variable; 0 where it states none or no number. */
export function depthIn(env: Readonly<Record<string, string | undefined>>, variable: string): number {
  const depth = Number(env[variable] ?? '0');
  return Number.isInteger(depth) && depth >= 0 ? depth : 0;
}
