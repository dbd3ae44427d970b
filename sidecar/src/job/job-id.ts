/** The id of a job, and so the name of its folder. */
import { createHash } from 'node:crypto';
import { JOB_ID } from '../../../plugin/hooks/protocol/api.js';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * The id of the job of one Claude Code agent in one session. Derived, not drawn: the same agent finds its
 * job again after a restart, and a request that is sent twice can never make two jobs.
 *
 * @param state Verbatim's state folder: a job of another one has another id, for processes are found by it.
 */
export function jobIdOf(state: string, session: string, agent: string): string {
  const digest = createHash('sha256').update(`${state}\0${session}\0${agent}`, 'utf8').digest();
  let id = 'j';
  for (const byte of digest.subarray(0, 20)) id += ALPHABET[byte & 31];
  return id;
}

export function isJobId(text: string): boolean {
  return JOB_ID.test(text);
}
