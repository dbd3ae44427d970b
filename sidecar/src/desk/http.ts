/**
 * The desk's HTTP on 127.0.0.1: the mod-answer contract, and what we add to it.
 *
 * What is wrong with a request is looked for in this order: path 404, method 405, token 401, size 413, body 400,
 * rate 429. The order, 404, 413 and 429 are ours; the contract names the others.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TASK_PATH, WAITING_PATH } from '../../../plugin/hooks/protocol/errand.js';
import { ANSWER_PATH, REPORT_LIMIT } from '../../../plugin/hooks/protocol/mod-answer.js';
import { messageOf } from '../errors.js';
import type { Log } from '../log.js';
import { mask } from '../process/secrets.js';
import { readJson } from '../server/body-reader.js';
import { Refusal } from '../server/refusal.js';
import { refuse, reply } from '../server/reply.js';
import { isToken } from '../server/token.js';
import { ShapeError } from '../shape.js';
import { reportOf, sayWaitingOf, takeTaskOf } from './bodies.js';
import type { Desk } from './desk.js';
import { Rate } from './rate.js';

/** How long a client may take to send its request, in milliseconds, and how many that have shown no token may be there. */
const REQUEST_MS = 10_000;
const CONNECTIONS = 100;

export type DeskPorts = {
  readonly desk: Desk;
  readonly token: string;
  readonly log: Log;
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number;
  readonly requestMs?: number;
};

/** The name under which the requests of all sessions count that have no errand here: names that are made up cost nothing. */
const STRANGERS = '';

/** What a request got, and whose it was. */
type Taken = { readonly session: string; readonly act: () => { readonly status: number; readonly body?: unknown } };

export function createDeskServer(ports: DeskPorts): Server {
  const rate = new Rate(ports.now);
  const limit = ports.requestMs ?? REQUEST_MS;
  // Node looks for the late ones every 30 s by itself.
  const limits = { requestTimeout: limit, headersTimeout: limit, connectionsCheckingInterval: limit / 10 };
  const strangers = new Set<Socket>();
  const server = createServer(limits, (request, response) => {
    // One request a connection: a worker's next report would be lost in one that is closed at that moment.
    response.shouldKeepAlive = false;
    const onToken = () => strangers.delete(request.socket);
    answer(ports, rate, request, response, onToken).catch((error: unknown) => {
      ports.log('warning', 'an answer could not be written', { error });
      response.destroy();
    });
  });
  // Not the newest is turned away, which may be the worker: the one that has had the longest time to show its token.
  server.on('connection', (socket) => {
    strangers.add(socket);
    socket.once('close', () => strangers.delete(socket));
    const [oldest] = strangers;
    if (strangers.size > CONNECTIONS) oldest?.destroy();
  });
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.write('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    // Not left to the client, who may never close its side.
    (socket as Socket).destroySoon();
  });
  return server;
}

async function answer(
  { desk, token, log }: DeskPorts,
  rate: Rate,
  request: IncomingMessage,
  response: ServerResponse,
  onToken: () => void,
): Promise<void> {
  const [path = '/', query = ''] = (request.url ?? '/').split('?');
  try {
    const read = readerOf(path, desk);
    if (read === null) throw new Refusal('not_found', `there is nothing at ${path.slice(0, 120)}`);
    if (request.method !== 'POST') {
      throw new Refusal('method', `${request.method} is not for ${path}; it takes POST`, { allow: 'POST' });
    }
    if (!isToken(new URLSearchParams(query).get('token') ?? '', token)) {
      throw new Refusal('unauthorized', 'the token is missing or is another one');
    }
    onToken();
    const { session, act } = read(await readJson(request, REPORT_LIMIT));
    if (!rate.allows(desk.knows(session) ? session : STRANGERS)) {
      throw new Refusal('rate', 'too many requests for this session; wait a second', { 'retry-after': '1' });
    }
    const { status, body } = act();
    reply(response, status, body);
  } catch (error) {
    const isOurs = !(error instanceof Refusal || error instanceof ShapeError);
    if (isOurs) log('error', `${request.method} ${path} failed`, { error });
    await refuse(request, response, refusalOf(error));
  }
}

/** What reads the body at a path; null where there is nothing. */
function readerOf(path: string, desk: Desk): ((body: unknown) => Taken) | null {
  switch (path) {
    case ANSWER_PATH:
      return (body) => {
        const report = reportOf(body);
        return taken(report.session_id, () => desk.report(report));
      };
    case TASK_PATH:
      return (body) => {
        const { session_id, take, claude_session } = takeTaskOf(body);
        return {
          session: session_id,
          act: () => {
            const task = desk.take(session_id, take, claude_session);
            return task === null ? { status: 204 } : { status: 200, body: { task } };
          },
        };
      };
    case WAITING_PATH:
      return (body) => {
        const { session_id, waiting } = sayWaitingOf(body);
        // A command that asks for permission may hold a key.
        const wait = waiting && { ...waiting, what: mask(waiting.what) };
        return taken(session_id, () => desk.sessionWaits(session_id, wait));
      };
    default:
      return null;
  }
}

function taken(session: string, act: () => void): Taken {
  return {
    session,
    act: () => {
      act();
      return { status: 204 };
    },
  };
}

/** Whatever else was thrown is a fault of ours: a disk that is full, a folder that is gone. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ShapeError) return new Refusal('invalid', error.message);
  return new Refusal('internal', `the errand desk failed: ${messageOf(error)}`);
}
