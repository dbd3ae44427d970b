import type { HarnessName } from '../protocol/api.js';

/**
 * The agents that the plugin registers. Each type is shown with a foreign model id, so that a step that
 * ever fell through to the Messages API would end as a 404 and never as Claude's own words.
 */
export type AgentType = {
  readonly name: string;
  readonly harness: HarnessName;
  readonly description: string;
  /** The id shown as the agent's model: no space or bracket, which 2.1.332 mangles in the agent's header. */
  readonly model: string;
};

export const AGENT_TYPES: readonly AgentType[] = [
  {
    name: 'codex',
    harness: 'codex',
    description:
      "OpenAI Codex, run by the user's own Codex CLI and login. Use it for a task that the user wants done or reviewed by Codex or GPT. Its report is Codex's final answer, byte for byte. It sees only the prompt, and works in the session's folder.",
    model: 'codex/default',
  },
];

/** The agent type a Claude Code agent was started as, or undefined where it is not one of ours. */
export function agentTypeOf(plugin: string, type: string): AgentType | undefined {
  return AGENT_TYPES.find((one) => type === `${plugin}:${one.name}`);
}

/**
 * The harness's model that a caller asked for, of the Agent tool's or a workflow's `model`.
 *
 * A Claude model (an alias or an id) is no model of the harness: it is dropped, and the agent runs on the
 * harness's default. `codex/gpt-5.5` and `gpt-5.5` both name Codex's.
 */
export function askedModel(type: AgentType, model: string | undefined): string | undefined {
  if (model === undefined || model === type.model || model === '') return undefined;
  if (model.startsWith(`${type.harness}/`)) return model.slice(type.harness.length + 1);
  return isClaudeModel(model) ? undefined : model;
}

function isClaudeModel(model: string): boolean {
  return (
    /claude|anthropic/i.test(model) || /^(sonnet|opus|haiku|fable|inherit|best|default|opusplan)(\[|$)/i.test(model)
  );
}
