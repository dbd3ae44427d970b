import type { JobView } from '../protocol/api.js';
import type { JobEvent } from '../protocol/event.js';
import { foreign } from './foreign.js';

export type TurnEnded = Extract<JobEvent, { kind: 'turn_ended' }>;

/** Files named one by one in the block; past that a count. */
const FILES_NAMED = 20;

/**
 * The `<job-state>` block of a turn that ended: `key: value` lines, every value one escaped line.
 *
 * @param claudeRequests Steps of the agent's own loop that went to a Claude model.
 */
export function jobState(job: JobView, ended: TurnEnded, claudeRequests: number): string {
  const { outcome } = ended;
  const lines: [string, string][] = [
    ['job', job.id],
    ['harness', `${job.harness} ${foreign(job.harnessVersion)}`.trim()],
    ['model', foreign(ended.model) || '?'],
    ['thread', job.thread === null ? 'none' : foreign(job.thread)],
    ['status', statusWord(ended)],
    ['turns', String(ended.turn)],
    ['duration', `${ended.durationMs} ms`],
    ['files changed', filesChanged(ended)],
  ];
  if (outcome.kind === 'completed') {
    lines.push(
      ['answer bytes', String(outcome.answer.bytes)],
      ['answer sha256', outcome.answer.sha256],
      ['answer file', foreign(outcome.answer.file)],
    );
  }
  if (ended.survivors.length > 0) lines.push(['still running', ended.survivors.map((one) => foreign(one)).join(', ')]);
  lines.push(['claude requests', String(claudeRequests)]);
  return ['<job-state>', ...lines.map(([key, value]) => `${key}: ${value}`), '</job-state>'].join('\n');
}

function statusWord(ended: TurnEnded): string {
  const { outcome } = ended;
  switch (outcome.kind) {
    case 'completed':
      return 'completed';
    case 'empty':
      return 'completed, no text';
    case 'interrupted':
      return 'interrupted';
    case 'failed':
      return `${outcome.failure.status} (${outcome.failure.kind})`;
  }
}

function filesChanged({ filesChanged: paths, moreFiles = 0 }: TurnEnded): string {
  if (paths.length === 0) return 'none';
  const count = paths.length + moreFiles;
  const named = paths.slice(0, FILES_NAMED).map((path) => foreign(path, 200));
  const rest = count - named.length;
  return `${count} (${named.join(', ')}${rest > 0 ? `, and ${rest} more` : ''})`;
}
