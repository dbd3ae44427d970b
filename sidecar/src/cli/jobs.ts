/** `verbatim jobs`: what is kept. */
import type { JobEvent } from '../../../plugin/hooks/protocol/event.js';
import type { Outcome, TurnTokens } from '../../../plugin/hooks/protocol/outcome.js';
import { type CatalogJob, type JobStatus, listJobs } from '../job/catalog.js';
import { stateFolder } from '../state/state-folder.js';
import { read } from './options.js';
import { ago, jsonOf, oneLine, type Terminal, table } from './terminal.js';

export async function jobs(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values } = read('jobs', args, { json: 'boolean' });
  const entries = listJobs(stateFolder(process.env));
  const found = entries.filter((entry) => entry.kind === 'job');
  const problems = entries.filter((entry) => entry.kind === 'problem');
  if (values.json) {
    const list = { jobs: found.map(facts), problems: problems.map(({ id, problem }) => ({ id, problem })) };
    await terminal.print(jsonOf(list));
  } else if (found.length === 0) {
    await terminal.print('No jobs are kept. Each agent that you spawn in Claude Code makes one.\n');
  } else {
    const head = ['JOB', 'MODEL', 'STATUS', 'TURNS', 'LAST STEP', 'TOKENS', 'CHANGED', 'TASK'];
    await terminal.print(table([head, ...found.map((job) => row(job, Date.now()))]));
  }
  for (const { problem } of problems) terminal.complain(`verbatim jobs: ${oneLine(problem, 600)}`);
  return problems.length > 0 ? 1 : 0;
}

/** Characters of a task that its row has room for. */
const TASK_WIDTH = 48;

function row(job: CatalogJob, now: number): string[] {
  const { record, status, lastEvent, task } = job;
  return [
    job.id,
    record.model === '' ? record.harness : `${record.harness}/${oneLine(record.model, 40)}`,
    statusWord(status),
    String(record.turns),
    lastEvent === null ? '-' : stepWord(lastEvent),
    lastEvent?.kind === 'turn_ended' ? tokensWord(lastEvent.tokens) : '-',
    ago(now - record.updatedAt),
    oneLine(task, TASK_WIDTH),
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
    task: job.task,
    lastOutcome: job.lastOutcome,
    lastTokens: job.lastEvent?.kind === 'turn_ended' ? job.lastEvent.tokens : null,
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

/** What a job did last, in a word or two. */
function stepWord(event: JobEvent): string {
  switch (event.kind) {
    case 'turn_ended':
      return outcomeWord(event.outcome);
    case 'action_started':
    case 'action_completed':
      return event.action.tool === 'other' ? oneLine(event.action.name, 24) : event.action.tool;
    case 'turn_started':
      return 'begun';
    case 'message':
    case 'reasoning':
    case 'plan':
    case 'retry':
    case 'approval':
    case 'warning':
    case 'steered':
      return event.kind;
    default:
      return event satisfies never;
  }
}

/** The last turn's tokens: `1200 in, 56 out`. */
function tokensWord(tokens: TurnTokens | null): string {
  return tokens === null ? '?' : `${tokens.input ?? '?'} in, ${tokens.output ?? '?'} out`;
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
