/** Writes an answer, or a refusal that its client gets to see even while it still sends. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from './refusal.js';

/** How long the rest of a refused body is still read, in milliseconds. */
const LINGER_MS = 1_000;

/** Writes the answer whole; `body` undefined: no content. */
export function reply(response: ServerResponse, status: number, body?: unknown): void {
  if (response.destroyed) return;
  if (body === undefined) {
    response.writeHead(status).end();
    return;
  }
  response.end(head(response, status, body));
}

export async function refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): Promise<void> {
  for (const [name, value] of Object.entries(refusal.headers)) response.setHeader(name, value);
  if (!hasUnreadBody(request)) return reply(response, refusal.status, refusal.body);
  // What is left of the body is not looked at: the connection cannot carry another request.
  response.setHeader('connection', 'close');
  if (response.destroyed) return;
  response.write(head(response, refusal.status, refusal.body));
  await drained(request);
  response.end();
}

function head(response: ServerResponse, status: number, body: unknown): Buffer {
  const bytes = Buffer.from(JSON.stringify(body), 'utf8');
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length });
  return bytes;
}

function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return !complete && (headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0'));
}

/**
 * Resolves when the rest of a refused body has been read into nothing, or a moment has passed: a connection
 * that is closed while its client still writes is reset, and the client may then never see the refusal.
 */
function drained(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LINGER_MS);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    request.once('close', done);
    request.once('end', done);
    request.resume();
  });
}
