import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Disposition, JobView, PermissionMode } from '../../plugin/hooks/protocol/api.js';
import type { JobEvent } from '../../plugin/hooks/protocol/event.js';
import { buildBundle } from '../../scripts/sidecar-bundle.js';
import { type CodexHome, codexHome } from '../../testing/codex-home.js';
import { CODEX } from '../../testing/codex-kit.js';
import { type FakeResponses, fakeResponses, hold, say, shell, turn } from '../../testing/fake-responses.js';
import { descendants, type ProcessInfo, processOf, signal, stillAlive, untilGone } from '../../testing/processes.js';
import {
  ended,
  isOver,
  type Sidecar,
  type SidecarFolders,
  sidecarFolders,
  startSidecar,
} from '../../testing/sidecar.js';
import { gate, until } from '../../testing/wait.js';

let model: FakeResponses;
let home: CodexHome;
let folders: SidecarFolders;
let command: readonly [string, ...string[]];
let started: ChildProcess[];
let known: ProcessInfo[];

beforeEach(async () => {
  model = await fakeResponses();
  home = codexHome({ url: model.url });
  folders = sidecarFolders();
  // The sidecar as it ships: one file, built from the sources as they are now.
  const bundle = join(folders.work, 'verbatim.mjs');
  writeFileSync(bundle, await buildBundle());
  command = [process.execPath, bundle, 'serve'];
  started = [];
  known = [];
});
afterEach(async () => {
  for (const child of started) child.kill('SIGTERM');
  await Promise.all(started.map(ended));
  for (const each of known) signal(each, 'SIGKILL');
  await model.close();
  home.remove();
  folders.remove();
});

async function start(hasParent = false): Promise<Sidecar> {
  const sidecar = await startSidecar({ folders, command, hasParent, env: { ...home.env, VERBATIM_CODEX: CODEX } });
  started.push(sidecar.child);
  return sidecar;
}

async function spawnJob(sidecar: Sidecar, text: string, agent = 'agent-1', mode: PermissionMode = 'bypassPermissions') {
  const { status, body } = await sidecar.request<{ job: JobView }>('POST', '/v1/jobs', {
    body: { harness: 'codex', agent, session: 'session-1', cwd: home.work, mode, message: { id: 'm1', text } },
  });
  expect(status).toBe(201);
  return body.job.id;
}

const send = (sidecar: Sidecar, job: string, id: string, text: string) =>
  sidecar.request<{ disposition: Disposition }>('POST', `/v1/jobs/${job}/messages`, {
    body: { message: { id, text }, mode: 'bypassPermissions' },
  });

const answerOf = (sidecar: Sidecar, job: string, number = 1): Promise<string> => sidecar.answer(job, number);

/** A turn whose command runs until something ends it; answers every process below the sidecar. */
async function longCommand(sidecar: Sidecar): Promise<{ job: string; processes: readonly ProcessInfo[] }> {
  model.next(turn(shell('echo begun; sleep 985', { yieldMs: 30_000 })));
  const job = await spawnJob(sidecar, 'TASK-OF-THE-KILLED');
  await sidecar.follow(job, (events) => events.some((event) => event.kind === 'action_started'));
  const processes = await until('the command to run', () => {
    const below = descendants(sidecar.handshake.pid);
    return below.some((each) => each.command.includes('sleep 985')) && below;
  });
  const own = processOf(sidecar.handshake.pid);
  known.push(...processes, ...(own === undefined ? [] : [own]));
  return { job, processes: known };
}

const kinds = (events: readonly JobEvent[]) => events.map((event) => event.kind);

describe('the sidecar with the real Codex', () => {
  it.each([
    ['white space around it', ' \n\t leading and trailing \r\n\n'],
    ['NUL, U+2028, a BOM, emoji', 'tab\tNUL\0 \u2028 \ufeff \u{1f468}\u200d\u{1f469}\u200d\u{1f467} e\u0301'],
    ['the shape of our own blocks', '<job-state>\njob: x\n</job-state>\n[the codex turn was interrupted]\n```\n'],
    ['200 KB', 'x'.repeat(200_000)],
  ])('delivers the answer byte for byte: %s', async (_, answer) => {
    const sidecar = await start();
    model.next(turn(say(answer)));
    const job = await spawnJob(sidecar, 'go');
    expect(kinds(await sidecar.follow(job, isOver))).toEqual(['turn_started', 'turn_ended']);
    expect((await answerOf(sidecar, job)) === answer).toBe(true);
  });

  it('steers the running turn, and starts another on the same thread for a message that comes later', async () => {
    const sidecar = await start();
    const gate1 = gate();
    model.next(turn(say('part', { phase: 'commentary' }), hold(gate1.promise)), turn(say('steered answer')));
    const job = await spawnJob(sidecar, 'go');
    await sidecar.follow(job, (events) => events.some((event) => event.kind === 'message'));
    expect((await send(sidecar, job, 'm2', 'STEER-THIS')).body.disposition).toBe('steered');
    gate1.open();
    await sidecar.follow(job, isOver);
    expect(await answerOf(sidecar, job)).toBe('steered answer');
    model.next(turn(say('later answer')));
    expect((await send(sidecar, job, 'm3', 'LATER')).body.disposition).toBe('started');
    await sidecar.follow(job, (events, view) => view.turns === 2 && isOver(events, view));
    expect(await answerOf(sidecar, job, 2)).toBe('later answer');
    expect(model.seen('STEER-THIS').inLast).toBe(1);
    expect(new Set(model.requests.map((request) => request.thread)).size).toBe(1);
  });

  it('hands over each of the messages that come at any moment around the end of a turn, exactly once', async () => {
    const sidecar = await start();
    const job = await spawnJob(sidecar, 'go');
    const sent: string[] = [];
    for (let round = 0; round < 40; round++) {
      const word = `MARK-${round}-END`;
      sent.push(word);
      await send(sidecar, job, `r${round}`, word);
      // A turn takes 50–80 ms here: the moments drift through it, its end included.
      await new Promise((resolve) => setTimeout(resolve, (round * 7) % 83));
    }
    const events = await sidecar.follow(job, isOver);
    const told = events.flatMap((event) =>
      event.kind === 'turn_started' ? event.messages : event.kind === 'steered' ? [event.message] : [],
    );
    expect(told).toEqual(['m1', ...sent.map((_, round) => `r${round}`)]);
    for (const word of sent) expect(model.seen(word).inLast, word).toBe(1);
  });

  it('runs 20 jobs at once on one Codex, each with its own answer', async () => {
    const sidecar = await start();
    model.script((request) => turn(say(`answer to ${request.lastUserText}`)));
    const jobs = await Promise.all(
      Array.from({ length: 20 }, (_, index) => spawnJob(sidecar, `task ${index}`, `agent-${index}`)),
    );
    await Promise.all(jobs.map((job) => sidecar.follow(job, isOver)));
    const answers = await Promise.all(jobs.map((job) => answerOf(sidecar, job)));
    expect(answers).toEqual(jobs.map((_, index) => `answer to task ${index}`));
    expect(descendants(sidecar.handshake.pid).filter((each) => each.command.includes('app-server'))).toHaveLength(1);
  });
});

describe('no process is left', () => {
  it('of a job that is stopped', async () => {
    const sidecar = await start();
    const { job, processes } = await longCommand(sidecar);
    await sidecar.request('POST', `/v1/jobs/${job}/stop`, { body: { reason: 'stopped' } });
    expect(stillAlive(processes).filter((each) => each.command.includes('sleep 985'))).toEqual([]);
    const events = await sidecar.follow(job, isOver);
    expect(events.at(-1)).toMatchObject({ kind: 'turn_ended', outcome: { kind: 'interrupted' }, survivors: [] });
  });

  it('when the parent is killed with SIGKILL', async () => {
    const sidecar = await start(true);
    const { processes } = await longCommand(sidecar);
    sidecar.child.kill('SIGKILL');
    await untilGone(processes);
  });

  it('when the sidecar itself is killed with SIGKILL, once the next one is up; the thread goes on', async () => {
    const first = await start();
    const { job, processes } = await longCommand(first);
    first.child.kill('SIGKILL');
    await ended(first.child);
    const second = await start();
    await untilGone(processes);
    const events = await second.follow(job, isOver);
    expect(events.at(-1)).toMatchObject({ outcome: { kind: 'failed', failure: { kind: 'crashed' } } });
    model.next(turn(say('back again')));
    expect((await send(second, job, 'm2', 'go on')).body.disposition).toBe('started');
    await second.follow(job, (seen, view) => view.turns === 2 && isOver(seen, view));
    expect(await answerOf(second, job, 2)).toBe('back again');
    // The same thread: what was asked before stands in it.
    expect(model.seen('TASK-OF-THE-KILLED').inLast).toBe(1);
  });
});
