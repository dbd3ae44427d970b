/** The task of `verbatim worker run`: a word, a file, or what stands on stdin. */
import { createReadStream } from 'node:fs';
import { TASK_LIMIT } from '../../../../plugin/hooks/protocol/errand.js';
import { isBlank } from '../../../../plugin/hooks/protocol/mod-answer.js';
import { messageOf } from '../../errors.js';
import { CommandError } from '../terminal.js';

/** A character takes up to three bytes for each UTF-16 unit: what has more bytes is too long, whatever it says. */
const MOST_BYTES = 3 * TASK_LIMIT;

/** The task, byte for byte. Throws a CommandError where it can be none. */
export async function readTask(word: string | undefined, file: string | undefined): Promise<string> {
  const task = await given(word, file);
  if (isBlank(task)) {
    const where =
      word === undefined && file === undefined ? ': nothing stood on stdin; see `verbatim worker run --help`' : '';
    throw refused(`the task is blank${where}`);
  }
  if (task.length > TASK_LIMIT) throw tooLong();
  return task;
}

async function given(word: string | undefined, file: string | undefined): Promise<string> {
  if (file !== undefined && word !== undefined) throw refused('give the task or --file, not both');
  if (file !== undefined) {
    return textOf(
      await bytesOf(createReadStream(file)).catch((error: unknown) => {
        if (error instanceof CommandError) throw error;
        throw new CommandError(`verbatim worker run: the task cannot be read: ${messageOf(error)}`);
      }),
    );
  }
  if (word !== undefined && word !== '-') return word;
  if (word === undefined && process.stdin.isTTY) throw refused('<task> is missing; see `verbatim worker run --help`');
  return textOf(await bytesOf(process.stdin));
}

/** What a stream holds; one that never ends is not read to the end of our memory. */
async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of stream) {
    pieces.push(piece);
    size += piece.length;
    if (size > MOST_BYTES) throw tooLong();
  }
  return Buffer.concat(pieces);
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused('the task is not UTF-8');
  }
}

function tooLong(): CommandError {
  return refused(
    `the task has more than ${TASK_LIMIT} characters; put it in a file in the worker's folder, and name that`,
  );
}

function refused(why: string): CommandError {
  return new CommandError(`verbatim worker run: ${why}`, 2);
}
