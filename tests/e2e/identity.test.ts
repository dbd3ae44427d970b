/** Claude never answers in an agent's name, whatever asks for one of its models or breaks on the way to the harness. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { claudePlace } from '../../testing/claude-place.js';
import { codexHome } from '../../testing/codex-home.js';
import { agent, calls, fakeMessages, IMPOSTURE, says } from '../../testing/fake-messages.js';
import { fakeResponses, httpError, say, turn } from '../../testing/fake-responses.js';
import { agentsWithTranscript, agentTranscript } from '../../testing/transcript.js';
import { openTui } from '../../testing/tui.js';
import { AGENT_TYPE, codexFolder, openWorld, type World, type WorldOptions } from '../../testing/world.js';

const GARBAGE_SIDECAR = fileURLToPath(new URL('../../testing/fixtures/garbage-sidecar.mjs', import.meta.url));
const FORCED =
  "verbatim: this session forces a Claude model on every subagent, so Claude could answer in this agent's name. Unset CLAUDE_CODE_SUBAGENT_MODEL_FORCE and CLAUDE_CODE_WORKFLOW_SUBAGENT_MODEL to use Verbatim's agents.";

let world: World;

/** Nothing that Claude said stands anywhere, and it was asked nothing. */
function expectUnspoken(): void {
  for (const id of agentsWithTranscript(world.place.home)) {
    expect(JSON.stringify(agentTranscript(world.place.home, id)?.rows)).not.toContain(IMPOSTURE);
  }
  expect(world.claude.bill().ofAgents).toBe(0);
}

async function open(options: WorldOptions = {}): Promise<void> {
  world = await openWorld({ mode: 'bypassPermissions', ...options });
  world.codex.script((request) => turn(say(`${request.model} was told: ${request.userTexts.at(-1)}`)));
}

const answerOf = (task: string, model = 'gpt-5.5') => `${model} was told: ${task}`;

describe('a model that the caller or the session asks for', () => {
  afterEach(async () => {
    try {
      expectUnspoken();
    } finally {
      await world.close();
    }
  });

  test("that is Claude's is dropped, and Codex's own reaches Codex", async () => {
    await open({ env: { CLAUDE_CODE_SUBAGENT_MODEL: 'claude-haiku-4-5' } });
    expect((await world.runAgent('plain')).last).toBe(answerOf('plain'));
    expect((await world.runAgent('opus', { model: 'opus' })).last).toBe(answerOf('opus'));
    const options = (model: string) => `{ agentType: '${AGENT_TYPE}', model: '${model}' }`;
    const { result } = await world.runWorkflow(
      `return [await agent('w-opus', ${options('opus')}), await agent('w-codex', ${options('codex/gpt-5.6')}), await agent('w-bare', ${options('gpt-5.6')})];`,
    );
    expect(result).toEqual([answerOf('w-opus'), answerOf('w-codex', 'gpt-5.6'), answerOf('w-bare', 'gpt-5.6')]);
    // Each agent is shown with a foreign model, also in the rows of its transcript.
    for (const id of agentsWithTranscript(world.place.home)) {
      const models = (agentTranscript(world.place.home, id)?.rows ?? []).flatMap(({ message }) =>
        message?.role === 'assistant' ? [(message as { model?: string }).model] : [],
      );
      expect(models.every((model) => model?.startsWith('codex/'))).toBe(true);
    }
  });

  test('that Codex does not have ends as model, with the ones it has or what to set', async () => {
    await open();
    world.codex.script((request) =>
      request.model === 'nonsense'
        ? httpError(404, { code: 'model_not_found', message: 'The model `nonsense` does not exist' })
        : turn(say('ok')),
    );
    const asked = `return await agent('w', { agentType: '${AGENT_TYPE}', model: 'codex/nonsense' });`;
    const theirs = await world.runWorkflow(asked);
    // OpenAI's own models are known to Codex, and asked for before a turn is spent.
    writeFileSync(
      join(world.home.home, 'config.toml'),
      `openai_base_url = ${JSON.stringify(world.codex.url)}\n[features]\nplugins = false\n`,
    );
    const ours = await world.runWorkflow(asked);
    expect(theirs.result).toBe(
      "[the codex turn failed (model): The model `nonsense` does not exist Choose another model than nonsense, or set `model` in Codex's config.toml.]",
    );
    expect(ours.result).toMatch(/^\[the codex turn failed \(model\): Codex has no model nonsense\. .*gpt-5\.5.*\]$/);
  });

  test('and that the session forces on every subagent is refused with the reason, in both ways to force one', async () => {
    await open({ env: { CLAUDE_CODE_SUBAGENT_MODEL: 'claude-haiku-4-5', CLAUDE_CODE_SUBAGENT_MODEL_FORCE: '1' } });
    const refused = await world.callTool(agent(AGENT_TYPE, 'task', { background: false }));
    expect(refused).toMatchObject({ isError: true, text: `Subagent spawn denied by a plugin: ${FORCED}` });
    const failed = await world.runWorkflow(`return await agent('w', { agentType: '${AGENT_TYPE}' });`);
    expect(failed.status).toBe('failed');
    expect(failed.summary).toContain(FORCED);
    expect(world.codex.requests).toHaveLength(0);
  });

  test('and that the session forces on workflows alone leaves the Agent tool as it is', async () => {
    await open({ env: { CLAUDE_CODE_WORKFLOW_SUBAGENT_MODEL: 'claude-haiku-4-5' } });
    expect((await world.runAgent('plain')).last).toBe(answerOf('plain'));
    const failed = await world.runWorkflow(`return await agent('w', { agentType: '${AGENT_TYPE}' });`);
    expect(failed.summary).toContain(FORCED);
    expect(world.codex.requests).toHaveLength(1);
  });
});

describe('a sidecar that answers garbage', () => {
  let folder: string;
  afterEach(async () => {
    try {
      expectUnspoken();
    } finally {
      await world.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test.each([
    ['auto', 'no JSON', '(crashed)'],
    ['auto', 'null', '(unknown)'],
    ['default', 'null', '(unknown)'],
    ['auto', 'an empty object', '(unknown)'],
    ['auto', 'events that are no list', '(unknown)'],
    ['auto', 'an event that is nothing', '(unknown)'],
    ['auto', 'a command without one', '(unknown)'],
    ['auto', 'an end without an outcome', '(unknown)'],
    ['auto', 'an event of no kind', 'was interrupted'],
  ] as const)('ends the run with a note, in %s mode, and Claude does not speak: %s', async (mode, fault, words) => {
    folder = mkdtempSync(join(tmpdir(), 'vb-node-'));
    writeFileSync(join(folder, 'node'), `#!/bin/sh\nexec '${process.execPath}' '${GARBAGE_SIDECAR}'\n`);
    chmodSync(join(folder, 'node'), 0o755);
    await open({ mode, path: [folder], env: { GARBAGE: fault } });
    const run = await world.runAgent('task');
    expect(run.last).toMatch(/^\[the codex turn .*\]$/);
    expect(run.last).toContain(words);
    expect(run.ending).toBe(mode === 'auto' ? 'handback' : 'plain');
  });
});

describe('a teammate', () => {
  test('is refused with the reason, for its turns carry no agent type to know it by', async () => {
    const [claude, codex] = await Promise.all([fakeMessages(), fakeResponses()]);
    const home = codexHome({ url: codex.url });
    const place = claudePlace({ url: claude.url, path: [codexFolder()], cwd: home.work, env: home.env });
    const tui = await openTui(place, { env: { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' } });
    try {
      claude.main([calls(agent(AGENT_TYPE, 'task', { name: 'bob' })), says('So be it.')]);
      await tui.say('go');
      await tui.sees('So be it.');
      const [refused] = claude.of('main').at(-1)?.results ?? [];
      expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('cannot be a teammate') });
      expect(codex.requests).toHaveLength(0);
      expect(claude.bill().ofAgents).toBe(0);
    } finally {
      await tui.close();
      await place.dispose();
      await Promise.all([claude.close(), codex.close()]);
      home.remove();
    }
  });
});
