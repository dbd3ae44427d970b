import { readFileSync, renameSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../testing/wait.js';
import { ANSWER, DeskLab, TASK, TOKEN, WAITING } from './lab.js';

const LIMIT = 65_536;

let lab: DeskLab;
beforeEach(async () => {
  lab = new DeskLab();
  await lab.listen();
});
afterEach(() => lab.close());

const report = (session: string, text = 'x') => JSON.stringify({ session_id: session, text });

/** A connection that says exactly what a test wants it to, and what came back. */
function raw(port: number): { readonly socket: Socket; readonly reply: () => string; readonly isEnded: () => boolean } {
  // Its own side stays open whatever the desk does: only the desk can end it.
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let reply = '';
  let isEnded = false;
  socket.on('data', (bytes) => (reply += bytes.toString('latin1')));
  socket.on('error', () => (isEnded = true));
  socket.on('end', () => (isEnded = true));
  return { socket, reply: () => reply, isEnded: () => isEnded };
}

const openConnections = (server: Awaited<ReturnType<DeskLab['listen']>>) =>
  new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));

describe('rule.deskKeepsTheContract: every status', () => {
  it('204 for a report, also for one that changes nothing', async () => {
    const { id, session } = lab.taken();
    for (const body of [
      { session_id: 'foreign', text: 'x' },
      { session_id: session, text: 'x' },
      { session_id: session, text: 'late' },
      { session_id: session, unanswered: 'blank' },
      { session_id: session, text: 'x', of: { a: 'newer' }, plugin: 7 },
    ]) {
      expect(await lab.report(body)).toMatchObject({ status: 204, text: '' });
    }
    expect(lab.onDisk(id).answer).toBe('x');
  });

  it('200 with the task for whoever takes it, 204 where there is none', async () => {
    const { session } = lab.open('\ufeffdo "this"\n\0');
    const take = (name: string, whose = session) =>
      lab.send('POST', TASK, JSON.stringify({ session_id: whose, take: name }));
    const reply = await take('a');
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json']);
    expect(JSON.parse(reply.text)).toEqual({ task: '\ufeffdo "this"\n\0' });
    expect((await take('a')).text).toBe(reply.text);
    expect(await take('b')).toMatchObject({ status: 204, text: '' });
    expect(await take('a', 'foreign')).toMatchObject({ status: 204, text: '' });
  });

  it('204 for what a worker waits for', async () => {
    const { id, session } = lab.taken();
    const say = (waiting: unknown) => lab.send('POST', WAITING, JSON.stringify({ session_id: session, waiting }));
    expect((await say({ for: 'question', what: 'Which?', more: 1 })).status).toBe(204);
    expect(lab.onDisk(id).state.wait).toEqual({ for: 'question', what: 'Which?' });
    expect((await say(null)).status).toBe(204);
    expect(lab.onDisk(id).state.wait).toBeNull();
  });

  it('a secret in what a worker waits for is masked before it is kept', async () => {
    const { id, session } = lab.taken();
    const what = 'Bash: curl -H "x-api-key: sk-ant-api03-abcdefghijklmnop" https://api.anthropic.com';
    const body = JSON.stringify({ session_id: session, waiting: { for: 'permission', what } });
    expect((await lab.send('POST', WAITING, body)).status).toBe(204);
    expect(lab.onDisk(id).state.wait).toEqual({
      for: 'permission',
      what: 'Bash: curl -H "x-api-key: [masked]" https://api.anthropic.com',
    });
  });

  it('a wait that grows as it is masked can still be read from disk', async () => {
    const { id, session } = lab.taken();
    const what = 'http://u:p@h '.repeat(23);
    const body = JSON.stringify({ session_id: session, waiting: { for: 'permission', what } });
    expect((await lab.send('POST', WAITING, body)).status).toBe(204);
    expect(lab.errands.read(id)?.wait?.what).toContain('http://u:[masked]@h');
    expect((await lab.report({ session_id: session, text: 'x' })).status).toBe(204);
    expect(lab.onDisk(id).answer).toBe('x');
  });

  it('Claude Code’s own id of the session is kept with the take, and a take without one is good', async () => {
    for (const given of ['c7a1', undefined]) {
      const { id, session } = lab.open();
      const body = JSON.stringify({ session_id: session, take: 'a', claude_session: given });
      expect((await lab.send('POST', TASK, body)).status).toBe(200);
      expect(lab.onDisk(id).state.claudeSession).toBe(given ?? null);
    }
  });

  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    '405 for %s, saying what is allowed',
    async (method) => {
      for (const path of [ANSWER, TASK, WAITING, '/mod/answer', '/mod/answer?token=wrong']) {
        expect(await lab.send(method, path)).toMatchObject({ status: 405, headers: { allow: 'POST' } });
      }
    },
  );

  it.each([
    '/',
    '/mod',
    '/mod/',
    '/mod/answer/',
    '//mod/answer',
    '/Mod/Answer',
    '/mod/answers',
    '/mod/%61nswer',
    '/mod/answer%20',
    '/mod/answer;x',
    '/verbatim/../mod/answer',
    '/verbatim/task/',
    '*',
    'http://127.0.0.1/mod/answer',
    'http://elsewhere/mod/answer',
    '/__proto__',
  ])('404 for the path %s', async (path) => {
    const { id, session } = lab.taken();
    expect((await lab.send('POST', `${path}?token=${TOKEN}`, report(session))).status).toBe(404);
    expect(lab.onDisk(id).state.end).toBeNull();
  });

  it.each<[string, string]>([
    ['none', ''],
    ['an empty one', '?token='],
    ['another one', '?token=wrong'],
    ['the beginning of it', `?token=${TOKEN.slice(0, -1)}`],
    ['more than it', `?token=${TOKEN}x`],
    ['it in capitals', `?token=${TOKEN.toUpperCase()}`],
    ['another name', `?Token=${TOKEN}`],
    ['the first of two is wrong', `?token=wrong&token=${TOKEN}`],
    ['white space around it', `?token=%20${TOKEN}`],
    ['broken encoding', '?token=%zz%'],
    ['a NUL after it', `?token=${TOKEN}%00`],
  ])('401 for a token that is not the desk’s: %s', async (_, query) => {
    const { id, session } = lab.taken();
    const bearer = { authorization: `Bearer ${TOKEN}`, cookie: `token=${TOKEN}` };
    const { status, text } = await lab.send('POST', `/mod/answer${query}`, report(session), bearer);
    expect(status).toBe(401);
    expect(text).not.toContain(TOKEN);
    expect(lab.onDisk(id).state.end).toBeNull();
  });

  it.each<[string, string]>([
    ['after other fields', `?a=1&token=${TOKEN}&b=2`],
    ['encoded', `?token=${[...TOKEN].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')}`],
    ['the first of two is right', `?token=${TOKEN}&token=wrong`],
  ])('204 for the token %s', async (_, query) => {
    const { session } = lab.taken();
    expect((await lab.send('POST', `/mod/answer${query}`, report(session))).status).toBe(204);
  });

  it.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['white space', ' \n'],
    ['no JSON', '{"session_id":"s","text":"x"'],
    ['two of them', '{"session_id":"s","text":"x"}{}'],
    ['null', 'null'],
    ['a list', '[{"session_id":"s","text":"x"}]'],
    ['a text', '"x"'],
    ['a BOM before it', '\ufeff{"session_id":"s","text":"x"}'],
    ['no UTF-8', Buffer.from('{"session_id":"s","text":"\xff"}', 'latin1')],
    ['an encoded surrogate', Buffer.from('{"session_id":"s","text":"\xed\xa0\x80"}', 'latin1')],
    ['UTF-16', Buffer.from('{"session_id":"s","text":"x"}', 'utf16le')],
    ['no session', '{"text":"x"}'],
    ['an empty session', '{"session_id":"","text":"x"}'],
    ['a session that is a number', '{"session_id":7,"text":"x"}'],
    ['a session that is a list', '{"session_id":["s"],"text":"x"}'],
    ['neither text nor unanswered', '{"session_id":"s"}'],
    ['both', '{"session_id":"s","text":"x","unanswered":"blank"}'],
    ['a text that is null', '{"session_id":"s","text":null}'],
    ['a text that is empty', '{"session_id":"s","text":""}'],
    ['a text that is blank', '{"session_id":"s","text":" \\u00a0\\u0085\\n"}'],
    ['an unanswered that nobody knows', '{"session_id":"s","unanswered":"tired"}'],
    ['an unanswered that every object has', '{"session_id":"s","unanswered":"constructor"}'],
    ['fields of its prototype alone', '{"__proto__":{"session_id":"s","text":"x"}}'],
    ['the last of two texts is blank', '{"session_id":"s","text":"x","text":""}'],
  ])('400 for a report that is %s', async (_, body) => {
    expect((await lab.send('POST', ANSWER, body)).status).toBe(400);
  });

  it.each<[string, string, unknown]>([
    ['a take without its name', TASK, {}],
    ['a take with an empty one', TASK, { take: '' }],
    ['a take whose name is too long', TASK, { take: 'x'.repeat(129) }],
    ['a take with a number', TASK, { take: 1 }],
    ['a take with a session of Claude Code that is a number', TASK, { take: 'a', claude_session: 1 }],
    ['a take with one that is too long', TASK, { take: 'a', claude_session: 'x'.repeat(129) }],
    ['a wait without one', WAITING, {}],
    ['a wait that is a text', WAITING, { waiting: 'question' }],
    ['a wait for what nobody knows', WAITING, { waiting: { for: 'godot', what: '' } }],
    ['a wait for a dialog of the start, which only a screen shows', WAITING, { waiting: { for: 'trust', what: '' } }],
    ['a wait without words', WAITING, { waiting: { for: 'question' } }],
    ['a wait with too many', WAITING, { waiting: { for: 'question', what: 'x'.repeat(301) } }],
  ])('400 for %s', async (_, path, fields) => {
    const { id, session } = lab.open();
    const before = lab.onDisk(id);
    const body = JSON.stringify({ session_id: session, ...(fields as object) });
    expect((await lab.send('POST', path, body)).status).toBe(400);
    expect(lab.onDisk(id)).toEqual(before);
  });

  it('a body of just the limit is taken, one byte more is 413', async () => {
    const { id, session } = lab.taken();
    const body = (bytes: number) => report(session, 'x'.repeat(bytes - report(session, '').length));
    expect((await lab.send('POST', ANSWER, body(LIMIT + 1))).status).toBe(413);
    expect(lab.onDisk(id).state.end).toBeNull();
    expect((await lab.send('POST', ANSWER, body(LIMIT))).status).toBe(204);
    expect(lab.onDisk(id).answer).toHaveLength(LIMIT - report(session, '').length);
  });

  it('413 while a body without a length still streams, as soon as the limit is passed', async () => {
    const { socket, reply, isEnded } = raw(lab.port);
    socket.write(`POST ${ANSWER} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`);
    const piece = `4000\r\n${' '.repeat(0x4000)}\r\n`;
    for (let sent = 0; sent <= LIMIT; sent += 0x4000) socket.write(piece);
    // The body has not ended, and never will.
    await until('the refusal', () => reply().startsWith('HTTP/1.1 413'));
    await until('the connection to be closed', isEnded);
    socket.destroy();
  });

  it('429 with retry-after for a good body beyond the rate, 400 for a bad one, and a second later it is taken', async () => {
    const { id, session } = lab.taken();
    const stranger = { session_id: 'stranger', text: 'x' };
    for (let sent = 0; sent < 40; sent += 1) expect((await lab.report(stranger)).status).toBe(204);
    for (let sent = 0; sent < 3; sent += 1) {
      expect(await lab.report(stranger)).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    }
    expect((await lab.report({ session_id: 'stranger' })).status).toBe(400);
    lab.clock += 1_000;
    for (let sent = 0; sent < 20; sent += 1) expect((await lab.report(stranger)).status).toBe(204);
    expect((await lab.report(stranger)).status).toBe(429);
    expect((await lab.report({ session_id: session, text: 'mine' })).status).toBe(204);
    expect(lab.onDisk(id).answer).toBe('mine');
  });

  it('a refused report beyond the rate changes nothing', async () => {
    const { id, session } = lab.taken();
    for (let sent = 0; sent < 40; sent += 1) {
      await lab.send('POST', WAITING, JSON.stringify({ session_id: session, waiting: null }));
    }
    expect((await lab.report({ session_id: session, text: 'x' })).status).toBe(429);
    expect(lab.onDisk(id).state.end).toBeNull();
    lab.clock += 50;
    expect((await lab.report({ session_id: session, text: 'x' })).status).toBe(204);
    expect(lab.onDisk(id).answer).toBe('x');
  });

  it('the made-up names of thousands of sessions take nothing from a worker', async () => {
    const { session } = lab.taken();
    const statuses = await Promise.all(
      Array.from(
        { length: 1_200 },
        async (_, n) => (await lab.report({ session_id: `made-up-${n}`, text: 'x' })).status,
      ),
    );
    expect(statuses.filter((status) => status === 204)).toHaveLength(40);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1_160);
    expect((await lab.report({ session_id: session, text: 'x' })).status).toBe(204);
  });

  it('500 where the disk fails: the errand has failed, for a report that was answered is not sent again', async () => {
    const { id, session } = lab.taken();
    const folder = lab.errands.folderOf(id);
    renameSync(folder, `${folder}.away`);
    expect((await lab.report({ session_id: session, text: 'x' })).status).toBe(500);
    expect(lab.logged).toEqual([{ level: 'error', what: 'POST /mod/answer failed' }]);
    expect(lab.desk.errand(id).end).toMatchObject({ kind: 'failed' });
  });

  it('500 where a task cannot be read, and the same request gets it once it can', async () => {
    const { id, session } = lab.open();
    const task = join(lab.errands.folderOf(id), 'task');
    renameSync(task, `${task}.away`);
    const take = JSON.stringify({ session_id: session, take: 'a' });
    expect((await lab.send('POST', TASK, take)).status).toBe(500);
    renameSync(`${task}.away`, task);
    expect((await lab.send('POST', TASK, take)).status).toBe(200);
  });
});

describe('rule.deskKeepsTheContract: what is wrong is looked for in order', () => {
  const FAULTS = ['path', 'method', 'token', 'size', 'body', 'rate'] as const;
  const STATUS = { path: 404, method: 405, token: 401, size: 413, body: 400, rate: 429 };

  it('path 404, method 405, token 401, size 413, body 400, rate 429: every combination of them', async () => {
    const { id, session } = lab.taken();
    const before = lab.onDisk(id);
    const good = JSON.stringify({ session_id: session, waiting: null });
    // From now on every good request of this session is beyond the rate; another errand's is not.
    for (let sent = 0; sent < 40; sent += 1) await lab.send('POST', WAITING, good);
    const calm = lab.taken();
    const wrong: [string, number, number][] = [];
    for (let bits = 0; bits < 2 ** FAULTS.length; bits += 1) {
      const faults = FAULTS.filter((_, place) => (bits >> place) & 1);
      const has = (fault: (typeof FAULTS)[number]) => faults.includes(fault);
      const path = `${has('path') ? '/nowhere' : '/verbatim/waiting'}?token=${has('token') ? 'wrong' : TOKEN}`;
      const whose = has('rate') ? session : calm.session;
      const text = has('body') ? `{"session_id":"${whose}"}` : JSON.stringify({ session_id: whose, waiting: null });
      const body = has('size') ? text.padEnd(LIMIT + 1) : text;
      const [first] = faults;
      const expected = first === undefined ? 204 : STATUS[first];
      const { status } = await lab.send(has('method') ? 'PUT' : 'POST', path, body);
      if (status !== expected) wrong.push([faults.join(' and '), expected, status]);
    }
    expect(wrong).toEqual([]);
    expect(lab.onDisk(id)).toEqual(before);
  });

  it('a path that is not there is 404 for GET without a token, and a wrong method 405 without one', async () => {
    expect((await lab.send('GET', '/nowhere')).status).toBe(404);
    expect((await lab.send('GET', '/mod/answer')).status).toBe(405);
  });
});

describe('rule.deskKeepsTheContract: what is no request harms nothing', () => {
  it.each<[string, string]>([
    ['words', 'hello\r\n\r\n'],
    ['bytes', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03'],
    ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['no host', `POST ${ANSWER} HTTP/1.1\r\ncontent-length: 0\r\n\r\n`],
    ['two lengths', `POST ${ANSWER} HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx`],
    [
      'a length and chunks',
      `POST ${ANSWER} HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a negative length', `POST ${ANSWER} HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n`],
    ['a chunk of no size', `POST ${ANSWER} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n`],
    ['headers without end', `POST ${ANSWER} HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(20_000)}`],
    ['a path without end', `POST /${'x'.repeat(200_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['a space in its path', `POST /mod/answer /x HTTP/1.1\r\nhost: x\r\n\r\n`],
  ])('%s: 400, and the connection is closed though its client keeps it open', async (_, bytes) => {
    const { session } = lab.taken();
    const { socket, reply, isEnded } = raw(lab.port);
    socket.write(bytes, 'latin1');
    await until('the connection to be closed', isEnded);
    expect(reply()).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
    expect((await lab.report({ session_id: session, text: 'x' })).status).toBe(204);
  });

  it('CONNECT and an upgrade get none of theirs', async () => {
    for (const head of [
      'CONNECT elsewhere:443 HTTP/1.1',
      `GET ${ANSWER} HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket`,
    ]) {
      const { socket, reply, isEnded } = raw(lab.port);
      socket.write(`${head}\r\nhost: x\r\n\r\n`);
      await until('an answer', () => reply() !== '' || isEnded());
      expect(reply()).not.toMatch(/^HTTP\/1\.1 [12]/);
      socket.destroy();
    }
  });

  it('of requests that are sent before the answer to the one before, the first alone is answered', async () => {
    const one = lab.taken();
    const other = lab.taken();
    const { socket, reply, isEnded } = raw(lab.port);
    const post = (body: string) =>
      `POST ${ANSWER} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    socket.write(`${post(report(one.session))}${post(report(other.session))}`);
    await until('the connection to be closed', isEnded);
    expect(reply().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 204']);
    expect(lab.onDisk(one.id).answer).toBe('x');
    socket.destroy();
  });

  it('bodies that break off change nothing and are no fault of ours', async () => {
    const { id, session } = lab.taken();
    const before = lab.onDisk(id);
    const body = report(session);
    const sockets = Array.from({ length: 60 }, (_, n) => {
      const { socket } = raw(lab.port);
      socket.write(
        `POST ${ANSWER} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, n % body.length)}`,
      );
      return socket;
    });
    await Promise.all(sockets.map((socket) => new Promise((done) => socket.write('', done))));
    for (const [n, socket] of sockets.entries()) n % 2 === 0 ? socket.destroy() : socket.end();
    await lab.send('POST', ANSWER, '{}');
    for (const socket of sockets) socket.destroy();
    expect(lab.onDisk(id)).toEqual(before);
    expect(lab.logged).toEqual([]);
    expect((await lab.send('POST', ANSWER, body)).status).toBe(204);
    expect(lab.onDisk(id).answer).toBe('x');
  });
});

describe('rule.deskKeepsTheContract: a client that takes its time', () => {
  it.each<[string, string]>([
    ['says nothing', ''],
    ['stops within the headers', `POST ${ANSWER} HTTP/1.1\r\nhost: x\r\n`],
    ['stops within the body', `POST ${ANSWER} HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{"session_id":`],
    [
      'stops within a chunk',
      `POST ${ANSWER} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n20\r\n{"session_id":`,
    ],
  ])('is given up where it %s, and its place is free though it never closes', async (_, bytes) => {
    const patient = new DeskLab();
    const server = await patient.listen(300);
    const { session, id } = patient.taken();
    const { socket, reply, isEnded } = raw(patient.port);
    await new Promise((done) => socket.once('connect', done));
    if (bytes !== '') socket.write(bytes);
    await until('the connection to be closed', isEnded, { within: 5_000 });
    expect(reply()).toMatch(/^HTTP\/1\.1 400 /);
    await until('its place to be free', async () => (await openConnections(server)) === 0);
    expect(patient.onDisk(id).state.end).toBeNull();
    expect((await patient.report({ session_id: session, text: 'x' })).status).toBe(204);
    expect(patient.logged).toEqual([]);
    socket.destroy();
    await patient.close();
  });
});

describe('rule.deskKeepsTheContract: a connection', () => {
  it('carries one request, and every answer says that it is closed', async () => {
    const { session } = lab.taken();
    const { session: other } = lab.open();
    for (let sent = 0; sent < 40; sent += 1) await lab.report({ session_id: 'stranger', text: 'x' });
    const answers: [number, () => ReturnType<DeskLab['send']>][] = [
      [404, () => lab.send('GET', '/nowhere')],
      [405, () => lab.send('GET', ANSWER)],
      [405, () => lab.send('HEAD', ANSWER)],
      [401, () => lab.send('POST', '/mod/answer', '')],
      [400, () => lab.send('POST', ANSWER, '')],
      [400, () => lab.send('POST', ANSWER, '{}')],
      [429, () => lab.report({ session_id: 'stranger', text: 'x' })],
      [404, () => lab.send('POST', '/nowhere', report(session))],
      [405, () => lab.send('PUT', ANSWER, report(session))],
      [401, () => lab.send('POST', '/mod/answer', report(session))],
      [413, () => lab.send('POST', ANSWER, 'x'.repeat(LIMIT + 1))],
      [200, () => lab.send('POST', TASK, JSON.stringify({ session_id: other, take: 'a' }))],
      [204, () => lab.report({ session_id: session, text: 'x' })],
      [204, () => lab.report({ session_id: session, text: 'x' })],
    ];
    for (const [status, send] of answers) {
      // The client would keep it open, and use it again.
      expect(await send()).toMatchObject({ status, headers: { connection: 'close' }, wasReused: false });
    }
  });
});

describe('rule.deskKeepsTheContract: connections that show no token', () => {
  const LIMIT_OF_STRANGERS = 100;

  /** Connections that say nothing, each of them there before the next. */
  async function strangers(count: number): Promise<ReturnType<typeof raw>[]> {
    const made: ReturnType<typeof raw>[] = [];
    for (let n = 0; n < count; n += 1) {
      const one = raw(lab.port);
      await new Promise((done) => one.socket.once('connect', done));
      made.push(one);
    }
    return made;
  }

  it('of more than a hundred the oldest is closed, and an honest request still has its answer', async () => {
    const { id, session } = lab.taken();
    const flood = await strangers(LIMIT_OF_STRANGERS + 1);
    await until('the oldest to be closed', () => flood[0]?.isEnded());
    expect((await lab.report({ session_id: session, text: 'x' })).status).toBe(204);
    expect(lab.onDisk(id).answer).toBe('x');
    // The honest one came when there were a hundred: one more had to go.
    await until('the next one to be closed', () => flood[1]?.isEnded());
    expect(flood.slice(2).map(({ isEnded }) => isEnded())).not.toContain(true);
    for (const { socket } of flood) socket.destroy();
  });

  it('a flood that comes at once leaves a hundred of them', async () => {
    await lab.close();
    lab = new DeskLab();
    const server = await lab.listen();
    const { session } = lab.taken();
    const flood = Array.from({ length: 400 }, () => raw(lab.port));
    await Promise.all(
      flood.map(({ socket }) => new Promise((done) => socket.once('connect', done).once('error', done))),
    );
    await until('the others to be closed', () => flood.filter(({ isEnded }) => isEnded()).length >= 300);
    expect((await lab.report({ session_id: session, text: 'x' })).status).toBe(204);
    expect(await openConnections(server)).toBeLessThanOrEqual(LIMIT_OF_STRANGERS);
    for (const { socket } of flood) socket.destroy();
  });

  it('one that has shown its token is not closed for them', async () => {
    const { id, session } = lab.taken();
    const body = report(session);
    const worker = raw(lab.port);
    worker.socket.write(
      `POST ${ANSWER} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    await until('the desk to have read its token', () => worker.reply().startsWith('HTTP/1.1 100'));
    const flood = await strangers(LIMIT_OF_STRANGERS + 5);
    await until('the oldest of the others to be closed', () => flood[4]?.isEnded());
    worker.socket.write(body);
    await until('its answer', () => worker.reply().includes('HTTP/1.1 204'));
    expect(lab.onDisk(id).answer).toBe('x');
    for (const { socket } of [worker, ...flood]) socket.destroy();
  });

  it('another token is none', async () => {
    const first = raw(lab.port);
    first.socket.write(`POST /mod/answer?token=wrong HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n`);
    await until('the refusal', () => first.reply().startsWith('HTTP/1.1 401'));
    const flood = await strangers(LIMIT_OF_STRANGERS);
    await until('the one that was refused to be closed', first.isEnded, { within: 900 });
    for (const { socket } of [first, ...flood]) socket.destroy();
  });
});

describe('rule.deskKeepsTheContract: ten thousand bodies', () => {
  const REAL = 'w-the-one-real-session';

  it('each has the status that its bytes ask for, and the one real errand is as it was', async () => {
    const { id } = lab.taken('the task', { session: REAL });
    const state = () => readFileSync(join(lab.errands.folderOf(id), 'state.json'), 'utf8');
    const before = state();
    const bodies = bodiesOf(random(20_261_130));
    const wrong: [string, number, number][] = [];
    const seen = new Map<number, number>();
    let sent = 0;
    const sender = async () => {
      for (let body = bodies.next(); sent < 10_000; body = bodies.next()) {
        const bytes = body.value as Buffer;
        const { status, session } = expectedFor(bytes);
        // A good report of the real session is what the end of this test is for.
        if (status === 204 && session === REAL) continue;
        sent += 1;
        lab.clock += 1_000;
        const reply = await lab.send('POST', ANSWER, bytes);
        seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1);
        if (reply.status !== status) wrong.push([bytes.toString('latin1').slice(0, 200), status, reply.status]);
      }
    };
    await Promise.all(Array.from({ length: 16 }, sender));
    expect(wrong).toEqual([]);
    // Each kind came often, so that none of them was tested by chance alone.
    expect([...seen.keys()].sort()).toEqual([204, 400, 413]);
    for (const count of seen.values()) expect(count).toBeGreaterThan(100);
    expect(state()).toBe(before);
    expect(lab.errands.answerOf(id)).toBeNull();
    expect(lab.logged).toEqual([]);
    expect((await lab.report({ session_id: REAL, text: 'the answer' })).status).toBe(204);
    expect(lab.onDisk(id).answer).toBe('the answer');
  }, 60_000);

  /** What the contract says of a body: written from its words, not from our code. */
  function expectedFor(bytes: Buffer): { readonly status: number; readonly session?: unknown } {
    if (bytes.length > 65_536) return { status: 413 };
    const text = bytes.toString('utf8');
    if (!Buffer.from(text, 'utf8').equals(bytes)) return { status: 400 };
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return { status: 400 };
    }
    if (Object.prototype.toString.call(value) !== '[object Object]') return { status: 400 };
    const own = new Map(Object.entries(value as object));
    const session = own.get('session_id');
    const isReadable = (given: unknown) => typeof given === 'string' && given.replace(/[\s\u0085]/g, '') !== '';
    const hasText = own.has('text');
    const hasNone = own.has('unanswered');
    const isGood =
      typeof session === 'string' &&
      session !== '' &&
      hasText !== hasNone &&
      (hasText ? isReadable(own.get('text')) : ['blank', 'error', 'refusal'].includes(own.get('unanswered') as string));
    return { status: isGood ? 204 : 400, session };
  }

  /** Bodies of every kind, without end. */
  function* bodiesOf(dice: (sides: number) => number): Generator<Buffer> {
    const pick = <T>(from: readonly T[]) => from[dice(from.length)] as T;
    const session = () => pick([REAL, 'stranger', `${REAL} `, '\u20ac', 'x'.repeat(dice(300))]);
    const good = () => {
      const text = pick(['x', ' \n', 'é\u{1f600}\ud83d', '[truncated]', '"\\\0', 'y'.repeat(dice(2_000))]);
      const end = dice(3) === 0 ? { unanswered: pick(['blank', 'error', 'refusal', 'tired', '']) } : { text };
      return JSON.stringify({ session_id: session(), ...end, ...(dice(4) === 0 ? { more: [1, { a: null }] } : {}) });
    };
    const bytes = (count: number) => Buffer.from(Array.from({ length: count }, () => dice(256)));
    const kinds: readonly (() => Buffer)[] = [
      () => Buffer.from(good()),
      // One byte of a good one is another, is gone, or is there twice.
      () => {
        const body = Buffer.from(good());
        const at = dice(body.length);
        const middle = pick([
          bytes(1),
          Buffer.alloc(0),
          body.subarray(at, at + dice(9)),
          Buffer.from(pick([...'{}[]",:\\0 e-'])),
        ]);
        return Buffer.concat([body.subarray(0, at), middle, body.subarray(at + dice(2))]);
      },
      () => bytes(dice(400)),
      () => {
        const number = pick(['1e999', '-0', '9'.repeat(dice(5_000) + 1), '1e-400', '0x10', 'NaN', '01', '.5', '-']);
        return Buffer.from(
          pick([`{"session_id":${number},"text":"x"}`, `{"session_id":"s","text":"x","n":${number}}`, number]),
        );
      },
      () => {
        const name = pick(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype']);
        const value = pick(['{"session_id":"s","text":"x"}', 'null', '"x"', '[]']);
        return Buffer.from(
          pick([
            `{"${name}":${value}}`,
            `{"session_id":"s","text":"x","${name}":${value}}`,
            `{"session_id":"s","unanswered":"${name}"}`,
          ]),
        );
      },
      () => {
        const last = pick([
          '"text":""',
          '"text":"y"',
          '"text":null',
          '"session_id":""',
          '"session_id":"t"',
          '"unanswered":"blank"',
        ]);
        return Buffer.from(`{"session_id":"s","text":"x",${last}}`);
      },
      () =>
        Buffer.concat([
          pick([Buffer.from('\ufeff'), Buffer.from(' \n'), Buffer.from([0]), Buffer.from([0xfe, 0xff])]),
          Buffer.from(good()),
        ]),
      () =>
        Buffer.from(
          good().replace(
            '"text":"',
            `"text":"${pick(['\xff', '\xc0\x80', '\xed\xa0\x80', '\xf4\x90\x80\x80', '\x80'])}`,
          ),
          'latin1',
        ),
      () => {
        const field = pick(['session_id', 'text', 'unanswered']);
        const value = pick([
          'null',
          'true',
          '7',
          '[]',
          '{}',
          '""',
          '" "',
          '"\\u0085"',
          '"\\u200b"',
          '"\\ud800"',
          '"\\u0000"',
          '"blank"',
        ]);
        const rest = pick([
          '',
          ',"text":"x"',
          ',"session_id":"s"',
          ',"session_id":"s","text":"x"',
          ',"unanswered":"blank"',
        ]);
        return Buffer.from(`{"${field}":${value}${rest}}`);
      },
    ];
    const long: readonly (() => Buffer)[] = [
      () => Buffer.from(pick(['[', '{"a":', '[{"a":']).repeat(dice(9_000))),
      () => {
        const depth = dice(9_000) + 1;
        return Buffer.from(`{"session_id":"s","text":"x","deep":${'['.repeat(depth)}${']'.repeat(depth - dice(2))}}`);
      },
      () => {
        const empty = pick(['{"session_id":"s","text":""}', '{"session_id":"","unanswered":"blank"}', '"']);
        return Buffer.from(
          empty.replace('""', `"${'z'.repeat(65_536 - empty.length + dice(7) - 3)}"`).padEnd(65_530 + dice(12)),
        );
      },
      () => Buffer.alloc(dice(3) * 40_000 + dice(10), pick(['x', ' ', '"', '{'])),
    ];
    // Most of them short: the long ones need most of the time, and hundreds of them say as much as thousands.
    for (let count = 0; ; count += 1) yield pick(count % 4 === 0 ? [...kinds, ...long] : kinds)();
  }

  /** Numbers from 0 to below `sides`, the same ones at each run (mulberry32). */
  function random(seed: number): (sides: number) => number {
    let state = seed;
    return (sides) => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * sides);
    };
  }
});
