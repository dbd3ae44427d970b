/** The task: fetched from the desk, and through the prompt into the conversation as it is. */
import { describe, expect, test } from 'vitest';
import { type Fetch, takeTask } from '../../../plugin/hooks/worker/client.js';
import { submittedOf, uncovered } from '../../../plugin/hooks/worker/task.js';

/** What enters the conversation of a task that was submitted. */
const entered = (task: string) => uncovered(submittedOf(task)) ?? submittedOf(task);

describe('rule.taskIsJustText', () => {
  test('no text of up to six of the characters that matter is altered, or taken for a command', () => {
    const characters = ['/', ' ', '\n', '\u200b', '\ufeff', 'a'];
    let tasks = 0;
    const walk = (task: string) => {
      tasks += 1;
      if (entered(task) !== task) throw new Error(`${JSON.stringify(task)} enters as ${JSON.stringify(entered(task))}`);
      if (submittedOf(task).trim().startsWith('/')) throw new Error(`${JSON.stringify(task)} is a command`);
      if (task.length < 6) for (const character of characters) walk(task + character);
    };
    walk('');
    expect(tasks).toBe((6 ** 7 - 1) / 5);
  });

  test('what needs no cover has none', () => {
    for (const task of ['do it', ' a / b', '!ls', '\u200bhidden', 'https://a/b', ''])
      expect(submittedOf(task)).toBe(task);
  });

  test('it is the submitted text that is looked at, not one that only has a slash somewhere', () => {
    for (const text of ['/help', ' /help', 'a\u200b/help', ' \u200b/help', '\u200bhelp', '\u200b', '']) {
      expect(uncovered(text)).toBe(undefined);
    }
  });
});

describe('rule.taskIsJustText: the task is asked for', () => {
  const LINK = { port: 4711, token: 'a&b=c d', session: 'w1' };

  /** A desk whose answers come in order, the last one over and over; Error: it cannot be reached. */
  function desk(...answers: (readonly [number, string?] | Error)[]) {
    const asked: { readonly url: string; readonly body: string }[] = [];
    const slept: number[] = [];
    const fetch: Fetch = (url, { body }) => {
      asked.push({ url, body });
      const answer = answers[Math.min(asked.length, answers.length) - 1] ?? new Error('no answer');
      if (answer instanceof Error) return Promise.reject(answer);
      const [status, text = ''] = answer;
      return Promise.resolve({ status, text });
    };
    const sleep = async (ms: number) => {
      slept.push(ms);
    };
    return { asked, slept, take: () => takeTask(fetch, LINK, 'claude-1', sleep) };
  }

  test('once, where it is there', async () => {
    const { asked, slept, take } = desk([200, '{"task":"do\\u0000 it"}']);
    expect(await take()).toBe('do\u0000 it');
    expect(asked.map((one) => one.url)).toEqual(['http://127.0.0.1:4711/verbatim/task?token=a%26b%3Dc%20d']);
    expect(slept).toEqual([]);
  });

  test.each([204, 301, 400, 401, 404, 405, 413])('once, where the desk says %i', async (status) => {
    const { asked, take } = desk([status], [200, '{"task":"late"}']);
    expect(await take()).toBe(undefined);
    expect(asked).toHaveLength(1);
  });

  test.each([429, 500, 503])('again where it says %i, a second later, under the same name', async (status) => {
    const { asked, slept, take } = desk([status], new Error('refused'), [200, 'no JSON'], [200, '{"task":"do it"}']);
    expect(await take()).toBe('do it');
    expect(slept).toEqual([1_000, 1_000, 1_000]);
    expect(new Set(asked.map((one) => one.body)).size).toBe(1);
  });

  test('five times at most', async () => {
    const { asked, take } = desk(new Error('refused'));
    expect(await take()).toBe(undefined);
    expect(asked).toHaveLength(5);
  });

  test('under another name each time that a session starts', async () => {
    const { asked, take } = desk([204]);
    await take();
    await take();
    expect(new Set(asked.map((one) => one.body)).size).toBe(2);
  });
});
