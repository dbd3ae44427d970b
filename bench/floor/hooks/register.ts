/** What Claude Code itself takes for an agent of two steps and one tool call, answered at once: the benchmark's floor. */
import type { Register } from 'claude-code';

const TOOL = 'mcp__floor__noted';

export const register: Register = (on) => {
  on('session.start', async ($, e, next) => {
    await $.tool.register({ name: 'noted', description: 'Noted.', isDeferred: false });
    await $.agent.register({
      name: 'floor',
      description: 'Answers at once.',
      prompt: 'Answered from memory.',
      model: 'floor/none',
      tools: [TOOL],
      omitClaudeMd: true,
    });
    return next(e);
  });

  on('turn.step', { model: 'floor/none' }, async function* (_, e) {
    const at = { turnId: e.turnId, index: e.index, usage: null } as const;
    if (e.index > 0) {
      yield { kind: 'text', index: 0, text: 'ok' };
      yield { kind: 'stop', stopReason: 'end_turn', usage: null };
      return { ...at, answer: 'ok', toolUses: [], stopReason: 'end_turn' };
    }
    const call = { id: `toolu_${e.turnId.replaceAll('-', '')}`, name: TOOL, input: {} };
    yield { kind: 'tool', index: 0, id: call.id, name: call.name };
    yield { kind: 'input', index: 0, json: '{}' };
    yield { kind: 'stop', stopReason: 'tool_use', usage: null };
    return { ...at, answer: '', toolUses: [call], stopReason: 'tool_use' };
  });

  on('tool.call', { tool: TOOL }, () => ({ result: 'noted' }));
};
