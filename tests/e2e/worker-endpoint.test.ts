/** A worker whose orchestrator hangs, is away or fails, and a session that is reloaded or cleared. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { VERSION } from '../../plugin/hooks/protocol/version.js';
import { holds, says } from '../../testing/fake-messages.js';
import { sharedWorker, type Worker } from '../../testing/orchestrator.js';
import { untilGone } from '../../testing/processes.js';
import { gate, until } from '../../testing/wait.js';

let worker: Worker;

const shared = sharedWorker();

beforeEach(async () => {
  worker = await shared.open();
});

afterEach(async ({ task }) => {
  if (task.result?.state !== 'pass') await shared.close();
});

afterAll(shared.close);

describe('rule.turnIsNeverHeldUp', () => {
  test('while nobody answers a report the next turn begins, and its own report is posted', async () => {
    const { orchestrator, claude } = worker;
    orchestrator.hangs();
    await worker.turn([says('A report that hangs.')]);
    await worker.reports({ text: 'A report that hangs.' });
    const open = gate();
    const asked = claude.of('main').length;
    await worker.turn([holds(open.promise, 'Beside it.')]);
    await until('the next turn', () => claude.of('main').length > asked);
    expect(orchestrator.arrivals.at(-1)?.isOver()).toBe(false);
    open.open();
    await worker.reports({ text: 'Beside it.' });
    expect(orchestrator.arrivals.slice(-2).map((arrival) => arrival.isOver())).toEqual([false, false]);
    orchestrator.release();
    await worker.turn([says('Answered at once.')]);
    await worker.reports({ text: 'Answered at once.' });
  });

  test.each([500, 429, 401, 302])('a report that is answered %i is not sent again', async (status) => {
    worker.orchestrator.answers(status);
    await worker.turn([says(`To be answered ${status}.`)]);
    await worker.reports({ text: `To be answered ${status}.` });
    worker.orchestrator.answers(204);
    await worker.turn([says(`After ${status}.`)]);
    await worker.reports({ text: `After ${status}.` });
  });

  test('a report that nobody takes is dropped; the next one to somebody arrives alone', async () => {
    const { orchestrator, claude } = worker;
    await orchestrator.refuses();
    await worker.turn([says('To nobody.')]);
    await worker.stopped();
    const open = gate();
    const asked = claude.of('main').length;
    await worker.turn([holds(open.promise, 'To somebody.')]);
    await until('the next turn', () => claude.of('main').length > asked);
    await orchestrator.listens();
    open.open();
    await worker.reports({ text: 'To somebody.' });
  });

  test('an orchestrator that hangs does not hold up the end of the session', async () => {
    const { orchestrator, tui } = worker;
    orchestrator.hangs();
    await worker.turn([says('The last words.')]);
    await worker.reports({ text: 'The last words.' });
    expect(orchestrator.arrivals.at(-1)?.isOver()).toBe(false);
    await tui.say('/exit');
    await untilGone([tui.id]);
    await until('the report to be given up', () => orchestrator.arrivals.at(-1)?.isOver());
    await shared.close();
  });
});

describe('rule.onlyAWorkerAnswers, as long as the session lasts', () => {
  test('after /clear it reports as the same session, once a turn', async () => {
    await worker.turn([says('Before the clearing.')]);
    await worker.reports({ text: 'Before the clearing.' });
    const before = worker.claude.of('main').at(-1)?.session;
    await worker.tui.say('/clear');
    await worker.tui.unsees('Before the clearing.');
    await worker.turn([says('After the clearing.')]);
    await worker.reports({ text: 'After the clearing.' });
    expect(worker.claude.of('main').at(-1)?.session).not.toBe(before);
  });

  test('a change of the plugin on disk while a turn runs: that turn reports, and so does the changed plugin', async () => {
    const { orchestrator, claude, place, tui } = worker;
    const open = gate();
    const asked = claude.of('main').length;
    await worker.turn([holds(open.promise, 'Begun before the change.')]);
    await until('the turn to begin', () => claude.of('main').length > asked);
    const file = join(place.root, 'plugin', 'hooks', 'protocol', 'version.ts');
    const log = tui.debugLog().length;
    writeFileSync(file, readFileSync(file, 'utf8').replace(VERSION, `${VERSION}-changed`));
    open.open();
    await worker.reports({ text: 'Begun before the change.' });
    // It loads a changed plugin between two turns, and says so in its log alone (measured on 2.1.332).
    await until('the plugin to be loaded again', () =>
      tui.debugLog().slice(log).includes('hooks module verbatim@inline session.start settled'),
    );
    await worker.turn([says('Begun after the change.')]);
    await worker.reports({ text: 'Begun after the change.' });
    const versions = orchestrator.arrivals.slice(-2).map(({ headers }) => headers['x-lich-plugin']);
    expect(versions).toEqual([VERSION, `${VERSION}-changed`]);
  });
});
