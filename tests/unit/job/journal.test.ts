import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JobEvent } from '../../../plugin/hooks/protocol/event.js';
import { Jobs } from '../../../sidecar/src/job/jobs.js';
import { Journal } from '../../../sidecar/src/job/journal.js';
import { JobTakenError, takeJob } from '../../../sidecar/src/job/owner.js';
import { ownIdentity } from '../../../sidecar/src/process/table.js';
import { UnsafePathError } from '../../../sidecar/src/state/private-files.js';
import { endOf, eventsUntil, type JobLab, jobLab, text, untilIdle } from '../../../testing/job-lab.js';

let lab: JobLab;
const children: ChildProcess[] = [];
beforeEach(() => {
  lab = jobLab();
  lab.harness.onThread = (thread) => (thread.onRun = (turn) => turn.end({ kind: 'completed', answer: 'ok' }));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await lab.jobs.close();
  lab.remove();
});

/** A finished job whose sidecar has let it go; answers its id and its folder. */
async function finished(): Promise<{ id: string; folder: string }> {
  const job = lab.job();
  await untilIdle(job);
  await lab.restart();
  return { id: job.id, folder: join(lab.state, 'jobs', job.id) };
}

function find(id: string) {
  const job = lab.jobs.find(id);
  if (job === null) throw new Error(`job ${id} is not found`);
  return job;
}

function everythingBelow(path: string): string[] {
  const stat = lstatSync(path);
  return stat.isDirectory()
    ? [path, ...readdirSync(path).flatMap((name) => everythingBelow(join(path, name)))]
    : [path];
}

describe('what a job keeps', () => {
  it('is readable by its user alone: folders 0700, files 0600', async () => {
    const before = process.umask(0);
    try {
      const { folder } = await finished();
      const modes = everythingBelow(folder).map((path) => {
        const stat = lstatSync(path);
        return `${(stat.mode & 0o777).toString(8)} ${stat.isDirectory() ? 'folder' : 'file'}`;
      });
      expect(new Set(modes)).toEqual(new Set(['700 folder', '600 file']));
      for (const path of [lab.state, join(lab.state, 'jobs')]) expect(lstatSync(path).mode & 0o777).toBe(0o700);
    } finally {
      process.umask(before);
    }
  });

  it('survives a torn last line, whatever part of it was written', async () => {
    const { id, folder } = await finished();
    const file = join(folder, 'events.jsonl');
    const whole = readFileSync(file);
    const next = Buffer.from(`${JSON.stringify({ kind: 'warning', text: 'ä\u{1f468}', seq: 3, turn: 2, at: 1 })}\n`);
    for (let length = 1; length < next.length; length++) {
      writeFileSync(file, Buffer.concat([whole, next.subarray(0, length)]));
      const page = await find(id).events(0, 0, new AbortController().signal);
      expect(page.events.map((event) => event.seq)).toEqual([1, 2]);
      await lab.restart();
      expect(readFileSync(file)).toEqual(whole);
    }
  });

  it('goes on after a torn line with the next number, and the torn bytes are set aside', async () => {
    const { id, folder } = await finished();
    appendFileSync(join(folder, 'events.jsonl'), '{"kind":"turn_sta');
    const job = find(id);
    await job.send(...text('m2'));
    expect((await untilIdle(job)).map((event) => event.seq)).toEqual([1, 2, 3, 4]);
    expect(readFileSync(join(folder, 'events.damaged'), 'utf8')).toBe('{"kind":"turn_sta\n');
  });

  it('serves any page of many and large events from the file', async () => {
    lab.harness.onThread = (thread) => {
      thread.onRun = (turn) => {
        for (let number = 0; number < 700; number++)
          turn.emit({ kind: 'message', text: `${number} ${'x'.repeat(20_000)}` });
        turn.end({ kind: 'completed', answer: 'ok' });
      };
    };
    const job = lab.job();
    const events = await untilIdle(job);
    expect(events).toHaveLength(702);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
    const page = await job.events(350, 0, new AbortController().signal);
    expect(page.events[0]).toEqual(events[350]);
  });

  it('ends a turn that its sidecar left open: failed (crashed), with what it had said as partial', async () => {
    const { id, folder } = await finished();
    const lines: Partial<JobEvent>[] = [
      { kind: 'turn_started', messages: ['m2'], seq: 3, turn: 2, at: 5 },
      { kind: 'message', text: 'half a', seq: 4, turn: 2, at: 6 },
    ] as Partial<JobEvent>[];
    appendFileSync(join(folder, 'events.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const page = await find(id).events(4, 0, new AbortController().signal);
    expect(page.job.status).toBe('idle');
    expect(page.events).toMatchObject([
      {
        kind: 'turn_ended',
        turn: 2,
        seq: 5,
        outcome: { kind: 'failed', failure: { kind: 'crashed' }, partial: ['half a'] },
      },
    ]);
  });

  it('ends such a turn as completed where its answer had been stored whole', async () => {
    const { id, folder } = await finished();
    const started = { kind: 'turn_started', messages: ['m2'], seq: 3, turn: 2, at: 5 };
    appendFileSync(join(folder, 'events.jsonl'), `${JSON.stringify(started)}\n`);
    writeFileSync(join(folder, 'answers', '2'), 'whole\n', { mode: 0o600 });
    const page = await find(id).events(3, 0, new AbortController().signal);
    expect(page.events).toMatchObject([{ kind: 'turn_ended', outcome: { kind: 'completed', answer: { bytes: 6 } } }]);
    expect(find(id).answer(2)?.text).toBe('whole\n');
  });
});

describe('a message that was noted for a turn which never began', () => {
  it('waits again, and is handed over with the next one', async () => {
    const { id, folder } = await finished();
    const file = join(folder, 'state.json');
    const record = JSON.parse(readFileSync(file, 'utf8')) as { messages: object[] };
    writeFileSync(join(folder, 'prompts', '2'), 'text of m2', { mode: 0o600 });
    const messages = [...record.messages, { id: 'm2', mode: 'default', turn: 2 }];
    writeFileSync(file, JSON.stringify({ ...record, turns: 2, messages }));
    const job = find(id);
    expect(job.view()).toMatchObject({ turns: 1, status: 'idle' });
    await job.send(...text('m3'));
    await untilIdle(job);
    expect(lab.harness.thread.turns.at(-1)?.input.messages.map((message) => message.id)).toEqual(['m2', 'm3']);
  });
});

describe('secrets', () => {
  // Made here and nowhere written out: a checker that looks for tokens must find none in the sources.
  const token = ['ghp', 'A1b2'.repeat(9)].join('_');
  const value = 'correct-horse-battery';

  it('are masked in events, and never in an answer or a prompt', async () => {
    lab.remove();
    lab = jobLab({ env: { SOME_API_KEY: value } });
    const secret = `${token} and ${value}`;
    lab.harness.onThread = (thread) => {
      thread.onRun = (turn) => {
        turn.emit({ kind: 'message', text: `I saw ${secret}` });
        turn.emit({
          kind: 'action_started',
          item: '1',
          action: { tool: 'command', command: `echo ${secret}`, cwd: '/' },
        });
        turn.end({ kind: 'completed', answer: secret });
      };
    };
    const job = lab.job({ message: { id: 'm1', text: secret } });
    await untilIdle(job);
    const folder = join(lab.state, 'jobs', job.id);
    const events = readFileSync(join(folder, 'events.jsonl'), 'utf8');
    expect(events).toContain('I saw');
    expect(events).not.toContain(token);
    expect(events).not.toContain(value);
    expect(readFileSync(join(folder, 'answers', '1'), 'utf8')).toBe(secret);
    expect(readFileSync(join(folder, 'prompts', '1'), 'utf8')).toBe(secret);
    expect(lab.harness.thread.turns[0]?.input.messages[0]?.text).toBe(secret);
  });
});

describe('a folder that is not ours alone', () => {
  it('is refused where it is a link, and what the link points to is left as it is', async () => {
    const { id, folder } = await finished();
    const target = mkdtempSync(join(tmpdir(), 'verbatim-target-'));
    rmSync(target, { recursive: true });
    renameSync(folder, target);
    symlinkSync(target, folder);
    const before = everythingBelow(target).length;
    expect(() => lab.jobs.find(id)).toThrow(UnsafePathError);
    expect(() => lab.jobs.find(id)).toThrow(`${folder} is a link`);
    expect(() => lab.job()).toThrow(UnsafePathError);
    expect(everythingBelow(target)).toHaveLength(before);
    rmSync(folder);
    rmSync(target, { recursive: true });
  });

  it.each(['state.json', 'events.jsonl', 'owner'])('is refused where its %s is a link', async (name) => {
    const { id, folder } = await finished();
    const target = join(lab.state, 'elsewhere');
    writeFileSync(target, '{}');
    rmSync(join(folder, name), { force: true });
    symlinkSync(target, join(folder, name));
    expect(() => lab.jobs.find(id)).toThrow(`${join(folder, name)} is a link`);
    expect(readFileSync(target, 'utf8')).toBe('{}');
  });

  it("is refused where it is another user's", async () => {
    const { id } = await finished();
    const getuid = vi.spyOn(process, 'getuid').mockReturnValue(12_345);
    try {
      expect(() => lab.jobs.find(id)).toThrow(/ belongs to another user \(uid \d+, not 12345\)$/);
    } finally {
      getuid.mockRestore();
    }
  });

  it('is closed to others where it is ours and open', async () => {
    const { id, folder } = await finished();
    chmodSync(folder, 0o755);
    find(id);
    expect(lstatSync(folder).mode & 0o777).toBe(0o700);
  });

  it('is refused where state.json is damaged or of a newer Verbatim, naming what is wrong', async () => {
    const { id, folder } = await finished();
    const file = join(folder, 'state.json');
    const record = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...record, turns: 'two' }));
    expect(() => lab.jobs.find(id)).toThrow('turns must be a whole number');
    writeFileSync(file, JSON.stringify({ ...record, version: 99 }));
    expect(() => lab.jobs.find(id)).toThrow('version is 99');
  });
});

describe('the owner of a job', () => {
  it('that lives keeps it: another sidecar is refused, with the pid', async () => {
    const { id } = await finished();
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    try {
      const start = readFileSync(`/proc/${other.pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19] ?? '';
      takeJob(join(lab.state, 'jobs', id), id, { pid: other.pid ?? 0, startTime: start });
      expect(() => lab.jobs.find(id)).toThrow(JobTakenError);
      expect(() => lab.jobs.find(id)).toThrow(`pid ${other.pid}`);
    } finally {
      other.kill('SIGKILL');
    }
    await new Promise((resolve) => other.once('exit', resolve));
    expect(lab.jobs.find(id)).not.toBeNull();
  });

  it('whose pid was given to another process is taken for gone', async () => {
    const { id, folder } = await finished();
    takeJob(folder, id, { pid: process.pid, startTime: '1' });
    expect(lab.jobs.find(id)).not.toBeNull();
  });
});

describe('a sidecar that is killed with SIGKILL while its job works', () => {
  it.each(Array.from({ length: 6 }, (_, index) => index))(
    'leaves a journal that holds together (%i)',
    async (round) => {
      const child = spawn(
        process.execPath,
        ['--import', 'tsx', join(import.meta.dirname, '../../../testing/programs/busy-job.ts'), lab.state],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      children.push(child);
      const id = await new Promise<string>((resolve) =>
        child.stdout.once('data', (bytes: Buffer) => resolve(bytes.toString('utf8').trim())),
      );
      const file = join(lab.state, 'jobs', id, 'events.jsonl');
      // Kill it in the middle of its work: once it has written more than this.
      while (readFileSync(file).length < 30_000 + round * 7_919) await new Promise((resolve) => setImmediate(resolve));
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('exit', resolve));

      const job = find(id);
      const events = await untilIdle(job);
      expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
      const started = events.filter((event) => event.kind === 'turn_started').map((event) => event.turn);
      expect(started).toEqual(started.map((_, index) => index + 1));
      for (const turn of started) {
        const outcome = endOf(events, turn)?.outcome;
        if (outcome?.kind !== 'completed') {
          expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'crashed' } });
          continue;
        }
        const bytes = readFileSync(outcome.answer.file);
        expect(bytes.length).toBe(outcome.answer.bytes);
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(outcome.answer.sha256);
      }
      const told = events.flatMap((event) =>
        event.kind === 'turn_started' ? event.messages : event.kind === 'steered' ? [event.message] : [],
      );
      expect(new Set(told).size).toBe(told.length);
      // It goes on: what waited is handed over with the next message, on the same thread.
      await job.send(...text('after'));
      await eventsUntil(job, (_, view) => view.status === 'idle');
      expect(lab.harness.opens.at(-1)?.thread).toBe('thread-1');
      expect(lab.harness.thread.turns.at(-1)?.input.messages.at(-1)?.id).toBe('after');
    },
  );
});

describe('a folder that was made and not filled', () => {
  it('is filled by the next attempt', async () => {
    const place = lab.place;
    const probe = new Jobs({ place, harnessOf: () => lab.harness, log: () => {} });
    const { job } = probe.create({
      ...{ harness: 'codex', agent: 'x', session: 'y', cwd: tmpdir(), mode: 'default' },
      message: { id: 'm', text: 't' },
    });
    await probe.close();
    const folder = join(lab.state, 'jobs', job.id);
    rmSync(folder, { recursive: true });
    mkdirSync(folder, { mode: 0o700 });
    expect(Journal.open(place, job.id)).toBeNull();
    expect(lab.job({ agent: 'x', session: 'y' }).id).toBe(job.id);
    expect(ownIdentity().pid).toBe(process.pid);
  });
});
