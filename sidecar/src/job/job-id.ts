/** The id of a job, and so the name of its folder. */
import { createHash } from 'node:crypto';
import { JOB_ID } from '../../../plugin/hooks/protocol/api.js';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * The id of the job of one Claude Code agent in one session. Derived, not drawn: the same agent finds its
 * job again after a restart, and a request that is sent twice can never make two jobs.
 */
export function jobIdOf(session: string, agent: string): string {
  const digest = createHash('sha256').update(`${session}\0${agent}`, 'utf8').digest();
  let id = 'j';
  for (const byte of digest.subarray(0, 20)) id += ALPHABET[byte & 31];
  return id;
}

export function isJobId(text: string): boolean {
  return JOB_ID.test(text);
}
