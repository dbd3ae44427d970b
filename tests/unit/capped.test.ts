import { describe, expect, test } from 'vitest';
import { capped, OUTPUT_LIMIT } from '../../sidecar/src/capped.js';

describe('a cap', () => {
  test('leaves a text of the limit as it is', () => {
    const text = 'x'.repeat(OUTPUT_LIMIT);
    expect(capped(text)).toEqual({ text, omitted: 0 });
  });

  test('keeps head and tail and says how much is missing', () => {
    const text = `${'a'.repeat(20_000)}${'b'.repeat(12_345)}${'c'.repeat(10_000)}`;
    expect(capped(text)).toEqual({
      text: `${'a'.repeat(20_000)}\n[… 12,345 characters left out …]\n${'c'.repeat(10_000)}`,
      omitted: 12_345,
    });
  });

  test('never splits a surrogate pair, wherever it falls', () => {
    for (let shift = 0; shift < 4; shift += 1) {
      const { text, omitted } = capped(`${'x'.repeat(shift)}${'😀'.repeat(20)}`, 5, 5);
      expect(Buffer.from(text).toString(), `shift ${shift}`).toBe(text);
      expect(omitted).toBeGreaterThanOrEqual(30);
    }
  });
});
