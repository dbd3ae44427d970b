/** Bad input on the real programs: each ends in a note that names what was wrong, and the agent is of use afterwards. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent, sendMessage } from '../../testing/fake-messages.js';
import { say, turn } from '../../testing/fake-responses.js';
import { until } from '../../testing/wait.js';
import { AGENT_TYPE, lastWords, openWorld, type World } from '../../testing/world.js';

/** The largest input that Codex takes. */
const LIMIT = 1_048_576;

let world: World;

/** Runs one workflow agent on a task that the script builds, so that no other prompt has to hold it. */
async function workflowAgent(task: string): Promise<string> {
  const { result } = await world.runWorkflow(`return await agent(${task}, { agentType: '${AGENT_TYPE}' });`);
  return String(result);
}

/** Sends an agent a message and waits for its answer. */
async function answerTo(agentId: string, message: string, run: number): Promise<string> {
  const before = world.transcript(agentId).steps.length;
  await world.callTool(sendMessage(agentId, message));
  await world.ended(agentId, run);
  return until(`the answer to "${message}"`, () => {
    const transcript = world.transcript(agentId);
    return transcript.steps.length > before && transcript.steps.at(-1)?.blocks.length === 1 && lastWords(transcript);
  });
}

describe('bad input', () => {
  beforeAll(async () => {
    world = await openWorld({ mode: 'bypassPermissions' });
    world.codex.script((request) => turn(say(`${request.lastUserText.length} characters`)));
  });
  afterAll(() => world.close());

  test('a prompt of white space alone says that it is empty, and the next message gets its answer', async () => {
    const { agentId, last } = await world.runAgent(' \n ');
    expect(last).toBe('[the codex turn failed (invalid_request): The message is empty.]');
    expect(await answerTo(agentId, 'now a task', 2)).toBe('10 characters');
  });

  test('an empty prompt says that there is no task', async () => {
    expect((await world.runAgent('')).last).toBe(
      '[the codex turn failed (invalid_request): Claude Code handed this agent no task that Verbatim could see. Start the agent again.]',
    );
  });

  test('a prompt of the most that Codex takes is taken', async () => {
    expect(await workflowAgent(`'é'.repeat(${LIMIT})`)).toBe(`${LIMIT} characters`);
  });

  test('one character more is refused with the limit and a way out', async () => {
    expect(await workflowAgent(`'x'.repeat(${LIMIT + 1})`)).toBe(
      `[the codex turn failed (invalid_request): The message has ${LIMIT + 1} characters; Codex takes at most ${LIMIT}. Put the text into a file of the working folder and name the file.]`,
    );
  });

  test('a prompt that is too long for anybody is refused', async () => {
    expect(await workflowAgent("'x'.repeat(9_000_000)")).toMatch(
      /^\[the codex turn failed \(invalid_request\): the message has 9\d{6} characters .*\]$/,
    );
  });

  test('a working folder that is gone is named, and works again once it is back', async () => {
    const { agentId } = await world.runAgent('in a copy', { isolation: 'worktree' });
    const folder = join(world.home.work, '.claude', 'worktrees', `agent-${agentId}`);
    rmSync(folder, { recursive: true, force: true });
    expect(await answerTo(agentId, 'are you there?', 2)).toBe(
      `[the codex turn failed (invalid_request): The working folder ${folder} is gone. Make it again, or spawn the agent in another folder.]`,
    );
    mkdirSync(folder);
    expect(await answerTo(agentId, 'and now?', 3)).toBe('8 characters');
  });

  test('no Claude model was asked for any of it', () => {
    expect(world.claude.bill().ofAgents).toBe(0);
  });
});

describe('an option with a wrong value', () => {
  test.each([
    ['soon', 'must be a number'],
    [-1, 'must be at least 0.01'],
    [1_000_000, 'must be at most 10080'],
  ])('stallMinutes %s is refused by name, and no agent runs with another value', async (value, rule) => {
    world = await openWorld({ settings: { pluginConfigs: { verbatim: { options: { stallMinutes: value } } } } });
    try {
      const refused = await world.callTool(agent(AGENT_TYPE, 'task', { background: false }));
      expect(refused.isError).toBe(true);
      expect(world.session.debugLog()).toContain(`Minutes of silence ${rule}`);
      expect(world.codex.requests).toHaveLength(0);
    } finally {
      await world.close();
    }
  });
});
