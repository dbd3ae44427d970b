import { describe, expect, test } from 'vitest';
import { gate, until, within } from '../../../testing/wait.js';

describe('until', () => {
  test('resolves with what was seen', async () => {
    let looks = 0;
    expect(await until('three looks', () => (++looks === 3 ? 'seen' : undefined), { every: 1 })).toBe('seen');
  });

  test('says what it waited for, the last failure, and the detail', async () => {
    const wait = until(
      'the moon',
      () => {
        throw new Error('clouds');
      },
      { within: 20, every: 1, detail: () => 'a dark sky' },
    );
    await expect(wait).rejects.toThrow('waited 20 ms for the moon; the last look failed: clouds\na dark sky');
  });
});

test('within rejects when its promise is late', async () => {
  await expect(within('a word', 5, gate().promise)).rejects.toThrow('waited 5 ms for a word');
  await expect(within('a word', 1_000, Promise.resolve('word'))).resolves.toBe('word');
});
