/** Whatever is killed, and whoever ends it: the errand ends, and nothing of its worker is left. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claudeBinary } from '../../testing/claude-place.js';
import { bash, calls, holds, type MessagesRequest, says } from '../../testing/fake-messages.js';
import { isAlive, type ProcessInfo, running, signal, untilGone } from '../../testing/processes.js';
import { gate, never, until } from '../../testing/wait.js';
import { type Command, type Errand, kill, openWorkers, WAIT_MS, type Workers } from '../../testing/workers.js';

const LONG_MS = 120_000;
/** From the end of a worker to the end of its errand, in milliseconds. */
const BOUND_MS = 5_000;
/** From the end of whoever looked after a worker to the worker's, a command at work in it. */
const CLOSE_MS = 15_000;

let workers: Workers;
beforeAll(async () => {
  workers = await openWorkers();
});
afterAll(() => workers.close());

let marks = 76_400;

/** A command that stays, with children of every kind that a hang-up does not reach. */
function busy(): { readonly command: string; readonly processes: () => readonly ProcessInfo[] } {
  const nap = `sleep ${++marks}.5`;
  return {
    command: `nohup ${nap} >/dev/null 2>&1 & setsid ${nap} & (setsid nohup ${nap} >/dev/null 2>&1 &); ${nap}`,
    processes: () => running(nap),
  };
}

/** The model runs the command that the task's first word names, and then says `worked`. */
function script(byWord: Readonly<Record<string, string>>) {
  return (request: MessagesRequest) => {
    const word = Object.keys(byWord).find((one) => request.text.includes(`${one}:`));
    if (word === undefined) return says('no such task');
    return request.results.length === 0 ? calls(bash(byWord[word] ?? '')) : says('worked');
  };
}

async function started(words: readonly string[]): Promise<{ command: Command; errand: Errand }> {
  const command = workers.start(['run', ...words]);
  return { command, errand: await command.errand() };
}

const sleeping = (work: ReturnType<typeof busy>, count: number) =>
  until('the command and its children', () => work.processes().length >= count && work.processes(), {
    within: WAIT_MS,
  });

/** Listens at a port of 127.0.0.1, and lets go of it again; rejects where somebody does already. */
const listen = (port = 0) =>
  new Promise<void>((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(port, '127.0.0.1', () => server.close(() => resolve()));
  });

const whichTmux = () => execFileSync('/bin/sh', ['-c', 'command -v tmux'], { encoding: 'utf8' }).trim();

describe('rule.workerEndEndsTheErrand', () => {
  /** Lets the worker come to a point, ends it, and resolves to how the command ended. */
  async function endedBy(
    task: string,
    comesTo: (errand: Errand) => Promise<unknown>,
    end: (errand: Errand) => Promise<void> | void,
  ) {
    const { command, errand } = await started([task]);
    await errand.worker();
    await comesTo(errand);
    const at = performance.now();
    await end(errand);
    const { code, stdout, stderr } = await command.ended;
    expect(performance.now() - at).toBeLessThan(BOUND_MS + 3_000);
    expect([code, stdout.length], stderr).toEqual([4, 0]);
    expect(errand.state().end?.kind).toBe('worker_ended');
    expect(errand.processes()).toEqual([]);
    return stderr;
  }
  const asked = (word: string) => workers.claude.request(word, ({ text }) => text.includes(word), WAIT_MS);
  const killWorker = async (errand: Errand) => kill(await errand.worker());

  test(
    'a worker that is killed before it has its task, while its model speaks, or during a command ends its errand (4)',
    async () => {
      const work = busy();
      const run = script({ busy: work.command });
      workers.claude.main((request) => (request.text.includes('busy:') ? run(request) : holds(never)));
      const said = await Promise.all([
        endedBy('early', () => Promise.resolve(), killWorker),
        endedBy('speaking', () => asked('speaking'), killWorker),
        endedBy('busy: do it', () => sleeping(work, 4), killWorker),
      ]);
      for (const one of said) expect(one).toMatch(/ended before it answered: signal 9/);
      await untilGone(work.processes());
      workers.nothingIsLeft();
    },
    LONG_MS,
  );

  test(
    'so does one whose terminal is killed, that is asked to end, or that a person leaves; stderr says how',
    async () => {
      workers.claude.main(() => holds(never));
      const [terminal, asked15, left] = await Promise.all([
        endedBy(
          'its terminal',
          () => asked('its terminal'),
          async (errand) => kill(await errand.server()),
        ),
        endedBy(
          'asked to end',
          () => asked('asked to end'),
          async (errand) => signal(await errand.worker(), 'SIGTERM'),
        ),
        endedBy(
          'leave me',
          () => asked('leave me'),
          async (errand) => {
            errand.press('Escape');
            await errand.sees('Interrupted');
            errand.type('/exit');
            await errand.sees(/❯ \/exit/);
            errand.press('Enter');
          },
        ),
      ]);
      expect(terminal).toContain('its terminal was closed');
      expect(asked15).toContain('exit code 143');
      expect(left).toContain('exit code 0');
      workers.nothingIsLeft();
    },
    LONG_MS,
  );

  test(
    'a Claude Code that does not start says so with its own words',
    async () => {
      const { code, stderr } = await workers.run(['run', 'bypass', '--permission-mode', 'bypassPermissions'], {
        env: { IS_SANDBOX: undefined },
      });
      expect(code).toBe(4);
      expect(stderr).toContain('exit code 1');
      expect(stderr).toContain('cannot be used with root/sudo privileges');
      const wrong = await workers.run(['run', 'mode', '--permission-mode', 'whatever']);
      expect([wrong.code, wrong.stderr.includes('whatever')]).toEqual([4, true]);
      workers.nothingIsLeft();
    },
    LONG_MS,
  );
});

describe('rule.noWorkerIsLeft', () => {
  test(
    'the command that asked is killed, at once or later: the worker and all that its commands started are gone',
    async () => {
      const work = busy();
      workers.claude.main(script({ busy: work.command }));
      const early = workers.start(['run', 'early: do it']);
      const host = await until('its host', () =>
        workers.place.processes().find(({ command }) => command.includes('worker host')),
      );
      kill(early.id);
      const { command, errand } = await started(['busy: do it']);
      const processes = await sleeping(work, 4);
      const worker = await errand.worker();
      kill(command.id);
      await untilGone([...processes, worker, host], CLOSE_MS);
      await until('both to be closed', () => workers.place.processes().length === 0, { within: CLOSE_MS });
      expect(errand.state().end).toEqual({ kind: 'interrupted', detail: 'the command that asked was killed' });
      expect(work.processes()).toEqual([]);
    },
    LONG_MS,
  );

  test(
    'what finished commands left behind is gone with the worker, whoever its parent is by then',
    async () => {
      const nap = `sleep ${++marks}.5`;
      const left = () => running(nap);
      const open = gate();
      const run = script({ leave: `nohup ${nap} >/dev/null 2>&1 & (setsid ${nap} >/dev/null 2>&1 &); echo left` });
      workers.claude.main(async (request) => {
        if (request.results.length > 0) await open.promise;
        return run(request);
      });
      const { command } = await started(['leave: something']);
      const leftovers = await until('both leftovers', () => left().length === 2 && left(), { within: WAIT_MS });
      open.open();
      expect((await command.ended).stdout.toString()).toBe('worked');
      expect(leftovers.filter(isAlive)).toEqual([]);
      workers.nothingIsLeft();
    },
    LONG_MS,
  );

  test(
    'rule.firstAnswerWins: its host is killed, while it opens the worker or later: the same worker goes on, and its answer comes',
    async () => {
      const open = gate();
      workers.claude.main(async () => {
        await open.promise;
        return says('answered');
      });
      const { command, errand } = await started(['be hosted twice']);
      const worker = await errand.worker();
      await errand.taken();
      const port = errand.state().desk?.port;
      for (const _ of [1, 2]) {
        const host = await errand.host();
        kill(host);
        await untilGone([host]);
      }
      await errand.host();
      await until('the desk at its port', () =>
        fetch(`http://127.0.0.1:${port}/`).then(({ status }) => status === 404),
      );
      open.open();
      const { code, stdout, stderr } = await command.ended;
      expect([code, stdout.toString()], stderr).toEqual([0, 'answered']);
      expect(stderr.match(/it is started again/g)).toHaveLength(2);
      expect(isAlive(worker)).toBe(false);
      workers.nothingIsLeft();
    },
    LONG_MS,
  );

  test(
    'a host that is killed before it knows its worker leaves one worker, not two',
    async () => {
      const open = gate();
      workers.claude.main(async () => {
        await open.promise;
        return says('once');
      });
      const bin = join(workers.place.root, 'slow');
      const opened = join(bin, 'opened');
      mkdirSync(bin);
      // A tmux that has opened the worker and has not said so yet.
      const slow = `#!/bin/sh\n'${whichTmux()}' "$@"\ncode=$?\ncase "$*" in *new-session*) >'${opened}'; sleep 1 ;; esac\nexit $code\n`;
      writeFileSync(join(bin, 'tmux'), slow, { mode: 0o755 });
      const command = workers.start(['run', 'be opened once'], { env: { PATH: `${bin}:${workers.place.env.PATH}` } });
      await until('the worker to be open', () => existsSync(opened), { within: WAIT_MS, every: 2 });
      const [id = ''] = workers.errands().flatMap((one) => (one.end === null ? one.id : []));
      const errand = workers.errand(id);
      expect(errand.state().worker).toBeNull();
      kill(await errand.host());
      await errand.worker();
      await errand.taken();
      const sessions = errand.processes().filter(({ command: line }) => line.startsWith(claudeBinary()));
      expect(sessions).toHaveLength(1);
      open.open();
      const { code, stdout, stderr } = await command.ended;
      expect([code, stdout.toString()], stderr).toEqual([0, 'once']);
      workers.nothingIsLeft();
    },
    LONG_MS,
  );

  test(
    'command and host are both killed: the errand is listed as abandoned, and `stop` or the next `run` closes the worker',
    async () => {
      const work = busy();
      workers.claude.main((request) =>
        request.text.includes('next:') ? says('next') : script({ busy: work.command })(request),
      );
      const both = await Promise.all([started(['busy: first']), started(['busy: second'])]);
      const processes = await sleeping(work, 8);
      for (const { command, errand } of both) {
        const host = await errand.host();
        // Stopped first: it would end the errand in the moment between the two.
        signal(host, 'SIGSTOP');
        kill(command.id, host);
      }
      await Promise.all(both.map(({ command }) => command.ended));
      const [first, second] = both.map(({ errand }) => errand);
      if (first === undefined || second === undefined) throw new Error('two were started');
      expect((await workers.listed(first.id)).status).toBe('abandoned');
      expect(processes.every(isAlive)).toBe(true);
      const stopped = await workers.run(['stop', first.id]);
      expect([stopped.code, stopped.stdout.length]).toEqual([0, 0]);
      expect(stopped.stderr).toContain('is closed');
      expect(first.processes()).toEqual([]);
      expect(work.processes()).toHaveLength(4);
      const next = await workers.run(['run', 'next: go']);
      expect([next.code, next.stdout.toString()]).toEqual([0, 'next']);
      expect(next.stderr).toContain(`errand ${second.id} was left behind`);
      expect(work.processes()).toEqual([]);
      for (const { id } of [first, second]) expect((await workers.listed(id)).status).toBe('interrupted');
      expect((await workers.run(['stop', first.id])).code).toBe(1);
      workers.nothingIsLeft();
    },
    LONG_MS,
  );

  test(
    'a worker that was to be kept stays open and usable, with the desk that it knows, until it is stopped or a person leaves it',
    async () => {
      workers.claude.main((request) => says(request.text.includes('and more') ? 'more is said' : 'kept'));
      const { command, errand } = await started(['stay', '--keep']);
      const left = await started(['stay until I leave', '--keep']);
      for (const each of [command, left.command]) {
        const { code, stdout, stderr } = await each.ended;
        expect([code, stdout.toString()], stderr).toEqual([0, 'kept']);
      }
      expect(await workers.listed(errand.id)).toMatchObject({
        status: 'answered',
        isKeptOpen: true,
        workerPid: expect.any(Number),
      });
      errand.type('and more');
      await errand.sees('and more');
      errand.press('Enter');
      await errand.sees('more is said');
      // What is said later is not the answer.
      expect((await workers.run(['answer', errand.id])).stdout.toString()).toBe('kept');
      const all = [await errand.host(), await errand.worker(), await errand.server()];
      // Whoever listened there would hear what the worker still says.
      await expect(listen(errand.state().desk?.port)).rejects.toThrow('EADDRINUSE');
      const purged = await workers.run(['purge', '--all'], { command: [process.execPath, workers.program] });
      expect(purged.stdout.toString()).toContain(
        `Kept ${errand.id}: its worker is open; \`verbatim worker stop ${errand.id}\` closes it\n`,
      );
      expect((await workers.run(['stop', errand.id])).code).toBe(0);
      expect(all.filter(isAlive)).toEqual([]);
      expect(await workers.listed(errand.id)).toMatchObject({ status: 'answered', isKeptOpen: false });

      const theirs = [await left.errand.host(), await left.errand.worker(), await left.errand.server()];
      const socket = dirname(left.errand.state().tmux ?? '');
      expect(existsSync(socket)).toBe(true);
      left.errand.type('/exit');
      await left.errand.sees(/❯ \/exit/);
      left.errand.press('Enter');
      await untilGone(theirs);
      expect(existsSync(socket)).toBe(false);
      expect(await workers.listed(left.errand.id)).toMatchObject({ status: 'answered', workerPid: null });
      workers.nothingIsLeft();
    },
    LONG_MS,
  );

  test(
    'an errand whose files are removed under it ends all the same, taken back or answered, and its worker with it',
    async () => {
      const open = gate();
      workers.claude.main(async (request) => {
        if (!request.text.includes('be answered')) return holds(never);
        await open.promise;
        return says('lost');
      });
      const [back, lost] = await Promise.all([started(['be taken back']), started(['be answered'])]);
      for (const { errand } of [back, lost]) {
        await errand.taken();
        rmSync(join(workers.place.home, '.local', 'state', 'verbatim', 'errands', errand.id), { recursive: true });
      }
      back.command.child.kill('SIGTERM');
      open.open();
      const [taken, answered] = [await back.command.ended, await lost.command.ended];
      expect(taken.code, taken.stderr).toBe(130);
      expect([answered.code, answered.stdout.length]).toEqual([1, 0]);
      expect(answered.stderr).toContain('its answer could not be written');
      workers.nothingIsLeft();
    },
    LONG_MS,
  );
});

describe('rule.firstAnswerWins', () => {
  test(
    'a report that its worker did not send changes nothing: another session’s, a second one, one after the end',
    async () => {
      const open = gate();
      workers.claude.main(async () => {
        await open.promise;
        return says('the worker’s own');
      });
      const { command, errand } = await started(['be forged', '--keep']);
      await errand.taken();
      const { desk, session } = errand.state();
      if (desk === null) throw new Error('the desk is open');
      const post = (report: unknown, token = desk.token, path = '/mod/answer') =>
        fetch(`http://127.0.0.1:${desk.port}${path}?token=${encodeURIComponent(token)}`, {
          method: 'POST',
          body: JSON.stringify(report),
        }).then(({ status }) => status);
      expect(await post({ session_id: session, text: 'forged' }, 'wrong')).toBe(401);
      expect(await post({ session_id: session, text: 'forged' }, '')).toBe(401);
      expect(await post({ session_id: 'another', text: 'forged' })).toBe(204);
      expect(await post({ session_id: session, take: 'another' }, desk.token, '/verbatim/task')).toBe(204);
      expect(errand.state().end).toBeNull();
      open.open();
      expect((await command.ended).stdout.toString()).toBe('the worker’s own');
      expect(await post({ session_id: session, text: 'too late' })).toBe(204);
      expect((await workers.run(['answer', errand.id])).stdout.toString()).toBe('the worker’s own');
      await workers.run(['stop', errand.id]);
    },
    LONG_MS,
  );

  test(
    'of two reports with the worker’s own name the first is the answer',
    async () => {
      workers.claude.main(() => holds(never));
      const { command, errand } = await started(['be answered from outside']);
      await errand.taken();
      const { desk, session } = errand.state();
      const url = `http://127.0.0.1:${desk?.port}/mod/answer?token=${encodeURIComponent(desk?.token ?? '')}`;
      const post = (text: string) =>
        fetch(url, { method: 'POST', body: JSON.stringify({ session_id: session, text }) });
      const sent = [await post('first'), await post('second').catch(() => undefined)];
      expect(sent[0]?.status).toBe(204);
      expect((await command.ended).stdout.toString()).toBe('first');
      workers.nothingIsLeft();
    },
    LONG_MS,
  );
});
