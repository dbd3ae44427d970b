import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { VERSION } from '../../../plugin/hooks/protocol/version.js';
import { buildBundle } from '../../../scripts/sidecar-bundle.js';
import { checkNode } from '../../../sidecar/src/cli/node-version.js';
import type { ErrandRecord } from '../../../sidecar/src/desk/errand.js';
import { Errands } from '../../../sidecar/src/desk/errands.js';
import type { Job } from '../../../sidecar/src/job/job.js';
import { ownIdentity } from '../../../sidecar/src/process/table.js';
import { type JobLab, jobLab, untilIdle } from '../../../testing/job-lab.js';
import { ROOT } from '../../../testing/root.js';

let bundle: string;
let root: string;
let lab: JobLab;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'verbatim-cli-'));
  bundle = join(root, 'verbatim.mjs');
  writeFileSync(bundle, await buildBundle(), { mode: 0o755 });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  lab = jobLab({ state: join(mkdtempSync(join(root, 'state-')), 'verbatim') });
});
afterEach(async () => {
  await lab.jobs.close();
  lab.remove();
});

type Ran = { readonly code: number | null; readonly out: Buffer; readonly text: string; readonly complaint: string };

function verbatim(args: readonly string[], env: NodeJS.ProcessEnv = {}): Ran {
  const ran = spawnSync(process.execPath, [bundle, ...args], {
    env: { ...process.env, XDG_STATE_HOME: dirname(lab.state), ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  return {
    code: ran.status,
    out: ran.stdout,
    text: ran.stdout.toString('utf8'),
    complaint: ran.stderr.toString('utf8'),
  };
}

/** A job with one turn for each answer; null is a turn that fails. Its sidecar has let it go. */
async function finishedJob(agent: string, ...answers: (string | null)[]): Promise<Job> {
  lab.harness.onThread = (thread) => {
    thread.onRun = (turn) => {
      const answer = answers[thread.turns.length - 1] ?? null;
      if (answer !== null) turn.end({ kind: 'completed', answer });
      else turn.end({ kind: 'failed', failure: { kind: 'quota', status: 'failed', message: 'used up' }, partial: [] });
    };
  };
  const job = lab.job({ agent });
  await untilIdle(job);
  for (let turn = 2; turn <= answers.length; turn++) {
    await job.send({ id: `m${turn}`, text: 'go on' }, 'default');
    await untilIdle(job);
  }
  await lab.restart();
  return job;
}

describe('verbatim', () => {
  it('alone and with --help explains itself to someone who has never seen it, without the hidden command', () => {
    for (const args of [['--help'], ['-h'], ['help']]) {
      const { code, text } = verbatim(args);
      expect(code).toBe(0);
      expect(text).toContain('Usage: verbatim <command>');
      for (const command of ['doctor', 'jobs', 'answer', 'purge', 'worker']) expect(text).toContain(`  ${command}`);
      expect(text).not.toContain('serve');
    }
    expect(verbatim([])).toMatchObject({ code: 2, text: '', complaint: expect.stringContaining('Usage: verbatim') });
  });

  it.each(['doctor', 'jobs', 'answer', 'purge', 'worker', 'serve'])('%s --help explains that command', (command) => {
    expect(verbatim([command, '--help'])).toMatchObject({
      code: 0,
      text: expect.stringContaining(`Usage: verbatim ${command}`),
    });
  });

  it("states one version: the program's, the package's and the plugin's", () => {
    expect(verbatim(['--version']).text).toBe(`${VERSION}\n`);
    for (const file of ['package.json', 'plugin/.claude-plugin/plugin.json']) {
      expect((JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as { version: string }).version).toBe(VERSION);
    }
  });

  it.each<[string[], string]>([
    [['frobnicate'], 'there is no command "frobnicate"'],
    [['help', 'frobnicate'], 'there is no command "frobnicate"'],
    [['--frobnicate'], 'there is no option "--frobnicate"'],
    [['jobs', '--all'], 'verbatim jobs: there is no option --all here'],
    [['jobs', 'extra'], 'verbatim jobs: "extra" is one argument too many'],
    [['jobs', '--json=yes'], 'verbatim jobs: --json takes no value, it was given "yes"'],
    [['answer'], 'verbatim answer: <job> is missing'],
    [['answer', '../../etc'], 'verbatim answer: "../../etc" is no job id'],
    [['answer', 'jaaaaaaaaaaaaaaaaaaaa', '--turn'], 'verbatim answer: --turn needs a value'],
    [['purge'], 'verbatim purge: say what is to go'],
    [['purge', '--all', '--older-than', '1d'], 'verbatim purge: say what is to go'],
    [['purge', '--older-than', 'soon'], '--older-than must be a number with m, h or d (30m, 12h, 7d), it is "soon"'],
    [['purge', '--all', '--all'], '--all is given twice'],
    [['serve', '--port', '1'], 'verbatim serve: there is no option --port here'],
  ])('%j is asked for wrongly: exit code 2, naming what was wrong', (args, says) => {
    const ran = verbatim(args);
    expect(ran).toMatchObject({ code: 2, text: '' });
    expect(ran.complaint).toContain(says);
    expect(ran.complaint.trimEnd().split('\n')).toHaveLength(1);
  });

  it('says so on a Node that is too old', () => {
    expect(checkNode('18.20.0')).toContain('Verbatim needs Node 20.19 or newer, and this is Node 18.20.0');
    expect(checkNode('20.18.3')).not.toBeNull();
    expect(checkNode('20.19.0')).toBeNull();
    expect(checkNode('24.0.0')).toBeNull();
  });
});

describe('verbatim jobs', () => {
  it('of a fresh machine says that there are none, and makes no folder', () => {
    const ran = verbatim(['jobs'], { XDG_STATE_HOME: join(root, 'never-used') });
    expect(ran).toMatchObject({ code: 0, text: expect.stringContaining('No jobs are kept') });
    expect(readdirSync(root)).not.toContain('never-used');
  });

  it('lists them, the one that changed last first, with how their last turn ended', async () => {
    const first = await finishedJob('one', 'yes');
    const second = await finishedJob('two', 'yes', null);
    const { code, text } = verbatim(['jobs']);
    expect(code).toBe(0);
    const [, ...rows] = text.trimEnd().split('\n');
    expect(rows[0]).toMatch(
      new RegExp(`^${second.id} +codex/scripted-1 +idle +2 +failed \\(quota\\) +\\? +just now +the task`),
    );
    expect(rows[1]).toMatch(new RegExp(`^${first.id} +codex/scripted-1 +idle +1 +completed +\\? +just now +the task`));
    const { jobs } = JSON.parse(verbatim(['jobs', '--json']).text) as { jobs: Record<string, unknown>[] };
    expect(jobs[0]).toMatchObject({ id: second.id, status: 'idle', turns: 2, lastOutcome: { kind: 'failed' } });
  });

  it('tells a running job and one whose sidecar was killed from an idle one', async () => {
    const broken = await finishedJob('broken', 'yes');
    const log = join(lab.state, 'jobs', broken.id, 'events.jsonl');
    const started = JSON.stringify({ kind: 'turn_started', messages: [], seq: 3, turn: 2, at: 1 });
    writeFileSync(log, `${readFileSync(log, 'utf8')}${started}\n{"kind":"torn`);
    lab.harness.onThread = () => {};
    const running = lab.job({ agent: 'running' });
    const { text } = verbatim(['jobs']);
    expect(text).toMatch(new RegExp(`${running.id} +codex +running`));
    expect(text).toMatch(new RegExp(`${broken.id} +codex/scripted-1 +broken off +1 +begun +- .*the task`));
  });

  /** Each makes something in place of a job's folder; only root can make one that is another user's. */
  const folders: [string, (folder: string) => void, string][] = [
    ['a link', (folder: string) => symlinkSync('/etc', folder), 'is a link'],
    ['no folder', (folder: string) => writeFileSync(folder, ''), 'is not a folder'],
    ['one without a state', (folder: string) => mkdirSync(folder), 'has no state.json'],
    [
      'one with a damaged state',
      (folder: string) => {
        mkdirSync(folder);
        writeFileSync(join(folder, 'state.json'), '{"version":1}');
      },
      'id must be jbbbbbbbbbbbbbbbbbbbb',
    ],
  ];
  if (process.platform !== 'win32') {
    folders.push([
      'one whose state is a pipe that nobody writes into',
      (folder: string) => {
        mkdirSync(folder);
        execFileSync('mkfifo', [join(folder, 'state.json')]);
      },
      'state.json is not a file',
    ]);
  }
  if (process.getuid?.() === 0) {
    folders.push([
      "another user's",
      (folder: string) => {
        mkdirSync(folder);
        chownSync(folder, 12_345, 12_345);
      },
      'belongs to another user',
    ]);
  }

  it.each(folders)('names a job folder that is %s, and still lists the others', async (_, make, says) => {
    const good = await finishedJob('good', 'yes');
    const folder = join(lab.state, 'jobs', 'jbbbbbbbbbbbbbbbbbbbb');
    make(folder);
    const { code, text, complaint } = verbatim(['jobs']);
    expect(code).toBe(1);
    expect(text).toContain(good.id);
    expect(complaint).toContain(folder);
    expect(complaint).toContain(says);
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['null'],
    ['7'],
    ['{"seq":9,"turn":2,"kind":"hologram"}'],
    ['{"seq":9,"turn":2,"kind":"turn_ended"}'],
    ['{"seq":9,"turn":2,"kind":"turn_ended","tokens":null,"outcome":{"kind":"failed"}}'],
    ['{"seq":9,"turn":2,"kind":"action_started"}'],
  ])('passes over a newest event that says nothing readable: %s', async (line) => {
    const job = await finishedJob('a', 'yes');
    appendFileSync(join(lab.state, 'jobs', job.id, 'events.jsonl'), `${line}\n`);
    expect(verbatim(['jobs'])).toMatchObject({ code: 0, complaint: '', text: expect.stringContaining('completed') });
    expect(verbatim(['answer', job.id])).toMatchObject({ code: 0, text: 'yes' });
  });

  it('ends quietly where its reader has gone, and says why where the output cannot be written', async () => {
    await finishedJob('a', 'yes');
    const run = (script: string) =>
      spawnSync('bash', ['-c', script], {
        encoding: 'utf8',
        env: { ...process.env, XDG_STATE_HOME: dirname(lab.state), VERBATIM: `${process.execPath} ${bundle}` },
      });
    expect(run('set -o pipefail; $VERBATIM jobs | true')).toMatchObject({
      status: 0,
      stderr: '',
    });
    if (process.platform !== 'linux') return;
    const full = run('$VERBATIM jobs > /dev/full');
    expect(full).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^verbatim: the output could not be written: ENOSPC.*\n$/),
    });
  });

  it('looks in the home folder that the system knows where HOME is empty, never below the working folder', () => {
    const { stateFolder } = JSON.parse(verbatim(['doctor', '--json'], { HOME: '', XDG_STATE_HOME: '' }).text);
    expect(stateFolder).toBe(join(userInfo().homedir, '.local', 'state', 'verbatim'));
  });

  // Only root can become a user whom the system does not list.
  if (process.getuid?.() === 0) {
    it('says what to set where its user has no home folder at all', () => {
      const env = { ...process.env, HOME: undefined, XDG_STATE_HOME: undefined };
      chmodSync(root, 0o755);
      const ran = spawnSync(process.execPath, [bundle, 'jobs'], { env, uid: 54_321, gid: 54_321, encoding: 'utf8' });
      expect(ran).toMatchObject({
        status: 1,
        stderr: 'verbatim: there is no home folder to keep jobs in; set HOME or XDG_STATE_HOME to an absolute path\n',
      });
    });
  }

  it('prints foreign text as one line that cannot steer a terminal', async () => {
    const cwd = join(root, 'evil\u001b[2J\nfolder\u202e');
    mkdirSync(cwd, { recursive: true });
    lab.harness.onThread = (thread) => (thread.onRun = (turn) => turn.end({ kind: 'completed', answer: 'x' }));
    await untilIdle(lab.job({ cwd }));
    const { text } = verbatim(['jobs']);
    expect(text.trimEnd().split('\n')).toHaveLength(2);
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('\u202e');
  });
});

describe('verbatim answer', () => {
  it.each([
    ['white space around it', ' \n\r\n\tanswer \n\n'],
    ['no newline at its end', 'answer'],
    ['NUL, U+2028, a BOM and emoji', '\ufeff\0\u2028\u{1f468}\u200d\u{1f469}\u200d\u{1f467}e\u0301'],
    ['2 MB', `${'0123456789abcde\n'.repeat(131_072)}end`],
  ])('prints exactly its bytes: %s', async (_, text) => {
    const job = await finishedJob('one', text);
    const ran = verbatim(['answer', job.id]);
    expect(ran.code).toBe(0);
    expect(ran.out.equals(Buffer.from(text))).toBe(true);
    expect(ran.complaint).toBe('');
  });

  it('prints the last turn that has one, or the one that is asked for', async () => {
    const job = await finishedJob('one', 'first', 'second', null);
    expect(verbatim(['answer', job.id]).text).toBe('second');
    expect(verbatim(['answer', job.id, '--turn', '1']).text).toBe('first');
    expect(JSON.parse(verbatim(['answer', job.id, '--turn', '1', '--json']).text)).toMatchObject({
      turn: 1,
      text: 'first',
      bytes: 5,
    });
  });

  it('--json has the whole of it, longer than a page of the API and with half a surrogate pair too', async () => {
    const text = `${'0123456789abcde\n'.repeat(65_536)}\ud83d`;
    const job = await finishedJob('one', text);
    const whole = JSON.parse(verbatim(['answer', job.id, '--json']).text) as Record<string, unknown>;
    expect(whole.text).toBe(text);
    expect(Object.keys(whole)).toEqual(['job', 'turn', 'text', 'bytes', 'sha256', 'file']);
  });

  it('says why there is none, and prints nothing to stdout', async () => {
    const job = await finishedJob('one', null);
    for (const [args, says] of [
      [[job.id], `turn 1 of job ${job.id} has no answer: it ended as failed (quota): used up`],
      [[job.id, '--turn', '7'], `job ${job.id} has 1 turn, there is no turn 7`],
      [['jaaaaaaaaaaaaaaaaaaaa'], 'there is no job jaaaaaaaaaaaaaaaaaaaa'],
    ] as const) {
      const ran = verbatim(['answer', ...args]);
      expect(ran).toMatchObject({ code: 1, text: '' });
      expect(ran.complaint).toContain(says);
    }
  });

  it('does not follow a link in place of an answer', async () => {
    const job = await finishedJob('one', 'x');
    const file = join(lab.state, 'jobs', job.id, 'answers', '1');
    rmSync(file);
    symlinkSync('/etc/hostname', file);
    expect(verbatim(['answer', job.id])).toMatchObject({
      code: 1,
      text: '',
      complaint: expect.stringContaining(`${file} is a link`),
    });
  });
});

describe('verbatim purge', () => {
  it('--all removes every job but those whose sidecar is up', async () => {
    const gone = await finishedJob('gone', 'x');
    lab.harness.onThread = () => {};
    const running = lab.job({ agent: 'running' });
    const { code, text } = verbatim(['purge', '--all']);
    expect(code).toBe(0);
    expect(text).toContain('Removed 1 job');
    expect(text).toContain(`Kept ${running.id}: its Claude Code session is open`);
    expect(readdirSync(join(lab.state, 'jobs'))).toEqual([running.id]);
    expect(readdirSync(join(lab.state, 'jobs'))).not.toContain(gone.id);
  });

  it('--older-than removes those that did not change for so long', async () => {
    const old = await finishedJob('old', 'x');
    const young = await finishedJob('young', 'x');
    const file = join(lab.state, 'jobs', old.id, 'state.json');
    const record = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...record, updatedAt: Date.now() - 3 * 3_600_000 }));
    const report = JSON.parse(verbatim(['purge', '--older-than', '2h', '--json']).text) as {
      removed: { id: string }[];
    };
    expect(report.removed.map(({ id }) => id)).toEqual([old.id]);
    expect(readdirSync(join(lab.state, 'jobs'))).toEqual([young.id]);
  });

  it('does not follow a link: what it points to stays', async () => {
    const target = mkdtempSync(join(root, 'precious-'));
    writeFileSync(join(target, 'file'), 'x');
    mkdirSync(join(lab.state, 'jobs'), { recursive: true, mode: 0o700 });
    symlinkSync(target, join(lab.state, 'jobs', 'jbbbbbbbbbbbbbbbbbbbb'));
    expect(verbatim(['purge', '--all'])).toMatchObject({ code: 1, complaint: expect.stringContaining('is a link') });
    expect(readdirSync(target)).toEqual(['file']);
  });
});

describe('verbatim purge of errands', () => {
  const DAY = 24 * 3_600_000;
  const NEW = { parent: null, cwd: '/', model: null, mode: null, depth: 1, timeoutMs: 1 };
  const ASKED = { isKept: false, isUnattended: false, asker: null };

  function errand(facts: Partial<ErrandRecord>): string {
    const errands = new Errands(lab.state);
    const record = { ...errands.open('the task', { ...NEW, ...ASKED }, Date.now() - 10 * DAY), ...facts };
    errands.save(record);
    return record.id;
  }
  const ended = (ago: number) => errand({ end: { kind: 'timed_out' }, endedAt: Date.now() - ago });
  const left = () => readdirSync(join(lab.state, 'errands')).sort();

  it('--all removes those that ended, never one that is at work or whose worker is open', () => {
    ended(0);
    ended(DAY);
    const open = errand({ asker: ownIdentity() });
    const kept = errand({ end: { kind: 'timed_out' }, endedAt: 1, worker: ownIdentity(), tmux: '/nowhere/s' });
    const { code, text } = verbatim(['purge', '--all']);
    expect(code).toBe(0);
    expect(text).toContain('Removed 0 jobs, and 2 errands.\n');
    expect(text).toContain(`Kept ${open}: its worker is at work\n`);
    expect(text).toContain(`Kept ${kept}: its worker is open; \`verbatim worker stop ${kept}\` closes it\n`);
    expect(left()).toEqual([open, kept].sort());
  });

  it('--older-than removes those that ended longer ago, and --json lists them beside the jobs', async () => {
    const job = await finishedJob('young', 'x');
    const old = ended(3 * DAY);
    const young = ended(DAY);
    const report = JSON.parse(verbatim(['purge', '--older-than', '2d', '--json']).text);
    expect(report).toEqual({ removed: [], kept: [], errands: { removed: [old], kept: [] }, problems: [] });
    expect(left()).toEqual([young]);
    expect(readdirSync(join(lab.state, 'jobs'))).toEqual([job.id]);
  });

  it('names a folder that is damaged or a link, and leaves it and what it points to', () => {
    const good = ended(0);
    const target = mkdtempSync(join(root, 'precious-'));
    writeFileSync(join(target, 'file'), 'x');
    const link = `e${'b'.repeat(20)}`;
    symlinkSync(target, join(lab.state, 'errands', link));
    const { code, text, complaint } = verbatim(['purge', '--all']);
    expect(code).toBe(1);
    expect(text).toContain('and 1 errand.');
    expect(complaint).toMatch(/^verbatim purge: not removed: .* is a link.*\n$/);
    expect(left()).toEqual([link]);
    expect(left()).not.toContain(good);
    expect(readdirSync(target)).toEqual(['file']);
  });
});

describe('verbatim doctor', () => {
  /** A program that answers `--version` and nothing else. */
  function program(name: string, version: string): string {
    const folder = mkdtempSync(join(root, 'bin-'));
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\n[ "$1" = --version ] && echo "${version}" && exit 0\nexit 3\n`);
    chmodSync(file, 0o755);
    return folder;
  }

  it('with nothing installed says what was looked for and how to install it: exit code 1', () => {
    const { code, text } = verbatim(['doctor'], { PATH: '/nowhere', VERBATIM_CODEX: '' });
    expect(code).toBe(1);
    expect(text).toContain('✗ Codex: not found (tested with 0.171.0)');
    expect(text).toContain('/nowhere');
    expect(text).toContain('npm install -g @openai/codex');
    const again = 'do what is said above, then run `verbatim doctor` again.';
    expect(text.split('\n').slice(-3)).toEqual([
      `Agents: no harness can be used yet: ${again}`,
      `Workers: not yet: ${again}`,
      '',
    ]);
  });

  it.each([
    ['2.1.332 (Claude Code)', '✓ Claude Code 2.1.332: ready (tested with 2.1.332)\n    /'],
    ['2.1.9 (Claude Code)', 'It is older than what was tested (2.1.332). Update Claude Code.'],
    ['3.0.0 (Claude Code)', 'It is newer than what was tested (2.1.332).'],
  ])('compares the version that it finds with what was tested: %s', (version, says) => {
    expect(verbatim(['doctor'], { PATH: `${program('claude', version)}:/bin`, VERBATIM_CODEX: '' }).text).toContain(
      says,
    );
  });

  it('without Claude Code is not ready, whatever a harness is', () => {
    const codex = program('codex', 'codex-cli 0.171.0');
    const { text } = verbatim(['doctor'], { PATH: `${codex}:/bin`, VERBATIM_CODEX: '' });
    expect(text).toContain('✗ Claude Code: not found');
    expect(text).toContain('Agents: a harness is ready, Claude Code is not: do what is said above');
  });

  it('says which tmux is there, or what to install for `verbatim worker`, and neither changes its exit code', () => {
    const folder = mkdtempSync(join(root, 'bin-'));
    writeFileSync(join(folder, 'tmux'), '#!/bin/sh\n[ "$1" = -V ] && echo "tmux 3.4b" && exit 0\nexit 3\n', {
      mode: 0o755,
    });
    const codex = program('codex', 'codex-cli 0.171.0');
    const look = (PATH: string, ...args: string[]) => verbatim(['doctor', ...args], { PATH, VERBATIM_CODEX: '' });
    const [withTmux, without] = [look(`${folder}:${codex}`), look(codex)];
    expect(withTmux.text).toContain(`✓ tmux 3.4b: ready (for \`verbatim worker\` alone)\n    ${folder}/tmux\n`);
    expect(without.text).toContain('✗ tmux: not found (for `verbatim worker` alone)\n');
    expect(without.text).toContain('Install the package tmux (apt-get install tmux, brew install tmux).');
    expect(without.text).toContain(`Looked for tmux in 1 folders of PATH (${codex})`);
    expect(without.code).toBe(withTmux.code);
    expect(JSON.parse(look(`${folder}:${codex}`, '--json').text).tmux).toEqual({
      state: 'ready',
      version: '3.4b',
      program: join(folder, 'tmux'),
      advice: [],
    });
    expect(JSON.parse(look(codex, '--json').text)).toMatchObject({
      tmux: { state: 'missing', version: null, program: null },
    });
  });

  it('ends with what agents and workers need, each for itself', () => {
    const [claude, codex, tmux] = [
      program('claude', '2.1.332 (Claude Code)'),
      program('codex', 'codex-cli 0.171.0'),
      mkdtempSync(join(root, 'bin-')),
    ];
    writeFileSync(join(tmux, 'tmux'), '#!/bin/sh\necho "tmux 3.4"\n', { mode: 0o755 });
    const again = 'do what is said above, then run `verbatim doctor` again.';
    const cases: [string[], string, string, boolean][] = [
      [[claude, codex, tmux], 'Agents: ready.', 'Workers: ready.', true],
      [[claude, codex], 'Agents: ready.', `Workers: not yet: ${again}`, false],
      [[claude, tmux], `Agents: no harness can be used yet: ${again}`, 'Workers: ready.', true],
      [[codex, tmux], `Agents: a harness is ready, Claude Code is not: ${again}`, `Workers: not yet: ${again}`, false],
    ];
    for (const [folders, agents, workers, workerUsable] of cases) {
      const env = { PATH: folders.join(':'), VERBATIM_CODEX: '' };
      expect(verbatim(['doctor'], env).text.split('\n').slice(-3)).toEqual([agents, workers, '']);
      expect(JSON.parse(verbatim(['doctor', '--json'], env).text)).toMatchObject({ workerUsable });
    }
  });

  it('does not say of Claude Code that it is signed in, which it cannot know', () => {
    const { text } = verbatim(['doctor'], { PATH: program('claude', '2.1.332 (Claude Code)'), VERBATIM_CODEX: '' });
    expect(text).toContain('Whether you are signed in is not checked: run `claude` once to see.');
  });

  it('says so where tmux does not work', () => {
    const folder = mkdtempSync(join(root, 'bin-'));
    writeFileSync(join(folder, 'tmux'), '#!/bin/sh\necho broken >&2\nexit 3\n', { mode: 0o755 });
    const { text } = verbatim(['doctor'], { PATH: folder, VERBATIM_CODEX: '' });
    expect(text).toContain('✗ tmux: does not work (for `verbatim worker` alone)');
    expect(text).toContain('`tmux -V` failed: ');
  });

  it('--json says the same for a program', () => {
    const { code, text } = verbatim(['doctor', '--json'], { PATH: '/nowhere', VERBATIM_CODEX: '' });
    expect(code).toBe(1);
    expect(JSON.parse(text)).toMatchObject({
      verbatim: VERSION,
      usable: false,
      workerUsable: false,
      harnesses: [{ name: 'codex', state: 'missing', tested: { from: '0.171.0' } }],
      claudeCode: { state: 'missing' },
    });
  });
});

describe('what is older than its time', () => {
  it('goes when the next sidecar starts: jobs and logs, never a job that is held', async () => {
    const old = await finishedJob('old', 'x');
    const file = join(lab.state, 'jobs', old.id, 'state.json');
    const long = Date.now() - 31 * 24 * 3_600_000;
    writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), updatedAt: long }));
    mkdirSync(join(lab.state, 'logs'), { mode: 0o700 });
    const log = join(lab.state, 'logs', 'sidecar-1-1.jsonl');
    writeFileSync(log, '');
    utimesSync(log, long / 1000, long / 1000);
    lab.harness.onThread = () => {};
    const held = lab.job({ agent: 'held' });
    const heldFile = join(lab.state, 'jobs', held.id, 'state.json');
    writeFileSync(
      heldFile,
      JSON.stringify({ ...(JSON.parse(readFileSync(heldFile, 'utf8')) as object), updatedAt: long }),
    );
    const { applyRetention, RETENTION } = await import('../../../sidecar/src/server/tidy.js');
    const removals = await applyRetention(lab.state, lab.place.self, RETENTION, Date.now());
    expect(removals).toMatchObject([{ kind: 'removed', job: { id: old.id } }]);
    expect(readdirSync(join(lab.state, 'jobs'))).toEqual([held.id]);
    expect(readdirSync(join(lab.state, 'logs'))).toEqual([]);
  });
});
