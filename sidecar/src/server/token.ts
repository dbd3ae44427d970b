/** Tokens of our servers: minted in memory, compared in constant time. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

export function mintToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Whether an `authorization` header carries `token`. */
export function isAuthorized(header: string | undefined, token: string): boolean {
  return isToken(/^Bearer ([\x21-\x7e]{1,256})$/i.exec(header ?? '')?.[1] ?? '', token);
}

export function isToken(given: string, token: string): boolean {
  // Hashed first: the comparison needs two values of one length, whatever was sent.
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
