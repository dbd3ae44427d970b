/** Whatever ends a turn or a server, nothing that Codex started is left: asserted by pid. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { JOB_VARIABLE, SIDECAR_VARIABLE } from '../../sidecar/src/process/environment.js';
import { carrying, entryOf, isAlive, type ProcessEntry } from '../../sidecar/src/process/table.js';
import { type CodexKit, codexKit, FULL, type RunningTurn, WRITE } from '../../testing/codex-kit.js';
import { comment, idle, say, shell, turn } from '../../testing/fake-responses.js';
import { until } from '../../testing/wait.js';

let kit: CodexKit;
afterEach(() => kit?.close());

/** The process whose pid a command wrote to a file of the work folder. */
function written(file: string): Promise<ProcessEntry> {
  const path = join(kit.home.work, file);
  return until(
    `a pid in ${file}`,
    () => existsSync(path) && /^\d+\n/.test(readFileSync(path, 'utf8')) && entryOf(Number(readFileSync(path, 'utf8'))),
  );
}

/** The app-server: the process of the kit that was started by this test. */
function server(): ProcessEntry {
  const [found] = carrying(SIDECAR_VARIABLE, [kit.sidecar]).filter((entry) => entry.parent === process.pid);
  if (!found) throw new Error('no app-server runs');
  return found;
}

const SLEEP = 'echo $$ > pid; exec sleep 300';
/** Leaves Codex's tree: a session of its own, its parent gone. */
const DAEMON = 'setsid sh -c "echo \\$\\$ > daemon; exec sleep 300" > /dev/null 2>&1 < /dev/null & ';

async function running(
  access = FULL,
  command = SLEEP,
): Promise<{ turn: RunningTurn; thread: Awaited<ReturnType<CodexKit['open']>> }> {
  const thread = await kit.open();
  kit.model.next(turn(shell(command)));
  return { thread, turn: kit.start(thread, 'go', { access }) };
}

test.each([
  ['full access', FULL],
  ['the sandbox', WRITE],
])('an interrupt ends a running command, in %s', async (_, access) => {
  kit = await codexKit();
  // In the sandbox a command sees pids of its own: there the processes are found by their environment.
  const { thread, turn: run } = await running(access, `touch begun; ${SLEEP}`);
  await until('the command to begin', () => existsSync(join(kit.home.work, 'begun')));
  await run.event('action_started');
  await thread.interrupt();
  const end = await run.end;
  expect(end).toMatchObject({ ending: { kind: 'interrupted' }, survivors: [] });
  expect(run.events.at(-1)).toMatchObject({ kind: 'action_completed', action: { tool: 'command' } });
  const left = carrying(SIDECAR_VARIABLE, [kit.sidecar]).filter((entry) => entry.parent !== process.pid);
  expect(left).toEqual([]);
});

test('an interrupt ends also what a command put into a session of its own', async () => {
  kit = await codexKit();
  const { thread, turn: run } = await running(FULL, DAEMON + SLEEP);
  const daemon = await written('daemon');
  const command = await written('pid');
  await thread.interrupt();
  expect((await run.end).survivors).toEqual([]);
  expect([daemon, command].filter(isAlive)).toEqual([]);
});

test('a turn that completes leaves no command behind', async () => {
  kit = await codexKit();
  const thread = await kit.open();
  kit.model.next(turn(shell(`${DAEMON}${SLEEP}`, { yieldMs: 250 })), turn(say('left it running')));
  const run = kit.start(thread, 'go', { access: FULL });
  const daemon = await written('daemon');
  const command = await written('pid');
  const end = await run.end;
  expect(end).toMatchObject({ ending: { kind: 'completed', answer: 'left it running' }, survivors: [] });
  expect([daemon, command].filter(isAlive)).toEqual([]);
});

test('an app-server killed in mid-turn fails the turn as crashed, its orphans are ended, and the thread resumes', async () => {
  kit = await codexKit();
  const { thread, turn: run } = await running(FULL, DAEMON + SLEEP);
  const daemon = await written('daemon');
  const command = await written('pid');
  process.kill(server().pid, 'SIGKILL');
  const end = await run.end;
  expect(end).toMatchObject({
    ending: { kind: 'failed', failure: { kind: 'crashed', message: 'codex app-server was killed (SIGKILL).' } },
    survivors: [],
  });
  expect([daemon, command].filter(isAlive)).toEqual([]);
  const again = await kit.run(thread, 'go on');
  expect(again.end.ending).toEqual({ kind: 'completed', answer: 'ok' });
  expect(kit.model.requests.at(-1)?.userTexts).toEqual(expect.arrayContaining(['go', 'go on']));
});

test('of three jobs on one server each fails as crashed when it dies, keeps its thread, and resumes', async () => {
  kit = await codexKit();
  const threads = await Promise.all([0, 1, 2].map(() => kit.open()));
  kit.model.script((request) => idle(comment(`busy with ${request.lastUserText}`)));
  const turns = threads.map((thread, at) => kit.start(thread, `task ${at}`));
  await Promise.all(turns.map((each) => each.event('message')));
  const first = server();
  process.kill(first.pid, 'SIGKILL');
  for (const { end } of turns) {
    expect((await end).ending).toMatchObject({ kind: 'failed', failure: { kind: 'crashed' } });
  }
  const ids = threads.map((thread) => thread.id);
  kit.model.script((request) => turn(say(`resumed ${request.userTexts.filter((text) => text.startsWith('task'))}`)));
  const resumed = await Promise.all(threads.map((thread) => kit.run(thread, 'go on')));
  for (const [at, { end }] of resumed.entries()) {
    expect(end.ending).toEqual({ kind: 'completed', answer: `resumed task ${at}` });
  }
  expect(threads.map((thread) => thread.id)).toEqual(ids);
  expect(server().pid).not.toBe(first.pid);
});

test('closing a thread ends what its turn runs, and closing the harness ends the server', async () => {
  kit = await codexKit();
  const { thread, turn: run } = await running();
  const command = await written('pid');
  const app = server();
  expect(await thread.close()).toEqual([]);
  expect((await run.end).ending).toEqual({ kind: 'interrupted' });
  expect(isAlive(command)).toBe(false);
  expect(isAlive(app)).toBe(true);
  expect(await kit.harness.close()).toEqual([]);
  expect(isAlive(app)).toBe(false);
});

test('a command that is silent for longer than the model may be does not fail the turn', async () => {
  kit = await codexKit();
  const thread = await kit.open();
  kit.model.next(turn(shell('sleep 2; echo woke', { yieldMs: 10_000 })), turn(say('done')));
  const { end, events } = await kit.run(thread, 'go', { access: FULL, stallMs: 700 });
  expect(end.ending).toEqual({ kind: 'completed', answer: 'done' });
  expect(events.at(-1)).toMatchObject({ kind: 'action_completed', result: { exitCode: 0, output: 'woke\n' } });
});

test('each command of a thread carries its job and the sidecar, and no provider key', async () => {
  const shell_ = '[shell_environment_policy]\nset = { OWN = "kept" }\n';
  kit = await codexKit({ tables: shell_, env: { OPENAI_API_KEY: 'sk-not-for-the-shell', CLAUDECODE: '1' } });
  const thread = await kit.open({ job: 'jabc' });
  kit.model.next(turn(shell('env')), turn(say('done')));
  const { events } = await kit.run(thread, 'go', { access: FULL });
  const done = events.find((event) => event.kind === 'action_completed');
  const env = done?.result.output.split('\n') ?? [];
  expect(env).toEqual(
    expect.arrayContaining([
      `${JOB_VARIABLE}=jabc`,
      `${SIDECAR_VARIABLE}=${kit.sidecar}`,
      'VERBATIM_DEPTH=1',
      'OWN=kept',
    ]),
  );
  expect(env.filter((line) => /KEY|CLAUDECODE/.test(line))).toEqual([]);
});
