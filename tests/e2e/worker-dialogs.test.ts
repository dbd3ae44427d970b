/** A worker that waits for a person, in the mode that asks. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bash, calls, says, type ToolCall } from '../../testing/fake-messages.js';
import { sharedWorker, type Worker } from '../../testing/orchestrator.js';

let worker: Worker;

const shared = sharedWorker(() => ({ mode: 'default' }));

beforeEach(async () => {
  worker = await shared.open();
});

afterEach(async ({ task }) => {
  if (task.result?.state !== 'pass') await shared.close();
});

afterAll(shared.close);

const ask = (question: string): ToolCall => ({
  name: 'AskUserQuestion',
  input: {
    questions: [
      {
        question,
        header: 'Choice',
        multiSelect: false,
        options: [
          { label: 'red', description: 'like a rose' },
          { label: 'blue', description: 'like the sky' },
        ],
      },
    ],
  },
});

describe('rule.questionReportsNothing', () => {
  test('a question is answered by keys: the turn answers once, when it has ended', async () => {
    await worker.turn([
      calls(ask('Which colour?')),
      ({ lastText }) => says(`You took ${/"blue"|"red"/.exec(lastText)}.`),
    ]);
    await worker.tui.sees('like the sky');
    worker.tui.press('Down');
    await worker.tui.sees(/❯ 2\. blue/);
    expect(worker.orchestrator.arrivals).toEqual([]);
    worker.tui.press('Enter');
    await worker.reports({ text: 'You took "blue".' });
  });
});

describe('rule.otherEndsAreSilent: a dialog left with Esc', () => {
  test('a question', async () => {
    await worker.turn([calls(ask('Which size?')), says('Never said.')]);
    await worker.tui.sees('Which size?');
    worker.tui.press('Escape');
    await worker.tui.unsees('Esc to cancel');
    await worker.turn([says('After the question.')]);
    await worker.reports({ text: 'After the question.' });
  });

  test('a permission', async () => {
    await worker.turn([calls(bash('touch made')), says('Never said.')]);
    await worker.tui.sees('Do you want');
    worker.tui.press('Escape');
    await worker.tui.unsees('Do you want');
    await worker.turn([says('After the permission.')]);
    await worker.reports({ text: 'After the permission.' });
  });

  test("a question in a turn that a Stop hook of the user's had sent on", async () => {
    worker.blockNextStop('ask, please');
    await worker.turn([says('The first end.'), calls(ask('Which form?')), says('Never said.')]);
    await worker.tui.sees('Which form?');
    worker.tui.press('Escape');
    await worker.tui.unsees('Esc to cancel');
    await worker.turn([says('After the second question.')]);
    await worker.reports({ text: 'After the second question.' });
  });
});
