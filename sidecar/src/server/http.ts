/**
 * The local API's HTTP: token, path, method, size, body, in this order, and nothing said before the token.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { messageOf } from '../errors.js';
import type { Log } from '../log.js';
import { readJson } from './body-reader.js';
import { Refusal, refusalOf } from './refusal.js';
import { refuse, reply } from './reply.js';
import { type RouteContext, resourceAt } from './routes.js';
import { isAuthorized } from './token.js';

export type ApiPorts = {
  readonly routes: RouteContext;
  readonly token: string;
  readonly log: Log;
  /** Called for each request that carried the token: it renews the lease. */
  readonly onRequest: () => void;
  /** Aborts when the sidecar is ending: long polls are let go, new requests are refused. */
  readonly closing: AbortSignal;
};

export function createApi(ports: ApiPorts): Server {
  // Requests that are being answered: let go together when the sidecar ends.
  const open = new Set<AbortController>();
  ports.closing.addEventListener('abort', () => {
    for (const each of open) each.abort();
  });
  const server = createServer({ keepAlive: true }, (request, response) => {
    const gone = new AbortController();
    open.add(gone);
    response.on('close', () => {
      open.delete(gone);
      gone.abort();
    });
    answer(ports, request, response, gone.signal).catch((error: unknown) => {
      // Writing the answer failed, so the client is gone.
      ports.log('warning', 'an answer could not be written', { error });
      response.destroy();
    });
  });
  // The mod's client keeps connections; one that we close under it would fail its next request.
  server.keepAliveTimeout = 120_000;
  server.headersTimeout = 125_000;
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  });
  return server;
}

async function answer(
  ports: ApiPorts,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { status, body } = await route(ports, request, signal);
    reply(response, status, body);
  } catch (error) {
    let refusal = refusalOf(error);
    if (refusal === null) {
      ports.log('error', `${request.method} ${pathOf(request)} failed`, { error });
      refusal = new Refusal('internal', `Verbatim's sidecar failed: ${messageOf(error)}; its log says where`);
    }
    await refuse(request, response, refusal);
  }
}

async function route(ports: ApiPorts, request: IncomingMessage, signal: AbortSignal) {
  if (!isAuthorized(request.headers.authorization, ports.token)) {
    throw new Refusal('unauthorized', 'the token is missing or is another one', { 'www-authenticate': 'Bearer' });
  }
  if (ports.closing.aborted) throw new Refusal('closing', 'the sidecar is ending; start another one');
  ports.onRequest();
  const resource = resourceAt(pathOf(request), ports.routes);
  const handler = request.method === 'GET' || request.method === 'POST' ? resource[request.method] : undefined;
  if (handler === undefined) {
    const allowed = Object.keys(resource).join(', ');
    throw new Refusal('method', `${request.method} is not for ${pathOf(request)}; it takes ${allowed}`, {
      allow: allowed,
    });
  }
  const query = new URLSearchParams((request.url ?? '').split('?')[1] ?? '');
  return await handler({ query, json: () => readJson(request), signal });
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?')[0] ?? '/';
}
