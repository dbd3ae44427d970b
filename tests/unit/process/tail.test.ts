import { expect, test } from 'vitest';
import { Tail } from '../../../sidecar/src/process/tail.js';

test('the tail keeps the last bytes, and no half of a character', () => {
  const tail = new Tail(7);
  tail.push(Buffer.from('0123456789€'));
  tail.push(Buffer.from('€a'));
  expect(tail.text({})).toBe('€€a');
  const cut = new Tail(5);
  cut.push(Buffer.from('€€a'));
  expect(cut.text({})).toBe('€a');
});

test('the tail of many small chunks is bounded', () => {
  const tail = new Tail(100);
  for (let at = 0; at < 10_000; at += 1) tail.push(Buffer.from(`${at}\n`));
  expect(tail.text({}).length).toBeLessThanOrEqual(100);
  expect(tail.lastLines(2, {})).toBe('9998 | 9999');
});

test('the tail is free of colours and secrets', () => {
  const tail = new Tail();
  tail.push(
    Buffer.from('\u001b[2m2026\u001b[0m \u001b[31mERROR\u001b[0m key sk-abcdefghijkl\n\u001b]0;title\u0007end'),
  );
  expect(tail.text({})).toBe('2026 ERROR key [masked]\nend');
});
