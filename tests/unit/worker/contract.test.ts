/** docs/fixtures/mod-answer.jsonl, held against both sides of the contract: docs/mod-answer.md says how a line is read. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ANSWER_PATH, bodyOf, TRUNCATED, type Unanswered } from '../../../plugin/hooks/protocol/mod-answer.js';
import { type Stop, Turns } from '../../../plugin/hooks/worker/turns.js';
import { Desk } from '../../../sidecar/src/desk/desk.js';
import type { ErrandEnd } from '../../../sidecar/src/desk/errand.js';
import { Errands } from '../../../sidecar/src/desk/errands.js';
import { createDeskServer } from '../../../sidecar/src/desk/http.js';
import { ROOT } from '../../../testing/root.js';
import { NEW } from '../desk/lab.js';

/** A text as the file has it: whole, or in pieces, some of them so many times. */
type Text = string | readonly (string | readonly [string, number])[];

type MainLoopEvent =
  | { readonly Stop: Omit<Stop, 'last_assistant_message'> & { readonly last_assistant_message?: Text } }
  | { readonly 'turn.complete': { readonly answer: Text; readonly reason: string } };

type Line = {
  readonly case: string;
  readonly events?: readonly MainLoopEvent[];
  readonly now?: string;
  readonly method?: string;
  readonly path?: string;
  readonly token?: string | null;
  readonly body: Text | { readonly base64: string } | null;
  readonly status?: number;
  readonly takes?: { readonly text: Text; readonly truncated?: true } | { readonly unanswered: Unanswered } | null;
  readonly why?: string;
  readonly ours?: true;
};

const KEYS = ['case', 'events', 'now', 'method', 'path', 'token', 'body', 'status', 'takes', 'why', 'ours'];
const SESSION = 'w1';
const TOKEN = 'a token, & more';

const file = readFileSync(join(ROOT, 'docs', 'fixtures', 'mod-answer.jsonl'), 'utf8');
const lines = file
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Line);
const turnsOf = lines.filter((line) => line.events !== undefined);
const requestsOf = lines.filter((line) => line.body !== null);

describe('the file', () => {
  test('is ASCII, so that nothing in it is unseen, and says each thing once', () => {
    expect(file).toMatch(/^[\x20-\x7e\n]+$/);
    expect(new Set(lines.map((line) => line.case)).size).toBe(lines.length);
    for (const line of lines) {
      expect(KEYS).toEqual(expect.arrayContaining(Object.keys(line)));
      expect(line.body === null || line.status !== undefined).toBe(true);
      expect(line.takes !== undefined).toBe(line.status === 204);
      expect(line.why !== undefined).toBe(line.body !== null && line.status !== 204);
    }
  });

  test('has every status of the contract, and both a turn that reports and one that does not', () => {
    const statuses = new Set(requestsOf.map((line) => line.status));
    expect([...statuses].sort()).toEqual([204, 400, 401, 404, 405, 413]);
    expect(new Set(turnsOf.map((line) => line.body === null))).toEqual(new Set([true, false]));
  });
});

describe('rule.stopAnswersForItsTurn, rule.textIsCut: what a worker sends', () => {
  test.each(turnsOf)('$case', ({ events = [], now = '2026-11-30T12:00:00', body }) => {
    const turns = new Turns();
    let sent: string | undefined;
    for (const event of events) {
      if ('Stop' in event) {
        const { last_assistant_message: text, ...rest } = event.Stop;
        turns.stopping(text === undefined ? rest : { ...rest, last_assistant_message: whole(text) });
        continue;
      }
      const { answer, reason } = event['turn.complete'];
      sent = undefined;
      if (reason === 'answer') {
        const report = turns.answered(SESSION, whole(answer), new Date(now).getTime());
        if (report !== undefined) sent = bodyOf(report);
      } else turns.endedOtherwise();
    }
    expect(sent).toBe(body === null ? undefined : bytesOf(body).toString());
  });
});

describe('rule.deskKeepsTheContract: what a desk answers', () => {
  let state: string;
  beforeEach(() => {
    state = mkdtempSync(join(tmpdir(), 'vb-desk-'));
  });
  afterEach(() => {
    rmSync(state, { recursive: true });
  });

  test.each(requestsOf)('$status: $case', async (line) => {
    const { body, method = 'POST', path = ANSWER_PATH, token = TOKEN, status, takes = null } = line;
    const errands = new Errands(state);
    const opened = errands.open('the task', NEW, 0);
    const { id } = opened;
    errands.save({ ...opened, session: SESSION, take: 'a request' });
    const desk = new Desk(errands, () => 0);
    desk.takeUp(id);

    const query = token === null ? '' : `?token=${encodeURIComponent(token)}`;
    expect(await statusOf(desk, method, path + query, bytesOf(body ?? ''))).toBe(status);

    const { end } = desk.errand(id);
    if (takes === null) {
      expect(end).toBe(null);
      expect(errands.answerOf(id)).toBe(null);
    } else if ('unanswered' in takes) {
      expect(end).toEqual({ kind: 'unanswered', how: takes.unanswered } satisfies ErrandEnd);
      expect(errands.answerOf(id)).toBe(null);
    } else {
      const text = Buffer.from(whole(takes.text));
      expect(errands.answerOf(id)?.equals(text)).toBe(true);
      expect(end).toMatchObject({ kind: 'answered', bytes: text.length, isTruncated: takes.truncated === true });
      if (takes.truncated === true) expect(whole(takes.text).endsWith(TRUNCATED)).toBe(true);
    }
  });
});

/** The status of one request to a desk that listens for it alone. */
async function statusOf(desk: Desk, method: string, path: string, body: Buffer): Promise<number | undefined> {
  const server = createDeskServer({ desk, token: TOKEN, log: () => {}, now: () => 0 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      const sent = request({ port, host: '127.0.0.1', method, path, headers, agent: false }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      });
      sent.on('error', reject).end(body);
    });
  } finally {
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  }
}

function whole(text: Text): string {
  if (typeof text === 'string') return text;
  return text.map((piece) => (typeof piece === 'string' ? piece : piece[0].repeat(piece[1]))).join('');
}

function bytesOf(body: Text | { readonly base64: string }): Buffer {
  return typeof body === 'object' && 'base64' in body ? Buffer.from(body.base64, 'base64') : Buffer.from(whole(body));
}
