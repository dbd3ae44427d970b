/** `verbatim worker list`: the errands that are kept, and how each stands. */
import { type ErrandEntry, Errands } from '../../desk/errands.js';
import { isAlive } from '../../process/table.js';
import { stateFolder } from '../../state/state-folder.js';
import { read } from '../options.js';
import { ago, jsonOf, oneLine, type Terminal, table } from '../terminal.js';
import { endSentence, isKeptOpen, statusOf, statusWord, waitSentence } from './words.js';

/** Characters of a folder and of a task that a row has room for. */
const FOLDER_WIDTH = 28;
const TASK_WIDTH = 40;

type Row = Extract<ErrandEntry, { kind: 'errand' }>;

export async function list(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values } = read('worker list', args, { json: 'boolean' });
  const entries = new Errands(stateFolder(process.env)).list();
  const rows = entries.filter((entry): entry is Row => entry.kind === 'errand');
  const problems = entries.filter((entry) => entry.kind === 'problem');
  if (values.json) {
    const whole = { errands: rows.map(facts), problems: problems.map(({ id, problem }) => ({ id, problem })) };
    await terminal.print(jsonOf(whole));
  } else if (rows.length === 0) {
    await terminal.print('No errands are kept. `verbatim worker run "<task>"` makes one.\n');
  } else {
    const head = ['ERRAND', 'STATUS', 'DEPTH', 'BEGUN', 'FOLDER', 'TASK'];
    // What is open comes first: it is what somebody looks for.
    const open = rows.filter(({ record }) => record.end === null);
    const ended = rows.filter(({ record }) => record.end !== null);
    await terminal.print(table([head, ...[...open, ...ended].map((row) => cells(row, Date.now()))]));
  }
  for (const { problem } of problems) terminal.complain(`verbatim worker list: ${oneLine(problem, 600)}`);
  return problems.length > 0 ? 1 : 0;
}

function cells({ record, task }: Row, now: number): string[] {
  return [
    record.id,
    statusWord(record),
    String(record.depth),
    ago(now - record.createdAt),
    tail(oneLine(record.cwd, 400), FOLDER_WIDTH),
    oneLine(task, TASK_WIDTH),
  ];
}

function facts({ record, task }: Row) {
  const { id, parent, claudeSession, cwd, model, mode, depth, timeoutMs, isKept, isUnattended } = record;
  const { wait, end, worker } = record;
  return {
    id,
    status: statusOf(record),
    ...{ parent, claudeSession, cwd, model, mode, depth, timeoutMs, isKept, isUnattended },
    isKeptOpen: isKeptOpen(record),
    task,
    wait: wait === null ? null : { ...wait, sentence: waitSentence(wait) },
    end: end === null ? null : { ...end, sentence: endSentence(id, end) },
    workerPid: isAlive(worker) ? worker?.pid : null,
    createdAt: new Date(record.createdAt).toISOString(),
    endedAt: record.endedAt === null ? null : new Date(record.endedAt).toISOString(),
  };
}

/** The end of a path says more than its beginning. */
function tail(path: string, limit: number): string {
  return path.length <= limit ? path : `…${path.slice(1 - limit)}`;
}
