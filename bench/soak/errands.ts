/**
 * Errands on the real interactive Claude Code: each answer exact and once, in a row and ten at once; and workers killed at
 * a random moment, whose errands end within five seconds.
 */
import { randomInt } from 'node:crypto';
import { holds, says } from '../../testing/fake-messages.js';
import { stillAlive } from '../../testing/processes.js';
import { never } from '../../testing/wait.js';
import { kill, openWorkers, type Workers } from '../../testing/workers.js';

const AT_ONCE = 10;
const KILLED = 40;
/** How long a killed worker's errand may stay open, in milliseconds. */
const KILLED_LIMIT_MS = 5_000;
/** Up to when after it is open a worker is killed, in milliseconds: long after it has its task. */
const LATEST_KILL_MS = 3_000;
/** Errands of one place: its folders grow with each. */
const PER_PLACE = 20;

/** Resolves to whether all went right; prints what happened. */
export async function soakErrands(inARow: number): Promise<boolean> {
  const startedAt = Date.now();
  const wrong: string[] = [];
  for (let done = 0; done < inARow; done += PER_PLACE) {
    await inPlace(async (workers) => {
      for (let number = done; number < Math.min(inARow, done + PER_PLACE); number += 1) {
        wrong.push(...(await errand(workers)));
        process.stderr.write(`${number + 1} of ${inARow} in a row, ${wrong.length} wrong\n`);
      }
    });
  }
  const rowMs = (Date.now() - startedAt) / inARow;
  await inPlace(async (workers) => {
    for (const found of await Promise.all(Array.from({ length: AT_ONCE }, () => errand(workers)))) {
      wrong.push(...found);
    }
  });
  const kills: number[] = [];
  await inPlace(async (workers) => {
    for (let number = 0; number < KILLED; number += 1) {
      const took = await killedErrand(workers);
      kills.push(took);
      if (took > KILLED_LIMIT_MS) wrong.push(`an errand stayed open for ${took} ms after its worker was killed`);
    }
  });
  for (const each of wrong) process.stderr.write(`${each}\n`);
  const found = {
    'in a row': inARow,
    'milliseconds each': Math.round(rowMs),
    'at once': AT_ONCE,
    killed: KILLED,
    'longest until a killed one had ended, in milliseconds': Math.max(...kills),
    seconds: Math.round((Date.now() - startedAt) / 1000),
    wrong: wrong.length,
  };
  process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  return wrong.length === 0;
}

const answers = new Map<string, string>();

async function inPlace(act: (workers: Workers) => Promise<void>): Promise<void> {
  const workers = await openWorkers();
  workers.claude.main((request) => {
    const [name = ''] = /errand-\d+\./.exec(request.text) ?? [];
    const answer = answers.get(name);
    return answer === undefined ? holds(never) : says(answer);
  });
  try {
    await act(workers);
    // What is left when all have ended was left by one of them.
    workers.nothingIsLeft();
  } finally {
    await workers.close();
  }
}

const RUN = ['run', '--timeout', '2m'];
let names = 0;

/** One errand with an answer of its own. Resolves to what went wrong. */
async function errand({ claude, run }: Workers): Promise<readonly string[]> {
  const name = `errand-${++names}.`;
  const answer = randomText();
  answers.set(name, answer);
  const { stdout, stderr, code } = await run(RUN, { stdin: name });
  const asked = claude.of('main').filter(({ text }) => text.includes(name)).length;
  const complaints: string[] = [];
  if (stdout.toString() !== answer) {
    complaints.push(`${name} got ${JSON.stringify(stdout.toString().slice(0, 200))}: ${stderr}`);
  }
  if (code !== 0) complaints.push(`${name} ended with ${code}: ${stderr}`);
  if (asked !== 1) complaints.push(`${name} was asked ${asked} times`);
  return complaints;
}

/** An errand whose worker is killed at a random moment. Resolves to how long it then stayed open, in milliseconds. */
async function killedErrand(workers: Workers): Promise<number> {
  const command = workers.start(RUN, { stdin: 'never answered' });
  const errand = await command.errand();
  const worker = await errand.worker();
  await new Promise((resolve) => setTimeout(resolve, randomInt(LATEST_KILL_MS)));
  const processes = errand.processes();
  kill(worker);
  const killedAt = Date.now();
  const { code, stderr } = await command.ended;
  if (code !== 4) throw new Error(`a killed worker's errand ended with ${code}: ${stderr}`);
  if (stillAlive(processes).length > 0) throw new Error('a killed worker left processes');
  return Date.now() - killedAt;
}

/** A text that something in between might like to change, without white space around it, which Claude Code trims. */
function randomText(): string {
  const pieces = [
    'a',
    'é',
    '€',
    '👩‍👩‍👧',
    '\r\n',
    '\n\n',
    '\t',
    '  ',
    '<b>&amp;</b>',
    '"',
    '\\',
    '`',
    '\u2028',
    '[truncated]',
    '\u0007',
  ];
  const length = randomInt(1, 400);
  const middle = Array.from({ length }, () => pieces[randomInt(pieces.length)]).join('');
  return `[${middle}]`;
}
