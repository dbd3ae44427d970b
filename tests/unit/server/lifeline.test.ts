import { type ChildProcess, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobView } from '../../../plugin/hooks/protocol/api.js';
import {
  allProcesses,
  type ProcessInfo,
  processOf,
  signal,
  stillAlive,
  untilGone,
} from '../../../testing/processes.js';
import {
  childrenIn,
  ended,
  isOver,
  type Sidecar,
  type SidecarFolders,
  type StartOptions,
  sidecarFolders,
  startSidecar,
} from '../../../testing/sidecar.js';
import { until } from '../../../testing/wait.js';

let folders: SidecarFolders;
let started: ChildProcess[];
let known: ProcessInfo[];
beforeEach(() => {
  folders = sidecarFolders();
  started = [];
  known = [];
});
afterEach(() => {
  // What a failed test left: exactly the processes that it started.
  for (const child of started) child.kill('SIGKILL');
  for (const each of known) signal(each, 'SIGKILL');
  folders.remove();
});

async function start(options: Partial<StartOptions> = {}): Promise<Sidecar> {
  const sidecar = await startSidecar({ folders, ...options });
  started.push(sidecar.child);
  const own = processOf(sidecar.handshake.pid);
  if (own !== undefined) known.push(own);
  return sidecar;
}

/** A job whose turn runs, with two processes of its own, one of them in another session and out of the tree. */
async function runningJob(sidecar: Sidecar, agent = 'agent-1'): Promise<{ id: string; children: ProcessInfo[] }> {
  const { body } = await sidecar.request<{ job: JobView }>('POST', '/v1/jobs', {
    body: {
      ...{ harness: 'codex', agent, session: 'session-1', cwd: folders.work, mode: 'default' },
      message: { id: 'm1', text: 'run' },
    },
  });
  const events = await sidecar.follow(
    body.job.id,
    (seen) => seen.filter((event) => event.kind === 'warning').length === 2,
  );
  const children = childrenIn(events);
  known.push(...children);
  expect(stillAlive(children)).toHaveLength(2);
  return { id: body.job.id, children };
}

const sidecarOf = ({ handshake }: Sidecar): ProcessInfo[] => {
  const own = processOf(handshake.pid);
  return own === undefined ? [] : [own];
};

const outcomeOf = (id: string) => {
  const lines = readFileSync(join(folders.state, 'verbatim', 'jobs', id, 'events.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  return (JSON.parse(lines.at(-1) ?? '') as { outcome?: { kind: string } }).outcome?.kind;
};

describe('the sidecar ends, with all that it started,', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'at %s: exit code 0, the turn interrupted, the socket gone',
    async (name) => {
      const sidecar = await start();
      const { id, children } = await runningJob(sidecar);
      sidecar.child.kill(name);
      expect(await ended(sidecar.child)).toBe(0);
      expect(stillAlive(children)).toEqual([]);
      expect(outcomeOf(id)).toBe('interrupted');
      expect(readdirSync(folders.runtime)).toEqual([]);
      expect(readdirSync(join(folders.state, 'verbatim', 'sidecars'))).toEqual([]);
    },
  );

  it('when its parent is killed with SIGKILL', async () => {
    const sidecar = await start({ hasParent: true });
    const own = sidecarOf(sidecar);
    const { id, children } = await runningJob(sidecar);
    const began = Date.now();
    sidecar.child.kill('SIGKILL');
    await untilGone([...own, ...children]);
    expect(Date.now() - began).toBeLessThan(5_000);
    expect(outcomeOf(id)).toBe('interrupted');
  });

  it('when its lease is over: no request came for that long', async () => {
    const sidecar = await start({ env: { VERBATIM_TEST_LEASE_MS: '1500' } });
    const { children } = await runningJob(sidecar);
    expect(await ended(sidecar.child)).toBe(0);
    expect(stillAlive(children)).toEqual([]);
  });

  it('but not while requests renew the lease', async () => {
    const sidecar = await start({ env: { VERBATIM_TEST_LEASE_MS: '1500' } });
    const began = Date.now();
    // More than twice as long as the lease.
    await until('the leases to pass', async () => {
      const { status } = await sidecar.request('POST', '/v1/lease');
      expect(status).toBe(200);
      return Date.now() - began > 3_500;
    });
    expect(stillAlive(sidecarOf(sidecar))).toHaveLength(1);
    sidecar.child.kill('SIGTERM');
    expect(await ended(sidecar.child)).toBe(0);
  });

  it('and requests without the token do not renew it', async () => {
    const sidecar = await start({ env: { VERBATIM_TEST_LEASE_MS: '1500' } });
    const poke = setInterval(() => void sidecar.request('POST', '/v1/lease', { token: 'x' }).catch(() => {}), 50);
    expect(await ended(sidecar.child)).toBe(0);
    clearInterval(poke);
  });

  it('of a reloaded mod when its parent does, and not at the SIGTERM that was meant for the old module', async () => {
    const sidecar = await start({ hasParent: true });
    const own = sidecarOf(sidecar);
    const { children } = await runningJob(sidecar);
    expect((await sidecar.request('POST', '/v1/adopt')).status).toBe(200);
    for (const each of own) signal(each, 'SIGTERM');
    expect((await sidecar.request('GET', '/v1/health')).body).toMatchObject({ running: 1 });
    sidecar.child.kill('SIGKILL');
    await untilGone([...own, ...children]);
  });

  it('letting a long poll go at once', async () => {
    const sidecar = await start();
    const { id } = await runningJob(sidecar);
    const poll = sidecar.request('GET', `/v1/jobs/${id}/events?after=99&wait=20000`);
    // The poll is held: it has been read before the next request is answered.
    await sidecar.request('GET', '/v1/health');
    sidecar.child.kill('SIGTERM');
    expect((await poll).status).toBe(200);
    expect(await ended(sidecar.child)).toBe(0);
  });
});

describe('what a sidecar that was killed with SIGKILL left', () => {
  it('is ended by the next one, and its turn is failed (crashed); the thread goes on', async () => {
    const first = await start();
    const { id, children } = await runningJob(first);
    first.child.kill('SIGKILL');
    await ended(first.child);
    expect(stillAlive(children)).toHaveLength(2);

    const second = await start();
    await untilGone(children);
    const events = await second.follow(id, isOver);
    expect(events.at(-1)).toMatchObject({
      kind: 'turn_ended',
      outcome: { kind: 'failed', failure: { kind: 'crashed' } },
    });
    await second.request('POST', `/v1/jobs/${id}/messages`, {
      body: { message: { id: 'm2', text: 'say back' }, mode: 'default' },
    });
    const after = await second.follow(id, (seen, job) => job.turns === 2 && isOver(seen, job));
    expect(after.at(-1)).toMatchObject({ turn: 2, outcome: { kind: 'completed' } });
    expect((await second.request('GET', `/v1/jobs/${id}`)).body).toMatchObject({ job: { thread: 'thread-1' } });
    second.child.kill('SIGTERM');
    expect(await ended(second.child)).toBe(0);
  });

  it("is not taken for a living sidecar's: that one's processes and jobs stay its own", async () => {
    const first = await start();
    const { id, children } = await runningJob(first);
    const second = await start();
    await until('the second one to have tidied', () => existsSync(join(folders.state, 'verbatim', 'logs')));
    expect(await second.request('GET', `/v1/jobs/${id}/events`)).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict' } },
    });
    second.child.kill('SIGTERM');
    expect(await ended(second.child)).toBe(0);
    expect(stillAlive(children)).toHaveLength(2);
    first.child.kill('SIGTERM');
    expect(await ended(first.child)).toBe(0);
  });
});

describe('the token', () => {
  it("stands nowhere: not in a command line, an environment, a file of ours or a harness's child", async () => {
    const sidecar = await start();
    await runningJob(sidecar);
    const { token } = sidecar.handshake;
    const seen = allProcesses().flatMap(({ pid, command }) => {
      const text = ['cmdline', 'environ'].map((name) => readQuietly(`/proc/${pid}/${name}`)).join('\n');
      return text.includes(token) ? [`${pid} ${command}`] : [];
    });
    expect(seen).toEqual([]);
    for (const folder of [folders.state, folders.runtime, folders.work]) {
      const found = spawnSync('grep', ['-rlF', '--devices=skip', '-e', token, folder], { encoding: 'utf8' });
      expect(found.stdout).toBe('');
    }
    sidecar.child.kill('SIGTERM');
    await ended(sidecar.child);
  });
});

function readQuietly(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It ended meanwhile.
    return '';
  }
}
