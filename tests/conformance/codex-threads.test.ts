/** Threads over their turns: messages that join, stops, tokens, resumes, many on one server. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { codex } from '../../sidecar/src/harness/codex/harness.js';
import { HarnessError } from '../../sidecar/src/harness/contract.js';
import { CODEX, type CodexKit, codexKit, FULL } from '../../testing/codex-kit.js';
import {
  code,
  comment,
  hold,
  idle,
  say,
  shell,
  spawnAgent,
  turn,
  usage,
  waitAgent,
} from '../../testing/fake-responses.js';
import { gate } from '../../testing/wait.js';

let kit: CodexKit;
afterEach(() => kit?.close());

describe('rule.lateMessageGetsATurn: a message to a running turn', () => {
  test('joins it and reaches the model once', async () => {
    kit = await codexKit();
    const thread = await kit.open();
    const { promise, open } = gate();
    kit.model.next(turn(comment('first'), hold(promise), say('never mind')));
    kit.model.script(() => turn(say('answered both')));
    const running = kit.start(thread, 'question one');
    await running.event('message');
    expect(await thread.steer({ id: 'm2', text: 'question two' })).toEqual({ kind: 'joined' });
    open();
    expect((await running.end).ending).toEqual({ kind: 'completed', answer: 'answered both' });
    expect(kit.model.seen('question two')).toEqual({ requests: 1, inLast: 1 });
  });

  test('is told that there is no turn, before the first and after the last', async () => {
    kit = await codexKit();
    const thread = await kit.open();
    expect(await thread.steer({ id: 'm1', text: 'too early' })).toEqual({ kind: 'no_turn' });
    await kit.run(thread, 'go');
    expect(await thread.steer({ id: 'm2', text: 'too late' })).toEqual({ kind: 'no_turn' });
    expect(kit.model.seen('too').requests).toBe(0);
  });

  test('is either seen by the model or told that there is no turn, in 40 races with the turn’s end', async () => {
    kit = await codexKit();
    const thread = await kit.open();
    const dispositions = { joined: 0, no_turn: 0 };
    for (let race = 0; race < 40; race += 1) {
      const text = `late message ${race}.`;
      const running = kit.start(thread, `race ${race}`);
      // The race is between the steer and the answer on its way: each round starts the steer a little later.
      const request = await kit.model.request((each) => each.lastUserText === `race ${race}`);
      for (let tick = 0; tick < race * 3; tick += 1) await new Promise((resolve) => setImmediate(resolve));
      if (race % 4 === 3) await request.closed;
      // Some come surely too late.
      if (race % 10 === 9) await running.end;
      const { kind } = await thread.steer({ id: `late-${race}`, text });
      dispositions[kind] += 1;
      const { ending } = await running.end;
      expect(ending.kind).toBe('completed');
      expect(kit.model.seen(text).requests > 0, `race ${race} was ${kind}`).toBe(kind === 'joined');
    }
    expect(dispositions.joined).toBeGreaterThan(0);
    expect(dispositions.no_turn).toBeGreaterThan(0);
  });
});

describe('a stop', () => {
  test('while the model streams ends the turn as interrupted, at once', async () => {
    kit = await codexKit();
    const thread = await kit.open();
    kit.model.next(idle(comment('thinking')));
    const running = kit.start(thread, 'go');
    await running.event('message');
    await thread.interrupt();
    expect((await running.end).ending).toEqual({ kind: 'interrupted' });
    // The thread goes on with the next message.
    expect((await kit.run(thread, 'again')).end.ending).toEqual({ kind: 'completed', answer: 'ok' });
  });

  test('right after the start is not lost', async () => {
    kit = await codexKit();
    const thread = await kit.open();
    kit.model.script(() => idle());
    for (let round = 0; round < 10; round += 1) {
      const running = kit.start(thread, `go ${round}`);
      for (let tick = 0; tick < round; tick += 1) await new Promise((resolve) => setImmediate(resolve));
      await thread.interrupt();
      expect((await running.end).ending).toEqual({ kind: 'interrupted' });
    }
  });

  test('that comes too late leaves the turn what it had become', async () => {
    kit = await codexKit();
    const thread = await kit.open();
    const { end } = await kit.run(thread, 'go');
    await thread.interrupt();
    expect(end.ending).toEqual({ kind: 'completed', answer: 'ok' });
  });
});

describe('rule.harnessTokens: the tokens', () => {
  test('of a turn are its own, also for the second turn and after a resume on another server', async () => {
    kit = await codexKit();
    const thread = await kit.open();
    kit.model.next(turn(say('one'), usage(100, 5, 10)), turn(say('two'), usage(1_000, 50, 100)));
    expect((await kit.run(thread, 'a')).end.tokens).toEqual({ input: 100, cached: 10, output: 5 });
    expect((await kit.run(thread, 'b')).end.tokens).toEqual({ input: 1_000, cached: 100, output: 50 });

    await kit.harness.close();
    kit.model.next(turn(shell('true'), usage(2_000, 60)), turn(say('three'), usage(3_000, 70, 5)));
    const { end } = await kit.run(thread, 'c', { access: FULL });
    expect(end).toMatchObject({
      ending: { kind: 'completed', answer: 'three' },
      tokens: { input: 5_000, cached: 5, output: 130 },
    });
  });

  test('of a turn that made no request are not reported', async () => {
    kit = await codexKit();
    const thread = await kit.open();
    kit.model.next(idle());
    const running = kit.start(thread, 'go');
    await kit.model.request(() => true);
    await thread.interrupt();
    expect((await running.end).tokens).toBeNull();
  });

  test('of a sub-agent are counted with the turn it works for, and its approvals are ours to answer', async () => {
    kit = await codexKit({ model: 'gpt-6.2-sol' });
    const thread = await kit.open();
    let isSpawned = false;
    let isWaited = false;
    let isChildAsked = false;
    kit.model.script((request) => {
      if (request.isSubAgent) {
        if (isChildAsked) return turn(say('sub done'), usage(7_000, 70));
        isChildAsked = true;
        return turn(code('const r = await tools.exec_command({cmd:"rm -f x; env"}); text(r.output)'), usage(6_000, 60));
      }
      if (!isSpawned) {
        isSpawned = true;
        return turn(spawnAgent('helper', 'please'), usage(100, 1));
      }
      if (!isWaited) {
        isWaited = true;
        return turn(waitAgent(20_000), usage(200, 2));
      }
      return turn(say('final'), usage(300, 3));
    });
    const { end, events } = await kit.run(thread, 'go');
    expect(end.ending).toEqual({ kind: 'completed', answer: 'final' });
    expect(end.tokens).toEqual({ input: 13_600, cached: 0, output: 136 });
    expect(events).toContainEqual(expect.objectContaining({ kind: 'approval', decision: 'declined' }));
    expect(events).not.toContainEqual({ kind: 'message', text: 'sub done' });
  });
});

describe('a thread', () => {
  test('is resumed by its id after the harness was closed', async () => {
    kit = await codexKit();
    const first = await kit.open();
    await kit.run(first, 'remember me');
    await kit.harness.close();
    const again = await kit.open({ thread: first.id });
    expect(again.id).toBe(first.id);
    await kit.run(again, 'and now');
    expect(kit.model.requests.at(-1)?.userTexts).toEqual(expect.arrayContaining(['remember me', 'and now']));
  });

  test('that no turn has used yet survives the end of its server by starting anew', async () => {
    kit = await codexKit();
    const thread = await kit.open();
    await kit.harness.close();
    expect((await kit.run(thread, 'go')).end.ending).toEqual({ kind: 'completed', answer: 'ok' });
  });

  test('that Codex does not know is thread_lost', async () => {
    kit = await codexKit();
    const lost = kit.open({ thread: '01a22ce6-6e3b-7601-80aa-240644a4d1b6' });
    await expect(lost).rejects.toSatisfy(
      (error) => error instanceof HarnessError && error.failure.kind === 'thread_lost',
    );
  });

  test('that another Codex has open is thread_busy', async () => {
    kit = await codexKit();
    const thread = await kit.open();
    await kit.run(thread, 'go');
    const env = { ...process.env, ...kit.home.env };
    const other = codex({ env, sidecar: 'other', version: '0.0.0-test', program: CODEX });
    try {
      const busy = other.open({ job: 'j2', thread: thread.id, cwd: kit.home.work, model: null });
      await expect(busy).rejects.toMatchObject({ failure: { kind: 'thread_busy' } });
    } finally {
      await other.close();
    }
  });

  test('takes one turn at a time', async () => {
    kit = await codexKit();
    const thread = await kit.open();
    kit.model.next(idle(comment('busy')));
    const first = kit.start(thread, 'one');
    await first.event('message');
    expect((await kit.run(thread, 'two')).end.ending).toMatchObject({
      kind: 'failed',
      failure: { kind: 'thread_busy' },
    });
    await thread.interrupt();
    expect((await first.end).ending).toEqual({ kind: 'interrupted' });
  });

  test('shares its server with others and hears nothing of theirs', async () => {
    kit = await codexKit();
    kit.model.script((request) =>
      turn(comment(`note for ${request.lastUserText}`), say(`answer to ${request.lastUserText}`)),
    );
    const threads = await Promise.all(Array.from({ length: 8 }, () => kit.open()));
    const turns = await Promise.all(threads.map((thread, at) => kit.run(thread, `question ${at}.`)));
    for (const [at, { end, events }] of turns.entries()) {
      expect(end.ending).toEqual({ kind: 'completed', answer: `answer to question ${at}.` });
      expect(events).toEqual([{ kind: 'message', text: `note for question ${at}.` }]);
    }
  });
});

describe('what cannot be run is refused and named', () => {
  test.each([
    ['an empty message', ' \n', {}, 'invalid_request', /empty/],
    ['a message that is too long', 'x'.repeat(1_048_577), {}, 'invalid_request', /1048577 characters.*1048576/],
    ['a working folder that is gone', 'go', { cwd: '/nowhere/at/all' }, 'invalid_request', /\/nowhere\/at\/all/],
  ] as const)('%s', async (_, text, turn_, kind, message) => {
    kit = await codexKit();
    const { end } = await kit.run(await kit.open(), text, turn_);
    expect(end.ending).toMatchObject({ kind: 'failed', failure: { kind, message: expect.stringMatching(message) } });
    expect(kit.model.requests).toHaveLength(0);
  });

  test('a message of the greatest length that Codex takes is taken', async () => {
    kit = await codexKit();
    const { end } = await kit.run(await kit.open(), '😀'.repeat(1_048_576));
    expect(end.ending).toEqual({ kind: 'completed', answer: 'ok' });
  });

  test('a folder that is gone when a thread is opened', async () => {
    kit = await codexKit();
    await expect(kit.open({ cwd: '/nowhere' })).rejects.toMatchObject({
      failure: { kind: 'invalid_request', message: expect.stringContaining('/nowhere') },
    });
  });

  test('the configuration is as it was after all of it', async () => {
    kit = await codexKit();
    const before = readFileSync(`${kit.home.home}/config.toml`, 'utf8');
    await kit.run(await kit.open(), 'go', { access: FULL });
    expect(kit.home.config()).toBe(before);
  });
});
