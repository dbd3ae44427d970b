/** The sidecar's local API as the runner calls it: typed, and asked again while a sidecar that died is started anew. */

import * as unavailable from '../notes/unavailable.js';
import type { AnswerPage, CreateJob, EventsPage, JobView, Message, PermissionMode } from '../protocol/api.js';
import type { Failure } from '../protocol/outcome.js';
import type { ApiRequest, Host } from './host.js';

export type Reply<T> =
  | { readonly kind: 'ok'; readonly body: T }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** How often, and how far apart, a request is sent again: a sidecar starts in 0.1 s, 8 at once on 2 cores in 0.9 s. */
const RETRIES = 40;
export const RETRY_MS = 100;
/** When a sidecar that lives and says nothing is given up, in milliseconds: each fetch waits 30 s for it (2.1.332). */
const SILENCE_MS = 50_000;

export function createJob(host: Host, body: CreateJob): Promise<Reply<{ job: JobView }>> {
  return ask(host, { method: 'POST', path: '/v1/jobs', body });
}

export function sendMessage(host: Host, job: string, message: Message, mode: PermissionMode): Promise<Reply<unknown>> {
  return ask(host, { method: 'POST', path: `/v1/jobs/${job}/messages`, body: { message, mode } });
}

/** The events after number `after`; waits for one, or for the job to rest, at most `waitMs`. */
export function eventsAfter(host: Host, job: string, after: number, waitMs: number): Promise<Reply<EventsPage>> {
  return ask(host, { method: 'GET', path: `/v1/jobs/${job}/events?after=${after}&wait=${waitMs}` });
}

/** The answer of a turn, whole, page by page. */
export async function answerOf(host: Host, job: string, turn: number): Promise<Reply<string>> {
  let text = '';
  let from = 0;
  for (;;) {
    const page = await ask<AnswerPage>(host, { method: 'GET', path: `/v1/jobs/${job}/answers/${turn}?from=${from}` });
    if (page.kind === 'failed') return page;
    text += page.body.text;
    if (page.body.next === null) return { kind: 'ok', body: text };
    from = page.body.next;
  }
}

async function ask<T>(host: Host, request: ApiRequest): Promise<Reply<T>> {
  let detail = '';
  const began = Date.now();
  // At least two tries: a machine that slept meanwhile has lost its clock, not its sidecar.
  const isGivenUp = (tries: number) => tries >= RETRIES || (tries >= 2 && Date.now() - began > SILENCE_MS);
  for (let tries = 0; !isGivenUp(tries); tries += 1) {
    if (tries > 0) await host.sleep(RETRY_MS);
    const reply = await host.request(request);
    switch (reply.kind) {
      case 'ok':
        return { kind: 'ok', body: reply.body as T };
      case 'not_started':
        return { kind: 'failed', failure: unavailable.noRuntime(reply.detail) };
      case 'refused':
        if (reply.error.code !== 'closing') {
          return { kind: 'failed', failure: unavailable.refused(reply.error.code, reply.error.message) };
        }
        detail = reply.error.message;
        break;
      case 'gone':
        detail = reply.detail;
    }
  }
  return { kind: 'failed', failure: unavailable.sidecarLost(detail) };
}
