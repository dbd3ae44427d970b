/** Whether this session is a worker, and where its answers go: what the environment says. */

/** The variables of an orchestrator's session, as they are set or not. */
export type WorkerVariables = {
  readonly LICH_PORT: string | undefined;
  readonly LICH_TOKEN: string | undefined;
  readonly LICH_SESSION_ID: string | undefined;
  readonly LICH_SUBAGENT_DEPTH: string | undefined;
  readonly LICH_SUBAGENT_CARDS: string | undefined;
};

/** Where a worker reports, and the name that the orchestrator gave its session. */
export type Link = { readonly port: number; readonly token: string; readonly session: string };

/** The link of a worker session; undefined where the session is none. */
export function linkOf(variables: WorkerVariables): Link | undefined {
  const port = wholeOf(variables.LICH_PORT) ?? 0;
  const token = variables.LICH_TOKEN;
  const session = variables.LICH_SESSION_ID;
  if (!token || !session || port < 1 || port > 65_535) return undefined;
  return isWorker(variables) ? { port, token, session } : undefined;
}

/**
 * A session opened n levels of workers down carries n, any other 0. An orchestrator older than that variable sets
 * LICH_SUBAGENT_CARDS to `off` for every worker (and for whom else it likes: it ignores what those report).
 */
function isWorker({ LICH_SUBAGENT_DEPTH: depth, LICH_SUBAGENT_CARDS: cards }: WorkerVariables): boolean {
  if (depth === undefined) return cards === 'off';
  return (wholeOf(depth) ?? 0) > 0;
}

/** A number in decimal digits and nothing else: `Number` takes '', ' 1' and '0x1' for numbers too. */
function wholeOf(text = ''): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}
