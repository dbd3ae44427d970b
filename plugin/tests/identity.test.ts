import { describe, expect, test } from 'claude-code/testing';
import { AGENT, begin, run, spawn, world } from './engine.js';

const MESSAGES = [{ role: 'user', text: 'hello', toolUses: [] }];

describe("Claude never answers in an agent's name", () => {
  test("a caller's model:opus is put back to the foreign model", async ($, on) => {
    const made = world(on, { turns: [{ answer: 'codex' }] });
    await begin($);
    expect((await run($, made, { model: 'opus' })).final).toBe('codex');
    expect(made.spawnedModels).toEqual(['codex/default']);
    expect(made.sidecar.requests.find((one) => one.path === '/v1/jobs')?.body).toEqual(
      expect.objectContaining({ cwd: '/w', mode: 'default', agent: AGENT, session: 'session-1' }),
    );
    expect(JSON.stringify(made.sidecar.requests)).not.toContain('opus');
  });

  test("a model of Codex's own goes to Codex", async ($, on) => {
    const made = world(on, { turns: [{ answer: 'a' }] });
    await begin($);
    await run($, made, { model: 'codex/gpt-5.5-mini' });
    expect(made.spawnedModels).toEqual(['codex/gpt-5.5-mini']);
    expect(made.sidecar.requests.find((one) => one.path === '/v1/jobs')?.body).toEqual(
      expect.objectContaining({ model: 'gpt-5.5-mini' }),
    );
  });

  test('a session that forces a Claude model on every subagent is refused the spawn', async ($, on) => {
    const made = world(on, {
      turns: [],
      env: { CLAUDE_CODE_SUBAGENT_MODEL: 'haiku', CLAUDE_CODE_SUBAGENT_MODEL_FORCE: '1' },
    });
    await begin($);
    const spawned = await spawn($, {});
    expect(spawned.deny).toContain('forces a Claude model');
    expect(made.spawnedModels).toEqual([]);
  });

  test('a workflow model forced by the session is refused for workflows alone', async ($, on) => {
    world(on, { turns: [{ answer: 'a' }], env: { CLAUDE_CODE_WORKFLOW_SUBAGENT_MODEL: 'haiku' } });
    await begin($);
    expect((await spawn($, { workflow: { runId: 'wf_1', agentIndex: 1 } })).deny).toContain('forces a Claude model');
    expect((await spawn($, {})).deny).toBe(undefined);
  });

  test('a teammate is refused with the reason', async ($, on) => {
    world(on, { turns: [] });
    await begin($);
    expect((await spawn($, { isTeammate: true })).deny).toContain('teammate');
  });

  test('the steps of other agents and of the main loop reach the model untouched', async ($, on) => {
    const made = world(on, { turns: [] });
    await begin($);
    for (const agentId of [undefined, 'other']) {
      const stream = $.turn.step({
        turnId: 't',
        index: 0,
        model: 'claude',
        messageCount: 1,
        ...(agentId ? { agentId } : {}),
      } as never);
      let text = '';
      for (let next = await stream.next(); !next.done; next = await stream.next())
        if (next.value.kind === 'text') text += next.value.text;
      expect(text).toBe('Claude answered');
    }
    expect(made.modelSteps).toBe(2);
  });

  test('a step that went to the model before the agent was known as ours is counted in its job state', async ($, on) => {
    const made = world(on, { turns: [{ answer: 'a' }] });
    await begin($);
    const early = $.turn.step({ turnId: 't', index: 0, model: 'claude', messageCount: 1, agentId: AGENT } as never);
    for (let next = await early.next(); !next.done; ) next = await early.next();
    await run($, made);
    expect(JSON.stringify(made.steps)).toContain('claude requests: 1');
  });

  test('a compaction of our agent asks no model', async ($, on) => {
    const made = world(on, { turns: [{ answer: 'a' }] });
    let asked = 0;
    on('session.compact', (_, e) => {
      asked += 1;
      return { messages: e.messages };
    });
    await begin($);
    await run($, made);
    const compacted = await $.session.compact({ trigger: 'auto', agentId: AGENT, messages: MESSAGES } as never);
    expect(asked).toBe(0);
    expect(JSON.stringify(compacted)).toContain('the harness keeps the conversation');
    await $.session.compact({ trigger: 'auto', messages: MESSAGES } as never);
    expect(asked).toBe(1);
  });

  test('at the depth limit no agent is registered', async ($, on) => {
    const made = world(on, { turns: [], env: { VERBATIM_DEPTH: '2' } });
    await begin($);
    expect(made.registered).toEqual([]);
  });

  test("a workflow's retry under a new agent id gets the same prompt", async ($, on) => {
    const made = world(on, { turns: [{ answer: 'one' }, { answer: 'two' }] });
    await begin($);
    await run($, made, { prompt: 'raw', framed: '[Workflow harness] raw' });
    const retry = await run($, made, {
      agentId: 'retried',
      turnId: 'turn-2',
      framed: '[Workflow harness] raw',
      hasNoSpawn: true,
    });
    expect(retry.final).toBe('two');
    expect(made.sidecar.texts).toEqual(['raw', 'raw']);
  });
});

describe('version drift', () => {
  test('a Claude Code that was not tested is said once, a tested one is not', async ($, on) => {
    const made = world(on, { turns: [], version: '2.2.0' });
    await begin($);
    expect(made.log).toEqual([
      'Claude Code 2.2.0 is newer than what Verbatim was tested with (2.1.332). If something looks wrong, run `verbatim doctor`.',
    ]);
  });

  test('the tested Claude Code is not mentioned', async ($, on) => {
    const made = world(on, { turns: [] });
    await begin($);
    expect(made.log).toEqual([]);
  });
});
