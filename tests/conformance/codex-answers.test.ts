/** rule.finalAlone at its source: which text is the answer, and that it is the model's byte for byte. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CodexKit, codexKit, FULL } from '../../testing/codex-kit.js';
import { call, comment, hold, type Part, say, shell, think, turn } from '../../testing/fake-responses.js';
import { gate } from '../../testing/wait.js';

let kit: CodexKit;
beforeAll(async () => {
  kit = await codexKit();
});
afterAll(() => kit.close());
beforeEach(() => kit.model.reset());

/** Runs one turn of these model replies; resolves to how it ended and the messages it showed. */
async function outcomeOf(...replies: readonly (readonly Part[])[]) {
  const thread = await kit.open();
  kit.model.next(...replies.map((parts) => turn(...parts)));
  const { end, events } = await kit.run(thread, 'go', { access: FULL });
  return { ending: end.ending, shown: events.filter((event) => event.kind === 'message').map((event) => event.text) };
}

const EXACT: Record<string, string> = {
  'leading and trailing white space': '  \n\t answer \n\n ',
  'line ends of Windows': 'a\r\nb\r\n',
  tabs: '\ta\tb\t',
  'a NUL': 'a\u0000b',
  'line and paragraph separators': 'a\u2028b\u2029c',
  'a byte order mark': '\ufeffa\ufeff',
  'joined emoji': '👩‍👩‍👧‍👦 🏳️‍🌈',
  'combining marks, not composed': 'e\u0301 n\u0303 \u1100\u1161',
  'fences of Markdown': '```ts\nconst a = `b`;\n```\n~~~\nx\n~~~',
  'text shaped like tags': '<job-state>\njob: x\n</job-state><system-reminder>no</system-reminder><a href="x">',
  'text shaped like our notes':
    '[the codex turn failed (quota): no more]\ngpt-5.5: 1 input tokens (0 cached), 1 output',
  'text shaped like a frame': '{"id":1,"result":{"turn":{"id":"x"}}}\n{"method":"turn/completed"}',
};

describe('rule.finalAlone: of a turn', () => {
  test.each(Object.entries(EXACT))('%s arrive in the answer as the model sent them', async (_, text) => {
    const { ending, shown } = await outcomeOf([say(text, { deltas: 7 })]);
    expect(ending).toEqual({ kind: 'completed', answer: text });
    expect(shown).toEqual([]);
  });

  test.each([
    ['200 KB in 3,000 deltas', 'é€😀 line\n'.repeat(12_500), 3_000],
    ['2 MB', `${'0123456789abcdef'.repeat(131_072)}\n`, 50],
  ])('an answer of %s arrives whole', async (_, text, deltas) => {
    const { ending } = await outcomeOf([say(text, { deltas })]);
    // Compared by `===`: a diff of megabytes helps nobody.
    expect(ending.kind === 'completed' && ending.answer === text).toBe(true);
  });

  test('of two finals the last is the answer and the first is shown', async () => {
    expect(await outcomeOf([say('one'), say('two')])).toEqual({
      ending: { kind: 'completed', answer: 'two' },
      shown: ['one'],
    });
  });

  test('a final before a tool is the answer when only commentary follows it', async () => {
    expect(await outcomeOf([say('early'), shell('true')], [comment('just checking')])).toEqual({
      ending: { kind: 'completed', answer: 'early' },
      shown: ['just checking'],
    });
  });

  test('an empty final after a real one does not replace it', async () => {
    expect((await outcomeOf([say('real'), shell('true')], [say('')])).ending).toEqual({
      kind: 'completed',
      answer: 'real',
    });
  });

  test('of messages without a phase the last is the answer and those before work went on are shown as they come', async () => {
    expect(await outcomeOf([say('looking', { phase: null }), shell('true')], [say('found', { phase: null })])).toEqual({
      ending: { kind: 'completed', answer: 'found' },
      shown: ['looking'],
    });
  });

  test('a lone message without a phase is the answer also when a tool came after it', async () => {
    expect((await outcomeOf([say('only this', { phase: null }), shell('true')], [think('done')])).ending).toEqual({
      kind: 'completed',
      answer: 'only this',
    });
  });

  test.each<[string, readonly Part[]]>([
    ['nothing', []],
    ['commentary alone', [comment('hm')]],
    ['reasoning alone', [think('hm')]],
    ['white space alone', [say(' \n\t ')]],
    ['a refusal', [say('I cannot help with that.', { refusal: true })]],
  ])('a turn of %s completes as empty', async (_, parts) => {
    expect((await outcomeOf(parts)).ending).toEqual({ kind: 'empty' });
  });

  test('a final answer is never shown as an event, and commentary is shown while the turn runs', async () => {
    const thread = await kit.open();
    const { promise, open } = gate();
    kit.model.next(turn(comment('working'), hold(promise), say('final')));
    const running = kit.start(thread, 'go');
    await running.event('message', (event) => event.text === 'working');
    open();
    expect((await running.end).ending).toEqual({ kind: 'completed', answer: 'final' });
    expect(running.events.filter((event) => event.kind === 'message')).toHaveLength(1);
  });

  test('a note that the model sends to the user on the side is shown and is not the answer', async () => {
    const name = 'send_message_to_user_async';
    const probe = await kit.open();
    kit.model.next(turn(say('x')));
    await kit.run(probe, 'go');
    const tools = (kit.model.requests[0]?.body.tools ?? []) as { name?: string }[];
    const { ending, shown } = await outcomeOf([say('real answer'), call(name, { message: 'by the way' })], []);
    expect(ending).toEqual({ kind: 'completed', answer: 'real answer' });
    // The tool is offered to some models alone; where it is, the note is shown.
    expect(shown).toEqual(tools.some((tool) => tool.name === name) ? ['by the way'] : []);
  });
});
