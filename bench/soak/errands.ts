/**
 * Errands on the real interactive Claude Code: each answer exact and once, in a row and ten at once; and workers killed at
 * a random moment, whose errands end within five seconds.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { claudeBinary, claudePlace, type Place } from '../../testing/claude-place.js';
import { type FakeMessages, fakeMessages, holds, says } from '../../testing/fake-messages.js';
import { signal, stillAlive, withEnvironment } from '../../testing/processes.js';
import { ROOT } from '../../testing/root.js';
import { until } from '../../testing/wait.js';

const AT_ONCE = 10;
const KILLED = 40;
/** How long a killed worker's errand may stay open, in milliseconds. */
const KILLED_LIMIT_MS = 5_000;
/** Up to when after its start a worker is killed, in milliseconds: long after it has its task. */
const LATEST_KILL_MS = 3_000;
/** Errands of one place: its folders grow with each. */
const PER_PLACE = 20;

/** Resolves to whether all went right; prints what happened. */
export async function soakErrands(inARow: number): Promise<boolean> {
  const startedAt = Date.now();
  const wrong: string[] = [];
  for (let done = 0; done < inARow; done += PER_PLACE) {
    await inPlace(async (place, model) => {
      for (let number = done; number < Math.min(inARow, done + PER_PLACE); number += 1) {
        wrong.push(...(await errand(place, model)));
        process.stderr.write(`${number + 1} of ${inARow} in a row, ${wrong.length} wrong\n`);
      }
    });
  }
  const rowMs = (Date.now() - startedAt) / inARow;
  await inPlace(async (place, model) => {
    for (const found of await Promise.all(Array.from({ length: AT_ONCE }, () => errand(place, model)))) {
      wrong.push(...found);
    }
  });
  const kills: number[] = [];
  await inPlace(async (place, model) => {
    for (let number = 0; number < KILLED; number += 1) {
      const took = await killedErrand(place, model);
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

async function inPlace(act: (place: Place, model: FakeMessages) => Promise<void>): Promise<void> {
  const model = await fakeMessages();
  const place = claudePlace({ url: model.url, path: [dirname(claudeBinary())] });
  model.main((request) => {
    const [name = ''] = /errand-\d+\./.exec(request.text) ?? [];
    const answer = answers.get(name);
    return answer === undefined ? holds(new Promise(() => undefined)) : says(answer);
  });
  try {
    await act(place, model);
    // What is left when all have ended was left by one of them.
    const left = place.processes();
    if (left.length > 0) throw new Error(`left running: ${left.map(({ command }) => command).join(', ')}`);
  } finally {
    await place.dispose();
    await model.close();
  }
}

let names = 0;

/** One errand with an answer of its own. Resolves to what went wrong. */
async function errand(place: Place, model: FakeMessages): Promise<readonly string[]> {
  const name = `errand-${++names}.`;
  const answer = randomText();
  answers.set(name, answer);
  const { stdout, stderr, code } = await run(place, name).ended;
  const asked = model.requests.filter(({ class: kind, text }) => kind === 'main' && text.includes(name)).length;
  const complaints: string[] = [];
  if (stdout !== answer) complaints.push(`${name} got ${JSON.stringify(stdout.slice(0, 200))}: ${stderr}`);
  if (code !== 0) complaints.push(`${name} ended with ${code}: ${stderr}`);
  if (asked !== 1) complaints.push(`${name} was asked ${asked} times`);
  return complaints;
}

/** An errand whose worker is killed at a random moment. Resolves to how long it then stayed open, in milliseconds. */
async function killedErrand(place: Place, _model: FakeMessages): Promise<number> {
  const { ended, id } = run(place, 'never answered');
  const errand = await id;
  const worker = await until('the worker', () => workerOf(place, errand), { every: 5 });
  await new Promise((resolve) => setTimeout(resolve, randomInt(LATEST_KILL_MS)));
  const below = withEnvironment('VERBATIM_ERRAND', errand);
  for (const one of below.filter(({ pid }) => pid === worker)) signal(one, 'SIGKILL');
  const killedAt = Date.now();
  const { code, stderr } = await ended;
  if (code !== 4) throw new Error(`a killed worker's errand ended with ${code}: ${stderr}`);
  if (stillAlive(below).length > 0) throw new Error('a killed worker left processes');
  return Date.now() - killedAt;
}

function workerOf(place: Place, id: string): number | undefined {
  const path = join(place.home, '.local', 'state', 'verbatim', 'errands', id, 'state.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { worker: { pid: number } | null }).worker?.pid;
}

type Run = {
  /** The errand's id, once it is there. */
  readonly id: Promise<string>;
  readonly ended: Promise<{ readonly stdout: string; readonly stderr: string; readonly code: number | null }>;
};

function run(place: Place, task: string): Run {
  const bundle = join(ROOT, 'plugin', 'sidecar', 'verbatim.mjs');
  const before = new Set(errandsOf(place));
  const child = spawn(process.execPath, [bundle, 'worker', 'run', '--timeout', '2m'], {
    cwd: place.cwd,
    env: place.env,
  });
  child.stdin.end(task);
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => out.push(piece));
  child.stderr.on('data', (piece: Buffer) => err.push(piece));
  return {
    id: until('the errand', () => errandsOf(place).find((id) => !before.has(id)), { every: 5 }),
    ended: new Promise((settle, fail) => {
      child.once('error', fail);
      child.once('close', (code) =>
        settle({ stdout: String(Buffer.concat(out)), stderr: String(Buffer.concat(err)), code }),
      );
    }),
  };
}

function errandsOf(place: Place): readonly string[] {
  try {
    return readdirSync(join(place.home, '.local', 'state', 'verbatim', 'errands'));
  } catch {
    // The first errand makes it.
    return [];
  }
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
