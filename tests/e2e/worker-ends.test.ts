/** A worker's turns that end with no answer, or with more than one end. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  agent,
  bash,
  calls,
  declines,
  holds,
  type MessagesReply,
  type MessagesScript,
  refuses,
  SAYS_NOTHING,
  says,
} from '../../testing/fake-messages.js';
import { openWorker, sharedWorker, type Worker } from '../../testing/orchestrator.js';
import { gate, never } from '../../testing/wait.js';

let worker: Worker;

const shared = sharedWorker();

beforeEach(async () => {
  worker = await shared.open();
});

afterEach(async ({ task }) => {
  if (task.result?.state !== 'pass') await shared.close();
});

afterAll(shared.close);

/** A model that answers so however often it is asked. */
const always =
  (reply: MessagesReply): MessagesScript =>
  () =>
    reply;

/** A model that answers so, one a request, and with the last of them for good. */
const atLast =
  (...replies: readonly MessagesReply[]): MessagesScript =>
  () => {
    const [reply = SAYS_NOTHING, ...more] = replies;
    if (more.length > 0) replies = more;
    return reply;
  };

const BLANK = { unanswered: 'blank' };
const inBackground = calls(agent('general-purpose', 'a part', { background: true }));

/** Waits until the screen shows it below the last prompt. */
const seesBelow = (what: string) => worker.tui.sees(new RegExp(`${what}(?!.*turn number)`, 's'));

/** A reply of which no more comes than these words. */
const beginning = (text: string): MessagesReply => ({
  kind: 'message',
  parts: [
    { kind: 'text', text },
    { kind: 'hold', until: never },
  ],
});

/** Presses Esc once the screen shows the words. */
async function abortAt(words: string): Promise<void> {
  await worker.tui.sees(words);
  worker.tui.press('Escape');
  await seesBelow('Interrupted');
}

async function abortedTurn(words: string): Promise<void> {
  await worker.turn([beginning(words)]);
  await abortAt(words);
}

async function failedTurn(): Promise<void> {
  await worker.turn(always(refuses(400, 'invalid_request_error', 'no way')));
  await seesBelow('API Error: 400 no way');
}

async function refusedTurn(): Promise<void> {
  await worker.turn(always(declines('I cannot')));
  await seesBelow('Double press esc to edit');
}

describe('rule.blankSaysUnanswered', () => {
  test('the first turn of a session has no block at all', async () => {
    await worker.turn(always(SAYS_NOTHING));
    await worker.reports(BLANK);
  });

  test.each([
    ['white space', ' \n\t'],
    ['an empty text', ''],
    ['a NEL, which is white space to Go', '\u0085'],
  ])('%s', async (_, text) => {
    await worker.turn(always(says(text)));
    await worker.reports(BLANK);
  });

  test('one blank reply alone is none: Claude Code asks its model again', async () => {
    await worker.turn([SAYS_NOTHING, says('Asked again.')]);
    await worker.reports({ text: 'Asked again.' });
  });

  test('what was said before a tool call is no answer', async () => {
    const look = { kind: 'tool', call: bash('true') } as const;
    await worker.turn(atLast({ kind: 'message', parts: [{ kind: 'text', text: 'I look.' }, look] }, SAYS_NOTHING));
    await worker.reports(BLANK);
  });

  test('a turn without a block after one with a text, twice: its Stop has that text still', async () => {
    await worker.turn([says('An answer.')]);
    await worker.reports({ text: 'An answer.' });
    for (let turn = 0; turn < 2; turn += 1) {
      await worker.turn(always(SAYS_NOTHING));
      expect((await worker.stopped()).last_assistant_message).toBe('An answer.');
      await worker.reports(BLANK);
    }
  });

  test('a blank turn with work in the background is silent; the one that the work resumes says so', async () => {
    const open = gate();
    worker.claude.subagent(() => holds(open.promise, 'the part is done'));
    await worker.turn(atLast(inBackground, SAYS_NOTHING));
    expect((await worker.stopped()).background_tasks).toHaveLength(1);
    open.open();
    await worker.reports(BLANK);
  });

  test('a turn that spoke with work in the background, resumed by a blank one whose Stop has its words', async () => {
    const open = gate();
    worker.claude.subagent(() => holds(open.promise, 'the part is done'));
    await worker.turn(atLast(inBackground, says('It runs.'), SAYS_NOTHING));
    expect((await worker.stopped()).background_tasks).toHaveLength(1);
    open.open();
    expect(await worker.stopped()).toMatchObject({ background_tasks: [], last_assistant_message: 'It runs.' });
    await worker.reports(BLANK);
  });
});

describe('rule.otherEndsAreSilent, and the blank turn that follows says so', () => {
  test.each([
    ['was aborted', () => abortedTurn('A beginning.'), 'A beginning.'],
    ['failed', failedTurn, 'API Error: 400 no way'],
    ['was refused', refusedTurn, 'safeguards flagged'],
  ])('after one that %s, whose last words its Stop has', async (_, silent, last) => {
    await silent();
    await worker.turn(always(SAYS_NOTHING));
    expect((await worker.stopped()).last_assistant_message).toContain(last);
    await worker.reports(BLANK);
  });
});

describe('rule.otherEndsAreSilent', () => {
  test('Esc while the model streams', async () => {
    await abortedTurn('Half of an answer.');
    await worker.turn([says('After the abort.')]);
    await worker.reports({ text: 'After the abort.' });
  });

  test('a refusal, twice', async () => {
    await refusedTurn();
    await worker.turn([says('After the refusal.')]);
    await worker.reports({ text: 'After the refusal.' });
  });

  test('one refusal alone is none: Claude Code goes on by itself', async () => {
    await worker.turn([declines('I cannot'), says('Now I can.')]);
    await worker.reports({ text: 'Now I can.' });
  });

  test('an API error for good', async () => {
    await failedTurn();
    await worker.turn([says('After the failure.')]);
    await worker.reports({ text: 'After the failure.' });
  });

  test('a failed turn with work in the background: the turn that the work resumes answers', async () => {
    const open = gate();
    worker.claude.subagent(() => holds(open.promise, 'the part is done'));
    await worker.turn([inBackground, says('It runs.')]);
    await worker.stopped();
    await failedTurn();
    worker.claude.main([says('All of it is done.')]);
    open.open();
    await worker.reports({ text: 'All of it is done.' });
  });
});

describe('rule.stopAnswersForItsTurn', () => {
  test('an agent in the background does not answer', async () => {
    const open = gate();
    worker.claude.subagent(() => holds(open.promise, 'The words of the agent.'));
    await worker.turn([
      inBackground,
      says('It runs.'),
      ({ lastText }) => says(`It said: ${/The words/.exec(lastText)}`),
    ]);
    await worker.stopped();
    open.open();
    await worker.reports({ text: 'It said: The words' });
  });

  test("where a Stop hook of the user's sends the turn on, the last text alone is the answer", async () => {
    worker.blockNextStop('say more, please');
    await worker.turn([says('The first end.'), ({ lastText }) => says(`The second end. ${/say more/.exec(lastText)}`)]);
    expect((await worker.stopped()).last_assistant_message).toBe('The first end.');
    await worker.reports({ text: 'The second end. say more' });
  });

  test('a turn that was sent on and then aborted leaves its Stop to no other turn', async () => {
    worker.blockNextStop('say more, please');
    await worker.turn([says('The first end.'), beginning('A second beginning.')]);
    await abortAt('A second beginning.');
    await worker.turn([says('Other words.')]);
    await worker.reports({ text: 'Other words.' });
  });
});

describe('rule.stopAnswersForItsTurn: an agent in the foreground', () => {
  let other: Worker;

  beforeEach(async () => {
    await shared.close();
    // In a terminal every agent goes to the background, unless that is switched off.
    other = await openWorker({ place: { env: { CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1' } } });
  });

  afterEach(() => other.close());

  test('does not answer: the turn that started it does', async () => {
    other.claude.subagent(() => says('The words of the agent.'));
    const start = calls(agent('general-purpose', 'a part'));
    await other.turn([start, ({ results }) => says(`It said: ${/The words/.exec(results.at(-1)?.text ?? '')}`)]);
    await other.reports({ text: 'It said: The words' });
    expect(other.stops()).toHaveLength(1);
  });
});
