/** What one event of the journal may carry. */
import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../../plugin/hooks/protocol/event.js';
import { boundedEvent, EVENT_LIMIT, LIST_LIMIT } from '../../../sidecar/src/job/bounded-event.js';

const LONG = '\u0001'.repeat(EVENT_LIMIT * 3);
const RESULT = { status: 'completed', exitCode: 0, output: LONG, omitted: 0, durationMs: 1 } as const;
const CHANGE = { path: 'a', change: 'add', diff: LONG, omitted: 0 } as const;

const FAILURE = { kind: 'unknown', status: 'failed', message: LONG } as const;
const ENDED = {
  kind: 'turn_ended',
  tokens: null,
  model: LONG,
  durationMs: 1,
  filesChanged: [],
  survivors: [],
} as const;
const many = <T>(make: (index: number) => T) => Array.from({ length: 100_000 }, (_, index) => make(index));

const events: readonly EventBody[] = [
  { kind: 'message', text: LONG },
  { kind: 'reasoning', text: LONG },
  { kind: 'warning', text: LONG },
  { kind: 'retry', attempt: 1, of: 2, reason: LONG },
  { kind: 'approval', subject: LONG, decision: 'declined', reason: LONG },
  { kind: 'plan', explanation: LONG, steps: Array.from({ length: 50 }, () => ({ step: LONG, status: 'pending' })) },
  { kind: 'action_started', item: 'i', action: { tool: 'command', command: LONG, cwd: '/' } },
  { kind: 'action_started', item: 'i', action: { tool: 'edit', changes: Array.from({ length: 50 }, () => CHANGE) } },
  { kind: 'action_completed', item: 'i', action: { tool: 'other', name: LONG, input: LONG }, result: RESULT },
  { kind: 'plan', explanation: '', steps: many((step) => ({ step: `step ${step}`, status: 'pending' })) },
  {
    kind: 'action_started',
    item: LONG,
    action: {
      tool: 'edit',
      changes: many((file) => ({ ...CHANGE, path: `${'d'.repeat(4_000)}/${file}`, diff: '+a' })),
    },
  },
  { ...ENDED, outcome: { kind: 'failed', failure: FAILURE, partial: many((text) => `part ${text}`) } },
  { ...ENDED, outcome: { kind: 'empty' }, filesChanged: many((file) => `${'d'.repeat(4_000)}/${file}`) },
  { ...ENDED, outcome: { kind: 'interrupted' }, survivors: many((pid) => `${pid} sleep`) },
  {
    kind: 'turn_ended',
    outcome: {
      kind: 'failed',
      failure: { kind: 'unknown', status: 'failed', message: 'm' },
      partial: Array.from({ length: 50 }, () => LONG),
    },
    tokens: null,
    model: 'm',
    durationMs: 1,
    filesChanged: Array.from({ length: 5_000 }, (_, file) => `file ${file}`),
    survivors: [],
  },
];

describe('an event in the journal', () => {
  it.each(events.map((event) => [event.kind, event] as const))('fits into one page: %s', (_, event) => {
    expect(Buffer.byteLength(JSON.stringify(boundedEvent(event)))).toBeLessThan(3_500_000);
  });

  it('says how much was left out, and never splits a surrogate pair', () => {
    const bounded = boundedEvent({ kind: 'message', text: `a${'😀'.repeat(EVENT_LIMIT)}` });
    expect(bounded.text.endsWith('😀\n[… 200,002 characters left out …]')).toBe(true);
    expect(/\p{Surrogate}/u.test(bounded.text)).toBe(false);
  });

  it('says how many files, steps and messages it leaves out', () => {
    const changes = many((file) => ({ ...CHANGE, path: `${file}`, diff: '+a' }));
    const edit = boundedEvent({ kind: 'action_started', item: 'i', action: { tool: 'edit', changes } });
    expect(edit.action).toMatchObject({ changes: { length: LIST_LIMIT }, moreFiles: 100_000 - LIST_LIMIT });
    const partial = many((text) => `part ${text}`);
    const ended = boundedEvent({
      ...ENDED,
      outcome: { kind: 'failed', failure: FAILURE, partial },
      filesChanged: partial,
    });
    expect(ended).toMatchObject({ filesChanged: { length: LIST_LIMIT }, moreFiles: 100_000 - LIST_LIMIT });
    const kept = ended.outcome.kind === 'failed' ? ended.outcome.partial : [];
    expect([kept[0], kept.at(-1)]).toEqual(['[… 99,500 messages left out …]', 'part 99999']);
    const plan = boundedEvent({
      kind: 'plan',
      explanation: '',
      steps: many((step) => ({ step: `${step}`, status: 'pending' })),
    });
    expect(plan.steps.at(-1)?.step).toBe('[… 99,500 steps left out …]');
  });

  it('is what it was when it is short', () => {
    const event = { kind: 'plan', explanation: 'e', steps: [{ step: 's', status: 'pending' }] } as const;
    expect(boundedEvent(event)).toEqual(event);
  });
});
