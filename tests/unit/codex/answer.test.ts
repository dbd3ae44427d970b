import { describe, expect, test } from 'vitest';
import { AnswerRule } from '../../../sidecar/src/harness/codex/answer.js';
import type { AgentMessage } from '../../../sidecar/src/harness/codex/frames.js';

let ids = 0;
function message(text: string, phase: string | null, more: Partial<AgentMessage> = {}): AgentMessage {
  return { type: 'agentMessage', id: `m${ids++}`, text, phase, delivery: null, ...more };
}

/** Feeds messages and `work` (another item began) in order. */
function play(...steps: readonly (AgentMessage | 'work')[]) {
  const rule = new AnswerRule();
  const shown = steps.flatMap((step) => (step === 'work' ? rule.workGoesOn('item') : rule.complete(step)));
  const end = rule.end();
  return { answer: end.answer, shown, shownAtEnd: end.shown, partial: rule.partial };
}

const final = (text: string) => message(text, 'final_answer');
const plain = (text: string) => message(text, null);
const comment = (text: string) => message(text, 'commentary');

describe('the answer', () => {
  test.each<[string, (AgentMessage | 'work')[], string | null]>([
    ['is the last final', [final('one'), final('two')], 'two'],
    ['is a final before later work and commentary', [final('early'), 'work', comment('later')], 'early'],
    ['is not replaced by an empty final', [final('real'), 'work', final(' \n')], 'real'],
    ['without phases is the last message', [plain('a'), 'work', plain('b')], 'b'],
    ['is a final rather than a later message without a phase', [final('f'), plain('p')], 'f'],
    ['is never an async note', [final('real'), message('note', 'final_answer', { delivery: 'async' })], 'real'],
    ['is none where there is commentary alone', [comment('c')], null],
    ['is none of white space', [final('\t\n ')], null],
    ['is none of a phase that we do not know', [message('x', 'partial_answer')], null],
    ['is the lone message without a phase, though work came after it', [plain('only'), 'work'], 'only'],
    ['keeps its white space', [final('  x \n')], '  x \n'],
  ])('%s', (_, steps, answer) => {
    expect(play(...steps).answer).toBe(answer);
  });
});

test('commentary and async notes are shown at once, finals that lost at the end, the answer never', () => {
  const async = message('note', 'final_answer', { delivery: 'async' });
  expect(play(comment('c'), final('one'), async, final('two'))).toMatchObject({
    shown: ['c', 'note'],
    shownAtEnd: ['one'],
    answer: 'two',
  });
});

test('a message without a phase is shown when work goes on, and not twice', () => {
  expect(play(plain('a'), 'work', 'work', plain('b'))).toMatchObject({ shown: ['a'], shownAtEnd: [], answer: 'b' });
});

test('an item that is completed again stands as it was last, and is shown once', () => {
  const first = comment('c');
  expect(play(first, first, final('x'))).toMatchObject({ shown: ['c'] });
  const half = final('half');
  expect(play(half, { ...half, text: 'whole' })).toMatchObject({ answer: 'whole', shownAtEnd: [], partial: ['whole'] });
});

test('what a failed turn had said is every message with text, oldest first', () => {
  expect(play(comment('a'), final(' '), plain('b')).partial).toEqual(['a', 'b']);
});
