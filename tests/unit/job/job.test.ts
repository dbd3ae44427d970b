import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JobEvent } from '../../../plugin/hooks/protocol/event.js';
import { EventLog } from '../../../sidecar/src/job/event-log.js';
import { endOf, eventsUntil, type JobLab, jobLab, text, untilIdle } from '../../../testing/job-lab.js';
import { harnessError, type ScriptedTurn } from '../../../testing/scripted-harness.js';

let lab: JobLab;
beforeEach(() => {
  lab = jobLab();
});
afterEach(async () => {
  await lab.jobs.close();
  lab.remove();
});

const answered = (answer: string) => (turn: ScriptedTurn) => turn.end({ kind: 'completed', answer });
const kinds = (events: readonly JobEvent[]) => events.map((event) => event.kind);
const running = (turns = 1) => vi.waitFor(() => expect(lab.harness.thread.turns).toHaveLength(turns));

describe('a turn', () => {
  it('is answered at once, before the harness has opened the thread', async () => {
    let open = () => {};
    lab.harness.onOpen = () => new Promise((resolve) => (open = resolve));
    const job = lab.job();
    expect(job.view()).toMatchObject({ status: 'running', turns: 1, thread: null, lastSeq: 0 });
    await vi.waitFor(() => expect(lab.harness.opens).toHaveLength(1));
    open();
    await running();
    lab.harness.thread.turns[0]?.end({ kind: 'completed', answer: 'done' });
    expect(kinds(await untilIdle(job))).toEqual(['turn_started', 'turn_ended']);
  });

  it('has its answer on disk, exactly, before anyone hears that it ended', async () => {
    lab.harness.onThread = (thread) => (thread.onRun = answered(' \r\n\tä\u2028\u{1f468}\u200d\u{1f467}\0\n\n'));
    const job = lab.job();
    const events = await eventsUntil(job, (seen) => endOf(seen, 1) !== undefined);
    const outcome = endOf(events, 1)?.outcome;
    if (outcome?.kind !== 'completed') throw new Error(`ended as ${outcome?.kind}`);
    expect(readFileSync(outcome.answer.file, 'utf8')).toBe(' \r\n\tä\u2028\u{1f468}\u200d\u{1f467}\0\n\n');
    expect(outcome.answer.bytes).toBe(readFileSync(outcome.answer.file).length);
    expect(job.answer(1)).toMatchObject({
      text: ' \r\n\tä\u2028\u{1f468}\u200d\u{1f467}\0\n\n',
      sha256: outcome.answer.sha256,
    });
  });

  it('keeps an answer that has no UTF-8 form beside its bytes', async () => {
    lab.harness.onThread = (thread) => (thread.onRun = answered('lone \ud800 surrogate'));
    const job = lab.job();
    await untilIdle(job);
    expect(job.answer(1)?.text).toBe('lone \ud800 surrogate');
  });

  it.each(['', ' \n\t '])('that completed with %j is empty, and stores no answer', async (answer) => {
    lab.harness.onThread = (thread) => (thread.onRun = answered(answer));
    const job = lab.job();
    expect(endOf(await untilIdle(job), 1)?.outcome).toEqual({ kind: 'empty' });
    expect(job.answer(1)).toBeNull();
  });

  it('that failed keeps what it had said as partial, never as an answer', async () => {
    const failure = { kind: 'quota', status: 'failed', message: 'used up', hint: 'Wait.' } as const;
    lab.harness.onThread = (thread) =>
      (thread.onRun = (turn) => turn.end({ kind: 'failed', failure, partial: ['half'] }));
    const job = lab.job();
    expect(endOf(await untilIdle(job), 1)?.outcome).toEqual({ kind: 'failed', failure, partial: ['half'] });
    expect(job.answer(1)).toBeNull();
  });

  it.each([
    ['0.999.0', 'codex 0.999.0 is newer than what Verbatim was tested with (0.171.0).'],
    ['0.1.0', 'codex 0.1.0 is older than what Verbatim was tested with (0.171.0).'],
    ['who knows', 'Verbatim cannot tell the version of codex (who knows); it was tested with 0.171.0.'],
  ])('whose harness is version %s says so once a job', async (version, notice) => {
    lab.harness.onThread = (thread) => {
      thread.harnessVersion = version;
      thread.onRun = answered('done');
    };
    const job = lab.job();
    await untilIdle(job);
    await job.send({ id: 'again', text: 'again' }, 'default');
    const warnings = (await untilIdle(job)).flatMap((event) => (event.kind === 'warning' ? [event.text] : []));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(notice);
  });

  it('whose harness breaks its contract and rejects ends as failed, with the reason', async () => {
    lab.harness.onThread = (thread) => (thread.onRun = (turn) => turn.reject(new Error('a bug')));
    const job = lab.job();
    expect(endOf(await untilIdle(job), 1)?.outcome).toMatchObject({
      kind: 'failed',
      failure: { kind: 'unknown', message: 'a bug' },
    });
  });

  it('whose thread cannot be opened fails with the cause, and its message goes along with the next one', async () => {
    lab.harness.onOpen = () => Promise.reject(harnessError('not_installed', 'no codex here'));
    const job = lab.job();
    const events = await untilIdle(job);
    expect(kinds(events)).toEqual(['turn_started', 'turn_ended']);
    expect(endOf(events, 1)?.outcome).toMatchObject({ kind: 'failed', failure: { kind: 'not_installed' } });
    lab.harness.onOpen = () => {};
    lab.harness.onThread = (thread) => (thread.onRun = answered('now'));
    expect(await job.send(...text('m2'))).toBe('started');
    await untilIdle(job);
    expect(lab.harness.thread.turns[0]?.input.messages.map((message) => message.id)).toEqual(['m1', 'm2']);
  });

  it('names a working folder that is gone, without asking the harness', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'verbatim-gone-'));
    rmSync(cwd, { recursive: true });
    const job = lab.job({ cwd });
    const outcome = endOf(await untilIdle(job), 1)?.outcome;
    expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'invalid_request' } });
    expect(JSON.stringify(outcome)).toContain(cwd);
    expect(lab.harness.opens).toHaveLength(0);
  });

  it('states the files that its completed edits changed, and no others', async () => {
    const edit = (path: string, status: 'completed' | 'declined') => ({
      kind: 'action_completed' as const,
      item: path,
      action: { tool: 'edit' as const, changes: [{ path, change: 'add' as const, diff: '', omitted: 0 }] },
      result: { status, exitCode: null, output: '', omitted: 0, durationMs: null },
    });
    lab.harness.onThread = (thread) => {
      thread.onRun = (turn) => {
        for (const event of [edit('/a', 'completed'), edit('/a', 'completed'), edit('/b', 'declined')])
          turn.emit(event);
        turn.end({ kind: 'completed', answer: 'ok' });
      };
    };
    expect(endOf(await untilIdle(lab.job()), 1)?.filesChanged).toEqual(['/a']);
  });
});

describe('a message', () => {
  it('that joins the running turn is said to have, before the turn ends', async () => {
    const job = lab.job();
    await running();
    const sent = job.send(...text('m2'));
    await vi.waitFor(() => expect(lab.harness.thread.steers).toHaveLength(1));
    // The turn ends while the steer is under way: only its answer says whether this turn had the message.
    lab.harness.thread.turns[0]?.end({ kind: 'completed', answer: 'both' });
    lab.harness.thread.steers[0]?.answer('joined');
    expect(await sent).toBe('steered');
    expect(kinds(await untilIdle(job))).toEqual(['turn_started', 'steered', 'turn_ended']);
    expect(job.view().turns).toBe(1);
  });

  it('that no turn took gets the next one, and the job never looks idle between', async () => {
    const job = lab.job();
    await running();
    const sent = job.send(...text('m2'));
    await vi.waitFor(() => expect(lab.harness.thread.steers).toHaveLength(1));
    lab.harness.thread.onRun = answered('second');
    lab.harness.thread.steers[0]?.answer('no_turn');
    expect(await sent).toBe('queued');
    lab.harness.thread.turns[0]?.end({ kind: 'completed', answer: 'first' });
    const events: JobEvent[] = [];
    const statuses: string[] = [];
    while (endOf(events, 2) === undefined) {
      const page = await job.events(events.length, 20_000, new AbortController().signal);
      events.push(...page.events);
      statuses.push(page.job.status);
    }
    expect(statuses.slice(0, -1)).not.toContain('idle');
    expect(job.answer(1)?.text).toBe('first');
    expect(job.answer(2)?.text).toBe('second');
  });

  it('whose steer breaks off is not lost: it gets the next turn', async () => {
    const job = lab.job();
    await running();
    const sent = job.send(...text('m2'));
    await vi.waitFor(() => expect(lab.harness.thread.steers).toHaveLength(1));
    lab.harness.thread.steers[0]?.reject(new Error('the pipe is closed'));
    expect(await sent).toBe('queued');
    lab.harness.thread.onRun = answered('second');
    lab.harness.thread.turns[0]?.end({ kind: 'completed', answer: 'first' });
    await untilIdle(job);
    expect(lab.harness.thread.turns[1]?.input.messages).toEqual([{ id: 'm2', text: 'text of m2' }]);
  });

  it('that is sent twice is one message, also across a restart of the sidecar', async () => {
    lab.harness.onThread = (thread) => (thread.onRun = answered('once'));
    const job = lab.job();
    await untilIdle(job);
    expect(await job.send(...text('m1'))).toBe('duplicate');
    await lab.restart();
    const again = lab.jobs.find(job.id);
    expect(await again?.send(...text('m1'))).toBe('duplicate');
    expect(
      lab.jobs.create({
        ...{ harness: 'codex', agent: 'agent-1', session: 'session-1', cwd: tmpdir(), mode: 'default' },
        message: { id: 'm1', text: 'x' },
      }),
    ).toMatchObject({ isNew: false, job: { id: job.id, turns: 1 } });
    expect(lab.harness.threads.flatMap((thread) => thread.turns)).toHaveLength(1);
  });

  it('to a finished job starts a turn on the same thread, also after a restart', async () => {
    lab.harness.onThread = (thread) => (thread.onRun = answered('yes'));
    const job = lab.job();
    await untilIdle(job);
    const { thread } = job.view();
    await lab.restart();
    const again = lab.jobs.find(job.id);
    if (again === null) throw new Error('the job is gone');
    expect(await again.send(...text('m2'))).toBe('started');
    await untilIdle(again);
    expect(lab.harness.opens.at(-1)?.thread).toBe(thread);
    expect(again.view()).toMatchObject({ turns: 2, thread });
  });
});

describe('stopping', () => {
  it('ends the turn as interrupted and resolves when that is recorded', async () => {
    const job = lab.job();
    await running();
    await job.stop();
    expect(job.view().status).toBe('idle');
    expect(endOf(await untilIdle(job), 1)?.outcome).toEqual({ kind: 'interrupted' });
  });

  it('believes a turn that completed all the same', async () => {
    const job = lab.job();
    await running();
    lab.harness.thread.onInterrupt = () =>
      lab.harness.thread.turns[0]?.end({ kind: 'completed', answer: 'just made it' });
    await job.stop();
    expect(job.answer(1)?.text).toBe('just made it');
  });

  it('before the thread is open ends the turn at once; its message goes along with the next one', async () => {
    let open = () => {};
    lab.harness.onOpen = () => new Promise((resolve) => (open = resolve));
    const job = lab.job();
    await vi.waitFor(() => expect(lab.harness.opens).toHaveLength(1));
    await job.stop();
    expect(endOf(await untilIdle(job), 1)?.outcome).toEqual({ kind: 'interrupted' });
    lab.harness.onThread = (thread) => (thread.onRun = answered('later'));
    await job.send(...text('m2'));
    open();
    await untilIdle(job);
    expect(lab.harness.threads).toHaveLength(1);
    expect(lab.harness.thread.turns.map((turn) => turn.input.messages.map((message) => message.id))).toEqual([
      ['m1', 'm2'],
    ]);
  });

  it('keeps a message that was never handed over, also across a restart', async () => {
    const job = lab.job();
    await running();
    const sent = job.send(...text('m2'));
    await vi.waitFor(() => expect(lab.harness.thread.steers).toHaveLength(1));
    lab.harness.thread.steers[0]?.answer('no_turn');
    await sent;
    await lab.restart();
    lab.harness.onThread = (thread) => (thread.onRun = answered('all'));
    const again = lab.jobs.find(job.id);
    if (again === null) throw new Error('the job is gone');
    expect(again.view().status).toBe('idle');
    await again.send(...text('m3'));
    await untilIdle(again);
    expect(lab.harness.thread.turns[0]?.input.messages.map((message) => message.id)).toEqual(['m2', 'm3']);
  });
});

describe('a harness that does not end its turn', () => {
  beforeEach(() => {
    lab.remove();
    lab = jobLab({ limits: { interruptMs: 20, closeMs: 20, steerMs: 20 } });
  });

  it('has its thread closed, and the turn ends as interrupted within its bound', async () => {
    const job = lab.job();
    await running();
    lab.harness.thread.onInterrupt = () => {};
    await job.stop();
    expect(lab.harness.thread.closes).toBe(1);
    expect(endOf(await untilIdle(job), 1)?.outcome).toEqual({ kind: 'interrupted' });
  });

  it('is given up where not even closing ends, and the next message opens the thread again', async () => {
    const job = lab.job();
    await running();
    lab.harness.thread.onInterrupt = () => {};
    lab.harness.thread.onClose = () => new Promise(() => {});
    await job.stop();
    lab.harness.onThread = (thread) => (thread.onRun = answered('again'));
    await job.send(...text('m2'));
    await untilIdle(job);
    expect(lab.harness.opens.map((open) => open.thread)).toEqual([null, 'thread-1']);
  });

  it('or never answers a steer: the end of the turn does not wait for ever, and the message gets the next', async () => {
    const job = lab.job();
    await running();
    const sent = job.send(...text('m2'));
    await vi.waitFor(() => expect(lab.harness.thread.steers).toHaveLength(1));
    lab.harness.thread.onRun = answered('second');
    lab.harness.thread.turns[0]?.end({ kind: 'completed', answer: 'first' });
    expect(await sent).toBe('queued');
    await eventsUntil(job, (events) => endOf(events, 2) !== undefined);
    expect(lab.harness.thread.turns[1]?.input.messages.map((message) => message.id)).toEqual(['m2']);
  });
});

describe('access', () => {
  const levels = () => lab.harness.threads.flatMap((thread) => thread.turns.map((turn) => turn.input.access.level));

  it('is the stricter of what is remembered and the current mode, at every turn and across a restart', async () => {
    lab.harness.onThread = (thread) => (thread.onRun = answered('ok'));
    let job = lab.job({ mode: 'bypassPermissions' });
    await untilIdle(job);
    for (const [id, mode] of [
      ['m2', 'acceptEdits'],
      ['m3', 'unknown'],
      ['m4', 'bypassPermissions'],
      ['m5', 'plan'],
    ] as const) {
      await job.send(...text(id, mode));
      await untilIdle(job);
    }
    await lab.restart();
    const again = lab.jobs.find(job.id);
    if (again === null) throw new Error('the job is gone');
    job = again;
    await job.send(...text('m6', 'bypassPermissions'));
    await untilIdle(job);
    expect(levels()).toEqual(['full', 'workspace_write', 'read_only', 'workspace_write', 'read_only', 'read_only']);
  });

  it('of a message in a stricter mode than the running turn: it gets a turn of its own', async () => {
    const job = lab.job({ mode: 'bypassPermissions' });
    await running();
    expect(await job.send(...text('m2', 'plan'))).toBe('queued');
    lab.harness.thread.onRun = answered('ok');
    lab.harness.thread.turns[0]?.end({ kind: 'completed', answer: 'ok' });
    await untilIdle(job);
    expect(levels()).toEqual(['full', 'read_only']);
    expect(lab.harness.thread.steers).toHaveLength(0);
  });
});

describe('races', () => {
  /** A small generator, so that a run that fails can be run again from its seed. */
  function random(seed: number): () => number {
    let value = seed;
    return () => {
      value = (value * 1_664_525 + 1_013_904_223) % 4_294_967_296;
      return value / 4_294_967_296;
    };
  }
  const moments = async (count: number) => {
    for (let moment = 0; moment < count; moment++) await new Promise((resolve) => setImmediate(resolve));
  };

  it.each(Array.from({ length: 40 }, (_, index) => index + 1))(
    'seed %i: messages at every point of a turn are each handed over exactly once, in order',
    async (seed) => {
      const dice = random(seed);
      const handed: string[] = [];
      lab.harness.onOpen = () => moments(Math.floor(dice() * 4));
      lab.harness.onThread = (thread) => {
        let isOn = false;
        thread.onRun = async (turn) => {
          isOn = true;
          handed.push(...turn.input.messages.map((message) => message.id));
          await moments(Math.floor(dice() * 8));
          isOn = false;
          await moments(Math.floor(dice() * 3));
          turn.end({ kind: 'completed', answer: handed.join() });
        };
        thread.onSteer = async (steer) => {
          await moments(Math.floor(dice() * 3));
          const joined = isOn;
          if (joined) handed.push(steer.id);
          await moments(Math.floor(dice() * 3));
          steer.answer(joined ? 'joined' : 'no_turn');
        };
      };
      const job = lab.job();
      const sent = ['m1'];
      for (let number = 2; number <= 12; number++) {
        await moments(Math.floor(dice() * 6));
        const id = `m${number}`;
        sent.push(id);
        void job.send(...text(id));
        if (dice() < 0.3) void job.send(...text(id));
      }
      const events = await untilIdle(job);
      expect(handed).toEqual(sent);
      const told = events.flatMap((event) =>
        event.kind === 'turn_started' ? event.messages : event.kind === 'steered' ? [event.message] : [],
      );
      expect([...told].sort()).toEqual([...sent].sort());
      expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
    },
  );

  it('many jobs that end together each end once, with their own answer', async () => {
    lab.harness.onThread = (thread) =>
      (thread.onRun = (turn) => turn.end({ kind: 'completed', answer: turn.input.messages[0]?.text ?? '' }));
    const jobs = Array.from({ length: 30 }, (_, index) =>
      lab.job({ agent: `agent-${index}`, message: { id: 'm', text: `answer ${index}` } }),
    );
    const ends = await Promise.all(jobs.map(untilIdle));
    expect(jobs.map((job) => job.answer(1)?.text)).toEqual(jobs.map((_, index) => `answer ${index}`));
    expect(ends.every((events) => kinds(events).join() === 'turn_started,turn_ended')).toBe(true);
    expect(readdirSync(join(lab.state, 'jobs'))).toHaveLength(30);
  });
});

describe('a journal that cannot be written', () => {
  it('does not leave the job running for ever: readers are told which folder, and why', async () => {
    const job = lab.job();
    await running();
    const full = vi.spyOn(EventLog.prototype, 'append').mockImplementation(() => {
      throw new Error('ENOSPC: no space left on device');
    });
    lab.harness.thread.turns[0]?.end({ kind: 'completed', answer: 'done' });
    await expect(job.events(1, 20_000, new AbortController().signal)).rejects.toThrow(
      `job ${job.id}: its journal ${join(lab.state, 'jobs', job.id)} cannot be written: ENOSPC`,
    );
    await vi.waitFor(() => expect(job.view().status).toBe('idle'));
    full.mockRestore();
    // There is space again: the next message goes on, and the answer had been stored.
    expect(job.answer(1)?.text).toBe('done');
    lab.harness.thread.onRun = answered('again');
    expect(await job.send(...text('m2'))).toBe('started');
    expect(endOf(await untilIdle(job), 2)?.outcome).toMatchObject({ kind: 'completed' });
  });

  it('where an answer cannot be stored ends the turn as failed, with the text as partial', async () => {
    const job = lab.job();
    await running();
    const answers = join(lab.state, 'jobs', job.id, 'answers');
    rmSync(answers, { recursive: true });
    lab.harness.thread.turns[0]?.end({ kind: 'completed', answer: 'precious' });
    const outcome = endOf(await untilIdle(job), 1)?.outcome;
    expect(outcome).toMatchObject({ kind: 'failed', partial: ['precious'] });
    expect(JSON.stringify(outcome)).toContain('The answer could not be stored');
  });
});

describe('a long poll', () => {
  it('wakes for an event, and for a client that goes away', async () => {
    const job = lab.job();
    await running();
    const client = new AbortController();
    const left = job.events(1, 20_000, client.signal);
    client.abort();
    expect((await left).events).toEqual([]);
    const waiting = job.events(1, 20_000, new AbortController().signal);
    lab.harness.thread.turns[0]?.emit({ kind: 'reasoning', text: 'hm' });
    expect((await waiting).events).toMatchObject([{ kind: 'reasoning', text: 'hm', seq: 2, turn: 1 }]);
  });

  it('of an idle job is answered at once', async () => {
    lab.harness.onThread = (thread) => (thread.onRun = answered('ok'));
    const job = lab.job();
    await untilIdle(job);
    const page = await job.events(2, 20_000, new AbortController().signal);
    expect(page).toMatchObject({ events: [], job: { status: 'idle', lastSeq: 2 } });
  });
});
