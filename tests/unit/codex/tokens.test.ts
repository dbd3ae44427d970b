import { expect, test } from 'vitest';
import { TokenMeter } from '../../../sidecar/src/harness/codex/tokens.js';

const total = (inputTokens: number, cachedInputTokens: number, outputTokens: number) => ({
  inputTokens,
  cachedInputTokens,
  outputTokens,
});

test('a new thread’s first turn counts from nothing, the second from the first', () => {
  const meter = new TokenMeter(true);
  meter.begin();
  meter.during(total(100, 10, 5));
  meter.during(total(100, 10, 5));
  expect(meter.end()).toEqual({ input: 100, cached: 10, output: 5 });
  meter.begin();
  meter.during(total(150, 30, 9));
  expect(meter.end()).toEqual({ input: 50, cached: 20, output: 4 });
});

test.each(['before', 'after'])('a resumed thread counts from the total that it repeats, %s the turn began', (when) => {
  const meter = new TokenMeter(false);
  if (when === 'before') meter.before(total(100, 10, 5));
  meter.begin();
  if (when === 'after') meter.before(total(100, 10, 5));
  meter.during(total(130, 10, 6));
  expect(meter.end()).toEqual({ input: 30, cached: 0, output: 1 });
});

test('with nothing to subtract from, or nothing reported, nothing is claimed', () => {
  const resumed = new TokenMeter(false);
  resumed.begin();
  resumed.during(total(130, 10, 6));
  expect(resumed.end()).toBeNull();
  const fresh = new TokenMeter(true);
  fresh.begin();
  expect(fresh.end()).toBeNull();
});

test('a sub-agent’s tokens count in the turn in which they were used', () => {
  const meter = new TokenMeter(true);
  meter.begin();
  meter.during(total(100, 0, 1));
  meter.descendant('sub', total(1_000, 0, 10));
  expect(meter.end()).toEqual({ input: 1_100, cached: 0, output: 11 });
  meter.begin();
  meter.during(total(110, 0, 2));
  meter.descendant('sub', total(1_500, 0, 15));
  expect(meter.end()).toEqual({ input: 510, cached: 0, output: 6 });
});
