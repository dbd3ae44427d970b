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

/** The jobs of an agent, below a folder of jobs: one, when all is well. */
export function jobsOf(jobs: string, agent: string): readonly JobOnDisk[] {
  return readdirSync(jobs).flatMap((id) => {
    const folder = join(jobs, id);
    const record = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as JobRecord;
    return record.agent === agent ? [{ folder, record, events: eventsIn(folder) }] : [];
  });
}

/** The only job of an agent. */
export function jobOf(jobs: string, agent: string): JobOnDisk {
  const [job, ...others] = jobsOf(jobs, agent);
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
