/**
 * What Claude Code's permission mode lets a harness do. The mode bounds the harness, never the reverse.
 */
import type { PermissionMode } from '../../../plugin/hooks/protocol/api.js';
import type { Access } from '../harness/contract.js';

export type AccessLevel = Access['level'];

/** Every level, the strictest first. */
export const ACCESS_LEVELS: readonly AccessLevel[] = ['read_only', 'workspace_write', 'full'];

/** What `mode` alone allows. A mode that is not known here allows reading only. */
export function levelOf(mode: PermissionMode): AccessLevel {
  switch (mode) {
    case 'plan':
    case 'dontAsk':
    case 'default':
    case 'unknown':
      return 'read_only';
    case 'acceptEdits':
    case 'auto':
      return 'workspace_write';
    case 'bypassPermissions':
      return 'full';
    default:
      mode satisfies never;
      return 'read_only';
  }
}

function stricterOf(a: AccessLevel, b: AccessLevel): AccessLevel {
  return isStricter(b, a) ? b : a;
}

function isStricter(a: AccessLevel, b: AccessLevel): boolean {
  return ACCESS_LEVELS.indexOf(a) < ACCESS_LEVELS.indexOf(b);
}

/** What a job may do from now on, given what it was allowed so far and the mode of a new message. */
export function rememberedAfter(remembered: AccessLevel, mode: PermissionMode): AccessLevel {
  // `unknown` bounds its own turn (`accessOfTurn`): it says nothing of what the person allowed the job.
  return mode === 'unknown' ? remembered : stricterOf(remembered, levelOf(mode));
}

/** What a turn may do: the strictest of what is remembered and of the modes its messages came in. */
export function accessOfTurn(remembered: AccessLevel, modes: readonly PermissionMode[]): Access {
  return { level: modes.map(levelOf).reduce(stricterOf, remembered) };
}

/**
 * Whether a message may join a turn that runs with `turn`'s access. One that came in a mode which allows
 * less gets a turn of its own; a mode that no event said leaves the running turn as it was granted.
 */
export function mayJoin(mode: PermissionMode, turn: AccessLevel): boolean {
  return mode === 'unknown' || !isStricter(levelOf(mode), turn);
}
