import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import {
  descendants,
  isAlive,
  processOf,
  signal,
  untilGone,
  withCommand,
  withEnvironment,
} from '../../../testing/processes.js';
import { until } from '../../../testing/wait.js';

test('a tree is found by its root, its environment and its command, and is known to be gone', async () => {
  const mark = `mark-${process.pid}-${Date.now()}`;
  const child = spawn('/bin/sh', ['-c', 'sleep 31.4 & sleep 31.4; wait'], { env: { VERBATIM_TEST_MARK: mark } });
  const root = await until('the shell', () => processOf(child.pid ?? -1));
  const tree = await until('both sleeps', () => {
    const found = descendants(root.pid);
    return found.length === 2 ? found : undefined;
  });
  expect(withEnvironment('VERBATIM_TEST_MARK', mark).map(({ pid }) => pid)).toEqual(
    expect.arrayContaining([root.pid, ...tree.map(({ pid }) => pid)]),
  );
  expect(withEnvironment('VERBATIM_TEST_MARK', 'another')).toEqual([]);
  expect(withCommand('sleep 31.4').length).toBeGreaterThanOrEqual(2);
  // Another process with this pid would not be it.
  expect(isAlive({ pid: root.pid, started: '1' })).toBe(false);
  for (const one of [root, ...tree]) signal(one, 'SIGKILL');
  await untilGone([root, ...tree]);
});

test('a process that does not end is named', async () => {
  const self = processOf(process.pid);
  if (self === undefined) throw new Error('this process is not in /proc');
  await expect(untilGone([self], 30)).rejects.toThrow(`still alive: ${process.pid}`);
});
