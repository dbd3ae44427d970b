/** A worker whose turn leaves work running in the background: the turn that Claude Code resumes in answers. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CodexHome, codexHome } from '../../testing/codex-home.js';
import {
  agent,
  bash,
  calls,
  holds,
  type Step,
  says,
  type ToolCall,
  taskStop,
  workflow,
} from '../../testing/fake-messages.js';
import { type FakeResponses, fakeResponses, hold, say, turn } from '../../testing/fake-responses.js';
import { type SeenStop, sharedWorker, type Worker } from '../../testing/orchestrator.js';
import { gate } from '../../testing/wait.js';
import { AGENT_TYPE, codexFolder } from '../../testing/world.js';

let codex: FakeResponses;
let home: CodexHome;
let worker: Worker;

const shared = sharedWorker(() => ({ place: { path: [codexFolder()], cwd: home.work, env: home.env } }));

beforeAll(async () => {
  codex = await fakeResponses();
  home = codexHome({ url: codex.url });
});

beforeEach(async () => {
  worker = await shared.open();
});

afterEach(async ({ task }) => {
  if (task.result?.state !== 'pass') await shared.close();
});

afterAll(async () => {
  await shared.close();
  await codex.close();
  home.remove();
});

/** A command that goes on until `release(name)`. */
const waitsFor = (name: string): string => `until [ -e ${name} ]; do sleep 0.1; done`;
const release = (name: string): void => writeFileSync(join(home.work, name), '');

const inBackground = (call: ToolCall): ToolCall => ({ ...call, input: { ...call.input, run_in_background: true } });

const load = (...tools: readonly string[]): Step =>
  calls({ name: 'ToolSearch', input: { query: `select:${tools.join(',')}`, max_results: 10 } });

/** A turn; resolves with its Stop. */
async function play(...steps: readonly Step[]): Promise<SeenStop> {
  await worker.turn(steps);
  return worker.stopped();
}

describe('rule.backgroundDefersTheAnswer', () => {
  test('a command in the background', async () => {
    const left = await play(calls(inBackground(bash(waitsFor('shell')))), says('It runs.'), says('The command ended.'));
    expect(left).toMatchObject({ last_assistant_message: 'It runs.', background_tasks: [{ type: 'shell' }] });
    release('shell');
    await worker.reports({ text: 'The command ended.' });
  });

  test('an agent of Claude Code', async () => {
    const open = gate();
    worker.claude.subagent(() => holds(open.promise, 'the agent is done'));
    const start = calls(agent('general-purpose', 'a part', { background: true }));
    const left = await play(start, says('It runs.'), says('The agent ended.'));
    expect(left).toMatchObject({ last_assistant_message: 'It runs.', background_tasks: [{ type: 'subagent' }] });
    open.open();
    await worker.reports({ text: 'The agent ended.' });
  });

  test('a workflow', async () => {
    const open = gate();
    worker.claude.subagent(() => holds(open.promise, 'the part is done'));
    const start = calls(workflow("return await agent('a part')"));
    const left = await play(start, says('It runs.'), says('The workflow ended.'));
    expect(left).toMatchObject({ last_assistant_message: 'It runs.', background_tasks: [{ type: 'workflow' }] });
    open.open();
    await worker.reports({ text: 'The workflow ended.' });
  });

  test('a monitor: the turns that its events begin do not answer, the one of its end does', async () => {
    const command = `${waitsFor('event')}; echo an event; ${waitsFor('end')}`;
    const monitor = { name: 'Monitor', input: { command, description: 'mon', timeout_ms: 60_000, persistent: false } };
    const left = await play(
      load('Monitor'),
      calls(monitor),
      says('It watches.'),
      says('An event came.'),
      says('The monitor ended.'),
    );
    expect(left).toMatchObject({ last_assistant_message: 'It watches.', background_tasks: [{ type: 'monitor' }] });
    release('event');
    const event = await worker.stopped();
    expect(event).toMatchObject({ last_assistant_message: 'An event came.', background_tasks: [{ type: 'monitor' }] });
    release('end');
    await worker.reports({ text: 'The monitor ended.' });
  });

  test('verbatim:codex, with the real Codex behind it', async () => {
    const open = gate();
    codex.script(() => turn(hold(open.promise), say('from Codex')));
    const start = calls(agent(AGENT_TYPE, 'a part', { background: true }));
    const left = await play(start, says('It runs.'), ({ lastText }) => says(`It said: ${/from Codex/.exec(lastText)}`));
    expect(left).toMatchObject({ last_assistant_message: 'It runs.', background_tasks: [{ type: 'subagent' }] });
    open.open();
    await worker.reports({ text: 'It said: from Codex' });
  });

  test('two commands: the turn that follows the first end does not answer', async () => {
    const start = calls(inBackground(bash(waitsFor('first'))), inBackground(bash(waitsFor('second'))));
    const left = await play(start, says('Both run.'), says('One ended.'), says('Both ended.'));
    expect(left.background_tasks).toHaveLength(2);
    release('first');
    expect((await worker.stopped()).background_tasks).toHaveLength(1);
    release('second');
    await worker.reports({ text: 'Both ended.' });
  });

  test('a turn that somebody begins while the work runs does not answer either', async () => {
    const left = await play(calls(inBackground(bash(waitsFor('aside')))), says('It runs.'));
    expect(left.background_tasks).toHaveLength(1);
    expect((await play(says('It still runs.'), says('Now it ended.'))).background_tasks).toHaveLength(1);
    release('aside');
    await worker.reports({ text: 'Now it ended.' });
  });

  test('work that was stopped holds nothing back: the turn that stopped it answers', async () => {
    const left = await play(calls(inBackground(bash(waitsFor('never')))), says('It runs.'));
    const [task] = left.background_tasks;
    await play(calls(taskStop(String(task?.id))), says('I stopped it.'));
    await worker.reports({ text: 'I stopped it.' });
  });

  test('a wakeup that is pending defers, and one that was called off does not', async () => {
    const wakeup = { delaySeconds: 3_600, reason: 'a test', prompt: 'go on' };
    const left = await play(calls({ name: 'ScheduleWakeup', input: wakeup }), says('I look again later.'));
    expect(left).toMatchObject({ background_tasks: [], session_crons: [{ recurring: false }] });
    const off = await play(calls({ name: 'ScheduleWakeup', input: { stop: true } }), says('I need not look again.'));
    expect(off.session_crons).toEqual([]);
    await worker.reports({ text: 'I need not look again.' });
  });

  test('a recurring schedule and a reminder of another day do not defer', async () => {
    const later = new Date(Date.now() + 12 * 3_600_000);
    const recurring = { cron: `${later.getMinutes()} ${later.getHours()} * * *`, prompt: 'p', recurring: true };
    const day = new Date(Date.now() + 100 * 24 * 3_600_000);
    const reminder = { cron: `30 14 ${day.getDate()} ${day.getMonth() + 1} *`, prompt: 'p', recurring: false };
    const crons = [recurring, reminder].map((input) => ({ name: 'CronCreate', input }));
    const stop = await play(load('CronCreate'), calls(...crons), says('Both are set.'));
    expect(stop.session_crons).toMatchObject([{ recurring: true }, { recurring: false }]);
    await worker.reports({ text: 'Both are set.' });
  });
});
