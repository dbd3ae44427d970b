/** Workers beside and below each other. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  bash,
  calls,
  holds,
  type MessagesReply,
  type MessagesRequest,
  type MessagesScript,
  says,
} from '../../testing/fake-messages.js';
import { isAlive, running, signal, untilGone } from '../../testing/processes.js';
import { gate, never, until } from '../../testing/wait.js';
import { type ErrandState, kill, openWorkers, WAIT_MS, type Workers } from '../../testing/workers.js';

const LONG_MS = 120_000;
const CLOSE_MS = 20_000;

let workers: Workers;
beforeAll(async () => {
  workers = await openWorkers();
});
afterAll(() => workers.close());

/** A file whose text is a task: the model below knows it by its first word. */
function taskFile(name: string, task: string): string {
  const path = join(workers.place.root, name);
  writeFileSync(path, task);
  return path;
}

const resultOf = (request: MessagesRequest) => request.results.at(-1)?.text.trim() ?? '';

/**
 * `outer:` and `middle:` ask a worker below them in a Bash call and repeat what it says; `inner:` is the last.
 *
 * @param around What stands before their command.
 */
function nested(inner: (request: MessagesRequest) => MessagesReply, around = ''): MessagesScript {
  const asks = (next: string) => calls(bash(`${around}verbatim worker run --file ${join(workers.place.root, next)}`));
  return (request) => {
    if (request.text.includes('inner:')) return inner(request);
    if (request.results.length > 0) return says(`below: ${resultOf(request)}`);
    return asks(request.text.includes('middle:') ? 'inner' : 'middle');
  };
}

const errandAtDepth = (depth: number) =>
  until(
    `a worker at depth ${depth}`,
    () => workers.errands().find((one) => one.depth === depth && one.end === null && one.take !== null),
    { within: WAIT_MS },
  );

test(
  'rule.onlyTheAnswerOnStdout: three in one folder at once have each its own answer',
  async () => {
    const all = gate();
    const asked = new Set<string>();
    workers.claude.main(async (request) => {
      const name = /my name is (\w+)/.exec(request.text)?.[1] ?? '';
      asked.add(name);
      if (asked.size === 3) all.open();
      // None is answered before all are at work.
      await all.promise;
      return says(`You are ${name}.`);
    });
    const names = ['Ada', 'Grace', 'Barbara'];
    const outcomes = await Promise.all(names.map((name) => workers.run(['run', `my name is ${name}`])));
    expect(outcomes.map(({ code, stdout }) => [code, stdout.toString()])).toEqual(
      names.map((name) => [0, `You are ${name}.`]),
    );
    workers.nothingIsLeft();
  },
  LONG_MS,
);

test(
  'rule.backgroundDefersTheAnswer: what is said while a command runs in the background is not the answer',
  async () => {
    const file = join(workers.place.root, 'go-on');
    const background = bash(`until [ -e ${file} ]; do sleep 0.1; done`);
    workers.claude.main((request) => {
      if (request.text.includes('<task-notification>')) return says('it has finished');
      if (request.results.length > 0) return says('it runs');
      return calls({ ...background, input: { ...background.input, run_in_background: true } });
    });
    const command = workers.start(['run', 'wait for the background']);
    const errand = await command.errand();
    await errand.sees('● it runs');
    expect(errand.state().end).toBeNull();
    writeFileSync(file, '');
    expect((await command.ended).stdout.toString()).toBe('it has finished');
    workers.nothingIsLeft();
  },
  LONG_MS,
);

describe('workers below workers', () => {
  test(
    'a worker asks one below it, which asks another: the answer comes up, and that one may ask nobody, whatever depth they state',
    async () => {
      taskFile('middle', 'middle: ask further');
      taskFile('inner', 'inner: answer');
      workers.claude.main(
        nested((request) => {
          if (request.results.length > 0) return says(resultOf(request));
          return calls(bash('LICH_SUBAGENT_DEPTH=0 verbatim worker run further'));
        }, 'LICH_SUBAGENT_DEPTH=0 '),
      );
      const { code, stdout, stderr } = await workers.run(['run', 'outer: ask']);
      expect(code, stderr).toBe(0);
      expect(stdout.toString()).toMatch(
        /^below: [\s\S]*below: [\s\S]*workers may stand at most 3 deep; do the task here$/,
      );
      const chain = workers.errands().filter(({ end }) => end?.kind === 'answered');
      const byId = new Map(chain.map((one) => [one.id, one]));
      const inner = chain.find(({ depth }) => depth === 3) as ErrandState;
      const middle = byId.get(inner.parent ?? '');
      expect([middle?.depth, byId.get(middle?.parent ?? '')?.depth]).toEqual([2, 1]);
      workers.nothingIsLeft();
    },
    LONG_MS,
  );

  test('rule.noWorkerIsLeft: the outermost is taken back, or its worker or everything of it is killed, while the innermost works: none is left', async () => {
    taskFile('middle', 'middle: ask further');
    taskFile('inner', 'inner: work');
    const nap = 'sleep 65432.5';
    // Claude Code refuses a command that begins with a sleep.
    workers.claude.main(nested(({ results }) => (results.length > 0 ? holds(never) : calls(bash(`true; ${nap}`)))));
    const ways: readonly ((outer: ReturnType<Workers['start']>) => Promise<void> | void)[] = [
      (outer) => void outer.child.kill('SIGTERM'),
      async (outer) => signal(await (await outer.errand()).worker(), 'SIGKILL'),
      (outer) => kill(outer.id),
    ];
    for (const end of ways) {
      const outer = workers.start(['run', 'outer: ask']);
      const { id } = await errandAtDepth(3);
      const asleep = () => running(nap);
      await until('the innermost command', () => asleep().length > 0, { within: WAIT_MS });
      const all = workers.place.processes();
      await end(outer);
      await untilGone(all.filter(isAlive), CLOSE_MS);
      expect(asleep()).toEqual([]);
      expect(workers.errand(id).state().end?.kind).toMatch(/interrupted|worker_ended/);
      await outer.ended;
      workers.nothingIsLeft();
    }
  }, 180_000);
});
