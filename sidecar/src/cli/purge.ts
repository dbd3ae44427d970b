/** `verbatim purge`: removes jobs and errands that are no longer needed. */
import { Errands } from '../desk/errands.js';
import { type ErrandRemovals, removeOldErrands } from '../desk/retention.js';
import { type CatalogJob, listJobs } from '../job/catalog.js';
import { remove } from '../job/retention.js';
import { ownIdentity } from '../process/table.js';
import { stateFolder } from '../state/state-folder.js';
import { read } from './options.js';
import { CommandError, jsonOf, oneLine, size, type Terminal } from './terminal.js';

export async function purge(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values } = read('purge', args, { 'older-than': 'string', all: 'boolean', json: 'boolean' });
  const age = values['older-than'];
  if ((age === undefined) === !values.all) {
    throw new CommandError(
      'verbatim purge: say what is to go: either --older-than <age> (30m, 12h, 7d) or --all; see `verbatim purge --help`',
      2,
    );
  }
  const before = age === undefined ? Number.POSITIVE_INFINITY : Date.now() - ageOf(age);
  const state = stateFolder(process.env);
  const entries = listJobs(state);
  const removed: CatalogJob[] = [];
  const kept: { job: CatalogJob; why: string }[] = [];
  for (const entry of entries) {
    if (entry.kind === 'problem' || entry.record.updatedAt > before) continue;
    if (entry.isHeld) {
      kept.push({ job: entry, why: 'its Claude Code session is open' });
      continue;
    }
    const removal = remove(entry, ownIdentity());
    if (removal.kind === 'removed') removed.push(entry);
    else kept.push(removal);
  }
  const errands = removeOldErrands(new Errands(state), before);
  const problems = [...entries.filter((entry) => entry.kind === 'problem'), ...errands.problems];
  await terminal.print(values.json ? asJson(removed, kept, errands, problems) : asText(removed, kept, errands));
  for (const { problem } of problems) terminal.complain(`verbatim purge: not removed: ${oneLine(problem, 600)}`);
  return problems.length > 0 ? 1 : 0;
}

function asText(
  removed: readonly CatalogJob[],
  kept: readonly { job: CatalogJob; why: string }[],
  errands: ErrandRemovals,
): string {
  const bytes = removed.reduce((sum, job) => sum + job.bytes, 0);
  const jobs = `${count(removed.length, 'job')}${removed.length === 0 ? '' : `, ${size(bytes)}`}`;
  const lines = [
    `Removed ${jobs}${errands.removed.length === 0 ? '' : `, and ${count(errands.removed.length, 'errand')}`}.`,
  ];
  for (const { job, why } of kept) lines.push(`Kept ${job.id}: ${oneLine(why)}`);
  for (const { id, why } of errands.kept) lines.push(`Kept ${id}: ${oneLine(why)}`);
  return `${lines.join('\n')}\n`;
}

function count(many: number, what: string): string {
  return many === 1 ? `1 ${what}` : `${many} ${what}s`;
}

function asJson(
  removed: readonly CatalogJob[],
  kept: readonly { job: CatalogJob; why: string }[],
  errands: ErrandRemovals,
  problems: readonly { id: string; problem: string }[],
): string {
  const list = {
    removed: removed.map(({ id, bytes }) => ({ id, bytes })),
    kept: kept.map(({ job, why }) => ({ id: job.id, why })),
    errands: { removed: errands.removed, kept: errands.kept },
    problems: problems.map(({ id, problem }) => ({ id, problem })),
  };
  return jsonOf(list);
}

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function ageOf(text: string): number {
  const found = /^(\d{1,6})([mhd])$/.exec(text);
  if (found === null) {
    throw new CommandError(
      `verbatim purge: --older-than must be a number with m, h or d (30m, 12h, 7d), it is ${JSON.stringify(text)}`,
      2,
    );
  }
  return Number(found[1]) * UNIT_MS[found[2] as keyof typeof UNIT_MS];
}
