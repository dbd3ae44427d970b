/** What a program says of its version, whatever program it is. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askVersion } from '../../../sidecar/src/process/version.js';
import { withEnvironment } from '../../../testing/processes.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vb-version-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function ask(script: string, limitMs?: number) {
  const program = join(folder, 'program');
  writeFileSync(program, `#!/bin/bash\n${script}\n`);
  chmodSync(program, 0o755);
  return askVersion(program, { PATH: process.env.PATH, VB_VERSION_TEST: folder }, limitMs);
}

describe('a version', () => {
  it.each([
    ['echo "codex-cli 0.171.0-beta.1"', { kind: 'answered', version: '0.171.0-beta.1' }],
    ['echo hello', { kind: 'answered', version: null }],
    ['echo 1.2.3; exit 3', { kind: 'failed', why: 'it ended with exit code 3' }],
  ])('is read from what the program says: %s', async (script, answer) => {
    expect(await ask(script)).toEqual(answer);
  });

  it('of a program that cannot be started is a failure', async () => {
    expect(await askVersion(join(folder, 'none'), {})).toMatchObject({
      kind: 'failed',
      why: expect.stringContaining('ENOENT'),
    });
  });

  it.each(['trap "" TERM; sleep 60', 'sleep 60 & wait'])(
    'is not waited for beyond a bound, and nothing is left of the program: %s',
    async (script) => {
      const began = performance.now();
      await ask(script, 300);
      expect(performance.now() - began).toBeLessThan(5_000);
      expect(withEnvironment('VB_VERSION_TEST', folder)).toEqual([]);
    },
  );
});
