/** Faults that the real Codex cannot be made to show, from a stand-in that is a real process. */
import { closeSync, copyFileSync, mkdtempSync, openSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { type CodexKit, codexKit, FULL } from '../../testing/codex-kit.js';
import { isAlive, untilGone, withEnvironment } from '../../testing/processes.js';

const FAKE = fileURLToPath(new URL('../../testing/fixtures/fake-codex.mjs', import.meta.url));

let kit: CodexKit;
afterEach(() => kit?.close());

async function turnWith(fault: string, stallMs = 60_000) {
  kit = await codexKit({ program: FAKE, env: { FAKE_CODEX: fault } });
  const thread = await kit.open();
  return { thread, ...(await kit.run(thread, 'go', { stallMs, access: FULL })) };
}

test.each(['garbage', 'half a frame'])(
  '%s on its stdout fails the turn as protocol and says what came',
  async (fault) => {
    const { end } = await turnWith(fault);
    expect(end.ending).toMatchObject({
      kind: 'failed',
      failure: {
        kind: 'protocol',
        message: expect.stringMatching(/a line that is not JSON: (Segmentation fault|\{"method")/),
      },
    });
    expect(end.survivors).toEqual([]);
  },
);

test.each(['an item without its text', 'an unknown status'])(
  '%s fails this turn as protocol, and the server stays',
  async (fault) => {
    const { end, thread } = await turnWith(fault);
    expect(end.ending).toMatchObject({ kind: 'failed', failure: { kind: 'protocol' } });
    // The same server takes the next turn: its frame is as bad, which is the point.
    expect((await kit.run(thread, 'again')).end.ending).toMatchObject({
      kind: 'failed',
      failure: { kind: 'protocol' },
    });
  },
);

test('an item and a notification that we do not know are shown or passed over, and the turn completes', async () => {
  const { end, events } = await turnWith('an unknown item');
  expect(end.ending).toEqual({ kind: 'completed', answer: 'fine' });
  expect(events).toContainEqual(expect.objectContaining({ kind: 'action_completed', item: 'h1' }));
});

test('an exit in mid-turn fails it as crashed with the last words of its stderr, secrets masked', async () => {
  const { end } = await turnWith('an exit');
  expect(end.ending).toMatchObject({
    kind: 'failed',
    failure: {
      kind: 'crashed',
      message: 'codex app-server ended with exit code 101. Its last words: loading | panic: out of luck, key [masked]',
    },
  });
});

test('a server that neither answers nor dies when asked is killed, and the turn ends as stalled', async () => {
  const { end } = await turnWith('deafness', 300);
  expect(end.ending).toMatchObject({ kind: 'failed', failure: { kind: 'stalled' }, partial: ['I do not listen.'] });
  expect(end.survivors).toEqual([]);
}, 30_000);

test('the end and the items of another turn or thread are not this turn’s', async () => {
  const { end, events } = await turnWith('another turn’s end');
  expect(end.ending).toEqual({ kind: 'completed', answer: 'mine' });
  expect(events).toEqual([]);
});

test('a message that is completed twice stands as it was completed last', async () => {
  const { end, events } = await turnWith('a message completed twice');
  expect(end.ending).toEqual({ kind: 'completed', answer: 'whole' });
  expect(events).toEqual([{ kind: 'retry', attempt: 1, of: 5, reason: 'Reconnecting... 1/5' }]);
});

test('a command that completes after its turn’s end is still reported', async () => {
  const { end, events } = await turnWith('a late command');
  expect(end.ending).toEqual({ kind: 'completed', answer: 'done' });
  expect(events.at(-1)).toMatchObject({
    kind: 'action_completed',
    item: 'c1',
    result: { output: 'late', exitCode: 0 },
  });
});

test('a request that we do not know is answered with an error and shown as declined', async () => {
  const { end, events } = await turnWith('an unknown request');
  expect(end.ending).toMatchObject({ kind: 'completed', answer: expect.stringContaining('-32601') });
  expect(events).toContainEqual(expect.objectContaining({ kind: 'approval', decision: 'declined' }));
});

test('a start that is garbled is a protocol failure', async () => {
  kit = await codexKit({ program: FAKE, env: { FAKE_CODEX: 'a garbled start' } });
  await expect(kit.open()).rejects.toMatchObject({ failure: { kind: 'protocol' } });
});

test('a start that is never answered is a failure within a bound, and nothing of it is left', async () => {
  kit = await codexKit({ program: FAKE, limits: { requestMs: 100 }, env: { FAKE_CODEX: 'a silent start' } });
  const message = 'Codex was ended, for it did not answer initialize within 0.1 s.';
  await expect(kit.open()).rejects.toMatchObject({ failure: { kind: 'crashed', message } });
  expect(withEnvironment('VERBATIM_SIDECAR', kit.sidecar)).toEqual([]);
});

test('a turn whose start is never answered is failed only once nothing can begin it any more', async () => {
  kit = await codexKit({ program: FAKE, limits: { requestMs: 500 }, env: { FAKE_CODEX: 'an unanswered turn' } });
  const { end } = await kit.run(await kit.open(), 'go');
  const message = 'Codex was ended, for it did not answer turn/start within 0.5 s.';
  expect(end.ending).toMatchObject({ kind: 'failed', failure: { kind: 'crashed', message } });
  expect(withEnvironment('VERBATIM_SIDECAR', kit.sidecar)).toEqual([]);
});

test.each([
  ['a server that hangs', 'is ended, so that the next thread gets another', 2],
  ['a thread that hangs', 'is kept, for the fault may be in what the thread starts', 1],
])('%s is said within a bound; the server %s', async (fault, _, servers) => {
  kit = await codexKit({ program: FAKE, limits: { openMs: 100, probeMs: 200 }, env: { FAKE_CODEX: fault } });
  const message = 'Codex did not answer thread/start within 0.1 s.';
  await expect(kit.open()).rejects.toMatchObject({ failure: { kind: 'protocol', message } });
  const [first] = withEnvironment('VERBATIM_SIDECAR', kit.sidecar);
  if (first === undefined) throw new Error('no server is up');
  if (servers === 2) await untilGone([first]);
  await expect(kit.open()).rejects.toMatchObject({ failure: { kind: 'protocol', message } });
  expect(isAlive(first)).toBe(servers === 1);
});

test('a program that could not be started, for an update was writing it, is started the next time', async () => {
  const program = join(mkdtempSync(join(tmpdir(), 'vb-codex-')), 'codex');
  copyFileSync(process.execPath, program);
  const writing = openSync(program, 'r+');
  kit = await codexKit({ program, env: { FAKE_CODEX: '' } });
  await expect(kit.open()).rejects.toMatchObject({
    failure: { kind: 'crashed', message: expect.stringContaining('ETXTBSY') },
  });
  closeSync(writing);
  rmSync(program);
  symlinkSync(FAKE, program);
  expect(await kit.open()).toMatchObject({ id: 'thread-1' });
  rmSync(dirname(program), { recursive: true });
});

test('a program that is not there is not_installed, says where it was looked for and how to install it', async () => {
  kit = await codexKit({ program: 'codex-of-nowhere', env: { PATH: '/nonexistent-a:/nonexistent-b' } });
  await expect(kit.open()).rejects.toMatchObject({
    failure: {
      kind: 'not_installed',
      message:
        'Codex was not found: looked for codex-of-nowhere in 2 folders of PATH (/nonexistent-a, /nonexistent-b).',
      hint: 'Run `npm install -g @openai/codex`.',
    },
  });
  expect(await kit.harness.detect()).toEqual({
    kind: 'missing',
    lookedFor: 'codex-of-nowhere in 2 folders of PATH (/nonexistent-a, /nonexistent-b)',
    install: 'npm install -g @openai/codex',
  });
});
