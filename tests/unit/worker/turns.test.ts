/** Which turn answers: every order in which Stops and completions can come. */
import { describe, expect, test } from 'vitest';
import { type Stop, Turns } from '../../../plugin/hooks/worker/turns.js';

const NOON = new Date(2026, 10, 30, 12).getTime();
const RUNNING: Partial<Stop> = { background_tasks: [{ id: 'b1' }] };

function session() {
  const turns = new Turns();
  return {
    stop: (text: string | undefined, more: Partial<Stop> = {}) =>
      turns.stopping({ ...(text === undefined ? {} : { last_assistant_message: text }), ...more }),
    answered: (answer: string) => turns.answered('w1', answer, NOON),
    endedOtherwise: () => turns.endedOtherwise(),
  };
}

const BLANK = { session_id: 'w1', unanswered: 'blank' };
const text = (words: string) => ({ session_id: 'w1', text: words });

describe('rule.stopAnswersForItsTurn', () => {
  test('a Stop is read once', () => {
    const { stop, answered } = session();
    stop('done');
    expect(answered('done')).toEqual(text('done'));
    expect(answered('done')).toBe(undefined);
  });

  test('a Stop that was not its own turn’s is gone after the completion that read it', () => {
    const { stop, answered } = session();
    stop('one');
    expect(answered('two')).toBe(undefined);
    expect(answered('one')).toBe(undefined);
  });

  test('in no order of up to four events does a completion report a text that its own Stop did not have', () => {
    // Every sequence of Stops with one of two texts, or with work at hand, and of completions of each kind.
    const events = [
      'stop a',
      'stop b',
      'stop blank',
      'stop a, running',
      'answer a',
      'answer b',
      'answer blank',
      'other',
    ];
    let reports = 0;
    const walk = (sequence: readonly string[]) => {
      if (sequence.length === 5) return;
      for (const event of events) walk([...sequence, event]);
      reports += replayed(sequence);
    };
    walk([]);
    expect(reports).toBeGreaterThan(100);
  });
});

/** Plays a sequence, and holds each report to the Stop that stands right before it; how many there were. */
function replayed(sequence: readonly string[]): number {
  const { stop, answered, endedOtherwise } = session();
  let reports = 0;
  let open: string | undefined;
  for (const event of sequence) {
    const [kind, what = ''] = event.split(/ (.*)/);
    const words = what.startsWith('blank') ? '' : what.slice(0, 1);
    if (kind === 'stop') {
      stop(words, what.endsWith('running') ? RUNNING : {});
      open = what;
      continue;
    }
    if (kind === 'other') endedOtherwise();
    else {
      const report = answered(words);
      if (open === undefined || open.endsWith('running')) expect(report, sequence.join(', ')).toBe(undefined);
      else if (words !== '') expect(report, sequence.join(', ')).toEqual(open === what ? text(words) : undefined);
      else if (open === 'blank') expect(report, sequence.join(', ')).toEqual(BLANK);
      else expect([undefined, BLANK], sequence.join(', ')).toContainEqual(report);
      if (report !== undefined) reports += 1;
    }
    open = undefined;
  }
  return reports;
}

describe('rule.blankSaysUnanswered', () => {
  test('a stale text is that of the Stop before, whatever became of its turn', () => {
    const ends: Record<string, (one: ReturnType<typeof session>) => void> = {
      answered: ({ answered }) => void answered('A text'),
      'not its own': ({ answered }) => void answered('other words'),
      interrupted: ({ endedOtherwise }) => endedOtherwise(),
      'sent on by a Stop hook': () => {},
    };
    for (const [how, end] of Object.entries(ends)) {
      const one = session();
      one.stop('A text', how === 'sent on by a Stop hook' ? RUNNING : {});
      end(one);
      one.stop('A text');
      expect(one.answered(''), how).toEqual(BLANK);
    }
  });

  test('a blank Stop in between does not make the text fresh again', () => {
    const { stop, answered } = session();
    for (const [last, answer] of [
      ['A text', 'A text'],
      [undefined, ''],
      ['A text', ''],
    ] as const) {
      stop(last);
      expect(answered(answer)).toEqual(answer === '' ? BLANK : text(answer));
    }
  });

  test('a text of its own beside a blank answer is nothing that we know: it reports nothing', () => {
    const { stop, answered } = session();
    stop('A text');
    expect(answered('A text')).toEqual(text('A text'));
    stop('Another');
    expect(answered('')).toBe(undefined);
  });

  test('a blank turn with work in the background, or a wakeup ahead, reports nothing', () => {
    const { stop, answered } = session();
    stop(undefined, RUNNING);
    expect(answered('')).toBe(undefined);
    stop(' ', { session_crons: [{ schedule: '30 12 * * *', recurring: false }] });
    expect(answered(' ')).toBe(undefined);
  });
});

describe('rule.backgroundDefersTheAnswer', () => {
  test('of two Stops in a turn the later one says what still runs', () => {
    const { stop, answered } = session();
    stop('done', RUNNING);
    stop('done');
    expect(answered('done')).toEqual(text('done'));
    stop('again');
    stop('again', RUNNING);
    expect(answered('again')).toBe(undefined);
  });

  test('a Stop that lists nothing, not even that it is nothing, answers', () => {
    const { stop, answered } = session();
    stop('done', {});
    expect(answered('done')).toEqual(text('done'));
  });
});
