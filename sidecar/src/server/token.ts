/** The token of the local API: minted in memory, compared in constant time, written nowhere but the handshake. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

export function mintToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Whether an `authorization` header carries `token`. */
export function isAuthorized(header: string | undefined, token: string): boolean {
  const given = /^Bearer ([\x21-\x7e]{1,256})$/i.exec(header ?? '')?.[1] ?? '';
  // Hashed first: the comparison needs two values of one length, whatever was sent.
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
