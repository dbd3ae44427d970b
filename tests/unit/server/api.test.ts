import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ApiError,
  BODY_LIMIT,
  type CreateJob,
  type EventsPage,
  type JobView,
  PROTOCOL,
} from '../../../plugin/hooks/protocol/api.js';
import { stillAlive } from '../../../testing/processes.js';
import {
  childrenIn,
  ended,
  isOver,
  type RequestOptions,
  type Sidecar,
  sidecarFolders,
  startSidecar,
} from '../../../testing/sidecar.js';
import { until } from '../../../testing/wait.js';

let sidecar: Sidecar;
beforeAll(async () => {
  sidecar = await startSidecar({ folders: sidecarFolders() });
});
afterAll(async () => {
  sidecar.child.kill('SIGTERM');
  expect(await ended(sidecar.child)).toBe(0);
  sidecar.folders.remove();
});

let agents = 0;
const creation = (text: string, changes: Partial<CreateJob> = {}): CreateJob => ({
  harness: 'codex',
  agent: `agent-${++agents}`,
  session: 'session-1',
  cwd: sidecar.folders.work,
  mode: 'default',
  message: { id: 'm1', text },
  ...changes,
});

async function makeJob(text: string, changes: Partial<CreateJob> = {}): Promise<JobView> {
  const { status, body } = await sidecar.request<{ job: JobView }>('POST', '/v1/jobs', {
    body: creation(text, changes),
  });
  expect(status).toBe(201);
  return body.job;
}

async function refused(method: string, path: string, options?: RequestOptions): Promise<[number, string, string]> {
  const { status, body } = await sidecar.request<ApiError>(method, path, options);
  return [status, body.error.code, body.error.message];
}

describe('the handshake', () => {
  it('is one line of JSON, and nothing follows it', async () => {
    await sidecar.request('GET', '/v1/health');
    expect(sidecar.output().trimEnd().split('\n')).toHaveLength(1);
    expect(sidecar.handshake).toMatchObject({ protocol: PROTOCOL, pid: sidecar.child.pid });
    expect(Buffer.from(sidecar.handshake.token, 'base64url')).toHaveLength(32);
  });

  it('names a socket in a folder that only its user can look into, with a path that fits', () => {
    const { socket = '' } = sidecar.handshake;
    expect(socket.length).toBeLessThanOrEqual(100);
    expect(lstatSync(dirname(socket)).mode & 0o777).toBe(0o700);
    expect(dirname(dirname(socket))).toBe(sidecar.folders.runtime);
  });
});

describe('a request is refused', () => {
  it.each([
    ['none', null],
    ['another one', 'x'.repeat(43)],
    ['one that is longer', `${'x'.repeat(200)}`],
  ])('without the token (%s): 401, and nothing of what is there', async (_, token) => {
    for (const [method, path] of [
      ['GET', '/v1/health'],
      ['GET', '/nowhere'],
      ['PUT', '/v1/jobs'],
      ['POST', '/v1/jobs'],
    ] as const) {
      const reply = await sidecar.request<ApiError>(method, path, {
        token,
        raw: method === 'GET' ? undefined : 'no json',
      });
      expect(reply.status).toBe(401);
      expect(reply.body.error).toEqual({ code: 'unauthorized', message: 'the token is missing or is another one' });
    }
  });

  it('in this order: 401 token, 404 path, 405 method, 413 size, 400 body', async () => {
    const raw = Buffer.alloc(BODY_LIMIT + 1, 'x');
    expect((await refused('PUT', '/nowhere', { raw, token: null }))[0]).toBe(401);
    expect((await refused('PUT', '/nowhere', { raw }))[0]).toBe(404);
    expect((await refused('PUT', '/v1/jobs', { raw }))[0]).toBe(405);
    expect((await refused('POST', '/v1/jobs', { raw }))[0]).toBe(413);
    expect((await refused('POST', '/v1/jobs', { raw: 'x' }))[0]).toBe(400);
  });

  it.each([
    '/',
    '/v1',
    '/v1/',
    '/v2/health',
    '/v1/healthy',
    '/v1/health/x',
    '/v1/jobs/x/y',
    '/v1/jobs/../../etc/passwd',
    '/v1/jobs/%2e%2e/events',
  ])('where there is nothing: %s', async (path) => {
    expect((await refused('GET', path)).slice(0, 2)).toEqual([404, 'not_found']);
  });

  it.each(['', '/messages', '/stop', '/events', '/deliveries', '/answers/1'])(
    'for a job that is not there, before its method and body are looked at (%s)',
    async (path) => {
      const [status, , message] = await refused('PUT', `/v1/jobs/jaaaaaaaaaaaaaaaaaaaa${path}`, { raw: 'x' });
      expect(status).toBe(404);
      expect(message).toContain('jaaaaaaaaaaaaaaaaaaaa');
    },
  );

  it('with a method that the path does not take, naming those it takes', async () => {
    const reply = await sidecar.request<ApiError>('DELETE', '/v1/jobs');
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toBe('POST');
    expect(reply.body.error.message).toContain('it takes POST');
  });

  it('while its body still streams, as soon as the limit is passed, whatever length it claimed', async () => {
    const socket = connect(sidecar.handshake.socket ?? '');
    let reply = '';
    socket.on('data', (bytes) => (reply += bytes.toString('utf8')));
    socket.on('error', () => {});
    socket.write(
      `POST /v1/jobs HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${sidecar.handshake.token}\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    const piece = Buffer.alloc(1024 * 1024, 'x');
    for (let sent = 0; sent <= BODY_LIMIT && reply === ''; sent += piece.length) {
      socket.write(`${piece.length.toString(16)}\r\n`);
      socket.write(piece);
      await new Promise((resolve) => socket.write('\r\n', resolve));
    }
    // The body has not ended, and never will.
    await until('the refusal', () => reply.startsWith('HTTP/1.1 413'));
    await until('the connection to be closed', () => socket.destroyed || socket.readableEnded);
    socket.destroy();
  });

  it.each([
    ['an empty body', '', 'the body is empty'],
    ['no JSON', '{"harness":', 'the body is not JSON'],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'the body is not UTF-8'],
    ['an array', '[]', 'the body must be an object, it is an array'],
  ])('with %s, saying so', async (_, raw, says) => {
    const [status, code, message] = await refused('POST', '/v1/jobs', { raw });
    expect([status, code]).toEqual([400, 'invalid']);
    expect(message).toContain(says);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['a field is missing', { agent: undefined }, 'agent is missing'],
    ['a field is empty', { session: '' }, 'session must not be empty'],
    ['a field is of another type', { cwd: 7 }, 'cwd must be a string, it is the number 7'],
    ['the folder is relative', { cwd: 'src' }, 'cwd must be an absolute path, it is "src"'],
    ['the harness is unknown', { harness: 'clippy' }, 'harness must be one of codex; it is "clippy"'],
    ['the mode is unknown', { mode: 'yolo' }, 'mode must be one of default, acceptEdits'],
    ['the message id has other characters', { message: { id: 'a/b', text: 'x' } }, 'message.id must hold only letters'],
    ['the text is missing', { message: { id: 'a' } }, 'message.text is missing'],
    [
      'an option has a wrong value',
      { options: { stallMs: '5' } },
      'options.stallMs must be a whole number, it is a string',
    ],
    ['an option is out of range', { options: { stallMs: 0 } }, 'options.stallMs must be from 1 to'],
    ['an option is unknown', { options: { stallms: 1 } }, 'options.stallms is not a field here; known: stallMs'],
    ['a field is unknown', { modle: 'x' }, 'modle is not a field here'],
  ])('where %s, naming the field and the rule', async (_, changes, says) => {
    const [status, , message] = await refused('POST', '/v1/jobs', { body: { ...creation('say x'), ...changes } });
    expect(status).toBe(400);
    expect(message).toContain(says);
  });

  it('with a query that is not of the form', async () => {
    const { id } = await makeJob('say x');
    // What the mod asks for to hear where a job stands.
    const end = `/v1/jobs/${id}/events?after=${Number.MAX_SAFE_INTEGER}`;
    expect(await sidecar.request('GET', end)).toMatchObject({ status: 200, body: { events: [] } });
    expect((await refused('GET', `/v1/jobs/${id}/events?after=9007199254740992`))[0]).toBe(400);
    expect((await refused('GET', `/v1/jobs/${id}/events?after=-1`))[2]).toBe(
      'after must be a whole number from 0 to 9007199254740991, it is "-1"',
    );
    expect((await refused('GET', `/v1/jobs/${id}/events?wait=99999`))[2]).toContain(
      'wait must be a whole number from 0 to 20000',
    );
    expect((await refused('GET', `/v1/jobs/${id}/events?since=1`))[2]).toContain('?since is not a field here');
  });
});

describe('a job', () => {
  it('is made, followed and read', async () => {
    const { id } = await makeJob('say  exactly this\r\n');
    const events = await sidecar.follow(id, isOver);
    expect(events.map((event) => event.kind)).toEqual(['turn_started', 'turn_ended']);
    const reply = await sidecar.request('GET', `/v1/jobs/${id}/answers/1`);
    expect(reply.body).toMatchObject({ turn: 1, text: ' exactly this\r\n', bytes: 15 });
    expect((await sidecar.request('GET', `/v1/jobs/${id}`)).body).toMatchObject({
      job: { id, status: 'idle', turns: 1 },
    });
  });

  it('of one agent and session is one job, whatever is sent again', async () => {
    const body = creation('say once');
    const [first, second] = await Promise.all([
      sidecar.request<{ job: JobView }>('POST', '/v1/jobs', { body }),
      sidecar.request<{ job: JobView }>('POST', '/v1/jobs', { body }),
    ]);
    expect(new Set([first.status, second.status])).toEqual(new Set([201, 200]));
    expect(first.body.job.id).toBe(second.body.job.id);
    expect(await sidecar.follow(first.body.job.id, isOver)).toHaveLength(2);
  });

  it('takes a message of 2 MB and gives its answer back whole', async () => {
    const text = `${randomBytes(1024 * 1024).toString('hex')}\u2028\0`;
    const { id } = await makeJob(`say ${text}`);
    await sidecar.follow(id, isOver);
    expect((await sidecar.answer(id)) === text).toBe(true);
  });

  it('gives an answer in pages that each fit what Claude Code takes, whatever its characters', async () => {
    const text = `${'\u0001'.repeat(700_001)}${'👩‍👩‍👧'.repeat(100_000)}`;
    const { id } = await makeJob(`say ${text}`);
    await sidecar.follow(id, isOver);
    expect((await sidecar.answer(id)) === text).toBe(true);
    const { body } = await sidecar.request('GET', `/v1/jobs/${id}/answers/1`);
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(4 * 1024 * 1024);
    expect((await sidecar.request('GET', `/v1/jobs/${id}/answers/1?from=x`)).status).toBe(400);
    expect((await sidecar.request('GET', `/v1/jobs/${id}/answers/1?form=1`)).status).toBe(400);
  });

  it('takes messages, steers them, and knows one that it had', async () => {
    const { id } = await makeJob('steerable');
    await sidecar.follow(id, (events) => events.length > 0);
    const path = `/v1/jobs/${id}/messages`;
    const send = { body: { message: { id: 'm2', text: 'this instead' }, mode: 'default' } };
    expect((await sidecar.request('POST', path, send)).body).toMatchObject({ disposition: 'steered' });
    expect((await sidecar.request('POST', path, send)).body).toMatchObject({ disposition: 'duplicate' });
    await sidecar.follow(id, isOver);
    const again = { body: { message: { id: 'm3', text: 'say and this' }, mode: 'default' } };
    expect((await sidecar.request('POST', path, again)).body).toMatchObject({ disposition: 'started' });
    await sidecar.follow(id, isOver);
    expect((await sidecar.request('GET', `/v1/jobs/${id}/answers/2`)).body).toMatchObject({ text: 'and this' });
  });

  it('stops, and its processes are gone when that is answered', async () => {
    const { id } = await makeJob('run');
    const events = await sidecar.follow(id, (seen) => seen.filter((event) => event.kind === 'warning').length === 2);
    const children = childrenIn(events);
    expect(stillAlive(children)).toHaveLength(2);
    const reply = await sidecar.request('POST', `/v1/jobs/${id}/stop`, { body: { reason: 'stopped' } });
    expect(reply.body).toMatchObject({ job: { status: 'idle' } });
    expect(stillAlive(children)).toEqual([]);
    expect((await sidecar.follow(id, isOver)).at(-1)).toMatchObject({
      kind: 'turn_ended',
      outcome: { kind: 'interrupted' },
      survivors: [],
    });
  });

  it('notes how a run was delivered, once', async () => {
    const { id } = await makeJob('say x');
    await sidecar.follow(id, isOver);
    const deliver = (how: string, turn = 1) =>
      sidecar.request<ApiError | undefined>('POST', `/v1/jobs/${id}/deliveries`, { body: { turn, run: 'run-1', how } });
    expect((await deliver('handback')).status).toBe(204);
    expect((await deliver('handback')).status).toBe(204);
    expect(await deliver('plain')).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    expect((await deliver('plain', 9)).status).toBe(404);
    expect((await sidecar.request('GET', `/v1/jobs/${id}/answers/9`)).status).toBe(404);
    expect((await sidecar.request('GET', `/v1/jobs/${id}/answers/x`)).status).toBe(404);
  });
});

describe('a long poll', () => {
  it('is answered the moment an event comes', async () => {
    const { id } = await makeJob('steerable');
    await sidecar.follow(id, (events) => events.length > 0);
    const poll = sidecar.request<EventsPage>('GET', `/v1/jobs/${id}/events?after=1&wait=20000`);
    const began = Date.now();
    await sidecar.request('POST', `/v1/jobs/${id}/messages`, {
      body: { message: { id: 'm2', text: 'x' }, mode: 'default' },
    });
    expect((await poll).body.events.length).toBeGreaterThan(0);
    expect(Date.now() - began).toBeLessThan(2_000);
    await sidecar.follow(id, isOver);
  });

  it('is answered empty when its time is over, and at once where the job is idle', async () => {
    const { id } = await makeJob('wait');
    await sidecar.follow(id, (events) => events.length > 0);
    const began = Date.now();
    const page = await sidecar.request<EventsPage>('GET', `/v1/jobs/${id}/events?after=1&wait=300`);
    expect(Date.now() - began).toBeGreaterThanOrEqual(290);
    expect(page.body).toMatchObject({ events: [], job: { status: 'running' } });
    await sidecar.request('POST', `/v1/jobs/${id}/stop`, { body: { reason: 'stopped' } });
    const idle = await sidecar.request<EventsPage>('GET', `/v1/jobs/${id}/events?after=2&wait=20000`);
    expect(idle.body).toMatchObject({ events: [], job: { status: 'idle' } });
  });

  it('whose client goes away is let go, and the job goes on', async () => {
    const { id } = await makeJob('wait');
    await sidecar.follow(id, (events) => events.length > 0);
    const clients = Array.from({ length: 20 }, () => new AbortController());
    const polls = clients.map(({ signal }) =>
      sidecar.request('GET', `/v1/jobs/${id}/events?after=1&wait=20000`, { signal }).catch(() => 'gone'),
    );
    for (const client of clients) client.abort();
    expect(new Set(await Promise.all(polls))).toEqual(new Set(['gone']));
    expect((await sidecar.request('GET', '/v1/health')).body).toMatchObject({ running: 1 });
    await sidecar.request('POST', `/v1/jobs/${id}/stop`, { body: { reason: 'stopped' } });
  });
});

describe("a job's folder that is a link", () => {
  it('is a conflict that names it; other jobs go on', async () => {
    const { symlinkSync } = await import('node:fs');
    const folder = join(sidecar.folders.state, 'verbatim', 'jobs', 'jbbbbbbbbbbbbbbbbbbbb');
    symlinkSync('/', folder);
    const [status, code, message] = await refused('GET', '/v1/jobs/jbbbbbbbbbbbbbbbbbbbb/events');
    expect([status, code]).toEqual([409, 'conflict']);
    expect(message).toContain(`${folder} is a link`);
    await makeJob('say fine');
  });
});
