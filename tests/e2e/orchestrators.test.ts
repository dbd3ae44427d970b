/** The client that docs/orchestrators.md shows, run as it stands there, with the real interactive Claude Code. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { says } from '../../testing/fake-messages.js';
import { untilGone } from '../../testing/processes.js';
import { ROOT } from '../../testing/root.js';
import { openWorkers, type Workers } from '../../testing/workers.js';

let workers: Workers;

beforeEach(async () => {
  workers = await openWorkers();
});

afterEach(() => workers.close());

function documentedClient(): string {
  const [, client] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs', 'orchestrators.md'), 'utf8')) ?? [];
  if (client === undefined) throw new Error('docs/orchestrators.md shows no client');
  return client;
}

test('the documented client has thirty lines, hands its task over and prints exactly the answer', async () => {
  const client = documentedClient();
  expect(client.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(30);
  const path = join(workers.place.root, 'client.mjs');
  writeFileSync(path, client);
  const stdin = '/not a command\n  !nor this\n@nor.this';
  workers.claude.main((request) => says(`I was told: <${request.text.includes(stdin)}> ✓\r\nend`));

  const plugin = dirname(dirname(workers.program));
  const command = [process.execPath, path] as const;
  const { stdout, stderr, code } = await workers.run(['--plugin-dir', plugin], { stdin, command });
  expect({ stdout: stdout.toString(), stderr, code }).toEqual({
    stdout: 'I was told: <true> ✓\r\nend',
    stderr: '',
    code: 0,
  });
  await untilGone(workers.place.processes());
});
