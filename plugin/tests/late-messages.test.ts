import { describe, expect, test } from 'claude-code/testing';
import { begin, run, world } from './engine.js';

describe('rule.lateMessageGetsATurn', () => {
  test("a message at the closing step's tool round gets a turn of its own before the end", async ($, on) => {
    const made = world(on, { turns: [{ answer: 'first' }, { answer: 'second' }] });
    await begin($);
    const { final } = await run($, made, { mailAfter: { step: 0, text: ' and <b>this</b>? ' } });
    expect(final).toBe('second');
    expect(made.sidecar.texts).toEqual(['do the thing', ' and <b>this</b>? ']);
    // The superseded answer is shown as a step; the report is the last turn's alone.
    expect(
      made.steps.some((step) => step.blocks.some((block) => block.kind === 'text' && block.text === 'first')),
    ).toBe(true);
    expect(made.steps.at(-1)?.blocks).toEqual([{ kind: 'text', text: 'second' }]);
  });

  test('the same before a hand-back', async ($, on) => {
    const made = world(on, { turns: [{ answer: 'first' }, { answer: 'second' }], isHandbackOffered: true });
    await begin($);
    const { delivered } = await run($, made, {
      mode: 'auto',
      isHandbackAsked: true,
      mailAfter: { step: 0, text: 'more' },
    });
    expect(delivered).toBe('second');
    expect(made.handbacks).toEqual(['second']);
  });

  test('a message to a finished agent resumes its job with the raw text', async ($, on) => {
    const made = world(on, { turns: [{ answer: 'one' }, { answer: 'two' }] });
    await begin($);
    await run($, made);
    const second = await run($, made, { turnId: 'turn-2', isResume: true, prompt: ' again ' });
    expect(second.final).toBe('two');
    expect(made.sidecar.texts).toEqual(['do the thing', ' again ']);
    expect(made.sidecar.requests.filter((one) => one.path === '/v1/jobs').length).toBe(1);
  });

  test('a resume of an agent whose job is not known says thread_lost and starts nothing', async ($, on) => {
    const made = world(on, { turns: [] });
    await begin($);
    const { final } = await run($, made, { isResume: true, prompt: 'again' });
    expect(final).toContain('[the codex turn failed (thread_lost):');
    expect(made.sidecar.harnessTurns).toBe(0);
  });

  test('a task that the engine states after the first step has begun is handed over then', async ($, on) => {
    const made = world(on, { turns: [{ answer: 'one' }] });
    await begin($);
    const { final } = await run($, made, { isSpawnLate: true });
    expect(final).toBe('one');
    expect(made.sidecar.texts).toEqual(['do the thing']);
  });

  test('an agent that is woken without a message ends as its last turn did', async ($, on) => {
    const made = world(on, { turns: [{ answer: 'one' }] });
    await begin($);
    await run($, made);
    const woken = await run($, made, { turnId: 'turn-2', isResume: true, prompt: '' });
    expect(woken.final).toBe('one');
    expect(made.sidecar.harnessTurns).toBe(1);
  });

  test("what a person types in the agent's view reaches the harness as it was typed", async ($, on) => {
    const made = world(on, { turns: [{ answer: 'first' }, { answer: 'second' }] });
    await begin($);
    const typed = ' /why?\n\nThis is how Claude Code surfaces messages the user sends mid-turn: <b> ';
    const framed = `<system-reminder>\nThe user sent a new message while you were working:\n${typed}\n\nThis is how Claude Code surfaces messages the user sends mid-turn — address it.\n</system-reminder>`;
    const { final } = await run($, made, { typedAfter: { step: 0, text: framed } });
    expect(final).toBe('second');
    expect(made.sidecar.texts).toEqual(['do the thing', typed]);
  });

  test('a message that is refused is said in a step, and does not hold up those behind it', async ($, on) => {
    const made = world(on, { turns: [{ answer: 'first' }, { answer: 'second' }], refused: 'too much' });
    await begin($);
    const { final } = await run($, made, { mailAfter: { step: 0, text: 'too much', and: 'this one' } });
    expect(final).toBe('second');
    expect(made.sidecar.texts).toEqual(['do the thing', 'this one']);
    expect(JSON.stringify(made.steps)).toContain(
      'A message to this agent was not handed over (invalid_request): It is too much.',
    );
  });
});
