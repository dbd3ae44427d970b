/** The README's first command, as a newcomer runs it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ANSWER, ERRAND_ANSWER } from '../../testing/demo/story.js';
import { ROOT } from '../../testing/root.js';

test('rule.finalAlone, rule.onlyTheAnswerOnStdout: the demo shows both directions and finds the same bytes on both sides', async () => {
  const begun = Date.now();
  const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [tsx, 'scripts/demo/demo.ts'], { cwd: ROOT });
  expect(stderr).toBe('');
  for (const shown of [
    'I run the test first.',
    'command  node median.test.js',
    'AssertionError [ERR_ASSERTION]: 10 == 9',
    '+  const sorted = [...numbers].sort((a, b) => a - b);',
    'median.test.js: ok',
    'input tokens',
    '<job-state>',
    'Equal, byte for byte.',
    'own loop: 0.',
    '❯ /median.js is new here.',
    'given the task byte for byte',
    'Left running: 0 processes.',
  ]) {
    expect(stdout).toContain(shown);
  }
  const sizes = (text: string) =>
    stdout.match(new RegExp(` ${Buffer.byteLength(text)} bytes  sha256 [0-9a-f]{64}`, 'g')) ?? [];
  expect(sizes(ANSWER)).toHaveLength(3);
  expect(sizes(ERRAND_ANSWER)).toHaveLength(2);
  expect(Date.now() - begun).toBeLessThan(60_000);
});
