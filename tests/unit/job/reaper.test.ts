import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { reap, recordSidecar } from '../../../sidecar/src/job/reaper.js';
import { ownIdentity } from '../../../sidecar/src/process/table.js';
import { processOf, stillAlive } from '../../../testing/processes.js';

let state: string;
let children: ChildProcess[];
let complaints: string[];
const log = (_level: string, what: string) => void complaints.push(what);
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'verbatim-reaper-'));
  mkdirSync(join(state, 'sidecars'), { mode: 0o700 });
  children = [];
  complaints = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(state, { recursive: true, force: true });
});

/** A process that carries nothing of ours in its environment: only a record can find it. */
function stray() {
  const child = spawn('/bin/sleep', ['984'], { stdio: 'ignore', env: {} });
  children.push(child);
  const found = processOf(child.pid ?? 0);
  if (found === undefined) throw new Error('the process did not start');
  return { found, identity: { pid: found.pid, startTime: found.started } };
}

/** The file as a sidecar of this machine writes it; `changes` make it another's. */
function recorded(processes: readonly object[], changes: object = {}): void {
  const recorder = recordSidecar(state, ownIdentity(), () => false, log);
  const [name = ''] = readdirSync(join(state, 'sidecars'));
  const own = JSON.parse(readFileSync(join(state, 'sidecars', name), 'utf8')) as object;
  recorder.close(false);
  const dead = { pid: process.pid, startTime: '1' };
  writeFileSync(
    join(state, 'sidecars', `${process.pid}-1.json`),
    JSON.stringify({ ...own, sidecar: dead, processes, ...changes }),
  );
}

describe('what a dead sidecar has left', () => {
  it('is found by its record, also where its environment was scrubbed, and ended', async () => {
    const { found, identity } = stray();
    recorded([identity]);
    expect(await reap(state, log)).toMatchObject([{ ended: 1, survivors: [] }]);
    expect(stillAlive([found])).toEqual([]);
    expect(readdirSync(join(state, 'sidecars'))).toEqual([]);
  });

  it('is never another process that was given the same pid', async () => {
    const { found, identity } = stray();
    recorded([{ ...identity, startTime: `${Number(identity.startTime) - 1}` }]);
    expect(await reap(state, log)).toEqual([]);
    expect(stillAlive([found])).toHaveLength(1);
  });

  it.each([
    ['of another boot or pid namespace', { world: 'another' }],
    ['whose sidecar lives', { sidecar: ownIdentity() }],
    ['that is not of the form', { processes: [{ pid: 'all' }] }],
    ['that names the first process', { processes: [{ pid: 1, startTime: '1' }] }],
  ])('is not looked for by a record %s', async (_, changes) => {
    const { found, identity } = stray();
    recorded([identity], changes);
    expect(await reap(state, log)).toEqual([]);
    expect(stillAlive([found])).toHaveLength(1);
    expect(readdirSync(join(state, 'sidecars'))).toHaveLength(1);
  });
});

describe('the record of a sidecar', () => {
  it('names what runs below it, and goes with it', () => {
    const { identity } = stray();
    const recorder = recordSidecar(state, ownIdentity(), () => false, log);
    const [name = ''] = readdirSync(join(state, 'sidecars'));
    expect(JSON.parse(readFileSync(join(state, 'sidecars', name), 'utf8'))).toMatchObject({
      sidecar: ownIdentity(),
      processes: expect.arrayContaining([identity]),
    });
    recorder.close(false);
    expect(readdirSync(join(state, 'sidecars'))).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
