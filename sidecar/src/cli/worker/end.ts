/** How an errand's end is shown: its answer on stdout, everything else on stderr, and an exit code of its own. */

import { TEXT_LIMIT } from '../../../../plugin/hooks/protocol/mod-answer.js';
import type { ErrandEnd } from '../../desk/errand.js';
import type { Errands } from '../../desk/errands.js';
import { CommandError, jsonOf, oneLine, type Terminal } from '../terminal.js';
import { endSentence } from './words.js';

/** What is shown of an errand that has ended. */
export type EndedErrand = {
  readonly id: string;
  readonly end: ErrandEnd;
  /** Claude Code's own id of the worker's session; null where it never took its task. */
  readonly claudeSession: string | null;
};

/** Prints the end of an errand. Resolves to the exit code. */
export async function printEnd(
  errands: Errands,
  { id, end, claudeSession }: EndedErrand,
  isJson: boolean,
  terminal: Terminal,
): Promise<number> {
  const answer = end.kind === 'answered' ? errands.answerOf(id) : null;
  if (end.kind === 'answered' && answer === null) {
    throw new CommandError(`verbatim worker: the answer of errand ${id} is not on disk any more`);
  }
  if (isJson) {
    const { kind, ...facts } = end;
    const whole = {
      errand: id,
      status: kind,
      ...facts,
      claudeSession,
      ...(answer === null ? {} : { answer: answer.toString('utf8') }),
    };
    await terminal.print(jsonOf(whole));
  } else if (answer !== null) {
    await terminal.print(answer);
    // The prompt of a person's shell must not stand behind it.
    if (terminal.isTerminal && answer.at(-1) !== 0x0a) await terminal.print('\n');
  }
  if (end.kind !== 'answered') {
    terminal.complain(`verbatim worker: ${oneLine(endSentence(id, end), 800)}`);
    if (claudeSession !== null)
      terminal.complain(`verbatim worker: to go on: claude --resume ${oneLine(claudeSession, 60)}`);
  }
  if (end.kind === 'answered' && end.isTruncated) {
    terminal.complain(
      `verbatim worker: the answer was longer than a report may be (${TEXT_LIMIT} characters, 64 KiB): it is cut, and says so at its end`,
    );
  }
  return exitCodeOf(end);
}

function exitCodeOf(end: ErrandEnd): number {
  switch (end.kind) {
    case 'answered':
      return 0;
    case 'failed':
      return 1;
    case 'unanswered':
      return 3;
    case 'worker_ended':
      return 4;
    case 'needs_person':
      return 5;
    // As coreutils' timeout has it, and as a shell says of a command that Ctrl-C ended.
    case 'timed_out':
      return 124;
    case 'interrupted':
      return 130;
    default:
      return end satisfies never;
  }
}
