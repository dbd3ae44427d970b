import { afterEach, expect, test } from 'vitest';
import { type CodexKit, codexKit, FULL } from '../../testing/codex-kit.js';
import { addFile, comment, plan, say, shell, think, turn, usage } from '../../testing/fake-responses.js';

let kit: CodexKit;
afterEach(() => kit?.close());

test('a turn runs end to end: its work as events, its final message as the answer, its tokens', async () => {
  kit = await codexKit();
  const thread = await kit.open();
  kit.model.next(
    turn(think('Let me look.'), comment('I will run a command.'), shell('echo out; exit 3'), usage(100, 5, 40)),
    turn(addFile('new.txt', 'hello'), plan({ step: 'one', status: 'in_progress' }), usage(200, 7)),
    turn(say('The answer.'), usage(300, 9)),
  );
  const { end, events } = await kit.run(thread, 'go', { access: FULL });
  expect(end).toEqual({
    ending: { kind: 'completed', answer: 'The answer.' },
    tokens: { input: 600, cached: 40, output: 21 },
    model: 'gpt-5.5',
    survivors: [],
  });
  expect(events.map((event) => event.kind)).toEqual([
    'reasoning',
    'message',
    'action_started',
    'action_completed',
    'action_started',
    'action_completed',
    'plan',
  ]);
  expect(events[3]).toMatchObject({
    action: { command: 'echo out; exit 3' },
    result: { exitCode: 3, output: 'out\n' },
  });
  expect(events[5]).toMatchObject({ action: { changes: [{ change: 'add' }] }, result: { status: 'completed' } });
  expect(thread.harnessVersion).toBe('0.171.0');
});
