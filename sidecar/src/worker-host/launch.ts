/** What a worker is started as: Claude Code's arguments and environment. */
import { fileURLToPath } from 'node:url';
import { ERRAND_VARIABLE } from '../../../plugin/hooks/protocol/errand.js';
import type { ErrandRecord } from '../desk/errand.js';
import { depthIn } from '../process/environment.js';

/** The plugin that holds this very program: the worker's mod is of the same version as its desk. */
const PLUGIN = fileURLToPath(new URL('..', import.meta.url));

/** Workers below workers: a worker this deep opens no other. */
export const DEPTH_LIMIT = 3;
const DEPTH_VARIABLE = 'LICH_SUBAGENT_DEPTH';

/** How deep a session stands among workers; 0 where it is none. */
export function depthOf(env: Readonly<Record<string, string | undefined>>): number {
  return depthIn(env, DEPTH_VARIABLE);
}

/** The task is not among them: the worker's mod fetches it. */
export function argumentsOf({ model, mode }: ErrandRecord): string[] {
  return [
    '--plugin-dir',
    PLUGIN,
    ...(model === null ? [] : ['--model', model]),
    ...(mode === null ? [] : ['--permission-mode', mode]),
  ];
}

export function environmentOf(
  { id, session, depth, desk }: ErrandRecord,
  parent: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return {
    ...withoutProxyHere(ownEnvironment(parent)),
    LICH_PORT: String(desk?.port),
    LICH_TOKEN: desk?.token ?? '',
    LICH_SESSION_ID: session,
    [DEPTH_VARIABLE]: String(depth),
    // An orchestrator's own plugin, where the user has one, must not take this session for its own.
    LICH_SUBAGENT_CARDS: 'off',
    [ERRAND_VARIABLE]: id,
  };
}

/**
 * The environment of a Claude Code of the user's own: the parent's, without what ties a process to the terminal, the
 * session or the orchestrator around it. Which variables Claude Code sets for its commands: measured on 2.1.332.
 */
function ownEnvironment(parent: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const isInside = INSIDE.some((name) => parent[name] !== undefined);
  return Object.fromEntries(
    Object.entries(parent).filter((entry): entry is [string, string] => {
      const [name, value] = entry;
      if (value === undefined || /^(?:TMUX|TMUX_PANE|LICH_.*)$/.test(name)) return false;
      return !(isInside && SESSION_VARIABLES.test(name));
    }),
  );
}

/** One of these is there in whatever Claude Code starts: a command, or a plugin's process. */
const INSIDE = ['CLAUDECODE', 'CLAUDE_CODE_MESSAGING_SOCKET', 'CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS'] as const;
const SESSION_VARIABLES =
  /^(?:CLAUDECODE|AI_AGENT|CLAUDE_(?:PID|EFFORT|ENV_FILE|PROJECT_DIR|PLUGIN_.*|CODE_(?:ENTRYPOINT|EXECPATH|SESSION_.*|CHILD_.*|LAUNCHED_BY_.*|MESSAGING_.*|SSE_PORT)))$/;

const HERE = '127.0.0.1';

/**
 * Claude Code sends a mod's requests through the user's proxy, those to this machine too, unless the exceptions name it
 * (measured on 2.1.332): no proxy could reach the desk.
 */
function withoutProxyHere(env: Record<string, string>): Record<string, string> {
  if (!Object.keys(env).some((name) => /^https?_proxy$/i.test(name))) return env;
  const set = ['NO_PROXY', 'no_proxy'].filter((name) => env[name] !== undefined);
  const exceptions = (set.length === 0 ? ['NO_PROXY'] : set).map((name) => [name, withHere(env[name] ?? '')]);
  return { ...env, ...Object.fromEntries(exceptions) };
}

function withHere(exceptions: string): string {
  const all = exceptions.split(/[\s,]+/).filter(Boolean);
  return all.includes(HERE) || all.includes('*') ? exceptions : [...all, HERE].join(',');
}
