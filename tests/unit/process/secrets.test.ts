import { expect, test } from 'vitest';
import { mask } from '../../../sidecar/src/process/secrets.js';

const NO_ENV = {};

test.each([
  ['sk-proj-abcdefghijklmnop1234', '[masked]'],
  ['ghp_abcdefghijklmnopqrstuvwxyz0123456789', '[masked]'],
  ['github_pat_11ABCDEFG0abcdefghij_klmnop', '[masked]'],
  ['Authorization: Bearer abc.def-123456', 'Authorization: Bearer [masked]'],
  ['AKIAIOSFODNN7EXAMPLE', '[masked]'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl', '[masked]'],
  ['https://user:hunter2@example.invalid/x', 'https://user:[masked]@example.invalid/x'],
  ['xoxb-123456789-abcdef', '[masked]'],
  ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----', '[masked]'],
])('the token in %j is masked', (text, masked) => {
  expect(mask(`before ${text} after`, NO_ENV)).toBe(`before ${masked} after`);
});

test.each([
  'task-force',
  'a sketch of it',
  'the bearer of news',
  'sk-short',
  'AKIA',
  'eyJ',
  'https://example.invalid/a:b@c',
])('the words %j stay', (text) => {
  expect(mask(text, NO_ENV)).toBe(text);
});

test.each(['a.b-', 'eyJabcdefgh-', 'eyJabcdefgh.', 'bearer ', 'a://b:', '-----BEGIN A PRIVATE KEY-----', 'x-eyJ_'])(
  'a long text of %j is masked at once',
  (part) => {
    const began = performance.now();
    mask(part.repeat(200_000 / part.length), NO_ENV);
    // Quadratic it would take fifteen seconds.
    expect(performance.now() - began).toBeLessThan(2_000);
  },
);

test('values of variables whose names say that they are secret are masked, the longest first', () => {
  const env = {
    MY_API_KEY: 'swordfish-1',
    OTHER_TOKEN: 'swordfish-1-and-more',
    MONKEY: 'banana-banana',
    HOME: '/home/someone',
  };
  expect(mask('swordfish-1-and-more swordfish-1 banana-banana /home/someone', env)).toBe(
    '[masked] [masked] banana-banana /home/someone',
  );
});

test('a value that is too short, or a path, is no secret', () => {
  expect(mask('yes /run/secrets/key', { USE_AUTH: 'yes', KEY: '/run/secrets/key' })).toBe('yes /run/secrets/key');
});
