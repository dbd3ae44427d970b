/** The jobs of one sidecar: made, found again, ended. */
import type { CreateJob, HarnessName, JobView } from '../../../plugin/hooks/protocol/api.js';
import type { Harness } from '../harness/contract.js';
import type { Log } from '../log.js';
import { levelOf } from './access.js';
import { Job, type JobLimits } from './job.js';
import { isJobId, jobIdOf } from './job-id.js';
import { Journal, type JournalPlace } from './journal.js';
import { RECORD_VERSION } from './record.js';

/** Silence of the model after which a turn ends as `stalled`, unless the job says otherwise. */
const DEFAULT_STALL_MS = 300_000;

export type JobsPorts = {
  readonly place: JournalPlace;
  readonly harnessOf: (name: HarnessName) => Harness;
  readonly log: Log;
  readonly limits?: JobLimits;
};

export class Jobs {
  readonly #jobs = new Map<string, Job>();

  constructor(private readonly ports: JobsPorts) {}

  get running(): number {
    return [...this.#jobs.values()].filter((job) => job.isBusy).length;
  }

  /**
   * The job of this agent and session, with the message taken; made where there is none yet. Answers at
   * once: the harness's thread is opened afterwards, and what goes wrong there is a failed turn.
   */
  create(body: CreateJob): { readonly job: JobView; readonly isNew: boolean } {
    const id = jobIdOf(this.ports.place.state, body.session, body.agent);
    const found = this.find(id);
    const job = found ?? this.#make(id, body);
    // What becomes of the message shows in the events; that it was kept is known once this returns.
    void job.send(body.message, body.mode);
    return { job: job.view(), isNew: found === null };
  }

  /** The job with this id, taken up from disk where its sidecar is gone; null where there is none. */
  find(id: string): Job | null {
    if (!isJobId(id)) return null;
    const known = this.#jobs.get(id);
    if (known !== undefined) return known;
    const journal = Journal.open(this.ports.place, id);
    return journal === null ? null : this.#keep(journal, this.ports.harnessOf(journal.record.harness));
  }

  /** Ends every job, all at once. Resolves to the processes that would not end. */
  async close(): Promise<readonly string[]> {
    const jobs = [...this.#jobs.values()];
    const ended = await Promise.allSettled(jobs.map((job) => job.close()));
    return ended.flatMap((result, index) => {
      if (result.status === 'fulfilled') return result.value;
      this.ports.log('error', `job ${jobs[index]?.id}: could not be ended`, { error: result.reason });
      return [];
    });
  }

  #make(id: string, body: CreateJob): Job {
    const now = this.ports.place.now();
    const harness = this.ports.harnessOf(body.harness);
    const journal = Journal.create(this.ports.place, {
      version: RECORD_VERSION,
      id,
      harness: body.harness,
      harnessVersion: '',
      agent: body.agent,
      session: body.session,
      cwd: body.cwd,
      requestedModel: body.model ?? null,
      model: body.model ?? '',
      effort: body.effort ?? null,
      stallMs: body.options?.stallMs ?? DEFAULT_STALL_MS,
      thread: null,
      access: levelOf(body.mode),
      turns: 0,
      createdAt: now,
      updatedAt: now,
      messages: [],
      deliveries: [],
    });
    return this.#keep(journal, harness);
  }

  #keep(journal: Journal, harness: Harness): Job {
    const { place, log, limits } = this.ports;
    const job = new Job({ journal, harness, log, now: place.now, limits });
    this.#jobs.set(job.id, job);
    return job;
  }
}
