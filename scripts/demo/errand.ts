/**
 * The demo's second part, the other direction: `verbatim worker run` opens the real interactive Claude Code as a worker,
 * hands it a task, and prints exactly its answer.
 */
import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { claudeBinary, claudePlace, type Place } from '../../testing/claude-place.js';
import { ERRAND, ERRAND_ANSWER, writeRepository } from '../../testing/demo/story.js';
import { bash, calls, fakeMessages, holds } from '../../testing/fake-messages.js';
import { ROOT } from '../../testing/root.js';
import { gate, until } from '../../testing/wait.js';
import { bold, dim, indented, print, printBytes, VISIBLE_KEY, visible } from './print.js';

/** Resolves to whether the answer came through exactly. */
export async function showErrand(): Promise<boolean> {
  print();
  print(bold('5  The other direction: a Claude Code session answers the task that it was handed'));
  if (!hasTmux()) {
    print('      Left out: a worker needs a terminal of its own. Install the package tmux, and run this again.');
    return true;
  }
  const begun = Date.now();
  const model = await fakeMessages();
  const place = claudePlace({ url: model.url, path: [dirname(claudeBinary())] });
  try {
    writeRepository(place.cwd);
    const shown = gate();
    model.main([calls(bash('wc -l median.js && head -3 median.js')), () => holds(shown.promise, ERRAND_ANSWER)]);
    print(indented(`verbatim worker run < task.txt > answer.txt      with this task:\n${ERRAND}`));
    print();
    const run = runWorker(place);
    await model.request('the worker’s last words', (request) => request.results.length > 0, 40_000);
    const screen = await until('the command on the worker’s screen', () => {
      const now = screenOf(place);
      return /head -3 median\.js/.test(now) && now;
    });
    print(dim('      what `verbatim worker attach` shows meanwhile:'));
    print(indented(framed(screen)));
    print();
    shown.open();
    const { stdout, code } = await run;
    print(bold('6  What it printed, and nothing else'));
    print(indented(visible(stdout)));
    print(dim(`      ${VISIBLE_KEY}`));
    print();
    const isTaskExact = model.requests.some((request) => request.text.includes(ERRAND));
    const isExact = printBytes([
      ['what the worker’s model said', ERRAND_ANSWER],
      ['what stdout got', stdout],
    ]);
    print();
    print(
      `The model was given the task ${isTaskExact ? 'byte for byte, its "/" at the beginning too' : 'CHANGED'}. Left running: ${place.processes().length} processes.`,
    );
    print(dim(`Took ${((Date.now() - begun) / 1000).toFixed(1)} s.`));
    return isExact && isTaskExact && code === 0 && place.processes().length === 0;
  } finally {
    await place.dispose();
    await model.close();
  }
}

function hasTmux(): boolean {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The command as a person runs it, its stderr shown as it comes. */
function runWorker(place: Place): Promise<{ stdout: string; code: number | null }> {
  const bundle = join(ROOT, 'plugin', 'sidecar', 'verbatim.mjs');
  const child = spawn(process.execPath, [bundle, 'worker', 'run', '--timeout', '60s'], {
    cwd: place.cwd,
    env: place.env,
  });
  child.stdin.end(ERRAND);
  const pieces: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  child.stderr.on('data', (piece: Buffer) => print(dim(indented(piece.toString('utf8')))));
  return new Promise((settle, fail) => {
    child.once('error', fail);
    child.once('close', (code) => settle({ stdout: Buffer.concat(pieces).toString('utf8'), code }));
  });
}

/** What the only errand's terminal shows now. */
function screenOf(place: Place): string {
  const errands = join(place.home, '.local', 'state', 'verbatim', 'errands');
  const [id = ''] = readdirSync(errands);
  const { tmux } = JSON.parse(readFileSync(join(errands, id, 'state.json'), 'utf8')) as { tmux: string };
  return execFileSync('tmux', ['-u', '-S', tmux, 'capture-pane', '-p'], { encoding: 'utf8' });
}

/** The lines of a screen that say something, in a frame. */
function framed(screen: string): string {
  const lines = screen.split('\n').filter((line) => line.trim() !== '' && !/^[─━]+$/.test(line.trim()));
  const width = 100;
  const rows = lines.map((line) => `│ ${[...line].slice(0, width).join('').padEnd(width)} │`);
  return [`┌${'─'.repeat(width + 2)}┐`, ...rows, `└${'─'.repeat(width + 2)}┘`].join('\n');
}
