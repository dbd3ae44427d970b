/** How a turn's end is told: from what the harness reported to what the journal keeps. */
import type { AnswerRecord, Failure, Outcome } from '../../../plugin/hooks/protocol/outcome.js';
import { messageOf } from '../errors.js';
import { HarnessError, type TurnEnd } from '../harness/contract.js';

/** What a turn ended with, once its answer is stored; `store` keeps the text and may fail (a full disk). */
export async function outcomeOf(
  ending: TurnEnd['ending'],
  store: (answer: string) => Promise<AnswerRecord>,
): Promise<Outcome> {
  switch (ending.kind) {
    case 'completed':
      if (ending.answer.trim() === '') return { kind: 'empty' };
      try {
        return { kind: 'completed', answer: await store(ending.answer) };
      } catch (error) {
        // Never "completed" without an answer on disk; the text itself is not lost, the note shows it.
        const message = `The answer could not be stored (${messageOf(error)}).`;
        return { kind: 'failed', failure: { kind: 'unknown', status: 'failed', message }, partial: [ending.answer] };
      }
    case 'empty':
      return { kind: 'empty' };
    case 'interrupted':
      return { kind: 'interrupted' };
    case 'failed':
      return { kind: 'failed', failure: ending.failure, partial: ending.partial };
    default:
      return ending satisfies never;
  }
}

/** The failure behind anything that was thrown. */
export function failureOf(error: unknown): Failure {
  if (error instanceof HarnessError) return error.failure;
  return { kind: 'unknown', status: 'failed', message: messageOf(error) };
}
