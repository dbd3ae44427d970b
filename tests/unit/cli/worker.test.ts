import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildBundle } from '../../../scripts/sidecar-bundle.js';
import type { ErrandEnd, ErrandRecord } from '../../../sidecar/src/desk/errand.js';
import { Errands } from '../../../sidecar/src/desk/errands.js';
import { ownIdentity } from '../../../sidecar/src/process/table.js';
import { NEW } from '../desk/lab.js';

let bundle: string;
let root: string;
let state: string;
let errands: Errands;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'verbatim-worker-cli-'));
  bundle = join(root, 'verbatim.mjs');
  writeFileSync(bundle, await buildBundle(), { mode: 0o755 });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  state = join(mkdtempSync(join(root, 'state-')), 'verbatim');
  errands = new Errands(state);
});

type Ran = { readonly code: number | null; readonly out: Buffer; readonly text: string; readonly complaint: string };
type How = { readonly env?: NodeJS.ProcessEnv; readonly input?: string | Buffer; readonly cwd?: string };

function verbatim(args: readonly string[], how: How = {}): Ran {
  return ranOf(
    spawnSync(process.execPath, [bundle, ...args], { ...how, env: environment(how.env), input: how.input ?? '' }),
  );
}

/** This process's environment, as no worker has it, with the state folder of the test. */
function environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { LICH_SUBAGENT_DEPTH: _depth, VERBATIM_ERRAND: _errand, ...env } = process.env;
  return { ...env, XDG_STATE_HOME: dirname(state), ...more };
}

function ranOf(ran: SpawnSyncReturns<Buffer>): Ran {
  return {
    code: ran.status,
    out: ran.stdout,
    text: ran.stdout.toString('utf8'),
    complaint: ran.stderr.toString('utf8'),
  };
}

/** A folder for PATH with these programs, each of which does nothing. */
function programs(...names: string[]): string {
  const folder = mkdtempSync(join(root, 'bin-'));
  for (const name of names) {
    writeFileSync(join(folder, name), '#!/bin/sh\nexit 0\n');
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

const GONE = { pid: process.pid, startTime: '1' };

function errand(facts: Partial<ErrandRecord> = {}, task = 'the task'): string {
  const record = { ...errands.open(task, { ...NEW, cwd: '/w' }, Date.now()), ...facts };
  errands.save(record);
  return record.id;
}

function answered(answer: string | Buffer, facts: Partial<ErrandRecord> = {}): string {
  const bytes = Buffer.byteLength(answer);
  const id = errand({ end: { kind: 'answered', bytes, sha256: 'f'.repeat(64), isTruncated: false }, ...facts });
  errands.keepAnswer(id, answer.toString());
  return id;
}

const noErrandWasMade = () => expect(existsSync(join(state, 'errands'))).toBe(false);

/** Neither of the two programs is there: what comes as far as looking for them took its arguments. */
const WITHOUT = { PATH: '/nowhere' };
const LOOKS_FOR_TMUX = 'verbatim worker: tmux is missing';

describe('verbatim worker', () => {
  it('alone explains itself: exit code 2', () => {
    const ran = verbatim(['worker']);
    expect(ran).toMatchObject({ code: 2, text: '' });
    expect(ran.complaint).toContain('Usage: verbatim worker <command>');
  });

  it.each([
    ['worker', '--help'],
    ['worker', '-h'],
    ['help', 'worker'],
  ])('%s %s explains it, without the hidden command', (...args) => {
    const { code, text } = verbatim(args);
    expect(code).toBe(0);
    for (const command of ['run', 'list', 'attach', 'answer', 'stop']) expect(text).toContain(`  ${command} `);
    expect(text).not.toContain('host');
  });

  it.each(['run', 'list', 'attach', 'answer', 'stop', 'host'])('%s --help explains that command', (command) => {
    const { text } = verbatim(['worker', command, '--help']);
    expect(text).toContain(`Usage: verbatim worker ${command}`);
    expect(verbatim(['worker', command, '-h'])).toMatchObject({ code: 0, text });
    expect(verbatim(['help', 'worker', command])).toMatchObject({ code: 0, text });
  });

  it('is named by the page of all commands', () => {
    expect(verbatim(['--help']).text).toContain('  worker …');
  });

  const ID = `e${'a'.repeat(20)}`;
  it.each<[string[], string]>([
    [['frobnicate'], 'there is no command "frobnicate"; see `verbatim worker --help`'],
    [['constructor'], 'there is no command "constructor"'],
    [
      ['run', '--modle', 'opus'],
      'verbatim worker run: there is no option --modle here; see `verbatim worker run --help`',
    ],
    [['run', 'one', 'two'], 'verbatim worker run: "two" is one argument too many'],
    [['run', '--model'], 'verbatim worker run: --model needs a value'],
    [['run', '--keep=yes', 'x'], 'verbatim worker run: --keep takes no value, it was given "yes"'],
    [['run', '--cwd', '/', '--cwd', '/', 'x'], 'verbatim worker run: --cwd is given twice'],
    [['run', '-x', 'y'], 'verbatim worker run: there is no option -x here'],
    [['list', ID], 'verbatim worker list: "eaaaaaaaaaaaaaaaaaaaa" is one argument too many'],
    [['attach'], 'verbatim worker attach: <errand> is missing'],
    [['answer'], 'verbatim worker answer: <errand> is missing'],
    [['stop'], 'verbatim worker stop: <errand> is missing'],
    [['host'], 'verbatim worker host: <errand> is missing'],
    [['host', '../x'], '"../x" is no errand id'],
    [['answer', '../../etc'], '"../../etc" is no errand id: "e" and 20 letters or digits'],
    [['stop', ID.toUpperCase()], 'is no errand id'],
    [['attach', ''], '"" is no errand id'],
  ])('%j is asked for wrongly: exit code 2, naming what was wrong in one line', (args, says) => {
    const ran = verbatim(['worker', ...args]);
    expect(ran).toMatchObject({ code: 2, text: '' });
    expect(ran.complaint).toContain(says);
    expect(ran.complaint.trimEnd().split('\n')).toHaveLength(1);
    expect(existsSync(state)).toBe(false);
  });

  it.each(['attach', 'answer', 'stop', 'host'])(
    '%s of an errand that is not there says so, and makes no folder',
    (command) => {
      const says = `verbatim worker: there is no errand ${ID}; \`verbatim worker list\` lists them\n`;
      expect(verbatim(['worker', command, ID])).toMatchObject({ code: 1, text: '', complaint: says });
      expect(existsSync(state)).toBe(false);
    },
  );
});

describe('verbatim worker run refuses', () => {
  function refused(args: readonly string[], says: string, how: How = {}, code = 2): void {
    const ran = verbatim(['worker', 'run', ...args], { ...how, env: { ...WITHOUT, ...how.env } });
    expect(ran).toMatchObject({ code, text: '' });
    expect(ran.complaint).toContain(says);
    expect(ran.complaint.trimEnd().split('\n')).toHaveLength(1);
    expect(existsSync(state)).toBe(false);
  }

  const file = (bytes: string | Buffer) => {
    const path = join(mkdtempSync(join(root, 'task-')), 'task');
    writeFileSync(path, bytes);
    return path;
  };

  it.each<[string, readonly string[], string | undefined]>([
    ['an empty one', [''], undefined],
    ['white space', [' \n\t\u00a0'], undefined],
    ['nothing on stdin', [], ''],
    ['white space on stdin', ['-'], '\n\n'],
  ])('a blank task: %s', (_, args, input) => {
    refused(args, 'verbatim worker run: the task is blank', { input });
  });

  it('nothing on stdin, saying where the task could have stood', () => {
    refused([], 'the task is blank: nothing stood on stdin; see `verbatim worker run --help`', { input: '' });
  });

  it('an empty file', () => refused(['--file', file('')], 'verbatim worker run: the task is blank'));

  it('a task and a file', () => {
    refused(['x', '--file', file('y')], 'verbatim worker run: give the task or --file, not both');
    refused(['-', '--file', file('y')], 'verbatim worker run: give the task or --file, not both', { input: 'x' });
  });

  it('a file that is not there, and a folder', () => {
    refused(['--file', '/nowhere/task'], 'the task cannot be read: ENOENT', {}, 1);
    refused(['--file', root], 'the task cannot be read: EISDIR', {}, 1);
  });

  it.each<[string, Buffer]>([
    ['Latin-1', Buffer.from('caf\xe9', 'latin1')],
    ['half a character', Buffer.from('\u20ac').subarray(0, 2)],
    ['a surrogate', Buffer.from([0xed, 0xa0, 0x80])],
  ])('what is not UTF-8, from a file and from stdin: %s', (_, bytes) => {
    refused(['--file', file(bytes)], 'verbatim worker run: the task is not UTF-8');
    refused([], 'verbatim worker run: the task is not UTF-8', { input: bytes });
  });

  it('a task that is too long, and takes the longest', () => {
    refused([], 'the task has more than 600000 characters; put it in a file', {
      input: 'x'.repeat(600_001),
    });
    refused([], LOOKS_FOR_TMUX, { input: '\u{1f600}'.repeat(300_000) }, 1);
  });

  it.each([
    ['a folder that is not there', '/nowhere'],
    ['a file', '/etc/hostname'],
  ])('a --cwd that is %s', (_, cwd) => {
    refused(['--cwd', cwd, 'x'], `verbatim worker run: --cwd "${cwd}" is not a folder`);
  });

  it.each(['0', '4', '-1', '1.5', 'deep', '0x1', ' 1', '1e0'])('a --depth of %j', (depth) => {
    refused([`--depth=${depth}`, 'x'], `--depth must be a whole number from 1 to 3, it is ${JSON.stringify(depth)}`);
  });

  it('a --depth that is no deeper than the session', () => {
    const env = { LICH_SUBAGENT_DEPTH: '2' };
    refused(['--depth', '2', 'x'], '--depth must be a whole number from 3 to 3, it is "2"', { env });
    refused(['--depth', '3', 'x'], LOOKS_FOR_TMUX, { env }, 1);
  });

  it('any task at the depth limit: exit code 1, for it was asked for rightly', () => {
    const says = 'this session is a worker 3 levels down, and workers may stand at most 3 deep; do the task here';
    refused(['x'], says, { env: { LICH_SUBAGENT_DEPTH: '3' } }, 1);
    refused(['--depth', '1', 'x'], says, { env: { LICH_SUBAGENT_DEPTH: '3' } }, 1);
  });

  it('a --depth that is no deeper than the errand around it, whatever the environment says', () => {
    const around = errand({ depth: 2 });
    for (const LICH_SUBAGENT_DEPTH of [undefined, '0', '1', 'x']) {
      const env = { ...WITHOUT, VERBATIM_ERRAND: around, LICH_SUBAGENT_DEPTH };
      const { code, complaint } = verbatim(['worker', 'run', '--depth', '2', 'x'], { env });
      expect([code, complaint]).toEqual([
        2,
        'verbatim worker run: --depth must be a whole number from 3 to 3, it is "2"\n',
      ]);
      expect(verbatim(['worker', 'run', '--depth', '3', 'x'], { env }).complaint).toContain(LOOKS_FOR_TMUX);
    }
    const deeper = { ...WITHOUT, VERBATIM_ERRAND: around, LICH_SUBAGENT_DEPTH: '3' };
    expect(verbatim(['worker', 'run', 'x'], { env: deeper }).complaint).toContain('a worker 3 levels down');
    const deepest = { ...WITHOUT, VERBATIM_ERRAND: errand({ depth: 3 }), LICH_SUBAGENT_DEPTH: '1' };
    expect(verbatim(['worker', 'run', 'x'], { env: deepest })).toMatchObject({
      code: 1,
      complaint: expect.stringContaining('a worker 3 levels down, and workers may stand at most 3 deep'),
    });
  });

  it('no depth where the errand around it is not there, or damaged', () => {
    const damaged = errand({ depth: 3 });
    writeFileSync(join(errands.folderOf(damaged), 'state.json'), '{');
    for (const VERBATIM_ERRAND of [damaged, `e${'q'.repeat(20)}`, '../x']) {
      const { complaint } = verbatim(['worker', 'run', '--depth', '1', 'x'], { env: { ...WITHOUT, VERBATIM_ERRAND } });
      expect(complaint).toContain(LOOKS_FOR_TMUX);
    }
  });

  it.each(['model', 'permission-mode'])('a --%s of more than 200 characters', (name) => {
    refused([`--${name}`, 'm'.repeat(201), 'x'], `verbatim worker run: --${name} must have at most 200 characters`);
    refused([`--${name}`, 'm'.repeat(200), 'x'], LOOKS_FOR_TMUX, {}, 1);
  });

  it.each<[string, (evil: string) => string[]]>([
    ['the name of a --file', (evil) => ['--file', `/nowhere/${evil}`]],
    ['a --cwd', (evil) => ['--cwd', `/nowhere/${evil}`, 'x']],
    ['an unknown option', (evil) => [`--${evil}`, 'x']],
    ['an unknown option with a value', (evil) => [`--${evil}=x`]],
    ['a --depth', (evil) => [`--depth=${evil}`, 'x']],
    ['a --timeout', (evil) => [`--timeout=${evil}`, 'x']],
    ['a second task', (evil) => ['x', evil]],
  ])('%s that could steer a terminal, which shows nothing of it raw', (_, args) => {
    const ran = verbatim(['worker', 'run', ...args('a\u001b[2J\u009b\u202e\u2066\u0007\nb')], { env: WITHOUT });
    expect(ran.text).toBe('');
    expect(ran.code).not.toBe(0);
    expect(ran.complaint).toMatch(/^verbatim worker run: .+\n$/);
    expect(ran.complaint.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it.each(['0s', '60', 'm', '1d', '1.5h', '-1s', '600h', '99999999s', 'ten minutes'])(
    'a --timeout of %j',
    (timeout) => {
      refused(
        [`--timeout=${timeout}`, 'x'],
        `--timeout must be a number with s, m or h (90s, 60m, 2h), at most 576h, it is "${timeout}"`,
      );
    },
  );

  it.each(['1s', '90m', '596h'])('no --timeout of %s', (timeout) => {
    refused(['--timeout', timeout, 'x'], LOOKS_FOR_TMUX, {}, 1);
  });

  it('--unattended with a value, and takes it alone', () => {
    refused(['--unattended=yes', 'x'], '--unattended takes no value, it was given "yes"');
    refused(['--unattended', 'x'], LOOKS_FOR_TMUX, {}, 1);
    expect(verbatim(['worker', 'run', '--help']).text).toContain('5 unattended and waits for a person');
  });

  it('without tmux, naming the package', () => {
    refused(['x'], 'tmux is missing', { env: { PATH: programs('claude') } }, 1);
    refused(['x'], 'Install the package tmux (apt-get install tmux, brew install tmux)', {}, 1);
  });

  it('without Claude Code, naming the command that installs it', () => {
    const says = 'claude is missing: install Claude Code: npm install -g @anthropic-ai/claude-code';
    refused(['x'], says, { env: { PATH: programs('tmux') } }, 1);
  });

  if (process.platform === 'linux') {
    it('to read a task from a terminal', () => {
      // `script` gives it a terminal of its own.
      const command = `'${process.execPath}' '${bundle}' worker run`;
      const ran = spawnSync('script', ['-qec', command, '/dev/null'], { env: environment(), encoding: 'utf8' });
      expect(ran).toMatchObject({ status: 2 });
      expect(ran.stdout).toContain('verbatim worker run: <task> is missing; see `verbatim worker run --help`');
      noErrandWasMade();
    });
  }
});

describe('rule.taskIsJustText: verbatim worker run takes for its task', () => {
  it.each<[string, readonly string[]]>([
    ['what follows --, though it is an option', ['--', '--help']],
    ['what follows --, though it is short', ['--', '-h']],
    ['what follows --, whatever came before', ['--keep', '--', '--model']],
    ['a command’s name', ['list']],
    ['a word with an equals sign', ['--', '--cwd=/']],
  ])('%s', (_, args) => {
    const ran = verbatim(['worker', 'run', ...args], { env: WITHOUT });
    expect(ran).toMatchObject({ code: 1, text: '', complaint: expect.stringContaining(LOOKS_FOR_TMUX) });
  });

  it.each(['--help', '-h'])('not %s before --, nor in another place before it', (help) => {
    for (const args of [
      [help, '--', 'x'],
      ['x', help],
      ['--model', 'opus', help],
    ]) {
      expect(verbatim(['worker', 'run', ...args], { env: WITHOUT })).toMatchObject({
        code: 0,
        text: expect.stringContaining('Usage: verbatim worker run'),
      });
    }
  });

  it('a second word after -- is one too many, and names it', () => {
    const ran = verbatim(['worker', 'run', '--', '-a', '-b'], { env: WITHOUT });
    expect(ran).toMatchObject({ code: 2, complaint: expect.stringContaining('"-b" is one argument too many') });
  });
});

describe('verbatim worker list', () => {
  it('of a fresh machine says that there are none, and makes no folder', () => {
    expect(verbatim(['worker', 'list'])).toMatchObject({
      code: 0,
      text: 'No errands are kept. `verbatim worker run "<task>"` makes one.\n',
      complaint: '',
    });
    expect(existsSync(state)).toBe(false);
  });

  const here = () => ({ asker: ownIdentity(), host: ownIdentity() });
  const KEPT = () => ({ isKept: true, worker: ownIdentity() });
  const states: [string, string, () => Partial<ErrandRecord>][] = [
    ['starting', 'starting', () => here()],
    ['working', 'working', () => ({ ...here(), take: 'a' })],
    ['waits: trust', 'waiting', () => ({ ...here(), wait: { for: 'trust', what: '' } })],
    ['waits: mcp servers', 'waiting', () => ({ ...here(), wait: { for: 'mcp_servers', what: '' } })],
    ['waits: question', 'waiting', () => ({ ...here(), take: 'a', wait: { for: 'question', what: 'Which?' } })],
    ['working', 'working', () => ({ ...here(), host: GONE, take: 'a', ...KEPT() })],
    ['abandoned', 'abandoned', () => ({ asker: GONE, host: GONE, take: 'a', wait: { for: 'question', what: '' } })],
    ['abandoned', 'abandoned', () => ({})],
    ['answered', 'answered', () => ({ end: { kind: 'answered', bytes: 1, sha256: 'x', isTruncated: false } })],
    ['unanswered', 'unanswered', () => ({ end: { kind: 'unanswered', how: 'blank' } })],
    ['worker ended', 'worker_ended', () => ({ end: { kind: 'worker_ended', detail: 'exit code 1' } })],
    ['timed out', 'timed_out', () => ({ end: { kind: 'timed_out' } })],
    ['needs person', 'needs_person', () => ({ end: { kind: 'needs_person', wait: { for: 'trust', what: '' } } })],
    ['interrupted', 'interrupted', () => ({ end: { kind: 'interrupted', detail: 'SIGINT' } })],
    ['failed', 'failed', () => ({ end: { kind: 'failed', detail: 'no tmux' } })],
    ['timed out, kept open', 'timed_out', () => ({ ...KEPT(), end: { kind: 'timed_out' } })],
    ['timed out', 'timed_out', () => ({ isKept: true, worker: null, end: { kind: 'timed_out' } })],
  ];

  it('says how each stands, the newest first, in words and for programs', () => {
    const ids = states.map(([, , facts], n) => errand({ ...facts(), createdAt: Date.now() - n * 60_000 }, `task ${n}`));
    const { code, text, complaint } = verbatim(['worker', 'list']);
    expect([code, complaint]).toEqual([0, '']);
    const [head, ...rows] = text.trimEnd().split('\n');
    expect(head).toMatch(/^ERRAND +STATUS +DEPTH +BEGUN +FOLDER +TASK$/);
    const ago = (n: number) => (n === 0 ? 'just now' : `${n} min ago`);
    expect(rows.map((row) => row.split(/ {2,}/))).toEqual(
      states.map(([words], n) => [ids[n], words, '1', ago(n), '/w', `task ${n}`]),
    );
    const json = JSON.parse(verbatim(['worker', 'list', '--json']).text) as {
      errands: Record<string, unknown>[];
      problems: unknown[];
    };
    expect(json.errands.map(({ id, status, isKeptOpen }) => [id, status, isKeptOpen])).toEqual(
      states.map(([words, status], n) => [ids[n], status, words.endsWith(', kept open')]),
    );
    expect(json.problems).toEqual([]);
    expect(json.errands[4]).toMatchObject({
      wait: { for: 'question', what: 'Which?', sentence: 'it asks a question (Which?)' },
      end: null,
      endedAt: null,
      workerPid: null,
      claudeSession: null,
      isUnattended: false,
      task: 'task 4',
    });
    expect(json.errands[10]).toMatchObject({
      end: { kind: 'worker_ended', sentence: `the worker of errand ${ids[10]} ended before it answered: exit code 1` },
    });
    expect(json.errands[15]).toMatchObject({ isKept: true, workerPid: process.pid });
  });

  it('shows what is open first, though it is older, and --json keeps to when each began', () => {
    const minutes = (n: number) => Date.now() - n * 60_000;
    const newest = errand({ end: { kind: 'timed_out' }, createdAt: minutes(1) });
    const open = errand({ ...here(), createdAt: minutes(2) });
    const older = errand({ end: { kind: 'timed_out' }, createdAt: minutes(3) });
    const oldest = errand({ asker: GONE, createdAt: minutes(4) });
    const rows = verbatim(['worker', 'list']).text.trimEnd().split('\n').slice(1);
    expect(rows.map((row) => row.split(' ')[0])).toEqual([open, oldest, newest, older]);
    const { errands: all } = JSON.parse(verbatim(['worker', 'list', '--json']).text) as { errands: { id: string }[] };
    expect(all.map(({ id }) => id)).toEqual([newest, open, older, oldest]);
  });

  it('shows a long folder by its end', () => {
    errand({ cwd: `/${'deep/'.repeat(20)}the-project` });
    errand({ cwd: `/${'x'.repeat(27)}` });
    const { text } = verbatim(['worker', 'list']);
    expect(text).toContain(` …${'deep/'.repeat(20).slice(-16)}the-project `);
    expect(text).toContain(` /${'x'.repeat(27)} `);
    expect(text).not.toContain('/deep/deep/deep/deep/deep');
  });

  it('--json escapes what could steer a terminal in what others wrote, and says the same', () => {
    const task = 'a task\u009b2J\u202e\u007f of two\nlines';
    errand({ cwd: '/evil\u009dfolder' }, task);
    const { text } = verbatim(['worker', 'list', '--json']);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(text)).toMatchObject({ errands: [{ task, cwd: '/evil\u009dfolder' }] });
  });

  it('gives no secret away: neither the token of its desk nor the way to its terminal', () => {
    errand({ ...here(), desk: { port: 4_711, token: 'a-secret-token' }, tmux: '/tmp/secret-socket/s' });
    for (const args of [[], ['--json']]) {
      const { text } = verbatim(['worker', 'list', ...args]);
      expect(text).toContain('starting');
      expect(text).not.toContain('secret');
    }
  });

  it('shows foreign text as one line that cannot steer a terminal', () => {
    errand({ cwd: '/evil\u001b[2J\nfolder\u202e' }, 'a task\u001b]0;x\u0007\nof two lines');
    const { text } = verbatim(['worker', 'list']);
    expect(text.trimEnd().split('\n')).toHaveLength(2);
    expect(text).not.toMatch(/[\u001b\u0007\u202e]/);
  });

  it.each<[string, string, (folder: string) => void]>([
    ['a link', 'is a link', (folder) => symlinkSync('/etc', folder)],
    ['a file', 'is not a folder', (folder) => writeFileSync(folder, '')],
    [
      'damaged',
      'JSON',
      (folder) => {
        mkdirSync(folder);
        writeFileSync(join(folder, 'state.json'), '{"version":1');
      },
    ],
    [
      'of a newer Verbatim',
      'Update Verbatim',
      (folder) => {
        mkdirSync(folder);
        writeFileSync(join(folder, 'state.json'), '{"version":7}');
      },
    ],
  ])('names a folder that is %s, and still lists the others: exit code 1', (_, says, make) => {
    const good = errand();
    const bad = `e${'b'.repeat(20)}`;
    make(errands.folderOf(bad));
    const { code, text, complaint } = verbatim(['worker', 'list']);
    expect(code).toBe(1);
    expect(text).toContain(good);
    expect(complaint).toContain(errands.folderOf(bad));
    expect(complaint).toContain(says);
    expect(complaint.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(verbatim(['worker', 'list', '--json']).text)).toMatchObject({
      errands: [{ id: good }],
      problems: [{ id: bad, problem: expect.stringContaining(says) }],
    });
    for (const command of ['answer', 'attach', 'stop']) {
      expect(verbatim(['worker', command, bad])).toMatchObject({
        code: 1,
        text: '',
        complaint: expect.stringContaining(says),
      });
    }
    rmSync(errands.folderOf(bad), { recursive: true });
  });

  it('does not take a folder that is being made for an errand', () => {
    mkdirSync(join(state, 'errands', `e${'c'.repeat(20)}`), { recursive: true, mode: 0o700 });
    expect(verbatim(['worker', 'list'])).toMatchObject({
      code: 0,
      text: expect.stringContaining('No errands'),
      complaint: '',
    });
  });
});

describe('rule.onlyTheAnswerOnStdout: verbatim worker answer', () => {
  it.each([
    ['white space around it', ' \n\r\n\tanswer \n\n'],
    ['no newline at its end', 'answer'],
    ['NUL, U+2028, a BOM and emoji', '\ufeff\0\u2028\u{1f468}\u200d\u{1f469}e\u0301'],
    ['as long as a report may be', `${'0123456789abcde\n'.repeat(4_000)}end`],
  ])('prints exactly its bytes: %s', (_, text) => {
    const ran = verbatim(['worker', 'answer', answered(text)]);
    expect(ran).toMatchObject({ code: 0, complaint: '' });
    expect(ran.out.equals(Buffer.from(text))).toBe(true);
  });

  it.each<[number, string, ErrandEnd]>([
    [
      3,
      'errand ID has no answer: the worker ended its turn with a blank message',
      { kind: 'unanswered', how: 'blank' },
    ],
    [3, "errand ID has no answer: the worker's turn failed", { kind: 'unanswered', how: 'error' }],
    [3, "errand ID has no answer: the worker's model refused", { kind: 'unanswered', how: 'refusal' }],
    [4, 'the worker of errand ID ended before it answered: signal 9', { kind: 'worker_ended', detail: 'signal 9' }],
    [124, 'errand ID was not answered in time', { kind: 'timed_out' }],
    [124, 'errand ID was not answered in time', { kind: 'timed_out', isTaken: true }],
    [124, 'errand ID was not answered in time: its worker had not started yet', { kind: 'timed_out', isTaken: false }],
    [
      124,
      'errand ID was not answered in time: it asks whether you trust its folder',
      { kind: 'timed_out', isTaken: false, wait: { for: 'trust', what: '' } },
    ],
    [
      124,
      'errand ID was not answered in time: it asks for permission (Bash: ls)',
      { kind: 'timed_out', isTaken: true, wait: { for: 'permission', what: 'Bash: ls' } },
    ],
    [
      5,
      'the worker of errand ID needs somebody, and is unattended: it asks a question (Which?)',
      { kind: 'needs_person', wait: { for: 'question', what: 'Which?' } },
    ],
    [
      5,
      'the worker of errand ID needs somebody, and is unattended: its turn failed (limit); it waits for a message',
      { kind: 'needs_person', wait: { for: 'turn_failed', what: 'limit' } },
    ],
    [130, 'errand ID was interrupted: SIGINT', { kind: 'interrupted', detail: 'SIGINT' }],
    [1, 'errand ID failed: no room', { kind: 'failed', detail: 'no room' }],
  ])('of another end exits with %i and says on stderr: %s', (code, says, end) => {
    const id = errand({ end });
    const sentence = says.replace('ID', id);
    expect(verbatim(['worker', 'answer', id])).toEqual({
      code,
      out: Buffer.alloc(0),
      text: '',
      complaint: `verbatim worker: ${sentence}\n`,
    });
    const json = verbatim(['worker', 'answer', id, '--json']);
    const { kind, ...facts } = end;
    expect(JSON.parse(json.text)).toEqual({ errand: id, status: kind, ...facts, claudeSession: null });
    expect(json).toMatchObject({ code, complaint: `verbatim worker: ${sentence}\n` });
  });

  it('--json has the answer with how the errand ended', () => {
    const id = answered('an "answer"\n', { claudeSession: 'c7a1' });
    const ran = verbatim(['worker', 'answer', id, '--json']);
    expect(ran).toMatchObject({ code: 0, complaint: '' });
    expect(JSON.parse(ran.text)).toEqual({
      errand: id,
      status: 'answered',
      bytes: 12,
      sha256: 'f'.repeat(64),
      isTruncated: false,
      claudeSession: 'c7a1',
      answer: 'an "answer"\n',
    });
  });

  it('says how to go on with the session that has no answer, and not where there is one or no session', () => {
    const claudeSession = '6f1c4f0e-3f6f-4c4b-9a55-0123456789ab';
    const id = errand({ end: { kind: 'timed_out' }, claudeSession });
    const resume = `verbatim worker: to go on: claude --resume ${claudeSession}`;
    for (const args of [[], ['--json']]) {
      const { complaint } = verbatim(['worker', 'answer', id, ...args]);
      expect(complaint.trimEnd().split('\n').slice(1)).toEqual([resume]);
    }
    expect(JSON.parse(verbatim(['worker', 'answer', id, '--json']).text)).toMatchObject({ claudeSession });
    expect(verbatim(['worker', 'answer', answered('x', { claudeSession })]).complaint).toBe('');
    expect(verbatim(['worker', 'answer', errand({ end: { kind: 'timed_out' } })]).complaint).not.toContain('to go on');
  });

  it('--json escapes what could steer a terminal, and says the same', () => {
    const all = Array.from({ length: 0x9f - 0x7f + 1 }, (_, n) => String.fromCharCode(0x7f + n)).join('');
    const answer = `\0\u001b[2J${all}\u202e\u200b\u2066\ufeff\u00ad\u{e0001}\u{1f468}\u200d\u{1f469} é "\\u202e"`;
    const { text } = verbatim(['worker', 'answer', answered(answer), '--json']);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text).toContain('\\u202e');
    expect(JSON.parse(text)).toMatchObject({ answer });
  });

  it('says on stderr that an answer was cut', () => {
    const id = answered('x\n[truncated]', { end: { kind: 'answered', bytes: 13, sha256: 'x', isTruncated: true } });
    const ran = verbatim(['worker', 'answer', id]);
    expect(ran).toMatchObject({ code: 0, text: 'x\n[truncated]' });
    expect(ran.complaint).toContain('the answer was longer than a report may be');
  });

  it('of an open errand says that there is none yet', () => {
    const id = errand({ asker: ownIdentity(), take: 'a' });
    expect(verbatim(['worker', 'answer', id])).toMatchObject({
      code: 1,
      text: '',
      complaint: `verbatim worker: errand ${id} has no answer yet: its worker is at work\n`,
    });
  });

  it('of an open errand whose worker waits says what for', () => {
    const wait = { for: 'question', what: 'Which?' } as const;
    const id = errand({ asker: ownIdentity(), take: 'a', wait });
    expect(verbatim(['worker', 'answer', id])).toMatchObject({
      code: 1,
      text: '',
      complaint: `verbatim worker: errand ${id} has no answer yet: it asks a question (Which?)\n`,
    });
  });

  it('of an abandoned errand says that none will come, and what closes its worker', () => {
    const id = errand({ asker: GONE, host: GONE, take: 'a', wait: { for: 'question', what: '' } });
    const { code, text, complaint } = verbatim(['worker', 'answer', id]);
    expect([code, text]).toEqual([1, '']);
    expect(complaint).toContain(
      `errand ${id} is abandoned: who asked and its desk were killed, so no answer will come`,
    );
    expect(complaint).toContain(`verbatim worker stop ${id}\n`);
  });

  it('says where the answer is not on disk any more, and follows no link in its place', () => {
    const id = answered('x');
    const file = join(errands.folderOf(id), 'answer');
    rmSync(file);
    expect(verbatim(['worker', 'answer', id])).toMatchObject({
      code: 1,
      text: '',
      complaint: expect.stringContaining('is not on disk any more'),
    });
    symlinkSync('/etc/hostname', file);
    expect(verbatim(['worker', 'answer', id])).toMatchObject({
      code: 1,
      text: '',
      complaint: expect.stringContaining(`${file} is a link`),
    });
  });

  it('shows what a screen said as one line that cannot steer a terminal', () => {
    const id = errand({ end: { kind: 'worker_ended', detail: 'exit code 1; its screen says: \u001b[2Jboom\nagain' } });
    const { complaint } = verbatim(['worker', 'answer', id]);
    expect(complaint.trimEnd().split('\n')).toHaveLength(1);
    expect(complaint).not.toContain('\u001b');
  });
});

describe('an errand is named', () => {
  const [FIRST, SECOND] = [`eab${'a'.repeat(18)}`, `eac${'a'.repeat(18)}`];
  function named(id: string): void {
    const record = { ...errands.open('x', NEW, Date.now()), id, end: { kind: 'timed_out' } as const };
    renameSync(
      errands.folderOf(errands.ids().find((each) => ![FIRST, SECOND].includes(each)) ?? ''),
      errands.folderOf(id),
    );
    errands.save(record);
  }
  beforeEach(() => [FIRST, SECOND].forEach(named));

  it('by a beginning that it alone has', () => {
    for (const beginning of ['eab', `eab${'a'.repeat(17)}`, FIRST]) {
      expect(verbatim(['worker', 'answer', beginning])).toMatchObject({
        code: 124,
        complaint: `verbatim worker: errand ${FIRST} was not answered in time\n`,
      });
    }
    expect(verbatim(['worker', 'stop', 'eac']).complaint).toContain(`errand ${SECOND} has ended`);
    expect(verbatim(['worker', 'attach', 'eac']).complaint).toContain(`the worker of errand ${SECOND} has ended`);
  });

  it.each([
    ['ea', 'more than one errand begins with "ea"', 1],
    ['ead', 'no errand begins with "ead"', 1],
    ['e', '"e" is no errand id', 2],
    ['eAB', '"eAB" is no errand id', 2],
    ['eab/', '"eab/" is no errand id', 2],
    [`${FIRST}a`, 'is no errand id', 2],
  ])('not by %s: %s', (given, says, code) => {
    for (const command of ['answer', 'stop', 'attach', 'host']) {
      const ran = verbatim(['worker', command, given]);
      expect(ran).toMatchObject({ code, text: '', complaint: expect.stringContaining(says) });
    }
  });
});

describe('verbatim worker host', () => {
  it('refuses an errand that has a host which lives, and leaves it as it is', () => {
    const id = errand({ host: ownIdentity() });
    const before = errands.read(id);
    expect(verbatim(['worker', 'host', id])).toMatchObject({
      code: 1,
      text: '',
      complaint: `verbatim worker host: errand ${id} has a host, process ${process.pid}\n`,
    });
    expect(errands.read(id)).toEqual(before);
  });
});

describe('verbatim worker attach', () => {
  it.each<[string, Partial<ErrandRecord>]>([
    ['has ended', { end: { kind: 'timed_out' } }],
    ['is open and has no worker yet', { host: ownIdentity() }],
    [
      'was kept, and its worker has ended',
      { end: { kind: 'timed_out' }, isKept: true, tmux: '/nowhere/s', worker: GONE },
    ],
  ])('to an errand that %s says that there is no worker', (_, facts) => {
    const id = errand(facts);
    const ran = verbatim(['worker', 'attach', id]);
    expect(ran).toMatchObject({ code: 1, text: '' });
    expect(ran.complaint).toContain(`the worker of errand ${id} has ended`);
  });

  it('needs a terminal', () => {
    const id = errand({ tmux: '/nowhere/s', worker: ownIdentity() });
    const ran = verbatim(['worker', 'attach', id]);
    expect(ran).toMatchObject({ code: 2, text: '', complaint: expect.stringContaining('stdin or stdout is none') });
  });
});

describe('verbatim worker stop', () => {
  it('of an errand that has ended says that there is nothing to close', () => {
    const id = errand({ end: { kind: 'timed_out' } });
    const says = `verbatim worker stop: errand ${id} has ended, and its worker is closed\n`;
    expect(verbatim(['worker', 'stop', id])).toMatchObject({ code: 1, text: '', complaint: says });
    expect(errands.read(id)?.end).toEqual({ kind: 'timed_out' });
  });

  it('takes an errand back that was left open, and nothing of its worker is remembered', () => {
    const id = errand({ asker: GONE, host: GONE, worker: GONE, desk: { port: 1, token: 'x' }, take: 'a' });
    const ran = verbatim(['worker', 'stop', id]);
    expect(ran).toMatchObject({
      code: 0,
      text: '',
      complaint: `verbatim worker stop: the worker of errand ${id} is closed\n`,
    });
    expect(errands.read(id)).toMatchObject({
      end: { kind: 'interrupted', detail: 'verbatim worker stop' },
      host: null,
      desk: null,
      worker: null,
    });
    expect(verbatim(['worker', 'answer', id]).code).toBe(130);
  });
});

describe('verbatim worker, whose state folder is not ours alone,', () => {
  it('reads and writes nothing through a link in the place of the errands', () => {
    mkdirSync(state, { recursive: true, mode: 0o700 });
    const target = mkdtempSync(join(root, 'elsewhere-'));
    symlinkSync(target, join(state, 'errands'));
    for (const args of [['list'], ['run', 'x']]) {
      const ran = verbatim(['worker', ...args], { env: { PATH: programs('tmux', 'claude') } });
      expect(ran).toMatchObject({ code: 1, text: '', complaint: expect.stringContaining('is a link') });
    }
    expect(readdirSync(target)).toEqual([]);
  });
});
