/** `verbatim answer`: the exact bytes of an answer. */
import { answeredTurns, readAnswerBytes, readWholeAnswer } from '../job/answers.js';
import { type CatalogJob, lookAt } from '../job/catalog.js';
import { isJobId } from '../job/job-id.js';
import { stateFolder } from '../state/state-folder.js';
import { outcomeWord } from './jobs.js';
import { read } from './options.js';
import { CommandError, jsonOf, oneLine, type Terminal } from './terminal.js';

export async function answer(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = read('answer', args, { turn: 'string', json: 'boolean' }, ['<job>']);
  const job = jobOf(positionals[0] ?? '');
  const turn = values.turn === undefined ? newestAnswered(job) : turnOf(values.turn, job);
  const bytes = readAnswerBytes(job.folder, turn);
  if (bytes === null) throw new CommandError(noAnswer(job, turn));
  if (values.json) {
    const whole = { job: job.id, turn, ...readWholeAnswer(job.folder, turn) };
    await terminal.print(jsonOf(whole));
  } else {
    await terminal.print(bytes);
  }
  return 0;
}

function jobOf(id: string): CatalogJob {
  if (!isJobId(id)) {
    throw new CommandError(
      `verbatim answer: ${JSON.stringify(oneLine(id, 60))} is no job id: "j" and 20 letters or digits, as \`verbatim jobs\` lists them`,
      2,
    );
  }
  const entry = lookAt(stateFolder(process.env), id);
  if (entry === null) throw new CommandError(`verbatim answer: there is no job ${id}; \`verbatim jobs\` lists them`);
  if (entry.kind === 'problem') throw new CommandError(`verbatim answer: ${oneLine(entry.problem, 600)}`);
  return entry;
}

function turnOf(text: string, job: CatalogJob): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new CommandError(`verbatim answer: --turn must be a whole number from 1, it is ${JSON.stringify(text)}`, 2);
  }
  const turn = Number(text);
  if (turn > job.record.turns) {
    const turns = job.record.turns === 1 ? '1 turn' : `${job.record.turns} turns`;
    throw new CommandError(`verbatim answer: job ${job.id} has ${turns}, there is no turn ${turn}`);
  }
  return turn;
}

function newestAnswered(job: CatalogJob): number {
  const newest = answeredTurns(job.folder).find((turn) => turn <= job.record.turns);
  if (newest !== undefined) return newest;
  throw new CommandError(noAnswer(job, job.record.turns));
}

function noAnswer(job: CatalogJob, turn: number): string {
  const what = turn === 0 ? `job ${job.id} has no turn yet` : `turn ${turn} of job ${job.id} has no answer`;
  if (turn !== job.record.turns || turn === 0) return `verbatim answer: ${what}`;
  const { lastOutcome } = job;
  if (lastOutcome === null) return `verbatim answer: ${what}: it has not ended`;
  const why = lastOutcome.kind === 'failed' ? `: ${oneLine(lastOutcome.failure.message, 600)}` : '';
  return `verbatim answer: ${what}: it ended as ${outcomeWord(lastOutcome)}${why}`;
}
