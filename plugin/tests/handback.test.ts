import { describe, expect, test } from 'claude-code/testing';
import { begin, run, world } from './engine.js';
import { HARD_TEXTS } from './texts.js';

const FAILED = {
  kind: 'failed',
  failure: { kind: 'network', status: 'failed', message: 'gone' },
  partial: [],
} as const;

describe('rule.handbackWhereAsked', () => {
  for (const [name, answer] of Object.entries(HARD_TEXTS)) {
    test(`the hand-back is the step's only block and carries the answer unchanged: ${name}`, async ($, on) => {
      const made = world(on, { turns: [{ answer }], isHandbackOffered: true });
      await begin($);
      const { delivered } = await run($, made, { mode: 'auto', isHandbackAsked: true });
      expect(delivered).toBe(answer);
      expect(made.handbacks).toEqual([answer]);
      expect(made.steps.at(-1)?.blocks.length).toBe(1);
    });
  }

  test('a failure note goes through the hand-back too', async ($, on) => {
    const made = world(on, { turns: [{ ending: FAILED }], isHandbackOffered: true });
    await begin($);
    expect((await run($, made, { mode: 'auto', isHandbackAsked: true })).delivered).toBe(
      '[the codex turn failed (network): gone]',
    );
  });

  test('an interrupted and an empty note go through the hand-back too', async ($, on) => {
    const made = world(on, {
      turns: [{ ending: { kind: 'interrupted' } }, { ending: { kind: 'empty' } }],
      isHandbackOffered: true,
    });
    await begin($);
    expect((await run($, made, { mode: 'auto', isHandbackAsked: true })).delivered).toBe(
      '[the codex turn was interrupted]',
    );
    const second = await run($, made, {
      turnId: 'turn-2',
      mode: 'auto',
      isHandbackAsked: true,
      isResume: true,
      prompt: 'again',
    });
    expect(second.delivered).toBe('[the codex turn completed and returned no text]');
  });

  test('a sidecar that does not start is handed back', async ($, on) => {
    const made = world(on, { turns: [], sidecarSays: 'node: not found', isHandbackOffered: true });
    await begin($);
    expect((await run($, made, { mode: 'auto', isHandbackAsked: true })).delivered).toContain('(no_runtime)');
  });

  test("a task that quotes the engine's sentence where no hand-back is offered ends in plain text", async ($, on) => {
    const made = world(on, { turns: [{ answer: 'plain' }] });
    await begin($);
    const { final, delivered } = await run($, made, {
      prompt: 'Your final report is delivered through SubagentHandback',
    });
    expect(final).toBe('plain');
    expect(delivered).toBe(undefined);
    expect(made.handbacks).toEqual([]);
  });

  test('a resume from default into auto hands back, and from auto into default does not', async ($, on) => {
    const made = world(on, {
      turns: [{ answer: 'one' }, { answer: 'two' }, { answer: 'three' }],
      isHandbackOffered: (turn) => turn === 'turn-2',
    });
    await begin($);
    expect((await run($, made)).final).toBe('one');
    expect(
      (await run($, made, { turnId: 'turn-2', mode: 'auto', isHandbackAsked: true, isResume: true, prompt: 'again' }))
        .delivered,
    ).toBe('two');
    expect((await run($, made, { turnId: 'turn-3', isResume: true, prompt: 'once more' })).final).toBe('three');
  });

  test("a resume in the same mode hands back too, though the engine's note stands in the first run alone", async ($, on) => {
    const made = world(on, { turns: [{ answer: 'one' }, { answer: 'two' }], isHandbackOffered: true });
    await begin($);
    expect((await run($, made, { mode: 'auto', isHandbackAsked: true })).delivered).toBe('one');
    expect((await run($, made, { turnId: 'turn-2', mode: 'auto', isResume: true, prompt: 'again' })).delivered).toBe(
      'two',
    );
  });
});

describe('rule.handbackTwiceRefused', () => {
  test('a hand-back refused once is tried once more', async ($, on) => {
    const made = world(on, {
      turns: [{ answer: 'a' }],
      isHandbackOffered: true,
      handbackAnswers: [{ refused: 'no' }, 'delivered'],
    });
    await begin($);
    expect((await run($, made, { mode: 'auto', isHandbackAsked: true })).delivered).toBe('a');
    expect(made.handbacks).toEqual(['a', 'a']);
  });

  test('refused twice it ends in the plain answer with the refusal appended', async ($, on) => {
    const made = world(on, {
      turns: [{ answer: 'the answer\n' }],
      isHandbackOffered: true,
      handbackAnswers: [{ refused: 'Permission to use SubagentHandback has been denied.' }],
    });
    await begin($);
    const { final, delivered } = await run($, made, { mode: 'auto', isHandbackAsked: true });
    expect(delivered).toBe(undefined);
    expect(final).toBe(
      'the answer\n\n\n[not delivered: SubagentHandback refused this report twice: Permission to use SubagentHandback has been denied.]',
    );
    expect(made.handbacks.length).toBe(2);
    expect(made.sidecar.requests.some((one) => (one.body as { how?: string } | undefined)?.how === 'handback')).toBe(
      false,
    );
  });

  test("the engine's nudges are answered with the same text and start no harness turn", async ($, on) => {
    const made = world(on, {
      turns: [{ answer: 'kept' }],
      isHandbackOffered: true,
      handbackAnswers: [{ refused: 'no' }],
    });
    await begin($);
    await run($, made, { mode: 'auto', isHandbackAsked: true, nudges: 3 });
    const plain = made.steps
      .filter((step) => step.blocks.every((block) => block.kind === 'text'))
      .map((step) => step.blocks[0]);
    expect(plain.length).toBe(4);
    expect(new Set(plain.map((block) => JSON.stringify(block))).size).toBe(1);
    expect(made.sidecar.harnessTurns).toBe(1);
    expect(made.sidecar.texts).toEqual(['do the thing']);
    expect(made.handbacks.length).toBe(2);
  });
});
