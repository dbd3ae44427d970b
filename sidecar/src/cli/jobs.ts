/** `verbatim jobs`: what is kept. */
import type { Outcome } from '../../../plugin/hooks/protocol/outcome.js';
import { type CatalogJob, type JobStatus, listJobs } from '../job/catalog.js';
import { stateFolder } from '../job/state-folder.js';
import { read } from './options.js';
import { ago, oneLine, size, type Terminal, table } from './terminal.js';

export async function jobs(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values } = read('jobs', args, { json: 'boolean' });
  const entries = listJobs(stateFolder(process.env));
  const found = entries.filter((entry) => entry.kind === 'job');
  const problems = entries.filter((entry) => entry.kind === 'problem');
  if (values.json) {
    const list = { jobs: found.map(facts), problems: problems.map(({ id, problem }) => ({ id, problem })) };
    await terminal.print(`${JSON.stringify(list, null, 2)}\n`);
  } else if (found.length === 0) {
    await terminal.print('No jobs are kept. Each agent that you spawn in Claude Code makes one.\n');
  } else {
    const head = ['JOB', 'HARNESS', 'STATUS', 'TURNS', 'LAST TURN', 'CHANGED', 'SIZE', 'FOLDER'];
    await terminal.print(table([head, ...found.map((job) => row(job, Date.now()))]));
  }
  for (const { problem } of problems) terminal.complain(`verbatim jobs: ${oneLine(problem, 600)}`);
  return problems.length > 0 ? 1 : 0;
}

function row(job: CatalogJob, now: number): string[] {
  const { record, status, lastOutcome, bytes } = job;
  return [
    job.id,
    record.harness,
    statusWord(status),
    String(record.turns),
    lastOutcome === null ? '-' : outcomeWord(lastOutcome),
    ago(now - record.updatedAt),
    size(bytes),
    oneLine(record.cwd),
  ];
}

function facts(job: CatalogJob) {
  const { record } = job;
  return {
    id: job.id,
    harness: record.harness,
    harnessVersion: record.harnessVersion,
    model: record.model,
    status: job.status,
    turns: record.turns,
    waitingMessages: record.messages.filter((message) => message.turn === null).length,
    lastOutcome: job.lastOutcome,
    access: record.access,
    agent: record.agent,
    session: record.session,
    thread: record.thread,
    cwd: record.cwd,
    createdAt: new Date(record.createdAt).toISOString(),
    updatedAt: new Date(record.updatedAt).toISOString(),
    deliveries: record.deliveries,
    bytes: job.bytes,
    folder: job.folder,
  };
}

function statusWord(status: JobStatus): string {
  switch (status) {
    case 'running':
    case 'idle':
      return status;
    case 'broken_off':
      return 'broken off';
    default:
      return status satisfies never;
  }
}

/** An outcome in a word or two. */
export function outcomeWord(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'completed':
    case 'empty':
    case 'interrupted':
      return outcome.kind;
    case 'failed':
      return `${outcome.failure.status} (${outcome.failure.kind})`;
    default:
      return outcome satisfies never;
  }
}
