/** Which sessions report: what their environment says, in the terminal and headless. */
import { afterEach, describe, expect, test } from 'vitest';
import { openClaude } from '../../testing/claude.js';
import { claudePlace } from '../../testing/claude-place.js';
import { fakeMessages, says } from '../../testing/fake-messages.js';
import { fakeOrchestrator, openWorker, type Worker } from '../../testing/orchestrator.js';

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A session in a terminal with these variables, after its first of two turns has ended and its second has, too. */
async function afterTwoTurns(variables: Readonly<Record<string, string>>): Promise<Worker> {
  const worker = await openWorker({ worker: variables });
  closing.push(() => worker.close());
  for (const answer of ['the first answer', 'the second answer']) {
    await worker.turn([says(answer)]);
    await worker.stopped();
    await worker.tui.sees(answer);
  }
  return worker;
}

describe('rule.onlyAWorkerAnswers', () => {
  test.each([
    ['one level down', { LICH_SUBAGENT_DEPTH: '1' }],
    ['two levels down, subagent cards on', { LICH_SUBAGENT_DEPTH: '2', LICH_SUBAGENT_CARDS: 'on' }],
    ['of an orchestrator older than the depth', { LICH_SUBAGENT_CARDS: 'off' }],
  ])('a worker reports each turn once: %s', async (_, variables) => {
    const { orchestrator, tui } = await afterTwoTurns(variables);
    await orchestrator.arrived(2);
    await tui.close();
    const session_id = orchestrator.session;
    expect(orchestrator.reports()).toEqual([
      { session_id, text: 'the first answer' },
      { session_id, text: 'the second answer' },
    ]);
  });

  test.each([
    ['its depth is 0, whatever else is said', { LICH_SUBAGENT_DEPTH: '0', LICH_SUBAGENT_CARDS: 'off' }],
    ['its depth is no number, whatever else is said', { LICH_SUBAGENT_DEPTH: 'one', LICH_SUBAGENT_CARDS: 'off' }],
    ['no depth is stated and subagent cards are on', { LICH_SUBAGENT_CARDS: 'on' }],
    ['nothing but the orchestrator is stated', {}],
  ])('a session reports nothing: %s', async (_, variables) => {
    const { orchestrator, tui } = await afterTwoTurns(variables);
    await tui.close();
    expect(orchestrator.arrivals).toEqual([]);
  });

  test('`claude -p` with every variable of a worker reports nothing', async () => {
    const [orchestrator, claude] = await Promise.all([fakeOrchestrator(), fakeMessages()]);
    const env = { ...orchestrator.env, LICH_SUBAGENT_DEPTH: '1', LICH_SUBAGENT_CARDS: 'off' };
    const place = claudePlace({ url: claude.url, env });
    const session = openClaude(place);
    closing.push(async () => {
      await session.end();
      await place.dispose();
      await Promise.all([orchestrator.close(), claude.close()]);
    });
    for (const turn of [1, 2]) {
      claude.main([says(`answer ${turn}`)]);
      session.say(`turn number ${turn}.`);
      expect(await session.result(turn)).toMatchObject({ result: `answer ${turn}` });
    }
    await session.end();
    expect(orchestrator.arrivals).toEqual([]);
  });
});
