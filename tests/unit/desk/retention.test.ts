import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ErrandRecord } from '../../../sidecar/src/desk/errand.js';
import { removeOldErrands } from '../../../sidecar/src/desk/retention.js';
import { entryOf, ownIdentity, type ProcessIdentity } from '../../../sidecar/src/process/table.js';
import { applyRetention, RETENTION } from '../../../sidecar/src/server/tidy.js';
import { DeskLab, NEW } from './lab.js';

const DAY = 24 * 3_600_000;
/** A process that was, and is no more. */
const GONE: ProcessIdentity = { pid: process.pid, startTime: '1' };
const TIMED_OUT = { kind: 'timed_out' } as const;

let lab: DeskLab;
const children: ChildProcess[] = [];
beforeEach(() => {
  lab = new DeskLab();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await lab.close();
});

function errand(facts: Partial<ErrandRecord> = {}): ErrandRecord {
  const record = { ...lab.errands.open('the task', NEW, 1_000), ...facts };
  lab.errands.save(record);
  return record;
}

const ended = (facts: Partial<ErrandRecord> = {}) => errand({ end: TIMED_OUT, endedAt: 2_000, asker: GONE, ...facts });
const left = () => readdirSync(join(lab.state, 'errands')).sort();

describe('an errand that ended', () => {
  it('goes with its task, its answer and the log of its host', () => {
    const { id } = ended({ end: { kind: 'answered', bytes: 1, sha256: 'x', isTruncated: false } });
    lab.errands.keepAnswer(id, 'x');
    mkdirSync(join(lab.state, 'logs'), { mode: 0o700 });
    for (const name of [`errand-${id}.jsonl`, 'sidecar-1-1.jsonl']) writeFileSync(join(lab.state, 'logs', name), '');
    expect(removeOldErrands(lab.errands, 2_000)).toEqual({ removed: [id], kept: [], problems: [] });
    expect(left()).toEqual([]);
    expect(readdirSync(join(lab.state, 'logs'))).toEqual(['sidecar-1-1.jsonl']);
  });

  it('stays until it ended before that moment, however long ago it was opened', () => {
    const { id } = ended();
    expect(removeOldErrands(lab.errands, 1_999)).toEqual({ removed: [], kept: [], problems: [] });
    expect(left()).toEqual([id]);
  });

  it('stays while whoever asked still tells its end', () => {
    const { id } = ended({ asker: ownIdentity() });
    expect(removeOldErrands(lab.errands, 9_000).kept).toEqual([{ id, why: 'its end is being told' }]);
    expect(left()).toEqual([id]);
  });

  it('stays while the worker that it kept is there', () => {
    const { id } = ended({ isKept: true, tmux: join(lab.root, 's'), worker: ownIdentity() });
    const why = `its worker is open; \`verbatim worker stop ${id}\` closes it`;
    expect(removeOldErrands(lab.errands, 9_000)).toEqual({ removed: [], kept: [{ id, why }], problems: [] });
    expect(left()).toEqual([id]);
  });

  it('stays while its kept worker and the host of that are there, for the worker’s sake', () => {
    const { id } = ended({ isKept: true, tmux: join(lab.root, 's'), worker: ownIdentity(), host: ownIdentity() });
    const why = `its worker is open; \`verbatim worker stop ${id}\` closes it`;
    expect(removeOldErrands(lab.errands, 9_000)).toEqual({ removed: [], kept: [{ id, why }], problems: [] });
    expect(left()).toEqual([id]);
  });

  it('goes once the worker that it kept has ended by itself, and with it the socket of its terminal', async () => {
    const folder = join(lab.root, 'verbatim-x');
    mkdirSync(folder);
    const server = createServer().listen(join(folder, 's'));
    await new Promise((resolve) => server.once('listening', resolve));
    const { id } = ended({ isKept: true, tmux: join(folder, 's'), worker: GONE });
    expect(removeOldErrands(lab.errands, 9_000).removed).toEqual([id]);
    expect(existsSync(folder)).toBe(false);
    server.close();
  });

  it('takes nothing with it that stands where the socket of its terminal was', () => {
    const folder = join(lab.root, 'precious');
    mkdirSync(folder);
    writeFileSync(join(folder, 's'), 'x');
    const { id } = ended({ tmux: join(folder, 's') });
    expect(removeOldErrands(lab.errands, 9_000).removed).toEqual([id]);
    expect(readdirSync(folder)).toEqual(['s']);
  });
});

describe('an errand that is open', () => {
  it.each(['asker', 'host'] as const)('stays while its %s is there', (who) => {
    const { id } = errand({ [who]: ownIdentity() });
    expect(removeOldErrands(lab.errands, 9_000).kept).toEqual([{ id, why: 'its worker is at work' }]);
    expect(left()).toEqual([id]);
  });

  it('goes where nobody is there any more, by when it was opened', () => {
    const { id } = errand({ asker: GONE, host: GONE, worker: GONE, tmux: join(lab.root, 's') });
    expect(removeOldErrands(lab.errands, 999).removed).toEqual([]);
    expect(removeOldErrands(lab.errands, 1_000).removed).toEqual([id]);
  });

  // What a process carries can be read on Linux alone.
  if (process.platform === 'linux') {
    it('stays where its worker is there that nobody wrote down', async () => {
      const { id } = errand({ asker: GONE, host: GONE, tmux: join(lab.root, 's') });
      const worker = spawn('sleep', ['60'], { env: { ...process.env, VERBATIM_ERRAND: id }, stdio: 'ignore' });
      children.push(worker);
      await new Promise((resolve) => worker.once('spawn', resolve));
      expect(entryOf(worker.pid ?? 0)).not.toBeNull();
      expect(removeOldErrands(lab.errands, 9_000).kept).toMatchObject([
        { id, why: expect.stringContaining('worker stop') },
      ]);
      worker.kill('SIGKILL');
      await new Promise((resolve) => worker.once('exit', resolve));
      expect(removeOldErrands(lab.errands, 9_000).removed).toEqual([id]);
    });
  }
});

describe('what is no errand', () => {
  it('goes where its making or its removal was broken off, once it is older than a minute', () => {
    const folder = lab.errands.folderOf(`e${'a'.repeat(20)}`);
    errand();
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, 'task'), 'x');
    expect(removeOldErrands(lab.errands, Number.POSITIVE_INFINITY)).toMatchObject({ kept: [], problems: [] });
    expect(existsSync(folder)).toBe(true);
    const old = Date.now() / 1_000 - 61;
    utimesSync(folder, old, old);
    removeOldErrands(lab.errands, 0);
    expect(existsSync(folder)).toBe(true);
    removeOldErrands(lab.errands, Number.POSITIVE_INFINITY);
    expect(existsSync(folder)).toBe(false);
  });

  it('is named and stays where it is damaged or a link, and so does what the link points to', () => {
    const { id } = ended();
    const damaged = ended();
    writeFileSync(join(lab.errands.folderOf(damaged.id), 'state.json'), '{');
    const target = join(lab.root, 'precious');
    mkdirSync(target);
    writeFileSync(join(target, 'file'), 'x');
    const link = `e${'b'.repeat(20)}`;
    symlinkSync(target, lab.errands.folderOf(link));
    mkdirSync(join(lab.state, 'errands', 'notes'));
    const { removed, problems } = removeOldErrands(lab.errands, Number.POSITIVE_INFINITY);
    expect(removed).toEqual([id]);
    expect(problems.map((problem) => problem.id).sort()).toEqual([damaged.id, link].sort());
    expect(left()).toEqual([damaged.id, link, 'notes'].sort());
    expect(readdirSync(target)).toEqual(['file']);
  });
});

describe('the retention of a sidecar', () => {
  it('removes the errands and their logs that are older than 30 days', async () => {
    const now = Date.now();
    const old = ended({ endedAt: now - 31 * DAY });
    const young = ended({ endedAt: now - 29 * DAY });
    const open = errand({ createdAt: now - 31 * DAY, host: ownIdentity() });
    mkdirSync(join(lab.state, 'logs'), { mode: 0o700 });
    for (const name of [`errand-${old.id}.jsonl`, `errand-${young.id}.jsonl`, `errand-e${'a'.repeat(20)}.jsonl`]) {
      writeFileSync(join(lab.state, 'logs', name), '');
    }
    const long = (now - 31 * DAY) / 1_000;
    utimesSync(join(lab.state, 'logs', `errand-e${'a'.repeat(20)}.jsonl`), long, long);
    await applyRetention(lab.state, ownIdentity(), RETENTION, now);
    expect(left()).toEqual([young.id, open.id].sort());
    expect(readdirSync(join(lab.state, 'logs'))).toEqual([`errand-${young.id}.jsonl`]);
  });
});
