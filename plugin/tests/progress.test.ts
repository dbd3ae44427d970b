import { describe, expect, test } from 'claude-code/testing';
import { begin, run, world } from './engine.js';

const COMMAND = { tool: 'command', command: 'npm test', cwd: '/w' } as const;

describe('progress', () => {
  test('each harness item is one completed step in its order', async ($, on) => {
    const made = world(on, {
      turns: [
        {
          events: [
            { kind: 'message', text: 'I look first.' },
            { kind: 'reasoning', text: 'thinking' },
            { kind: 'plan', explanation: 'why', steps: [{ step: 'look', status: 'in_progress' }] },
            { kind: 'action_started', item: 'c1', action: COMMAND },
            {
              kind: 'action_completed',
              item: 'c1',
              action: COMMAND,
              result: { status: 'failed', exitCode: 1, output: 'bad\n', omitted: 0, durationMs: 1200 },
            },
            { kind: 'retry', attempt: 2, of: 5, reason: 'stream disconnected' },
            { kind: 'approval', subject: 'rm -rf /', decision: 'declined', reason: 'nobody to ask' },
            { kind: 'warning', text: 'careful' },
          ],
          answer: 'done',
        },
      ],
    });
    await begin($);
    await run($, made);
    const shown = made.steps.map((step) =>
      step.blocks.map((block) =>
        block.kind === 'text' ? block.text : `${block.tool.replace('mcp__verbatim__', '')}: ${block.result}`,
      ),
    );
    expect(shown).toEqual([
      ['I look first.', 'progress: [noted]'],
      ['thinking', 'progress: [noted]'],
      ['plan: [noted]'],
      ['command: bad\n[exit code 1, failed, 1.2 s]'],
      ['progress: [noted]'],
      ['progress: [noted]'],
      ['progress: [noted]'],
      ['gpt-5.5: 12 input tokens (3 cached), 4 output', expect.stringContaining('job: <job-state>\n')],
      ['done'],
    ]);
    expect(JSON.stringify(made.steps)).toContain('reconnecting 2/5: stream disconnected');
    expect(JSON.stringify(made.steps)).toContain('declined: rm -rf / (nobody to ask)');
  });

  test('the job state block names the job, the turn and where the whole answer stands', async ($, on) => {
    const made = world(on, { turns: [{ answer: 'four' }] });
    await begin($);
    await run($, made);
    const call = made.steps.at(-2)?.blocks.find((block) => block.kind === 'call');
    expect(call?.kind === 'call' ? call.result : '').toBe(
      [
        '<job-state>',
        'job: jabcdefghijklmnopqrst',
        'harness: codex 0.171.0',
        'model: gpt-5.5',
        'thread: 0199-thread',
        'status: completed',
        'turns: 1',
        'duration: 5 ms',
        'files changed: none',
        'answer bytes: 4',
        `answer sha256: ${'ab'.repeat(32)}`,
        'answer file: /state/jobs/jabcdefghijklmnopqrst/answers/1',
        'claude requests: 0',
        '</job-state>',
      ].join('\n'),
    );
  });

  test('an action that its turn did not finish says so', async ($, on) => {
    const made = world(on, {
      turns: [{ events: [{ kind: 'action_started', item: 'c1', action: COMMAND }], ending: { kind: 'interrupted' } }],
    });
    await begin($);
    await run($, made);
    expect(made.steps[0]?.blocks[0]).toEqual(
      expect.objectContaining({ result: '[the turn ended before this finished]' }),
    );
  });
});
