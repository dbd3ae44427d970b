/** The routes of the local API: which path means what, and what each answers. */
import { type HarnessName, type Health, POLL_LIMIT_MS, PROTOCOL } from '../../../plugin/hooks/protocol/api.js';
import { VERSION } from '../../../plugin/hooks/protocol/version.js';
import type { Harness } from '../harness/contract.js';
import type { Job } from '../job/job.js';
import type { Jobs } from '../job/jobs.js';
import type { Log } from '../log.js';
import { createJobOf, deliveryOf, onlyQuery, queryCount, sendMessageOf, stopJobOf, warmHarnessOf } from './bodies.js';
import { Refusal } from './refusal.js';

export type RouteContext = {
  readonly jobs: Jobs;
  readonly harnessOf: (name: HarnessName) => Harness;
  readonly leaseMs: number;
  readonly log: Log;
  /** A module that took the place of the one that started this sidecar has it now. */
  readonly onAdopted: () => void;
};

export type RouteRequest = {
  readonly query: URLSearchParams;
  /** Reads the body as JSON; a route that takes none does not call it. */
  readonly json: () => Promise<unknown>;
  /** Aborts when the client goes away or the sidecar ends. */
  readonly signal: AbortSignal;
};

/** `body` undefined: no content. */
export type RouteAnswer = { readonly status: number; readonly body?: unknown };
export type Handler = (request: RouteRequest) => Promise<RouteAnswer>;

/** What a path offers, by method; a job's path has looked its job up already. */
export type Resource = Readonly<Partial<Record<'GET' | 'POST', Handler>>>;

/** The resource at `path`. Throws `not_found` where there is none. */
export function resourceAt(path: string, context: RouteContext): Resource {
  const parts = path.split('/').slice(1);
  const [version, kind, id, part, turn, ...rest] = parts;
  if (version !== 'v1' || rest.length > 0) throw noPath(path);
  if (id === undefined) {
    switch (kind) {
      case 'health':
        return { GET: async () => ({ status: 200, body: health(context) }) };
      case 'lease':
        // That a request was answered has renewed it already.
        return { POST: async () => ({ status: 200, body: health(context) }) };
      case 'adopt':
        return {
          POST: async () => {
            context.onAdopted();
            return { status: 200, body: health(context) };
          },
        };
      case 'warm':
        return { POST: warm(context) };
      case 'jobs':
        return { POST: create(context) };
      default:
        throw noPath(path);
    }
  }
  if (kind !== 'jobs') throw noPath(path);
  if (part === 'answers' && turn !== undefined) return { GET: answer(jobAt(id, context), turn) };
  if (turn !== undefined) throw noPath(path);
  switch (part) {
    case undefined: {
      const job = jobAt(id, context);
      return { GET: async () => ({ status: 200, body: { job: job.view() } }) };
    }
    case 'messages':
      return { POST: send(jobAt(id, context)) };
    case 'stop':
      return { POST: stop(jobAt(id, context), context.log) };
    case 'events':
      return { GET: events(jobAt(id, context)) };
    case 'deliveries':
      return { POST: deliver(jobAt(id, context)) };
    default:
      throw noPath(path);
  }
}

function health({ jobs, leaseMs }: RouteContext): Health {
  return { verbatim: VERSION, protocol: PROTOCOL, pid: process.pid, leaseMs, running: jobs.running };
}

function warm({ harnessOf, log }: RouteContext): Handler {
  return async ({ json }) => {
    const { harness } = warmHarnessOf(await json());
    const warming = harnessOf(harness).warm?.() ?? Promise.resolve();
    warming.catch((error: unknown) => log('warning', `${harness} could not be started ahead`, { error }));
    return { status: 202, body: {} };
  };
}

function create({ jobs }: RouteContext): Handler {
  return async ({ json }) => {
    const { job, isNew } = jobs.create(createJobOf(await json()));
    return { status: isNew ? 201 : 200, body: { job } };
  };
}

function send(job: Job): Handler {
  return async ({ json }) => {
    const { message, mode } = sendMessageOf(await json());
    const disposition = await job.send(message, mode);
    return { status: 200, body: { disposition, job: job.view() } };
  };
}

function stop(job: Job, log: Log): Handler {
  return async ({ json }) => {
    const { reason } = stopJobOf(await json());
    if (job.isBusy) log('info', `job ${job.id} is told to stop`, { reason });
    await job.stop();
    return { status: 200, body: { job: job.view() } };
  };
}

function events(job: Job): Handler {
  return async ({ query, signal }) => {
    onlyQuery(query, ['after', 'wait']);
    const after = queryCount(query, 'after', Number.MAX_SAFE_INTEGER, 0);
    const wait = queryCount(query, 'wait', POLL_LIMIT_MS, 0);
    return { status: 200, body: await job.events(after, wait, signal) };
  };
}

function answer(job: Job, turn: string): Handler {
  return async ({ query }) => {
    onlyQuery(query, ['from']);
    const from = queryCount(query, 'from', Number.MAX_SAFE_INTEGER, 0);
    const page = /^[1-9]\d{0,8}$/.test(turn) ? job.answer(Number(turn), from) : null;
    if (page === null) throw new Refusal('not_found', `turn ${turn.slice(0, 20)} of job ${job.id} has no answer`);
    return { status: 200, body: page };
  };
}

function deliver(job: Job): Handler {
  return async ({ json }) => {
    const delivery = deliveryOf(await json());
    if (delivery.turn > job.view().turns) {
      throw new Refusal('not_found', `job ${job.id} has no turn ${delivery.turn}`);
    }
    job.deliver(delivery);
    return { status: 204 };
  };
}

function jobAt(id: string, { jobs }: RouteContext): Job {
  const job = jobs.find(id);
  if (job === null) throw new Refusal('not_found', `there is no job ${id.slice(0, 40)}; it may have been purged`);
  return job;
}

function noPath(path: string): Refusal {
  return new Refusal('not_found', `there is nothing at ${path.slice(0, 120)}`);
}
