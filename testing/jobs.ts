/** A job as it lies on disk, read by the agent that it belongs to. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobEvent } from '../plugin/hooks/protocol/event.js';
import type { JobRecord } from '../sidecar/src/job/record.js';

export type JobOnDisk = {
  readonly folder: string;
  readonly record: JobRecord;
  readonly events: readonly JobEvent[];
};

/** Every job below a folder of jobs. */
export function jobsIn(jobs: string): readonly JobOnDisk[] {
  return readdirSync(jobs).map((id) => {
    const folder = join(jobs, id);
    const record = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as JobRecord;
    return { folder, record, events: eventsIn(folder) };
  });
}

/** The only job of an agent. */
export function jobOf(jobs: string, agent: string): JobOnDisk {
  const [job, ...others] = jobsIn(jobs).filter(({ record }) => record.agent === agent);
  if (job === undefined || others.length > 0)
    throw new Error(`agent ${agent} has ${others.length + (job ? 1 : 0)} jobs`);
  return job;
}

function eventsIn(folder: string): readonly JobEvent[] {
  return readFileSync(join(folder, 'events.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as JobEvent);
}
