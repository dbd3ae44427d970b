/** Requests to whoever opened the worker: never awaited by a hook, given up by the engine after 30 s. */
import { TASK_PATH, type Task, WAITING_PATH, type Waiting } from '../protocol/errand.js';
import { ANSWER_PATH, bodyOf, PLUGIN_HEADER, type Report } from '../protocol/mod-answer.js';
import { VERSION } from '../protocol/version.js';
import type { Link } from './link.js';

export type Fetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body: string },
) => Promise<{ status: number; text: string }>;

/** How often our own desk is asked where no answer comes, and how far apart, in milliseconds. */
const TRIES = 5;
const RETRY_MS = 1_000;

/**
 * Sends a report. One that cannot be sent is dropped: the session still holds it, and a second copy would be worse than
 * none. Not so at Verbatim's own desk, which ends an errand once and is started again where it was killed: a report that
 * nobody answered is sent to it again. Resolves to whether it was taken.
 *
 * @param sleep For our own desk alone.
 */
export async function report(
  fetch: Fetch,
  link: Link,
  what: Report,
  sleep?: (ms: number) => Promise<void>,
): Promise<boolean> {
  const body = bodyOf(what);
  for (let tries = 0; tries < (sleep === undefined ? 1 : TRIES); tries += 1) {
    try {
      if (tries > 0) await sleep?.(RETRY_MS);
      return (await post(fetch, link, ANSWER_PATH, body)).status === 204;
    } catch {
      // Refused, reset, or never answered.
    }
  }
  return false;
}

export async function sayWaiting(fetch: Fetch, link: Link, waiting: Waiting | null): Promise<void> {
  const body = JSON.stringify({ session_id: link.session, waiting });
  await post(fetch, link, WAITING_PATH, body).catch(() => undefined);
}

/** The task that Verbatim's desk has for this session; undefined where it has none, or does not answer. */
export async function takeTask(
  fetch: Fetch,
  link: Link,
  claude_session: string,
  sleep: (ms: number) => Promise<void>,
): Promise<string | undefined> {
  // The same name at each try: one whose answer was lost has taken the task.
  const body = JSON.stringify({ session_id: link.session, take: crypto.randomUUID(), claude_session });
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (tries > 0) await sleep(RETRY_MS);
    try {
      const { status, text } = await post(fetch, link, TASK_PATH, body);
      if (status === 200) return (JSON.parse(text) as Task).task;
      // 429 and above: not now. Anything else would be the same again.
      if (status < 429) return undefined;
    } catch {
      // A desk that was killed is started again at the same address.
    }
  }
  return undefined;
}

function post(fetch: Fetch, { port, token }: Link, path: string, body: string) {
  return fetch(`http://127.0.0.1:${port}${path}?token=${encodeURIComponent(token)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', [PLUGIN_HEADER]: VERSION },
    body,
  });
}
