/** One test a row of the failure table in docs/failures.md: the real Codex, the model's API at fault. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { FailureKind } from '../../plugin/hooks/protocol/outcome.js';
import { type CodexKit, codexKit } from '../../testing/codex-kit.js';
import {
  comment,
  cut,
  failed,
  httpError,
  idle,
  incomplete,
  type Reply,
  reset,
  say,
  turn,
} from '../../testing/fake-responses.js';

type Row = {
  readonly when: string;
  readonly reply: Reply;
  readonly kind: FailureKind;
  readonly message: string | RegExp;
  readonly hint: string | RegExp | null;
};

const USAGE_LIMIT = {
  type: 'usage_limit_reached',
  message: 'The usage limit has been reached',
  plan_type: 'plus',
  resets_in_seconds: 7200,
};

const ROWS: readonly Row[] = [
  {
    when: '401',
    reply: httpError(401, { message: 'Bad key' }),
    kind: 'sign_in',
    message: /401 Unauthorized/,
    hint: /codex login/,
  },
  {
    when: '403',
    reply: httpError(403, { message: 'No' }),
    kind: 'sign_in',
    message: /403 Forbidden/,
    hint: /codex login/,
  },
  {
    when: 'an unknown model (404)',
    reply: httpError(404, { code: 'model_not_found', message: 'The model `nope` does not exist' }),
    kind: 'model',
    message: /does not exist|not found/i,
    hint: /another model/,
  },
  {
    when: '400',
    reply: httpError(400, { message: 'Bad input', type: 'invalid_request_error' }),
    kind: 'invalid_request',
    message: 'Bad input',
    hint: null,
  },
  {
    when: 'context_length_exceeded',
    reply: failed('context_length_exceeded', 'Your input exceeds the context window of this model.'),
    kind: 'context_window',
    message: /context window/,
    hint: /shorter task/,
  },
  {
    when: '429 without Retry-After',
    reply: httpError(429, { message: 'slow down' }),
    kind: 'rate_limit',
    message: /429/,
    hint: /^Wait/,
  },
  {
    when: 'rate_limit_exceeded in the stream',
    reply: failed('rate_limit_exceeded', 'Rate limit reached. Please try again in 10ms.'),
    kind: 'rate_limit',
    message: /rate limit/i,
    hint: /^Wait/,
  },
  {
    when: 'insufficient_quota',
    reply: failed('insufficient_quota', 'You exceeded your current quota.'),
    kind: 'quota',
    message: /quota/i,
    hint: /reset/,
  },
  {
    when: 'usage_limit_reached',
    reply: httpError(429, USAGE_LIMIT),
    kind: 'quota',
    message: /usage limit/i,
    hint: /reset/,
  },
  {
    when: 'usage_not_included',
    reply: httpError(429, { type: 'usage_not_included', message: 'Not included' }),
    kind: 'quota',
    message: /plan|included|limit/i,
    hint: /reset/,
  },
  { when: '500', reply: httpError(500, { message: 'boom' }), kind: 'capacity', message: /./, hint: /few minutes/ },
  { when: '502', reply: httpError(502, 'bad gateway'), kind: 'capacity', message: /502/, hint: /few minutes/ },
  { when: '503', reply: httpError(503, 'unavailable'), kind: 'capacity', message: /503/, hint: /few minutes/ },
  {
    when: 'server_is_overloaded',
    reply: failed('server_is_overloaded', 'Overloaded'),
    kind: 'capacity',
    message: /capacity|overloaded/i,
    hint: /few minutes/,
  },
  {
    when: 'a stream that is cut',
    reply: cut(comment('half')),
    kind: 'network',
    message: /^stream disconnected before completion/,
    hint: /network/,
  },
  {
    when: 'a stream that is incomplete',
    reply: incomplete('max_output_tokens'),
    kind: 'network',
    message: 'Incomplete response returned, reason: max_output_tokens',
    hint: /network/,
  },
  {
    when: 'a stream that the content filter ended',
    reply: incomplete('content_filter'),
    kind: 'policy',
    message: /Incomplete response returned, reason: content_filter$/,
    hint: null,
  },
  { when: 'a connection that is reset', reply: reset(), kind: 'network', message: /./, hint: /network/ },
  {
    when: 'cyber_policy',
    reply: failed('cyber_policy', 'This request was flagged.'),
    kind: 'policy',
    message: /flagged|cyber/i,
    hint: null,
  },
];

describe('rule.failureSaysWhy: a turn whose request fails ends as what the failure is', () => {
  let kit: CodexKit;
  beforeAll(async () => {
    kit = await codexKit({ retries: 0 });
  });
  afterAll(() => kit.close());

  test.each(ROWS)('$when → $kind', async ({ reply, kind, message, hint }) => {
    kit.model.reset();
    kit.model.script(() => reply);
    const thread = await kit.open();
    const { end } = await kit.run(thread, 'go');
    expect(end.ending.kind).toBe('failed');
    if (end.ending.kind !== 'failed') return;
    const { failure } = end.ending;
    expect(failure).toMatchObject({ kind, status: 'failed', message: expect.stringMatching(message) });
    if (hint === null) expect(failure.hint).toBeUndefined();
    else expect(failure.hint).toMatch(hint);
    expect(end.survivors).toEqual([]);

    // The thread is of use again as soon as the provider is.
    kit.model.reset();
    const next = await kit.run(thread, 'again');
    expect(next.end.ending).toEqual({ kind: 'completed', answer: 'ok' });
  });
});

describe('a failure with a setting of its own', () => {
  let kit: CodexKit;
  afterEach(() => kit?.close());

  test('a stream that goes silent ends as stalled by Codex’s own idle limit', async () => {
    kit = await codexKit({ retries: 0, streamIdleMs: 300 });
    kit.model.script(() => idle(comment('half')));
    const { end, events } = await kit.run(await kit.open(), 'go');
    expect(end.ending).toMatchObject({ kind: 'failed', failure: { kind: 'stalled', message: /idle timeout/ } });
    expect(events).toContainEqual({ kind: 'message', text: 'half' });
  });

  test('a silent model ends as stalled after our own bound, with what it had said as partial', async () => {
    kit = await codexKit();
    kit.model.next(idle(comment('I begin.')));
    const { end } = await kit.run(await kit.open(), 'go', { stallMs: 500 });
    expect(end.ending).toMatchObject({
      kind: 'failed',
      failure: { kind: 'stalled', status: 'failed', message: 'The model was silent for 0.5 s.' },
      partial: ['I begin.'],
    });
  });

  test('a 429 with a long Retry-After ends as rate_limit, not as an hour of silence', async () => {
    kit = await codexKit();
    kit.model.script(() => httpError(429, { message: 'slow down' }, { 'retry-after': '3600' }));
    const { end, events } = await kit.run(await kit.open(), 'go', { stallMs: 1_000 });
    expect(end.ending).toMatchObject({
      kind: 'failed',
      failure: { kind: 'rate_limit', message: /429/, hint: /^Wait/ },
    });
    expect(events).toContainEqual(expect.objectContaining({ kind: 'retry', attempt: 1, of: 1 }));
  });

  test('a used-up quota names the time of its reset where Codex reports one', async () => {
    kit = await codexKit({ retries: 0 });
    kit.model.script(() =>
      httpError(429, USAGE_LIMIT, {
        'x-codex-primary-used-percent': '100',
        'x-codex-primary-window-minutes': '300',
        'x-codex-primary-reset-at': '1900000000',
      }),
    );
    const { end } = await kit.run(await kit.open(), 'go');
    expect(end.ending).toMatchObject({
      kind: 'failed',
      failure: { kind: 'quota', hint: expect.stringContaining('until 2030-03-17T17:46:40Z') },
    });
  });

  test('a provider that refuses the connection ends as network, within a bound', async () => {
    kit = await codexKit({ retries: 0 });
    const thread = await kit.open();
    await kit.model.close();
    const { end } = await kit.run(thread, 'go');
    expect(end.ending).toMatchObject({ kind: 'failed', failure: { kind: 'network' } });
  });

  test('a missing key of a provider ends as sign_in and names the variable', async () => {
    kit = await codexKit({ env: { FAKE_KEY: '' } });
    const { end } = await kit.run(await kit.open(), 'go');
    expect(end.ending).toMatchObject({ kind: 'failed', failure: { kind: 'sign_in', message: /FAKE_KEY/ } });
  });

  test('a retry is shown, and a turn that recovers completes', async () => {
    kit = await codexKit({ retries: 3 });
    kit.model.next(cut(comment('half')), turn(say('whole')));
    const { end, events } = await kit.run(await kit.open(), 'go');
    expect(end.ending).toEqual({ kind: 'completed', answer: 'whole' });
    expect(events).toContainEqual(expect.objectContaining({ kind: 'retry', attempt: 1, of: 3 }));
  });

  test('words about rate limits in an answer are an answer', async () => {
    kit = await codexKit();
    kit.model.next(turn(say('Error 429: rate limit exceeded, please sign in')));
    const { end } = await kit.run(await kit.open(), 'go');
    expect(end.ending).toEqual({ kind: 'completed', answer: 'Error 429: rate limit exceeded, please sign in' });
  });
});
