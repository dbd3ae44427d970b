/** A state folder of its own, with jobs in it that a scripted harness drives. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreateJob, JobView, PermissionMode } from '../plugin/hooks/protocol/api.js';
import type { JobEvent } from '../plugin/hooks/protocol/event.js';
import type { Job, JobLimits } from '../sidecar/src/job/job.js';
import { Jobs } from '../sidecar/src/job/jobs.js';
import type { JournalPlace } from '../sidecar/src/job/journal.js';
import { mask } from '../sidecar/src/process/secrets.js';
import { ownIdentity } from '../sidecar/src/process/table.js';
import { ScriptedHarness } from './scripted-harness.js';

export type JobLab = {
  readonly state: string;
  readonly place: JournalPlace;
  readonly harness: ScriptedHarness;
  jobs: Jobs;
  /** What the sidecar logged at `warning` or `error`. */
  readonly complaints: string[];
  /** Makes a job and answers it. */
  job(changes?: Partial<CreateJob>): Job;
  /** Another sidecar on the same folder, with a harness of its own; the first one's claims are given up. */
  restart(): Promise<void>;
  remove(): void;
};

export type JobLabOptions = {
  readonly env?: NodeJS.ProcessEnv;
  readonly limits?: JobLimits;
  /** Verbatim's state folder; a new one where it is absent. */
  readonly state?: string;
};

export function jobLab(options: JobLabOptions = {}): JobLab {
  const state = options.state ?? mkdtempSync(join(tmpdir(), 'verbatim-jobs-'));
  const harness = new ScriptedHarness();
  const complaints: string[] = [];
  const place: JournalPlace = {
    state,
    self: ownIdentity(),
    mask: (text) => mask(text, options.env ?? {}),
    now: Date.now,
  };
  const make = () =>
    new Jobs({
      place,
      harnessOf: () => harness,
      log: (level, what) => {
        if (level !== 'info') complaints.push(what);
      },
      limits: options.limits,
    });
  const lab: JobLab = {
    state,
    place,
    harness,
    jobs: make(),
    complaints,
    job(changes = {}) {
      const { job } = lab.jobs.create(creation(changes));
      const found = lab.jobs.find(job.id);
      if (found === null) throw new Error('the job that was made is not found');
      return found;
    },
    async restart() {
      await lab.jobs.close();
      lab.jobs = make();
    },
    remove: () => rmSync(state, { recursive: true, force: true }),
  };
  return lab;
}

export function creation(changes: Partial<CreateJob> = {}): CreateJob {
  return {
    harness: 'codex',
    agent: 'agent-1',
    session: 'session-1',
    cwd: tmpdir(),
    mode: 'default',
    message: { id: 'm1', text: 'the task' },
    ...changes,
  };
}

export const text = (id: string, mode: PermissionMode = 'default') => [{ id, text: `text of ${id}` }, mode] as const;

/** Reads a job's events until `isEnough`, as a client would: by long polls. */
export async function eventsUntil(
  job: Job,
  isEnough: (events: JobEvent[], view: JobView) => boolean,
): Promise<JobEvent[]> {
  const events: JobEvent[] = [];
  const never = new AbortController().signal;
  for (;;) {
    const page = await job.events(events.length, 20_000, never);
    events.push(...page.events);
    if (isEnough(events, page.job)) return events;
    if (page.job.status === 'idle' && events.length >= page.job.lastSeq) {
      throw new Error(`the job is idle and has not come to what was waited for: ${JSON.stringify(events)}`);
    }
  }
}

export const untilIdle = (job: Job): Promise<JobEvent[]> =>
  eventsUntil(job, (events, view) => view.status === 'idle' && events.length === view.lastSeq);

export const endOf = (events: readonly JobEvent[], turn: number) =>
  events.find((event) => event.kind === 'turn_ended' && event.turn === turn) as
    | Extract<JobEvent, { kind: 'turn_ended' }>
    | undefined;
