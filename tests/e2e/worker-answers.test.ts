/** What a worker's turn is reported as, byte for byte: the real interactive Claude Code, its model faked. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VERSION } from '../../plugin/hooks/protocol/version.js';
import { HARD_TEXTS } from '../../plugin/tests/texts.js';
import { says } from '../../testing/fake-messages.js';
import { openWorker, type Worker } from '../../testing/orchestrator.js';

let worker: Worker;
let turns = 0;

beforeAll(async () => {
  worker = await openWorker();
});

afterAll(async () => {
  await worker.close();
});

/** One turn with these last words; resolves with its report, which is the only one it made so far. */
async function reportOf(words: string): Promise<{ readonly session_id: string; readonly text: string }> {
  const { orchestrator } = worker;
  const before = orchestrator.arrivals.length;
  expect(before).toBe(turns);
  turns += 1;
  await worker.turn([says(words)]);
  await orchestrator.arrived(before + 1);
  const body = JSON.parse(String(orchestrator.arrivals[before]?.body)) as { session_id: string; text: string };
  return body;
}

describe('rule.stopAnswersForItsTurn: the answer', () => {
  test("is posted as lich's contract has it: one request, its token escaped, two keys", async () => {
    await reportOf('done');
    const { orchestrator } = worker;
    expect(orchestrator.arrivals).toHaveLength(1);
    const [arrival] = orchestrator.arrivals;
    expect(arrival).toMatchObject({
      method: 'POST',
      url: `/mod/answer?token=${encodeURIComponent(orchestrator.token)}`,
      headers: {
        host: `127.0.0.1:${orchestrator.port}`,
        'content-type': 'application/json',
        'x-lich-plugin': VERSION,
      },
    });
    expect(String(arrival?.body)).toBe(`{"session_id":"${orchestrator.session}","text":"done"}`);
  });

  const CONTROLS = String.fromCharCode(...Array.from({ length: 32 }, (_, code) => code), 127, 0x85, 0x9f);

  const TEXTS = {
    ...HARD_TEXTS,
    'every control character': `(${CONTROLS})`,
    'lone halves of surrogate pairs': 'a\ud800b\udc00c',
  };

  test.each(Object.entries(TEXTS))('is exact: %s', async (_, text) => {
    const { text: reported } = await reportOf(text);
    expect(reported).toBe(text.trim());
    expect(worker.stops().at(-1)?.last_assistant_message).toBe(reported);
  });
});

describe('rule.textIsCut', () => {
  const LIMIT = 16_000;
  const MARK = '\n[truncated]';

  test('a text of 16,000 units is whole, one of 16,001 says that it was cut', async () => {
    const whole = `${'x'.repeat(LIMIT - 1)}y`;
    expect((await reportOf(whole)).text).toBe(whole);
    expect((await reportOf(`${whole}z`)).text).toBe(whole + MARK);
  });

  test('an emoji at the cut is left out whole, one before it stays', async () => {
    expect((await reportOf(`${'x'.repeat(LIMIT - 1)}😀`)).text).toBe('x'.repeat(LIMIT - 1) + MARK);
    expect((await reportOf(`${'x'.repeat(LIMIT - 2)}😀!`)).text).toBe(`${'x'.repeat(LIMIT - 2)}😀${MARK}`);
  });

  test('200 KB in three-byte characters keep 16,000 of them', async () => {
    expect((await reportOf('語'.repeat(66_667))).text).toBe('語'.repeat(LIMIT) + MARK);
  });

  test('16,000 control characters, six bytes each in JSON, are cut to a body just below 64 KiB', async () => {
    const { text } = await reportOf(`a${'\0'.repeat(LIMIT - 2)}z`);
    const kept = text.length - MARK.length;
    expect(text).toBe(`a${'\0'.repeat(kept - 1)}${MARK}`);
    const bytes = worker.orchestrator.arrivals.at(-1)?.body.length ?? 0;
    expect(bytes).toBeLessThan(65_536);
    expect(bytes + 6).toBeGreaterThanOrEqual(65_536);
  });
});

describe('the answers of a session', () => {
  test('were reported once each, and nothing else was, when it has ended', async () => {
    await worker.tui.close();
    expect(worker.orchestrator.arrivals).toHaveLength(turns);
    expect(turns).toBeGreaterThan(0);
  });
});
