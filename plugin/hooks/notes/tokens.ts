import type { TurnTokens } from '../protocol/outcome.js';
import { foreign } from './foreign.js';

/**
 * `<model>: <n> input tokens (<n> cached), <n> output`: the turn's own tokens as the harness reported them.
 *
 * A count that was not reported is `?`; with none at all the line says so.
 */
export function tokensLine(model: string, tokens: TurnTokens | null): string {
  const name = foreign(model) || '?';
  if (tokens === null || (tokens.input === null && tokens.cached === null && tokens.output === null)) {
    return `${name}: tokens not reported`;
  }
  return `${name}: ${count(tokens.input)} input tokens (${count(tokens.cached)} cached), ${count(tokens.output)} output`;
}

function count(tokens: number | null): string {
  return tokens === null ? '?' : String(tokens);
}
