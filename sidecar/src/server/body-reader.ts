/** Reads a request's body, capped while it streams, and parses it. */
import type { IncomingMessage } from 'node:http';
import { BODY_LIMIT } from '../../../plugin/hooks/protocol/api.js';
import { messageOf } from '../errors.js';
import { Refusal } from './refusal.js';

/**
 * The body as JSON. Refuses with `too_large` as soon as the limit is passed, with `invalid` where it is no JSON.
 *
 * @param limit In bytes.
 */
export async function readJson(request: IncomingMessage, limit: number = BODY_LIMIT): Promise<unknown> {
  const bytes = await readBody(request, limit);
  if (bytes.length === 0) throw new Refusal('invalid', 'the body is empty; it must be a JSON object');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refusal('invalid', 'the body is not UTF-8');
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    // Node's words quote the body; only where it broke off is worth repeating.
    const place = /position \d+/.exec(messageOf(error))?.[0];
    throw new Refusal('invalid', `the body is not JSON${place === undefined ? '' : ` (at ${place})`}`);
  }
}

async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = () => new Refusal('too_large', `the body is larger than ${limit} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
  const parts: Buffer[] = [];
  let size = 0;
  return await new Promise<Buffer>((resolve, reject) => {
    request.on('data', (part: Buffer) => {
      size += part.length;
      if (size > limit) {
        parts.length = 0;
        reject(tooLarge());
        return;
      }
      parts.push(part);
    });
    request.on('end', () => resolve(Buffer.concat(parts)));
    request.on('error', reject);
    request.on('aborted', () => reject(new Refusal('invalid', 'the request broke off before its end')));
  });
}
