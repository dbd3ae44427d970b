/** A stop reaches the harness and everything that it started, whoever stops it and whatever is killed. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JobEvent } from '../../plugin/hooks/protocol/event.js';
import { type Models, modelsOf, start, turnsEnded } from '../../testing/agents.js';
import { CODEX } from '../../testing/codex-kit.js';
import { agent, sendMessage, taskStop } from '../../testing/fake-messages.js';
import { hold, type ModelRequest, type Reply, say, shell, turn } from '../../testing/fake-responses.js';
import { jobOf } from '../../testing/jobs.js';
import { type MainLoop, mainLoop } from '../../testing/main-loop.js';
import { isAlive, type ProcessInfo, signal, untilGone, withCommand } from '../../testing/processes.js';
import { reportsOf } from '../../testing/races.js';
import { never, until } from '../../testing/wait.js';
import { AGENT_TYPE, openWorld, type World } from '../../testing/world.js';

/** Longest from a stop to the end of the last process, in milliseconds: Codex has 5 s to obey, the ladder the rest. */
const BOUND_MS = 15_000;

let marks = 86_400;

/** A command with children in its own session, in sessions of theirs, double-forked and immune to a hang-up. */
function busy(): { readonly command: string; readonly processes: () => readonly ProcessInfo[] } {
  const sleep = `sleep ${++marks}.25`;
  return {
    command: `${sleep} & nohup setsid ${sleep} >/dev/null 2>&1 & (setsid sh -c '${sleep} & ${sleep}; true' >/dev/null 2>&1 &); ${sleep}; true`,
    processes: () => withCommand(sleep),
  };
}

const sleeping = (of: ReturnType<typeof busy>) =>
  until('the command and what it starts', () => {
    const all = of.processes();
    return all.filter(({ command }) => command.startsWith('sleep ')).length >= 5 && all;
  });

/** Runs the command first; answers `went on` once a message has come. */
const runs =
  (command: string) =>
  (request: ModelRequest): Reply =>
    request.userTexts.includes('go on') ? turn(say('went on')) : turn(shell(command, { yieldMs: 30_000 }));

const outcomes = (events: readonly JobEvent[]) =>
  events.flatMap((event) => (event.kind === 'turn_ended' ? [event.outcome.kind] : []));
const survivors = (events: readonly JobEvent[]) =>
  events.flatMap((event) => (event.kind === 'turn_ended' ? event.survivors : []));

const serverOf = (world: World) => world.place.processes().filter(({ command }) => command.includes(' app-server'));
const sidecarOf = (world: World) =>
  world.place.processes().filter(({ command }) => command.includes('verbatim.mjs serve'));

describe('stopping an agent', () => {
  let world: World;
  let main: MainLoop;
  let models: Models;
  beforeAll(async () => {
    world = await openWorld({ mode: 'bypassPermissions' });
    main = mainLoop(world.claude, () => world.session);
    models = modelsOf(world);
  });
  afterAll(() => world.close());

  test('TaskStop ends the turn and everything the command started; the next message goes on in the same thread', async () => {
    const work = busy();
    models.set('stop', runs(work.command));
    const [id = ''] = await start(world, main, 'stop');
    const processes = await sleeping(work);
    const { thread } = jobOf(world.jobs, id).record;
    await main.call(taskStop(id));
    await untilGone(processes, BOUND_MS);
    expect(work.processes()).toEqual([]);
    const { events } = await turnsEnded(world, id);
    expect(outcomes(events)).toEqual(['interrupted']);
    expect(survivors(events)).toEqual([]);
    expect(serverOf(world)).toHaveLength(1);
    await main.call(sendMessage(id, 'go on'));
    const { record } = await turnsEnded(world, id, 2);
    expect(record.thread).toBe(thread);
    await until('the report', () => reportsOf(world, id).at(-1) === 'went on');
  });

  test('an interrupt of the session ends a foreground agent and what its command started', async () => {
    const work = busy();
    models.set('foreground', runs(work.command));
    void main.call(agent(AGENT_TYPE, 'foreground', { background: false })).catch(() => undefined);
    const processes = await sleeping(work);
    await world.session.interrupt();
    await untilGone(processes, BOUND_MS);
    const { events } = await turnsEnded(world, world.session.agents().at(-1) ?? '');
    expect(outcomes(events)).toEqual(['interrupted']);
  });

  test('a stop and a message in one breath: the turn is interrupted and the message answered, in the same thread', async () => {
    models.set('breath', (request) =>
      request.userTexts.includes('go on') ? turn(say('went on')) : turn(hold(never), say('never')),
    );
    const [id = ''] = await start(world, main, 'breath');
    await main.call(taskStop(id), sendMessage(id, 'go on'));
    await until('the report', () => reportsOf(world, id).at(-1) === 'went on', { within: 30_000 });
    const { events, record } = jobOf(world.jobs, id);
    expect(outcomes(events)).toEqual(['interrupted', 'completed']);
    expect(record.messages.map(({ turn: taken }) => taken)).toEqual([1, 2]);
    expect(world.codex.seen('go on').inLast).toBe(1);
  });

  test('an app-server that is killed fails its three jobs as crashed, and each goes on in its thread', async () => {
    const tasks = ['one of three', 'two of three', 'three of three'];
    const work = tasks.map(() => busy());
    for (const [at, task] of tasks.entries()) models.set(task, runs(work[at]?.command ?? ''));
    const ids = await start(world, main, ...tasks);
    const processes = (await Promise.all(work.map(sleeping))).flat();
    const threads = ids.map((id) => jobOf(world.jobs, id).record.thread);
    expect(new Set(threads).size).toBe(3);
    const [server, ...others] = serverOf(world);
    expect(others).toEqual([]);
    if (server === undefined) throw new Error('no app-server');
    signal(server, 'SIGKILL');
    await untilGone([server, ...processes], BOUND_MS);
    for (const id of ids) {
      const { events } = await turnsEnded(world, id);
      expect(events.at(-1)).toMatchObject({ outcome: { kind: 'failed', failure: { kind: 'crashed' } } });
    }
    await until('three failure notes', () =>
      ids.every((id) => /^\[the codex turn failed \(crashed\): /m.test(reportsOf(world, id)[0] ?? '')),
    );
    await main.call(...ids.map((id) => sendMessage(id, 'go on')));
    for (const [at, id] of ids.entries()) {
      await until('the report', () => reportsOf(world, id).at(-1) === 'went on', { within: 30_000 });
      expect(jobOf(world.jobs, id).record.thread).toBe(threads[at]);
      expect(
        world.codex.requests.some(
          ({ userTexts }) => userTexts.includes(tasks[at] ?? '') && userTexts.includes('go on'),
        ),
      ).toBe(true);
    }
    expect(serverOf(world)).toHaveLength(1);
  });

  test('a sidecar that is killed leaves no process, its turn is reported as crashed, and the thread goes on', async () => {
    const work = busy();
    models.set('sidecar', runs(work.command));
    const [id = ''] = await start(world, main, 'sidecar');
    const processes = await sleeping(work);
    const { thread } = jobOf(world.jobs, id).record;
    const [sidecar] = sidecarOf(world);
    if (sidecar === undefined) throw new Error('no sidecar');
    const below = [...serverOf(world), ...processes];
    signal(sidecar, 'SIGKILL');
    await untilGone([sidecar, ...below], BOUND_MS);
    await until('the failure note', () => /\(crashed\)/.test(reportsOf(world, id)[0] ?? ''), {
      within: 30_000,
      detail: () => JSON.stringify(reportsOf(world, id)),
    });
    await main.call(sendMessage(id, 'go on'));
    await until('the report', () => reportsOf(world, id).at(-1) === 'went on', { within: 30_000 });
    expect(jobOf(world.jobs, id).record.thread).toBe(thread);
    expect(sidecarOf(world)).toHaveLength(1);
  });
});

describe('a stop while the job is being made', () => {
  test('an agent that is stopped before its thread is open never asks the model', async () => {
    const world = await openWorld({ mode: 'default', path: [] });
    try {
      const main = mainLoop(world.claude, () => world.session);
      const bin = join(world.place.root, 'bin');
      mkdirSync(bin, { recursive: true });
      const go = join(world.place.root, 'go');
      writeFileSync(join(bin, 'codex'), `#!/bin/sh\nuntil [ -e ${go} ]; do sleep 0.05; done\nexec ${CODEX} "$@"\n`);
      chmodSync(join(bin, 'codex'), 0o755);
      await world.session.end();
      world.reopen({ env: { PATH: `${bin}:${world.place.env.PATH}` } });
      const [result] = await main.call(agent(AGENT_TYPE, 'too early', { background: true }));
      const id = /agentId: (\w+)/.exec(result?.text ?? '')?.[1] ?? '';
      await main.call(taskStop(id));
      writeFileSync(go, '');
      const { events } = await turnsEnded(world, id);
      expect(outcomes(events)).toEqual(['interrupted']);
      await main.call(sendMessage(id, 'now'));
      await until('the report', () => reportsOf(world, id).at(-1) === 'ok', { within: 30_000 });
      // The prompt of the stopped turn was not handed over: the next turn has it, before the message.
      expect(world.codex.requests).toHaveLength(1);
      expect(world.codex.requests[0]?.userTexts.slice(-2)).toEqual(['too early', 'now']);
    } finally {
      await world.close();
    }
  });
});

describe('the end of the session', () => {
  const ENDS = {
    'its input closes': (world: World) => void world.session.end(BOUND_MS),
    SIGTERM: (world: World) => world.session.signal('SIGTERM'),
    SIGINT: (world: World) => world.session.signal('SIGINT'),
    SIGHUP: (world: World) => world.session.signal('SIGHUP'),
    SIGKILL: (world: World) => world.session.signal('SIGKILL'),
  } as const;
  let world: World;
  let main: MainLoop;
  let models: Models;
  beforeAll(async () => {
    world = await openWorld({
      mode: 'bypassPermissions',
      // Claude Code waits this long for background agents once its input has closed.
      env: { CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS: '500' },
    });
    main = mainLoop(world.claude, () => world.session);
    models = modelsOf(world);
  });
  afterAll(() => world.close());

  for (const [name, end] of Object.entries(ENDS)) {
    test(`${name}: neither the sidecar, nor Codex, nor anything that it started is left`, async () => {
      const work = busy();
      models.set(`end by ${name}`, runs(work.command));
      const [id = ''] = await start(world, main, `end by ${name}`);
      const processes = [...(await sleeping(work)), ...world.place.processes(), world.session.id];
      end(world);
      await untilGone(processes, BOUND_MS);
      expect(work.processes()).toEqual([]);
      await until('no process of the place', () => world.place.processes().filter(isAlive).length === 0, {
        within: BOUND_MS,
        detail: () => JSON.stringify(world.place.processes()),
      });
      await turnsEnded(world, id).catch((error: unknown) => {
        // A sidecar that had no time to write it leaves that to the next one.
        if (name !== 'SIGKILL') throw error;
      });
      world.reopen();
    });
  }
});
