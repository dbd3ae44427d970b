/** A job outlives its agent's run, its session and a reload of the plugin: the same thread goes on. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Models, modelsOf, reported, start, turnsEnded } from '../../testing/agents.js';
import { claudePlace, copyPlugin, type Place } from '../../testing/claude-place.js';
import { type CodexHome, codexHome } from '../../testing/codex-home.js';
import { agent, type FakeMessages, fakeMessages, sendMessage, taskStop } from '../../testing/fake-messages.js';
import { type FakeResponses, fakeResponses, hold, say, shell, turn } from '../../testing/fake-responses.js';
import { jobOf, jobsIn } from '../../testing/jobs.js';
import { type MainLoop, mainLoop } from '../../testing/main-loop.js';
import { isAlive } from '../../testing/processes.js';
import { openTui, type Tui } from '../../testing/tui.js';
import { gate, never, until } from '../../testing/wait.js';
import { AGENT_TYPE, codexFolder, openWorld, type World } from '../../testing/world.js';

for (const mode of ['default', 'auto'] as const) {
  describe(`rule.lateMessageGetsATurn across sessions in ${mode} mode`, () => {
    let world: World;
    let main: MainLoop;
    let models: Models;
    beforeAll(async () => {
      world = await openWorld({ mode });
      main = mainLoop(world.claude, () => world.session);
      models = modelsOf(world);
    });
    afterAll(() => world.close());

    test('a message after --resume and after --continue goes on in the same thread, of a finished and a stopped agent', async () => {
      const texts = (all: readonly string[]) => all.filter((text) => /^(done|cut|two|three)$/.test(text)).join(' ');
      models.set('done', (request) => turn(say(texts(request.userTexts))));
      models.set('cut', (request) =>
        request.userTexts.includes('two') ? turn(say(texts(request.userTexts))) : turn(hold(never), say('never')),
      );
      const ids = await start(world, main, 'done', 'cut');
      const [done = '', cut = ''] = ids;
      await reported(world, done, ['done']);
      await main.call(taskStop(cut));
      await turnsEnded(world, cut);
      const threads = ids.map((id) => jobOf(world.jobs, id).record.thread);
      const session = world.session.session();

      for (const [args, message, turns] of [
        [['--resume', session], 'two', 2],
        [['--continue'], 'three', 3],
      ] as const) {
        await world.session.end();
        world.reopen({ args });
        await main.call(...ids.map((id) => sendMessage(id, message)));
        for (const id of ids) {
          const { events } = await turnsEnded(world, id, turns);
          expect(events.at(-1)).toMatchObject({ outcome: { kind: 'completed' } });
        }
        for (const [at, task] of ['done', 'cut'].entries()) {
          const said = turns === 2 ? `${task} two` : `${task} two three`;
          await until('the report', () =>
            JSON.stringify(world.transcript(ids[at] ?? '').rows.slice(-8)).includes(said),
          );
        }
        await until('both ends to be notified', () => world.session.notifications().length >= 2);
      }
      expect(ids.map((id) => jobOf(world.jobs, id).record.thread)).toEqual(threads);
      expect(world.claude.bill().ofAgents).toBe(0);
    });
  });
}

describe('a reload of the plugin while its agents work', () => {
  let claude: FakeMessages;
  let codex: FakeResponses;
  let home: CodexHome;
  let place: Place;
  let tui: Tui;
  beforeAll(async () => {
    [claude, codex] = await Promise.all([fakeMessages(), fakeResponses()]);
    home = codexHome({ url: codex.url });
    const { HOME: _, ...env } = home.env;
    place = claudePlace({ url: claude.url, path: [codexFolder()], cwd: home.work, env });
    tui = await openTui(place);
  });
  afterAll(async () => {
    await tui.close();
    await Promise.all([claude.close(), codex.close()]);
    await place.dispose();
    home.remove();
  });

  test('nothing runs twice, a message reaches the turn, the answers arrive, and the one sidecar goes on', async () => {
    const thinking = gate();
    const done = join(place.root, 'done');
    codex.script((request) => {
      if (request.userTexts.includes('and of this')) return turn(say('thought of both'));
      if (request.userTexts.includes('think')) return turn(hold(thinking.promise), say('thought of it'));
      if (request.toolOutputs.length > 0) return turn(say('ran it'));
      return turn(shell(`until [ -e ${done} ]; do sleep 0.05; done; echo over`, { yieldMs: 30_000 }));
    });
    const jobs = join(place.home, '.local', 'state', 'verbatim', 'jobs');
    const calls = ['think', 'run'].map((task) => agent(AGENT_TYPE, task, { background: true }));
    claude.main([{ kind: 'message', parts: calls.map((call) => ({ kind: 'tool', call })) }]);
    await tui.say('go');
    await until('both models to be asked and the command to run', () => {
      const all = jobsIn(jobs);
      return all.length === 2 && all.some(({ events }) => events.some(({ kind }) => kind === 'action_started'));
    });
    const sidecars = () => place.processes().filter(({ command }) => command.includes('verbatim.mjs serve'));
    const [sidecar, ...others] = sidecars();
    if (sidecar === undefined) throw new Error('no sidecar');
    expect(others).toEqual([]);
    // Claude Code ends, after a reload, what stands below it of the module before.
    expect(tui.tree().filter(({ command }) => /verbatim|codex/.test(command))).toEqual([]);

    const register = join(copyPlugin(place), 'hooks', 'register.ts');
    writeFileSync(register, `${readFileSync(register, 'utf8')}\n// changed\n`);
    await tui.sees('verbatim: reloaded', 30_000);

    const thinker = jobsIn(jobs).find(({ folder }) => readFileSync(join(folder, 'prompts', '1'), 'utf8') === 'think');
    claude.main([
      { kind: 'message', parts: [{ kind: 'tool', call: sendMessage(thinker?.record.agent ?? '', 'and of this') }] },
    ]);
    await tui.say('tell it');
    await claude.request('the result of SendMessage', (request) => request.results.at(-1)?.tool === 'SendMessage');

    thinking.open();
    writeFileSync(done, '');
    for (const answer of ['thought of both', 'ran it']) {
      await claude.request(`the report ${answer}`, (request) => request.text.includes(answer), 40_000);
    }
    for (const { record, events } of jobsIn(jobs)) {
      expect(events.at(-1)).toMatchObject({ outcome: { kind: 'completed' } });
      expect(record.messages.map(({ turn: taken }) => taken)).not.toContain(null);
      expect(events.filter(({ kind }) => kind === 'action_started').length).toBeLessThanOrEqual(1);
    }
    expect(codex.seen('and of this').inLast).toBe(1);
    expect(codex.requests.filter(({ userTexts }) => userTexts.includes('run'))).toHaveLength(2);
    expect(isAlive(sidecar)).toBe(true);
    expect(sidecars().map(({ pid }) => pid)).toEqual([sidecar.pid]);
    expect(claude.bill().ofAgents).toBe(0);
  });
});

describe('a plugin and a sidecar of two versions', () => {
  test('a sidecar that speaks another protocol is refused, with what to do', async () => {
    const world = await openWorld({ mode: 'default' });
    try {
      await world.session.end();
      const plugin = copyPlugin(world.place);
      const bundle = join(plugin, 'sidecar', 'verbatim.mjs');
      const text = readFileSync(bundle, 'utf8');
      expect(text).toContain('PROTOCOL = 1;');
      writeFileSync(bundle, text.replace('PROTOCOL = 1;', 'PROTOCOL = 99;'));
      world.reopen({ plugins: [plugin] });
      const { last } = await world.runAgent('task');
      expect(last).toContain('it speaks protocol 99, the plugin 1; run /reload-plugins after an update');
      expect(last).toMatch(/^\[the codex turn failed \(\w+\): /);
      expect(world.claude.bill().ofAgents).toBe(0);
    } finally {
      await world.close();
    }
  });
});
