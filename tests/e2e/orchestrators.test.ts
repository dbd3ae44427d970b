/** The client that docs/orchestrators.md shows, run as it stands there, with the real interactive Claude Code. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { claudeBinary, claudePlace, copyPlugin, type Place } from '../../testing/claude-place.js';
import { type FakeMessages, fakeMessages, says } from '../../testing/fake-messages.js';
import { untilGone } from '../../testing/processes.js';
import { ROOT } from '../../testing/root.js';

let claude: FakeMessages;
let place: Place;

beforeEach(async () => {
  claude = await fakeMessages();
  place = claudePlace({ url: claude.url, path: [dirname(claudeBinary())] });
});

afterEach(async () => {
  await place.dispose();
  await claude.close();
});

function documentedClient(): string {
  const [, client] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs', 'orchestrators.md'), 'utf8')) ?? [];
  if (client === undefined) throw new Error('docs/orchestrators.md shows no client');
  return client;
}

test('the documented client has thirty lines, hands its task over and prints exactly the answer', async () => {
  const client = documentedClient();
  expect(client.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(30);
  const path = join(place.root, 'client.mjs');
  writeFileSync(path, client);
  const task = '/not a command\n  !nor this\n@nor.this';
  claude.main((request) => says(`I was told: <${request.text.includes(task)}> ✓\r\nend`));

  const run = spawn(process.execPath, [path, '--plugin-dir', copyPlugin(place)], { cwd: place.cwd, env: place.env });
  run.stdin.end(task);
  let stdout = '';
  let stderr = '';
  run.stdout.on('data', (piece: Buffer) => {
    stdout += piece.toString('utf8');
  });
  run.stderr.on('data', (piece: Buffer) => {
    stderr += piece.toString('utf8');
  });
  const code = await new Promise((settle) => run.once('close', settle));
  expect({ stdout, stderr, code }).toEqual({ stdout: 'I was told: <true> ✓\r\nend', stderr: '', code: 0 });
  await untilGone(place.processes());
});
