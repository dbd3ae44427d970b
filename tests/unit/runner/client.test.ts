/** The runner's client of the local API: how long it asks again before it says that the sidecar is gone. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventsAfter } from '../../../plugin/hooks/runner/client.js';
import type { ApiReply, Host } from '../../../plugin/hooks/runner/host.js';

const GONE: ApiReply = { kind: 'gone', detail: 'no answer' };
const PAGE: ApiReply = { kind: 'ok', body: { events: [], job: {} } };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A host whose requests take this long each and are answered in order, the last answer over and over. */
function hostOf(tookMs: readonly number[], replies: readonly ApiReply[]): { host: Host; asked: () => number } {
  let asked = 0;
  const at = <T>(list: readonly T[]) => list[Math.min(asked, list.length - 1)] as T;
  const pass = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
  };
  const host = {
    async request() {
      const [took, reply] = [at(tookMs), at(replies)];
      asked += 1;
      await pass(took);
      return reply;
    },
    sleep: pass,
  };
  return { host: host as unknown as Host, asked: () => asked };
}

test('a sidecar that is being started anew is asked again until it answers', async () => {
  const { host } = hostOf([1], [GONE, GONE, GONE, PAGE]);
  expect((await eventsAfter(host, 'j', 0, 0)).kind).toBe('ok');
});

test('a sidecar that is gone for good is given up after some seconds', async () => {
  const began = Date.now();
  const { host } = hostOf([1], [GONE]);
  expect(await eventsAfter(host, 'j', 0, 0)).toMatchObject({ kind: 'failed', failure: { kind: 'crashed' } });
  expect(Date.now() - began).toBeLessThan(10_000);
});

test('a sidecar that lives and says nothing is given up after a minute, not after twenty', async () => {
  const { host, asked } = hostOf([30_000], [GONE]);
  expect(await eventsAfter(host, 'j', 0, 0)).toMatchObject({
    kind: 'failed',
    failure: { kind: 'crashed', message: "Verbatim's sidecar no longer answers: no answer." },
  });
  expect(asked()).toBe(2);
});

test('a machine that slept through a request asks once more', async () => {
  const { host } = hostOf([8 * 3_600_000, 1], [GONE, PAGE]);
  expect((await eventsAfter(host, 'j', 0, 0)).kind).toBe('ok');
});
