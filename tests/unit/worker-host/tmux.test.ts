import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAlive, type ProcessIdentity } from '../../../sidecar/src/process/table.js';
import { privateSocket } from '../../../sidecar/src/server/address.js';
import { programOf } from '../../../sidecar/src/worker-host/programs.js';
import { Tmux, TmuxError } from '../../../sidecar/src/worker-host/tmux.js';
import { processOf, withCommand } from '../../../testing/processes.js';
import { until } from '../../../testing/wait.js';

let root: string;
let tmux: Tmux;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'verbatim-tmux-'));
  const socket = privateSocket(process.env);
  if (socket === null) throw new Error('no folder is short enough for a socket');
  tmux = new Tmux(programOf('tmux', process.env), socket);
});
afterEach(async () => {
  await tmux.close();
  rmSync(root, { recursive: true, force: true });
});

const ENV = { PATH: process.env.PATH ?? '/bin', HOME: '/nowhere' };

/** A program that writes down what it was started as, says a word, and stays. */
function witness(): { readonly argv: string[]; readonly seen: () => Promise<Seen> } {
  const file = join(root, 'seen.json');
  const script = join(root, 'witness.cjs');
  const facts = '{ argv: process.argv.slice(2), cwd: process.cwd(), env: process.env, isTTY: process.stdout.isTTY }';
  writeFileSync(
    script,
    `const fs = require('node:fs');
fs.writeFileSync(${JSON.stringify(`${file}.draft`)}, JSON.stringify(${facts}));
fs.renameSync(${JSON.stringify(`${file}.draft`)}, ${JSON.stringify(file)});
process.stdout.write('here I am');
setInterval(() => {}, 1000);`,
  );
  return {
    argv: [process.execPath, script],
    seen: async () => {
      await until('the program to be up', () => existsSync(file));
      return JSON.parse(readFileSync(file, 'utf8')) as Seen;
    },
  };
}
type Seen = { argv: string[]; cwd: string; env: Record<string, string>; isTTY: boolean };

const shell = (script: string) => tmux.start(['sh', '-c', script], root, ENV);
const gone = (process: ProcessIdentity) => until('the program to end', () => !isAlive(process));

describe('a terminal of a worker’s own', () => {
  it('rule.taskIsJustText: gives the program exactly these words, whatever tmux makes of such', async () => {
    const words = [
      ';',
      'a;',
      'a\\;',
      '\\;',
      '#{pid}',
      '#(touch x)',
      '$HOME',
      '',
      ' ',
      "it's",
      '"',
      '--',
      '-d',
      '~',
      '{',
      '%1',
      'é\n日',
    ];
    const { argv, seen } = witness();
    await tmux.start([...argv, ...words], root, ENV);
    expect((await seen()).argv).toEqual(words);
  });

  it.each(['#{pid}', '#(touch x)', 'with spaces; and more;', '-c', 'é 日'])('begins in the folder %s', async (name) => {
    const cwd = join(root, name);
    mkdirSync(cwd);
    const { argv, seen } = witness();
    await tmux.start(argv, cwd, ENV);
    expect(await seen()).toMatchObject({ cwd, isTTY: true });
  });

  it('gives the program the environment, of which nothing stands on a command line', async () => {
    const secret = `secret-${process.pid}-${Date.now()}`;
    const { argv, seen } = witness();
    const worker = await tmux.start(argv, root, { ...ENV, LICH_TOKEN: secret, SPACES: ' a;b\n#{pid} ' });
    const { env } = await seen();
    expect(env).toMatchObject({ LICH_TOKEN: secret, SPACES: ' a;b\n#{pid} ', TERM: 'tmux-256color' });
    // What this process has and the worker was not given does not come to it by way of the server.
    const more = [
      'PWD',
      'SHELL',
      'TERM',
      'TERM_PROGRAM',
      'TERM_PROGRAM_VERSION',
      'TMUX',
      'TMUX_PANE',
      'LICH_TOKEN',
      'SPACES',
    ];
    expect(Object.keys(env).filter((name) => !(name in ENV) && !more.includes(name) && name !== '_')).toEqual([]);
    expect(withCommand(secret)).toEqual([]);
    expect(withCommand(tmux.socket).map(({ pid }) => pid)).toContain(processOf(worker.pid)?.parent);
  });

  it('is the program itself, not a shell around it, and shows what it says', async () => {
    const { argv, seen } = witness();
    const worker = await tmux.start(argv, root, ENV);
    await seen();
    expect(isAlive(worker)).toBe(true);
    expect(processOf(worker.pid)?.command).toBe(argv.join(' '));
    await until('its word', async () => (await tmux.screen()).includes('here I am'));
  });

  it('has a socket that only its user reaches', async () => {
    await shell('sleep 60');
    expect(lstatSync(dirname(tmux.socket)).mode & 0o777).toBe(0o700);
    expect(lstatSync(tmux.socket).isSocket()).toBe(true);
  });

  it('reads none of the person’s configuration', async () => {
    const home = join(root, 'home');
    mkdirSync(home);
    writeFileSync(join(home, '.tmux.conf'), `run-shell "touch ${join(root, 'was-read')}"`);
    await tmux.start(['sleep', '60'], root, { ...ENV, HOME: home });
    expect(existsSync(join(root, 'was-read'))).toBe(false);
  });

  it('that is started again where it is up has the same program', async () => {
    const first = await shell('sleep 60');
    expect(await shell('sleep 61')).toEqual(first);
  });

  it('of a program that is not there says what the end was', async () => {
    await tmux.start(['/nowhere/claude', '--version'], root, ENV);
    expect(await tmux.ending()).toMatch(/^exit code 1/);
  });

  it('that tmux cannot open is an error in its words', async () => {
    const nowhere = new Tmux(programOf('tmux', process.env), join(root, 'no', 'such', 'folder', 's'));
    await expect(nowhere.start(['true', 'x'], root, ENV)).rejects.toThrow(TmuxError);
    await expect(nowhere.start(['true', 'x'], root, ENV)).rejects.toThrow('No such file or directory');
  });
});

describe('rule.workerEndEndsTheErrand: how a program ended', () => {
  it.each([
    ['exit 0', 'exit code 0'],
    ['exit 7', 'exit code 7'],
    ['exit 255', 'exit code 255'],
    ['kill -9 $$', 'signal 9'],
    ['kill -15 $$', 'signal 15'],
    ['kill -1 $$', 'signal 1'],
  ])('%s is told as %s, and what it said last can be read', async (how, says) => {
    // tmux 3.3a can lose what is said within the first milliseconds, before its window is whole.
    const worker = await shell(`until [ -e go ]; do sleep 0.01; done; echo last words; ${how}`);
    writeFileSync(join(root, 'go'), '');
    await gone(worker);
    expect(await tmux.ending()).toBe(says);
    // And nothing else is there: no line of tmux's own.
    expect((await tmux.screen()).trim()).toBe('last words');
  });

  it('is told each time of ten', async () => {
    for (let time = 0; time < 10; time += 1) {
      await gone(await shell(`exit ${time}`));
      expect(await tmux.ending()).toBe(`exit code ${time}`);
      await tmux.close();
      mkdirSync(dirname(tmux.socket), { mode: 0o700 });
    }
  });

  it('is not known where the server is gone, and then the screen is empty', async () => {
    await shell('sleep 60');
    await tmux.close();
    expect(await tmux.ending()).toBeUndefined();
    expect(await tmux.screen()).toBe('');
  });
});

describe('rule.noWorkerIsLeft: a terminal that is closed', () => {
  it('ends its program and its server, and leaves no file', async () => {
    const worker = await shell('sleep 60');
    await tmux.close();
    await gone(worker);
    await until('the server to end', () => withCommand(tmux.socket).length === 0);
    expect(existsSync(dirname(tmux.socket))).toBe(false);
    await tmux.close();
  });

  it('closes by itself with its program once it was let go', async () => {
    const worker = await shell('read line');
    await tmux.letGo();
    process.kill(worker.pid, 'SIGKILL');
    await until('the server to end', () => withCommand(tmux.socket).length === 0);
  });
});
