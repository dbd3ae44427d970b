import { describe, expect, test } from 'vitest';
import { rpcFailure, turnFailure } from '../../../sidecar/src/harness/codex/failures.js';

const KNOWN = { rateLimits: null, model: 'gpt-5.5' };
const kindOf = (codexErrorInfo: string | Record<string, unknown> | null, message = 'x') =>
  turnFailure({ message, codexErrorInfo, additionalDetails: null }, KNOWN).kind;
const http = (name: string, httpStatusCode: number | null) => ({ [name]: { httpStatusCode } });

describe('the kind of a failure', () => {
  test.each([
    ['contextWindowExceeded', 'context_window'],
    ['usageLimitExceeded', 'quota'],
    ['rateLimitExceeded', 'rate_limit'],
    ['serverOverloaded', 'capacity'],
    ['internalServerError', 'capacity'],
    ['modelNotFound', 'model'],
    ['cyberPolicy', 'policy'],
    ['bioPolicy', 'policy'],
    ['misalignmentPolicyViolation', 'policy'],
    ['unauthorized', 'sign_in'],
    ['badRequest', 'invalid_request'],
    ['sandboxError', 'permission'],
    ['tooManyDenials', 'permission'],
    ['somethingNew', 'unknown'],
  ])('%s is %s', (info, kind) => {
    expect(kindOf(info)).toBe(kind);
  });

  test.each([
    ['httpConnectionFailed', 401, 'sign_in'],
    ['httpConnectionFailed', 403, 'sign_in'],
    ['responseTooManyFailedAttempts', 429, 'rate_limit'],
    ['responseStreamDisconnected', 502, 'capacity'],
    ['responseStreamConnectionFailed', null, 'network'],
    ['httpConnectionFailed', 418, 'invalid_request'],
  ])('%s with status %s is %s', (name, status, kind) => {
    expect(kindOf(http(name, status))).toBe(kind);
  });

  test('is read from structured fields: words in a message change nothing', () => {
    expect(kindOf('cyberPolicy', 'rate limit exceeded, please sign in, 429')).toBe('policy');
    expect(kindOf('other', 'the rate limit is not reached, sign in works')).toBe('unknown');
    expect(kindOf({ somethingNew: { deep: true } }, '429')).toBe('unknown');
  });

  test('of no error at all is unknown', () => {
    expect(turnFailure(null, KNOWN)).toEqual({
      kind: 'unknown',
      status: 'failed',
      message: 'The turn failed and Codex gave no error.',
    });
  });
});

test('the message of a provider’s JSON body is the sentence in it', () => {
  const error = {
    message: '{"error":{"message":"Bad input","type":"x"}}',
    codexErrorInfo: 'other',
    additionalDetails: null,
  };
  expect(turnFailure(error, KNOWN)).toMatchObject({ kind: 'invalid_request', message: 'Bad input' });
});

describe('the hint of a quota', () => {
  const hintWith = (primary: object | null, secondary: object | null = null) =>
    turnFailure(
      { message: 'x', codexErrorInfo: 'usageLimitExceeded', additionalDetails: null },
      { ...KNOWN, rateLimits: { primary, secondary } as never },
    ).hint;

  test('names the reset of the window that is used up', () => {
    const used = { usedPercent: 100, resetsAt: 1_900_000_000 };
    expect(hintWith(used, { usedPercent: 10, resetsAt: 1_950_000_000 })).toContain('until 2030-03-17T17:46:40Z');
  });

  test('names none where Codex reported none, or nonsense', () => {
    expect(hintWith(null)).toMatch(/^Wait for the limit to reset, or/);
    expect(hintWith({ usedPercent: 100, resetsAt: 1e300 })).toMatch(/^Wait for the limit to reset, or/);
    expect(hintWith({ usedPercent: 100, resetsAt: null })).toMatch(/^Wait for the limit to reset, or/);
  });
});

test.each([
  ['thread 01 already has an active writer', 'thread_busy'],
  ['no rollout found for thread id 01', 'thread_lost'],
  ['thread not found: 01', 'thread_lost'],
  ['something else', 'invalid_request'],
])('a request refused with %j is %s', (message, kind) => {
  expect(rpcFailure({ code: -32600, message }, KNOWN).kind).toBe(kind);
});
