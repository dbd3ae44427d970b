/** The README's first command, as a newcomer runs it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ANSWER } from '../../testing/demo/story.js';
import { ROOT } from '../../testing/root.js';

test('rule.finalAlone: the demo shows the steps and finds the same bytes on both sides', async () => {
  const begun = Date.now();
  const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [tsx, 'scripts/demo.ts'], { cwd: ROOT });
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
  ]) {
    expect(stdout).toContain(shown);
  }
  expect(stdout.match(new RegExp(` ${Buffer.byteLength(ANSWER)} bytes  sha256 [0-9a-f]{64}`, 'g'))).toHaveLength(3);
  expect(Date.now() - begun).toBeLessThan(60_000);
});
