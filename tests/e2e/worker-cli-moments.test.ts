/** What happens to an errand's host at the worst moment: over the answer, and while its worker is being opened. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { says } from '../../testing/fake-messages.js';
import { signal } from '../../testing/processes.js';
import { gate, until } from '../../testing/wait.js';
import { kill, openWorkers, WAIT_MS, type Workers } from '../../testing/workers.js';

const LONG_MS = 120_000;

let workers: Workers;
beforeAll(async () => {
  workers = await openWorkers();
});
afterAll(() => workers.close());

test(
  'rule.firstAnswerWins: a host that is stopped for seven seconds over the answer, or killed at its very moment, loses none',
  async () => {
    const open = gate();
    const atReply = gate<() => void>();
    workers.claude.main(async (request) => {
      const isKilled = request.text.includes('be killed');
      await open.promise;
      if (isKilled) (await atReply.promise)();
      return says(isKilled ? 'killed' : 'stopped');
    });
    const [stopped, killed] = [
      workers.start(['run', 'be stopped', '--timeout', '60s']),
      workers.start(['run', 'be killed', '--timeout', '60s']),
    ];
    const errands = [await stopped.errand(), await killed.errand()] as const;
    // A task that is taken may still be on its way: a host that is stopped then keeps it for itself.
    for (const task of ['be stopped', 'be killed']) {
      await workers.claude.request(task, ({ class: kind, text }) => kind === 'main' && text.includes(task), WAIT_MS);
    }
    const [sleeper, victim] = [await errands[0].host(), await errands[1].host()];
    signal(sleeper, 'SIGSTOP');
    atReply.open(() => kill(victim));
    open.open();
    // Longer than a server keeps a connection that is idle.
    await Promise.all([sleep(7_000), errands[0].sees('● stopped')]);
    signal(sleeper, 'SIGCONT');
    for (const [command, answer] of [
      [stopped, 'stopped'],
      [killed, 'killed'],
    ] as const) {
      const { code, stdout, stderr } = await command.ended;
      expect([code, stdout.toString()], stderr).toEqual([0, answer]);
    }
    expect(killed.stderr()).toContain('it is started again');
    workers.nothingIsLeft();
  },
  LONG_MS,
);

test(
  'rule.noWorkerIsLeft: `stop` at any moment of a start: when it has said so the worker is closed, and the errand interrupted (130)',
  async () => {
    workers.claude.main(() => says('too late'));
    for (const offset of [0, 40, 80, 120, 160, 220, 300, 450, 700, 1_100]) {
      const known = new Set(workers.errands().map(({ id }) => id));
      const command = workers.start(['run', `be stopped after ${offset} ms`]);
      const id = await until('the errand', () => workers.errands().find((one) => !known.has(one.id))?.id, {
        within: WAIT_MS,
        every: 2,
      });
      await sleep(offset);
      const errand = workers.errand(id);
      const stopped = await workers.run(['stop', id]);
      const at = `after ${offset} ms: ${stopped.stderr}`;
      expect([stopped.code, stopped.stderr], at).toEqual([0, expect.stringContaining('is closed')]);
      expect(errand.processes(), at).toEqual([]);
      const { code, stdout, stderr } = await command.ended;
      expect([code, stdout.length], `${at}${stderr}`).toEqual([130, 0]);
      // Its host, told by a signal, may have written it first, in words of its own.
      expect(errand.state().end, at).toMatchObject({ kind: 'interrupted' });
      expect(errand.state(), at).toMatchObject({ host: null, desk: null, tmux: null, worker: null });
      workers.nothingIsLeft();
    }
  },
  LONG_MS,
);
