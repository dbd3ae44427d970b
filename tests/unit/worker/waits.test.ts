/** What a worker says that it waits for: each thing once, the dialogs before the turn, and that it is over. */
import { describe, expect, test } from 'vitest';
import { WAITING_LIMIT } from '../../../plugin/hooks/protocol/errand.js';
import { Waits } from '../../../plugin/hooks/worker/waits.js';

const BASH = { tool_name: 'Bash' };
const ASK = { tool_name: 'AskUserQuestion' };
const PERMISSION = { for: 'permission', what: 'Bash' };
const colour = { questions: [{ question: 'Which colour?' }, { question: 'Which size?' }] };

describe('news of a wait', () => {
  test('is none in a session where nothing has happened, and none where what happened is over before it was asked for', () => {
    const waits = new Waits();
    expect(waits.news()).toBe(undefined);
    waits.asked(BASH, {});
    waits.wentOn(BASH);
    waits.turnBegan();
    waits.turnEnded();
    expect(waits.news()).toBe(undefined);
  });

  test('comes once', () => {
    const waits = new Waits();
    waits.asked(BASH, { command: 'ls' });
    waits.asked(BASH, { command: 'pwd' });
    expect(waits.news()).toEqual({ ...PERMISSION, what: 'Bash: pwd' });
    expect(waits.news()).toBe(undefined);
    waits.wentOn(BASH);
    expect(waits.news()).toBe(null);
    expect(waits.news()).toBe(undefined);
  });

  test('names the dialog that has been open longest, then the next one', () => {
    const waits = new Waits();
    waits.asked({ ...BASH, agent_id: 'a1' }, {});
    waits.asked(ASK, colour);
    expect(waits.news()).toEqual(PERMISSION);
    waits.wentOn({ ...BASH, agent_id: 'a1' });
    expect(waits.news()).toEqual({ for: 'question', what: 'Which colour?' });
  });

  test('is untouched by tools that asked for nothing', () => {
    const waits = new Waits();
    waits.asked(BASH, {});
    waits.news();
    waits.wentOn({ tool_name: 'Read' });
    waits.wentOn({ ...BASH, agent_id: 'a1' });
    expect(waits.news()).toBe(undefined);
  });

  test('of a turn’s end takes the dialogs of that loop alone back', () => {
    const waits = new Waits();
    const agents = ['a', 'a1', 'a1 Bash'].map((agent_id) => ({ ...BASH, agent_id }));
    for (const asker of [BASH, ASK, ...agents]) waits.asked(asker, colour);
    for (const agent of [undefined, 'a', 'a1 Bash', 'another']) {
      waits.turnEnded(agent);
      waits.news();
    }
    waits.turnEnded('a1');
    expect(waits.news()).toBe(null);
  });

  test('of a dialog comes before that of a failed turn, which comes back after it', () => {
    const waits = new Waits();
    const failed = { for: 'turn_failed', what: 'rate_limit: wait' };
    waits.turnFailed('rate_limit', 'wait');
    expect(waits.news()).toEqual(failed);
    waits.turnEnded();
    expect(waits.news()).toBe(undefined);
    waits.asked({ ...BASH, agent_id: 'a1' }, {});
    expect(waits.news()).toEqual(PERMISSION);
    waits.turnEnded('a1');
    expect(waits.news()).toEqual(failed);
    waits.turnBegan();
    expect(waits.news()).toBe(null);
  });

  test('of a refused task gives the reason', () => {
    const waits = new Waits();
    waits.refused('blocked');
    expect(waits.news()).toEqual({ for: 'task_refused', what: 'blocked' });
  });

  test.each([
    ['unknown', 'API Error: 400', 'API Error: 400'],
    ['rate_limit', undefined, 'rate_limit'],
    ['rate_limit', 'wait', 'rate_limit: wait'],
  ])('of a turn that failed says what there is to say: %s, %s', (error, message, what) => {
    const waits = new Waits();
    waits.turnFailed(error, message);
    expect(waits.news()).toEqual({ for: 'turn_failed', what });
  });

  test.each([
    [{ command: 'rm -r build' }, 'Bash: rm -r build'],
    [{ file_path: '/a/b.ts', content: 'x' }, 'Bash: /a/b.ts'],
    [{ url: 'https://example.com' }, 'Bash: https://example.com'],
    [{ command: 5 }, 'Bash'],
    [undefined, 'Bash'],
  ])('for permission says what the call is about: %j', (input, what) => {
    const waits = new Waits();
    waits.asked(BASH, input);
    expect(waits.news()).toEqual({ for: 'permission', what });
  });

  test('reads no question out of what is none', () => {
    const inputs = [undefined, null, 'text', 1, [], {}, { questions: 1 }, { questions: [] }, { questions: [null] }];
    for (const input of [...inputs, { questions: [{ question: 5 }] }, { questions: { 0: { question: 'no' } } }]) {
      const waits = new Waits();
      waits.asked(ASK, input);
      expect(waits.news(), JSON.stringify(input)).toEqual({ for: 'question', what: '' });
    }
  });

  test('is never longer than its limit, and has no half pair', () => {
    const long = `x${'😀'.repeat(WAITING_LIMIT)}`;
    const told = [
      (waits: Waits) => waits.turnFailed(long, long),
      (waits: Waits) => waits.refused(long),
      (waits: Waits) => waits.asked({ tool_name: long }, {}),
      (waits: Waits) => waits.asked(ASK, { questions: [{ question: long }] }),
    ];
    for (const tell of told) {
      const waits = new Waits();
      tell(waits);
      const { what } = waits.news() ?? { what: '' };
      expect(what.length).toBeLessThanOrEqual(WAITING_LIMIT);
      expect(what.length).toBeGreaterThan(WAITING_LIMIT - 3);
      expect(what).not.toMatch(/\p{Surrogate}/u);
    }
  });
});
