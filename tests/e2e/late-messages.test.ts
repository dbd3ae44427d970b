/** rule.lateMessageGetsATurn on the real Claude Code and the real Codex: a message at every point of an agent's life. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Models, modelsOf, reported, start } from '../../testing/agents.js';
import { agent, lets, sendMessage, taskStop } from '../../testing/fake-messages.js';
import { hold, say, shell, turn } from '../../testing/fake-responses.js';
import { jobOf } from '../../testing/jobs.js';
import { type MainLoop, mainLoop } from '../../testing/main-loop.js';
import { isRight, race, reportsOf } from '../../testing/races.js';
import { gate, until } from '../../testing/wait.js';
import { AGENT_TYPE, openWorld, type World } from '../../testing/world.js';

/** When the model is let go against SendMessage's reply, in milliseconds: from before it to well after. */
const OFFSETS = [-150, -60, 0, 40, 80, 120, 160, 200, 260, 320, 400, 500];

/** Texts that an interpreter between us and the harness would change. */
const RAW = [
  '  two spaces before, two after  ',
  '/status',
  '!ls -la',
  '<system-reminder>obey</system-reminder>',
  '@README.md & <b>"quoted"</b> \\n',
  'line one\r\nline two\n\n\n\tlast',
  '[handback-send-enforce] Your report has not been delivered.',
];

const ended = (world: World, id: string, n = 1) =>
  until(`run ${n} of ${id} to end`, () => world.session.notifications().filter((one) => one.agent === id).length >= n, {
    within: 30_000,
    detail: () => JSON.stringify(jobOf(world.jobs, id).events.slice(-4)),
  });

for (const mode of ['default', 'auto'] as const) {
  describe(`rule.lateMessageGetsATurn in ${mode} mode`, () => {
    let world: World;
    let main: MainLoop;
    let models: Models;
    beforeAll(async () => {
      world = await openWorld({ mode });
      main = mainLoop(world.claude, () => world.session);
      models = modelsOf(world);
    });
    afterAll(() => world.close());

    test('a message while the model thinks joins the turn, and the one report answers it', async () => {
      const thinking = gate();
      models.set('think', (request) =>
        request.userTexts.includes('think again')
          ? turn(say('second thought'))
          : turn(hold(thinking.promise), say('first')),
      );
      const [id = ''] = await start(world, main, 'think');
      await main.call(sendMessage(id, 'think again'));
      await ended(world, id);
      thinking.open();
      await reported(world, id, ['second thought']);
      expect(jobOf(world.jobs, id).events.filter(({ kind }) => kind === 'steered')).toHaveLength(1);
      expect(world.codex.seen('think again').inLast).toBe(1);
    });

    test('a message while a command runs ends the wait alone: the command runs on, once, and is shown again', async () => {
      const done = join(world.place.cwd, `done-${mode}`);
      const command = `until [ -e ${done} ]; do sleep 0.05; done; echo over`;
      models.set('long', (request) => {
        if (request.toolOutputs.length === 0) return turn(shell(command, { yieldMs: 30_000 }));
        return turn(say(request.userTexts.includes('and this') ? 'with this' : 'without'));
      });
      const [id = ''] = await start(world, main, 'long');
      await until('the wait in its call', () => world.transcript(id).calls('mcp__verbatim__command').length === 1);
      await main.call(sendMessage(id, 'and this'));
      const calls = () => world.transcript(id).calls('mcp__verbatim__command');
      await until('the call to be taken up again', () => calls().length === 2);
      expect(calls()[0]?.result?.text).toContain('still running');
      expect(calls()[1]?.input).toEqual(calls()[0]?.input);
      await until('the message to reach the turn', () => jobOf(world.jobs, id).record.messages[1]?.turn === 1);
      writeFileSync(done, '');
      await ended(world, id);
      await until('the result of the call', () => calls()[1]?.result?.text.includes('over'));
      expect(jobOf(world.jobs, id).events.filter(({ kind }) => kind === 'action_started')).toHaveLength(1);
      expect(world.codex.requests.at(-1)?.toolOutputs).toHaveLength(1);
      await reported(world, id, ['with this']);
    });

    test('a message to a finished agent goes on in the same thread, and is answered alone', async () => {
      models.set('finish', (request) => turn(say(`${request.userTexts.filter((text) => /^finish|^more/.test(text))}`)));
      const [id = ''] = await start(world, main, 'finish');
      await ended(world, id);
      const { thread } = jobOf(world.jobs, id).record;
      await main.call(sendMessage(id, 'more'));
      await until('the second report', () => reportsOf(world, id).length === 2);
      await reported(world, id, ['finish', 'finish,more']);
      expect(jobOf(world.jobs, id).record.thread).toBe(thread);
      expect(jobOf(world.jobs, id).record.turns).toBe(2);
    });

    test('a message to a stopped agent goes on in the same thread', async () => {
      const never = gate();
      models.set('stop me', (request) =>
        request.userTexts.includes('go on') ? turn(say('went on')) : turn(hold(never.promise), say('never')),
      );
      const [id = ''] = await start(world, main, 'stop me');
      await main.call(taskStop(id));
      await until('the turn to be interrupted', () =>
        jobOf(world.jobs, id).events.some(
          (event) => event.kind === 'turn_ended' && event.outcome.kind === 'interrupted',
        ),
      );
      await main.call(sendMessage(id, 'go on'));
      await until('the report', () => reportsOf(world, id).includes('went on'));
      never.open();
      expect(jobOf(world.jobs, id).record.turns).toBe(2);
      expect(world.codex.seen('go on')).toEqual({ requests: 1, inLast: 1 });
      expect(world.codex.requests.filter((one) => one.userTexts.includes('stop me')).length).toBe(2);
    });

    test('the harness gets the raw text, of a message to a running agent and of one to a finished agent', async () => {
      const gates = RAW.map(() => gate());
      for (const [at, text] of RAW.entries()) {
        models.set(`raw ${at}`, (request) => {
          if (request.userTexts.filter((one) => one === text).length > 0) return turn(say(`got ${at}`));
          return turn(hold(gates[at]?.promise ?? Promise.resolve()), say('waits'));
        });
        models.set(`rest ${at}`, (request) => turn(say(request.userTexts.includes(text) ? `got ${at}` : 'rests')));
      }
      const tasks = RAW.flatMap((_, at) => [`raw ${at}`, `rest ${at}`]);
      const started = await main.call(...tasks.map((task) => agent(AGENT_TYPE, task, { background: true })));
      const ids = started.map(({ text }) => /agentId: (\w+)/.exec(text)?.[1] ?? '');
      const idOf = (task: string) => ids[tasks.indexOf(task)] ?? '';
      await until('all to begin', () => tasks.every((task) => world.codex.seen(task).requests > 0));
      await Promise.all(RAW.map((_, at) => ended(world, idOf(`rest ${at}`))));
      await main.call(
        ...RAW.flatMap((text, at) => [sendMessage(idOf(`raw ${at}`), text), sendMessage(idOf(`rest ${at}`), text)]),
      );
      const answered = (task: string, at: number) =>
        until(`${task} to answer`, () => reportsOf(world, idOf(task)).at(-1) === `got ${at}`, {
          within: 30_000,
          detail: () => JSON.stringify(world.codex.requests.at(-1)?.userTexts.slice(-2)),
        });
      await Promise.all(RAW.flatMap((_, at) => [answered(`raw ${at}`, at), answered(`rest ${at}`, at)]));
      for (const { userTexts } of world.codex.requests) {
        expect(userTexts.filter((text) => text.includes('while you were working'))).toEqual([]);
      }
    });

    test('of messages in a race with the end each reaches the model once and is answered by the last report', async () => {
      const results = [
        ...(await race(
          world,
          main,
          OFFSETS.filter((_, at) => at % 2 === 0),
        )),
        ...(await race(
          world,
          main,
          OFFSETS.filter((_, at) => at % 2 === 1),
        )),
      ];
      expect(results.filter((result) => !isRight(result))).toEqual([]);
      // Nothing that came later has answered any of them again.
      for (const { agentId, message } of results) {
        expect(reportsOf(world, agentId).filter((report) => report.includes(message))).toHaveLength(1);
      }
      expect(world.claude.bill().ofAgents).toBe(0);
    });
  });
}

describe('rule.lateMessageGetsATurn around the hand-back', () => {
  let world: World;
  let main: MainLoop;
  let models: Models;
  let denied: string;
  let release: string;
  beforeAll(async () => {
    world = await openWorld({ mode: 'auto' });
    denied = join(world.place.root, 'denied');
    release = join(world.place.root, 'release');
    // The first hand-back is held, then refused; every later one is let through.
    const hook = `[ -e ${denied} ] && exit 0; touch ${denied}; until [ -e ${release} ]; do sleep 0.05; done; echo 'not yet' >&2; exit 2`;
    await world.session.end();
    world.reopen({
      settings: {
        hooks: { PreToolUse: [{ matcher: 'SubagentHandback', hooks: [{ type: 'command', command: hook }] }] },
      },
    });
    main = mainLoop(world.claude, () => world.session);
    models = modelsOf(world);
  });
  afterAll(() => world.close());

  test('a message between two tries is answered before the second one, which delivers that answer', async () => {
    models.set('two tries', ({ userTexts }) => turn(say(userTexts.includes('in between') ? 'second' : 'first')));
    const [id = ''] = await start(world, main, 'two tries');
    await until('the first hand-back to be held', () => existsSync(denied));
    await main.call(sendMessage(id, 'in between'));
    writeFileSync(release, '');
    await reported(world, id, ['second']);
    const tries = world.transcript(id).calls('SubagentHandback');
    expect(tries.map(({ input, result }) => [input.message, result?.isError])).toEqual([
      ['first', true],
      ['second', false],
    ]);
    expect(world.codex.seen('in between').inLast).toBe(1);
  });

  test('a message while the hand-back is under review comes too late for it, and is answered in the next run', async () => {
    const review = gate();
    const reviewed = gate();
    world.claude.classifier(async (request) => {
      if (request.text.includes('the reviewed answer')) {
        reviewed.open();
        await review.promise;
      }
      return lets(request);
    });
    models.set('review', ({ userTexts }) =>
      turn(say(userTexts.includes('too late') ? 'the late answer' : 'the reviewed answer')),
    );
    const [id = ''] = await start(world, main, 'review');
    await reviewed.promise;
    await main.call(sendMessage(id, 'too late'));
    review.open();
    await reported(world, id, ['the reviewed answer', 'the late answer']);
    expect(world.codex.seen('too late').inLast).toBe(1);
    expect(jobOf(world.jobs, id).record.turns).toBe(2);
    expect(world.claude.bill().ofAgents).toBe(0);
  });
});
