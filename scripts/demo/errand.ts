/**
 * The demo's second part, the other direction: `verbatim worker run` opens the real interactive Claude Code as a worker,
 * hands it a task, and prints exactly its answer.
 */
import { ERRAND, ERRAND_ANSWER, writeRepository } from '../../testing/demo/story.js';
import { bash, calls, holds } from '../../testing/fake-messages.js';
import { hasTmux } from '../../testing/tui.js';
import { gate } from '../../testing/wait.js';
import { openWorkers } from '../../testing/workers.js';
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
  const workers = await openWorkers();
  const { claude, place } = workers;
  try {
    writeRepository(place.cwd);
    const shown = gate();
    claude.main([calls(bash('wc -l median.js && head -3 median.js')), () => holds(shown.promise, ERRAND_ANSWER)]);
    print(indented(`verbatim worker run < task.txt > answer.txt      with this task:\n${ERRAND}`));
    print();
    const command = workers.start(['run', '--timeout', '60s'], { stdin: ERRAND });
    command.child.stderr?.on('data', (piece: Buffer) => print(dim(indented(piece.toString('utf8')))));
    await claude.request('the worker’s last words', (request) => request.results.length > 0, 40_000);
    const errand = await command.errand();
    await errand.sees('head -3 median.js');
    print(dim('      what `verbatim worker attach` shows meanwhile:'));
    print(indented(framed(errand.screen())));
    print();
    shown.open();
    const { stdout, code } = await command.ended;
    const printed = stdout.toString('utf8');
    print(bold('6  What it printed, and nothing else'));
    print(indented(visible(printed)));
    print(dim(`      ${VISIBLE_KEY}`));
    print();
    const isTaskExact = claude.requests.some((request) => request.text.includes(ERRAND));
    const isExact = printBytes([
      ['what the worker’s model said', ERRAND_ANSWER],
      ['what stdout got', printed],
    ]);
    print();
    print(
      `The model was given the task ${isTaskExact ? 'byte for byte, its "/" at the beginning too' : 'CHANGED'}. Left running: ${place.processes().length} processes.`,
    );
    print(dim(`Took ${((Date.now() - begun) / 1000).toFixed(1)} s.`));
    return isExact && isTaskExact && code === 0 && place.processes().length === 0;
  } finally {
    await workers.close();
  }
}

/** The lines of a screen that say something, in a frame. */
function framed(screen: string): string {
  const lines = screen.split('\n').filter((line) => line.trim() !== '' && !/^[─━]+$/.test(line.trim()));
  const width = 100;
  const rows = lines.map((line) => `│ ${[...line].slice(0, width).join('').padEnd(width)} │`);
  return [`┌${'─'.repeat(width + 2)}┐`, ...rows, `└${'─'.repeat(width + 2)}┘`].join('\n');
}
