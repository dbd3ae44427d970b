/** The interactive Claude Code, in its default mode (auto), with a person at the keyboard. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { claudePlace, type Place } from '../../testing/claude-place.js';
import { type CodexHome, codexHome } from '../../testing/codex-home.js';
import { agent, calls, type FakeMessages, fakeMessages, says } from '../../testing/fake-messages.js';
import { type FakeResponses, fakeResponses, hold, say, shell, turn } from '../../testing/fake-responses.js';
import { jobsIn } from '../../testing/jobs.js';
import { untilGone } from '../../testing/processes.js';
import { agentsWithTranscript, agentTranscript, type Transcript } from '../../testing/transcript.js';
import { openTui, type Tui } from '../../testing/tui.js';
import { gate, never, until } from '../../testing/wait.js';
import { AGENT_TYPE, codexFolder, lastWords } from '../../testing/world.js';

let claude: FakeMessages;
let codex: FakeResponses;
let home: CodexHome;
let place: Place;
let tui: Tui;

beforeEach(async () => {
  [claude, codex] = await Promise.all([fakeMessages(), fakeResponses()]);
  home = codexHome({ url: codex.url });
  place = claudePlace({ url: claude.url, path: [codexFolder()], cwd: home.work, env: home.env });
  tui = await openTui(place);
});

afterEach(async () => {
  await tui.close();
  await place.dispose();
  await Promise.all([claude.close(), codex.close()]);
  home.remove();
});

/** The only agent's transcript, once it has one. */
const transcript = (): Promise<Transcript> =>
  until("the agent's transcript", () => {
    const [id] = agentsWithTranscript(place.home);
    return id === undefined ? undefined : agentTranscript(place.home, id);
  });

/** Has Claude's model start one agent in the background, and waits until Codex's model is asked. */
async function startAgent(prompt: string): Promise<void> {
  claude.main([
    calls(agent(AGENT_TYPE, prompt, { description: 'the task' })),
    says('It has started.'),
    says('It has ended.'),
  ]);
  await tui.say('please go');
  await codex.request((request) => request.lastUserText.includes(prompt));
}

/** Opens the agent's own view from the list below the prompt. */
async function viewAgent(): Promise<void> {
  await tui.sees('↓ to manage');
  tui.press('Down');
  await tui.sees('↑/↓ to select');
  tui.press('Down');
  await tui.sees(/❯ \S verbatim:codex/);
  tui.press('Enter');
  await tui.sees('Message @verbatim:codex');
}

describe('rule.handbackWhereAsked at the keyboard', () => {
  test('an agent in the background hands its exact answer back', async () => {
    const answer = '  exact\t<answer> \r\n';
    codex.script(() => turn(say(answer)));
    await startAgent('the task');
    await tui.sees('It has ended.');
    expect(lastWords(await transcript())).toBe(answer);
    expect(claude.bill().ofAgents).toBe(0);
  });
});

describe('rule.lateMessageGetsATurn at the keyboard', () => {
  test("what a person types in the agent's view reaches Codex as it was typed", async () => {
    const open = gate();
    codex.next(turn(hold(open.promise), say('first')));
    codex.script((request) => turn(say(`I was told: ${request.lastUserText}`)));
    await startAgent('the task');
    await viewAgent();
    await tui.say('look at <b>the tests</b> too');
    open.open();
    await until('the end', async () => lastWords(await transcript()).startsWith('I was told'));
    expect(lastWords(await transcript())).toBe('I was told: look at <b>the tests</b> too');
    expect(codex.seen('look at <b>the tests</b> too').inLast).toBe(1);
  });

  test('a message to an agent that has finished goes on with its thread', async () => {
    const open = gate();
    codex.next(turn(hold(open.promise), say('the first answer')));
    codex.script((request) => turn(say(`then: ${request.lastUserText}`)));
    await startAgent('the task');
    await viewAgent();
    open.open();
    await until('the first answer', async () => lastWords(await transcript()) === 'the first answer');
    await tui.unsees('esc to stop');
    await tui.say('and now?');
    await until('the second answer', async () => lastWords(await transcript()) === 'then: and now?');
    expect(codex.requests.at(-1)?.userTexts.some((text) => text.includes('the task'))).toBe(true);
  });
});

describe('stopping at the keyboard', () => {
  test("Esc in the agent's view ends the turn and everything that its command started", async () => {
    const sleep = 'sleep 97531.25';
    const background = `(setsid sh -c '${sleep} & ${sleep}' >/dev/null 2>&1 &)`;
    codex.script(() => turn(shell(`${background}; ${sleep}; true`, { yieldMs: 30_000 })));
    await startAgent('the task');
    await viewAgent();
    const processes = await until('the command', () => {
      const all = place.processes().filter(({ command }) => command.includes(sleep));
      return all.filter(({ command }) => command === sleep).length >= 3 && all;
    });
    // The first Esc leaves the list.
    tui.press('Escape');
    await tui.sees('esc to stop');
    tui.press('Escape');
    await untilGone(processes);
    await tui.sees('Interrupted');
    const [job] = jobsIn(join(place.home, '.local', 'state', 'verbatim', 'jobs'));
    expect(job?.events.at(-1)).toMatchObject({ outcome: { kind: 'interrupted' }, survivors: [] });
  });

  test("closing the terminal in the middle of a turn leaves none of the agent's processes", async () => {
    codex.script(() => turn(hold(never)));
    await startAgent('the task');
    const processes = place.processes();
    expect(processes.some(({ command }) => command.includes('codex'))).toBe(true);
    await tui.close();
    await untilGone(processes);
  });
});
