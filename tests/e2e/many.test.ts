/** Many agents at once, agents of agents, and turns that are longer than the engine's patience. */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Models, modelsOf, reported, start } from '../../testing/agents.js';
import { agent, calls, says } from '../../testing/fake-messages.js';
import { hold, say, shell, turn } from '../../testing/fake-responses.js';
import { jobOf } from '../../testing/jobs.js';
import { type MainLoop, mainLoop } from '../../testing/main-loop.js';
import { isAlive, untilGone } from '../../testing/processes.js';
import { gate, until } from '../../testing/wait.js';
import { AGENT_TYPE, openWorld, type World } from '../../testing/world.js';

const below = (world: World, command: string) => world.place.processes().filter((one) => one.command.includes(command));

for (const mode of ['default', 'auto'] as const) {
  describe(`rule.finalAlone with many agents in ${mode} mode`, () => {
    let world: World;
    let main: MainLoop;
    let models: Models;
    beforeAll(async () => {
      world = await openWorld({ mode });
      main = mainLoop(world.claude, () => world.session);
      models = modelsOf(world);
    });
    afterAll(() => world.close());

    test('20 in the background that end in the same moment: each reports its own answer, once', async () => {
      const together = gate();
      const tasks = Array.from({ length: 20 }, (_, at) => `task ${at}.`);
      for (const task of tasks) models.set(task, () => turn(hold(together.promise), say(`answer to ${task}`)));
      const ids = await start(world, main, ...tasks);
      expect(below(world, ' app-server')).toHaveLength(1);
      expect(below(world, 'verbatim.mjs serve')).toHaveLength(1);
      together.open();
      await Promise.all(ids.map((id, at) => reported(world, id, [`answer to ${tasks[at]}`], 60_000)));
      await until('every end to be notified', () => ids.every((id) => countOf(world, id) >= 1), { within: 30_000 });
      expect(ids.map((id) => countOf(world, id))).toEqual(ids.map(() => 1));
      await until('each delivery to stand in its journal, once', () =>
        ids.every((id) => jobOf(world.jobs, id).record.deliveries.length === 1),
      );
      expect(new Set(ids.map((id) => jobOf(world.jobs, id).record.thread)).size).toBe(20);
      expect(world.claude.bill().ofAgents).toBe(0);
    });

    test('8 in the foreground: each call of the Agent tool gets its own answer', async () => {
      const tasks = Array.from({ length: 8 }, (_, at) => `front ${at}.`);
      for (const task of tasks) models.set(task, () => turn(say(`answer to ${task}`)));
      const results = await main.call(...tasks.map((task) => agent(AGENT_TYPE, task, { background: false })));
      for (const [at, { text, isError }] of results.entries()) {
        expect(isError).toBe(false);
        // A hand-back reaches the caller as a message, which the result names.
        if (mode === 'default') expect(text).toContain(`answer to ${tasks[at]}`);
        const id = /agentId: (\w+)/.exec(text)?.[1] ?? '';
        await reported(world, id, [`answer to ${tasks[at]}`]);
      }
      expect(world.claude.bill().ofAgents).toBe(0);
    });

    test('under another agent: the answer reaches the agent that asked, and Claude pays for that one alone', async () => {
      models.set('nested', () => turn(say('the nested answer')));
      const before = world.claude.requests.length;
      world.claude.subagent((request) =>
        request.results.some(({ tool }) => tool === 'Agent')
          ? says(`outer heard: ${request.results.at(-1)?.text}`)
          : calls(agent(AGENT_TYPE, 'nested', { background: false })),
      );
      await main.call(agent('general-purpose', 'ask codex', { background: false }));
      const asked = world.claude.requests.slice(before).filter((request) => request.agent !== undefined);
      expect(new Set(asked.map((request) => request.agent)).size).toBe(1);
      expect(asked.at(-1)?.text).toContain('the nested answer');
    });

    test('the end of the session leaves no process of any of them', async () => {
      const processes = [world.session.id, ...world.place.processes()];
      await world.session.end();
      await untilGone(processes);
      expect(world.place.processes().filter(isAlive)).toEqual([]);
    });
  });
}

describe('a turn three times as long as the engine waits for a sign of life', () => {
  let world: World;
  let main: MainLoop;
  let models: Models;
  beforeAll(async () => {
    world = await openWorld({ mode: 'bypassPermissions', env: { CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS: '2000' } });
    main = mainLoop(world.claude, () => world.session);
    models = modelsOf(world);
  });
  afterAll(() => world.close());

  test('a silent model and a silent command are waited for, and the answer arrives', async () => {
    models.set('silent model', () => turn(hold(wait(6_500)), say('after all')));
    models.set('silent command', ({ toolOutputs }) =>
      toolOutputs.length === 0 ? turn(shell('sleep 6.5; echo over', { yieldMs: 30_000 })) : turn(say('ran')),
    );
    const [model = '', command = ''] = await start(world, main, 'silent model', 'silent command');
    await Promise.all([reported(world, model, ['after all']), reported(world, command, ['ran'])]);
    for (const id of [model, command]) {
      expect(jobOf(world.jobs, id).record.turns).toBe(1);
      expect(countOf(world, id)).toBe(1);
    }
  });
});

/** How often Claude Code notified the end of an agent's run. */
function countOf(world: World, id: string): number {
  return world.session.notifications().filter((one) => one.agent === id && one.status === 'completed').length;
}
