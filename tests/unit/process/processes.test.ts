/** Real processes: who they are, what they start, and that they end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach, describe, expect, test } from 'vitest';
import { Child } from '../../../sidecar/src/process/child.js';
import { killAll, signal } from '../../../sidecar/src/process/ladder.js';
import {
  carrying,
  entryOf,
  isAlive,
  type ProcessIdentity,
  parsePs,
  parseStat,
} from '../../../sidecar/src/process/table.js';
import { ProcessTree } from '../../../sidecar/src/process/tree.js';
import { until } from '../../../testing/wait.js';

const MARK = `child-${process.pid}`;

const started: ProcessIdentity[] = [];
afterEach(async () => {
  await killAll(() => started);
  started.length = 0;
});

function identityOf(pid: number | undefined): ProcessIdentity {
  const entry = entryOf(pid ?? -1);
  if (!entry) throw new Error(`no process ${pid}`);
  started.push(entry);
  return entry;
}

/** Starts a shell and resolves with the pids that its script prints, one a line. */
async function shell(script: string, count: number, env = {}): Promise<{ child: ChildProcess; pids: number[] }> {
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, ...env } });
  let text = '';
  const pids = await new Promise<number[]>((resolve) => {
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const found = text.split('\n').slice(0, -1).map(Number);
      if (found.length === count) resolve(found);
    });
  });
  return { child, pids };
}

describe('a process', () => {
  test('is read from a stat line whose name holds spaces and parentheses', () => {
    const fields = ['S', '7', ...Array.from({ length: 17 }, (_, at) => String(at)), '4242', '0'];
    expect(parseStat(`12 (a) b (c)) ${fields.join(' ')}`)).toEqual({
      pid: 12,
      parent: 7,
      startTime: '4242',
      isZombie: false,
      name: 'a) b (c)',
    });
    expect(parseStat('garbage')).toBeNull();
  });

  test('is read from the lines of ps where there is no /proc', () => {
    const text =
      '    1     0 Ss   Mon Nov 30 09:08:07 2026 /sbin/launchd\n  412     1 Z    Tue Dec  1 10:00:00 2026 (a b)\n';
    expect(parsePs(text)).toEqual([
      { pid: 1, parent: 0, startTime: 'Mon Nov 30 09:08:07 2026', isZombie: false, name: '/sbin/launchd' },
      { pid: 412, parent: 1, startTime: 'Tue Dec  1 10:00:00 2026', isZombie: true, name: '(a b)' },
    ]);
  });

  test('is not signalled when its start time is another one: that pid is somebody else', async () => {
    const { pids } = await shell('echo $$; exec sleep 60', 1);
    const real = identityOf(pids[0]);
    expect(signal({ pid: real.pid, startTime: '1' }, 'SIGKILL')).toBe(false);
    expect(isAlive(real)).toBe(true);
    expect(signal(real, 'SIGKILL')).toBe(true);
    await until('the process to end', () => !isAlive(real));
  });

  test('is found by a variable of its environment, wherever it hangs in the tree', async () => {
    const { pids } = await shell('setsid sleep 60 > /dev/null & echo $!; exec sleep 60 > /dev/null', 1, {
      VERBATIM_TEST: 'mark-1',
    });
    await until('both processes', () => carrying('VERBATIM_TEST', ['mark-1']).length >= 2);
    const found = carrying('VERBATIM_TEST', ['mark-1']);
    started.push(...found);
    expect(found.map((entry) => entry.pid)).toContain(pids[0]);
    expect(carrying('VERBATIM_TEST', ['mark-'])).toEqual([]);
    expect(await killAll(() => carrying('VERBATIM_TEST', ['mark-1']))).toEqual([]);
    expect(found.filter(isAlive)).toEqual([]);
  });
});

describe('a tree', () => {
  test('keeps what it once saw, also when its parent is gone', async () => {
    const { child, pids } = await shell(
      'sh -c "setsid sleep 60 > /dev/null 2>&1 & echo \\$!; wait" & echo $!; wait',
      2,
    );
    const root = identityOf(child.pid);
    for (const pid of pids) identityOf(pid);
    const tree = new ProcessTree(root);
    tree.sample();
    expect(pids.every((pid) => tree.has(pid))).toBe(true);
    signal(root, 'SIGKILL');
    await until('the root to end', () => !isAlive(root));
    tree.sample();
    expect(
      tree
        .living()
        .map(({ pid }) => pid)
        .sort(),
    ).toEqual(expect.arrayContaining([...pids].sort()));
    expect(await killAll(() => tree.living())).toEqual([]);
    expect(tree.living()).toEqual([]);
  });
});

describe('a child', () => {
  const start = (script: string, onLine: (line: string) => void = () => {}, lineLimit?: number) => {
    const env = { PATH: process.env.PATH ?? '', MARK: MARK };
    const child = Child.start({ program: process.execPath, args: ['-e', script], cwd: '/', env, onLine, lineLimit });
    if (child.identity) started.push(child.identity);
    return child;
  };

  test('hands on its lines, the last one without a newline too, and only then has exited', async () => {
    const lines: string[] = [];
    const child = start('process.stdout.write("one\\ntwo\\nlast")', (line) => lines.push(line));
    expect(await child.exited).toEqual({ code: 0, signal: null, fault: null });
    expect(lines).toEqual(['one', 'two', 'last']);
  });

  test('gets nothing of our environment that it was not given', async () => {
    const lines: string[] = [];
    const child = start('console.log(Object.keys(process.env).sort().join())', (line) => lines.push(line));
    await child.exited;
    expect(lines).toEqual(['MARK,PATH']);
  });

  test('that ends when its stdin closes is asked, not killed', async () => {
    const child = start('process.stdin.resume().on("end", () => process.exit(7))');
    expect(await child.end()).toEqual([]);
    expect(await child.exited).toMatchObject({ code: 7, signal: null });
  });

  test('that ignores stdin and SIGTERM is killed with all that it started', async () => {
    const lines: string[] = [];
    const script = `process.on("SIGTERM", () => {});
      const { spawn } = require("node:child_process");
      const below = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
      console.log(below.pid);
      setInterval(() => {}, 1000);`;
    const child = start(script, (line) => lines.push(line));
    await until('the first line', () => lines.length === 1);
    const below = identityOf(Number(lines[0]));
    expect(await child.end(() => [], { askMs: 50, termMs: 50, killMs: 2_000 })).toEqual([]);
    expect(await child.exited).toMatchObject({ signal: 'SIGKILL' });
    expect(isAlive(below)).toBe(false);
  });

  test('that cannot be started says so', async () => {
    const child = Child.start({ program: '/no/such/program', args: [], cwd: '/', env: {}, onLine: () => {} });
    expect((await child.exited).fault?.message).toContain('/no/such/program');
    expect(() => child.write('x')).not.toThrow();
    expect(await child.end()).toEqual([]);
  });

  test('whose line has no end is ended, and the fault says why', async () => {
    const child = start('setInterval(() => process.stdout.write("x".repeat(1000)), 1)', () => {}, 10_000);
    expect((await child.exited).fault?.message).toContain('longer than 10000 bytes');
  });

  test('whose grandchild keeps its stdout open has exited all the same', async () => {
    const child = start(
      'require("node:child_process").spawn("sleep", ["60"], { detached: true, stdio: ["ignore", "inherit", "ignore"] }).unref()',
    );
    child.tree?.sample();
    expect(await child.exited).toMatchObject({ code: 0 });
    await killAll(() => carrying('MARK', [MARK]));
  });
});
