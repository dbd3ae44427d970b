import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ErrandRecord } from '../../../sidecar/src/desk/errand.js';
import { Errands } from '../../../sidecar/src/desk/errands.js';
import { entryOf, isAlive, ownIdentity, type ProcessIdentity } from '../../../sidecar/src/process/table.js';
import { privateSocket } from '../../../sidecar/src/server/address.js';
import { closeErrand, closeWorker } from '../../../sidecar/src/worker-host/close.js';
import { closeLeftovers, isAbandoned } from '../../../sidecar/src/worker-host/leftovers.js';
import { programOf } from '../../../sidecar/src/worker-host/programs.js';
import { Tmux } from '../../../sidecar/src/worker-host/tmux.js';
import { type ProcessInfo, signal, stillAlive, withEnvironment } from '../../../testing/processes.js';
import { until } from '../../../testing/wait.js';
import { NEW } from '../desk/lab.js';

const GONE: ProcessIdentity = { pid: process.pid, startTime: '1' };
const STOPPED = { kind: 'interrupted', detail: 'a test' } as const;

let root: string;
let errands: Errands;
const opened: string[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'verbatim-close-'));
  errands = new Errands(join(root, 'verbatim'));
});
afterEach(() => {
  for (const id of opened.splice(0)) for (const one of withEnvironment('VERBATIM_ERRAND', id)) signal(one, 'SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

function errand(facts: Partial<ErrandRecord> = {}): ErrandRecord {
  const record = { ...errands.open('the task', NEW, 1), ...facts };
  errands.save(record);
  opened.push(record.id);
  return record;
}

/** What each worker starts: a command, and one that left its tree and its session. */
const STARTS = 'sleep 600 & (setsid sh -c "sleep 601 & " &)';
/** What does not end with its terminal: a session of its own, and what nothing but SIGKILL ends. */
const STUBBORN = `setsid sleep 602 & sh -c 'trap "" TERM HUP INT; while :; do sleep 603; done' &`;

/** A worker in a terminal of its own; resolves once all that it starts is there. */
async function withWorker(
  facts: Partial<ErrandRecord> = {},
  starts = STARTS,
): Promise<{ errand: ErrandRecord; processes: readonly ProcessInfo[] }> {
  const record = errand(facts);
  const socket = privateSocket(process.env);
  if (socket === null) throw new Error('no folder is short enough for a socket');
  const tmux = new Tmux(programOf('tmux', process.env), socket);
  const script = join(root, `${record.id}.sh`);
  writeFileSync(script, `${starts}\nwait\n`);
  const env = { PATH: process.env.PATH ?? '/bin', VERBATIM_ERRAND: record.id };
  const worker = await tmux.start(['sh', script], root, env);
  const noted = { ...record, tmux: socket, worker };
  errands.save(noted);
  const sleeps = starts.match(/sleep 6\d\d/g) ?? [];
  const processes = () => withEnvironment('VERBATIM_ERRAND', record.id);
  await until('all that it starts', () => {
    const commands = processes().map(({ command }) => command);
    return sleeps.every((sleep) => commands.includes(sleep));
  });
  return { errand: noted, processes: processes() };
}

describe('rule.noWorkerIsLeft: closing a worker', () => {
  it('ends its terminal and all that it started, and leaves no file', async () => {
    const { errand: record, processes } = await withWorker({}, `${STARTS}\n${STUBBORN}`);
    expect(await closeWorker(errands, record)).toEqual([]);
    expect(stillAlive(processes)).toEqual([]);
    expect(withEnvironment('VERBATIM_ERRAND', record.id)).toEqual([]);
    expect(existsSync(dirname(record.tmux ?? ''))).toBe(false);
  });

  it('ends what it started where its own process was killed before', async () => {
    const { errand: record, processes } = await withWorker();
    process.kill(record.worker?.pid ?? 0, 'SIGKILL');
    expect(await closeWorker(errands, record)).toEqual([]);
    expect(stillAlive(processes)).toEqual([]);
  });

  it('ends the one that nobody wrote down, by what its environment carries', async () => {
    const { errand: record, processes } = await withWorker();
    expect(await closeWorker(errands, { ...record, worker: null })).toEqual([]);
    expect(stillAlive(processes)).toEqual([]);
  });

  it('leaves another worker, and a process that has the pid of one that ended, alone', async () => {
    const one = await withWorker();
    const other = await withWorker();
    await closeWorker(errands, { ...one.errand, worker: { pid: other.errand.worker?.pid ?? 0, startTime: '1' } });
    expect(stillAlive(one.processes)).toEqual([]);
    expect(stillAlive(other.processes)).toHaveLength(other.processes.length);
    await closeWorker(errands, other.errand);
  });

  it('closes the workers below it too, and says in their errands why', async () => {
    const above = await withWorker();
    const below = await withWorker({ parent: above.errand.id, depth: 2 });
    const deepest = await withWorker({ parent: below.errand.id, depth: 3 });
    const stranger = await withWorker();
    expect(await closeErrand(errands, above.errand.id, STOPPED)).toEqual([]);
    expect(stillAlive([...above.processes, ...below.processes, ...deepest.processes])).toEqual([]);
    expect(errands.read(below.errand.id)?.end).toEqual({
      kind: 'interrupted',
      detail: `the worker that asked, ${above.errand.id}, was closed`,
    });
    expect(errands.read(deepest.errand.id)?.end).toMatchObject({ kind: 'interrupted' });
    expect(stillAlive(stranger.processes)).toHaveLength(stranger.processes.length);
    await closeErrand(errands, stranger.errand.id, STOPPED);
  });
});

describe('closing an errand', () => {
  it('that is open ends it so, and nothing of its worker is remembered', async () => {
    const { errand: record } = await withWorker({
      take: 'a',
      wait: { for: 'question', what: '' },
      desk: { port: 1, token: 'x' },
    });
    await closeErrand(errands, record.id, STOPPED);
    expect(errands.read(record.id)).toMatchObject({
      end: STOPPED,
      endedAt: expect.any(Number),
      ...{ take: 'a', wait: null, host: null, desk: null, tmux: null, worker: null },
    });
  });

  it('rule.firstAnswerWins: that has ended leaves its end as it was', async () => {
    const { errand: record, processes } = await withWorker({ isKept: true, end: { kind: 'timed_out' }, endedAt: 7 });
    await closeErrand(errands, record.id, STOPPED);
    expect(errands.read(record.id)).toMatchObject({ end: { kind: 'timed_out' }, endedAt: 7, tmux: null, worker: null });
    expect(stillAlive(processes)).toEqual([]);
  });

  it('that is not there does nothing', async () => {
    expect(await closeErrand(errands, `e${'a'.repeat(20)}`, STOPPED)).toEqual([]);
    expect(existsSync(join(root, 'verbatim'))).toBe(false);
  });

  it('writes the end before its host is asked to end, which is then waited for', async () => {
    const record = errand({ wait: { for: 'question', what: '' } });
    const host = hostOf(record);
    await until('the host to listen', () => existsSync(join(root, 'listens')));
    const identity = identityOf(host);
    errands.save({ ...record, host: identity });
    await closeErrand(errands, record.id, STOPPED);
    // The state as it was when the signal came.
    expect(JSON.parse(readFileSync(join(root, 'heard'), 'utf8'))).toMatchObject({
      end: STOPPED,
      endedAt: expect.any(Number),
      wait: null,
      host: identity,
    });
    expect(errands.read(record.id)).toMatchObject({ end: STOPPED, host: null });
    expect(isAlive(identity)).toBe(false);
  });

  /** A host that, asked to end, keeps what it then finds, and ends. */
  function hostOf(record: ErrandRecord): ChildProcess {
    const state = join(errands.folderOf(record.id), 'state.json');
    const script = `const fs = require('node:fs');
process.on('SIGTERM', () => {
  fs.copyFileSync(${JSON.stringify(state)}, ${JSON.stringify(join(root, 'heard'))});
  process.exit(0);
});
fs.writeFileSync(${JSON.stringify(join(root, 'listens'))}, '');
setInterval(() => {}, 1000);`;
    return spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  }

  function identityOf({ pid = 0 }: ChildProcess): ProcessIdentity {
    return { pid, startTime: entryOf(pid)?.startTime ?? '' };
  }
});

describe('an errand is abandoned', () => {
  const here = ownIdentity();
  it.each<[boolean, string, Partial<ErrandRecord>]>([
    [true, 'it is open, and host and asker are gone', { asker: GONE, host: GONE }],
    [true, 'it is open, and there never was a host', { asker: GONE }],
    [true, 'it is open, and its worker is there', { asker: GONE, host: GONE, worker: here }],
    [false, 'whoever asked is there', { asker: here, host: GONE }],
    [false, 'its host is there', { asker: GONE, host: here }],
    [false, 'it has ended', { asker: GONE, host: GONE, end: { kind: 'timed_out' } }],
  ])('%s: %s', (isSo, _, facts) => {
    expect(isAbandoned(errand(facts))).toBe(isSo);
  });
});

describe('rule.noWorkerIsLeft: what killed commands left', () => {
  it('is closed, and what somebody looks after or asked to be kept is not', async () => {
    const left = await withWorker({ asker: GONE, host: GONE, take: 'a' });
    const kept = await withWorker({ asker: GONE, isKept: true, end: { kind: 'timed_out' } });
    const atWork = await withWorker({ asker: ownIdentity(), host: GONE });
    const ended = errand({ asker: GONE, end: { kind: 'timed_out' } });
    expect(await closeLeftovers(errands)).toEqual([left.errand.id]);
    expect(stillAlive(left.processes)).toEqual([]);
    expect(errands.read(left.errand.id)).toMatchObject({ end: { kind: 'interrupted' }, tmux: null });
    expect(errands.read(ended.id)).toEqual(ended);
    for (const { errand: record, processes } of [kept, atWork]) {
      expect(stillAlive(processes)).toHaveLength(processes.length);
      expect(errands.read(record.id)).toEqual(record);
      await closeWorker(errands, record);
    }
    expect(readdirSync(join(root, 'verbatim', 'errands'))).toHaveLength(4);
  });
});
