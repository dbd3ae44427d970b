import { describe, expect, test } from 'vitest';
import { actedOf, planSteps } from '../../../sidecar/src/harness/codex/events.js';
import { addressOf, FrameFault, itemOf, parseFrame } from '../../../sidecar/src/harness/codex/frames.js';

describe('a line', () => {
  test.each([
    ['{"id":1,"result":{}}', { kind: 'result', id: 1 }],
    ['{"id":"a","error":{"code":-32600,"message":"m","data":{"x":1}}}', { kind: 'error', id: 'a' }],
    ['{"id":0,"method":"m","params":{"p":1}}', { kind: 'request', id: 0, method: 'm' }],
    ['{"method":"m"}', { kind: 'notification', method: 'm' }],
    ['{"jsonrpc":"2.0","method":"m","params":[],"emittedAtMs":7}', { kind: 'notification', method: 'm' }],
  ])('%s is read', (line, frame) => {
    expect(parseFrame(line)).toMatchObject(frame);
  });

  test.each(['', 'panic!', '[]', '7', 'null', '{}', '{"id":{}}', '{"id":1,"error":"text"}', '{"method":7}'])(
    '%j is a fault that quotes it',
    (line) => {
      expect(() => parseFrame(line)).toThrow(FrameFault);
    },
  );
});

test('the address of a notification is its thread and its turn, wherever the turn stands', () => {
  expect(addressOf({ threadId: 't', turnId: 'u' })).toEqual({ threadId: 't', turnId: 'u' });
  expect(addressOf({ threadId: 't', turn: { id: 'u' } })).toEqual({ threadId: 't', turnId: 'u' });
  expect(addressOf(null)).toEqual({ threadId: null, turnId: null });
});

describe('an item', () => {
  test('of a type that we do not know keeps its name', () => {
    expect(itemOf({ item: { type: 'hologram', id: 'h', beams: 7 } })).toEqual({
      type: 'unknown',
      id: 'h',
      name: 'hologram',
    });
    expect(itemOf({ item: { type: 'toString', id: 'h' } })).toEqual({ type: 'unknown', id: 'h', name: 'toString' });
  });

  test('that we use and that lacks a field is a fault that names both', () => {
    expect(() => itemOf({ item: { type: 'agentMessage', id: 'm' } })).toThrow(/agentMessage.*text/);
    expect(() => itemOf({})).toThrow(FrameFault);
  });

  test.each([
    [
      {
        type: 'commandExecution',
        id: 'c',
        command: "/bin/bash -lc 'ls'",
        cwd: '/w',
        status: 'failed',
        aggregatedOutput: 'o',
        exitCode: 2,
        durationMs: 5,
      },
      {
        action: { tool: 'command', command: 'ls', cwd: '/w' },
        result: { status: 'failed', exitCode: 2, output: 'o', durationMs: 5 },
      },
    ],
    [
      { type: 'commandExecution', id: 'c', command: 'ls', cwd: '/w', status: 'declined' },
      { action: { command: 'ls' }, result: { status: 'declined', exitCode: null, output: '' } },
    ],
    [
      {
        type: 'fileChange',
        id: 'f',
        status: 'completed',
        changes: [{ path: 'a', kind: { type: 'update', move_path: 'b' }, diff: '@@' }],
      },
      {
        action: { tool: 'edit', changes: [{ path: 'a', change: 'update', diff: '@@', omitted: 0 }] },
        result: { status: 'completed' },
      },
    ],
    [
      {
        type: 'mcpToolCall',
        id: 'm',
        server: 's',
        tool: 't',
        status: 'completed',
        arguments: { a: 1 },
        result: { content: [{ type: 'text', text: 'x' }, { type: 'image' }] },
      },
      { action: { tool: 'other', name: 's.t', input: '{"a":1}' }, result: { output: 'x\n[image]' } },
    ],
    [
      { type: 'mcpToolCall', id: 'm', server: 's', tool: 't', status: 'failed', error: { message: 'no' } },
      { action: { name: 's.t', input: '' }, result: { status: 'failed', output: 'no' } },
    ],
    [
      {
        type: 'collabAgentToolCall',
        id: 'a',
        tool: 'wait',
        status: 'completed',
        receiverThreadIds: [],
        prompt: 'p',
        agentsStates: { t1: { status: 'completed', message: 'm' } },
      },
      { action: { name: 'wait', input: 'p' }, result: { output: 't1: completed\nm' } },
    ],
    [{ type: 'webSearch', id: 'w', query: 'q' }, { action: { name: 'web_search', input: 'q' } }],
    [{ type: 'contextCompaction', id: 'x' }, { action: { name: 'contextCompaction' } }],
  ])('%j is shown as an action', (item, acted) => {
    expect(actedOf(itemOf({ item }))).toMatchObject(acted);
  });

  test.each([
    { type: 'userMessage', id: 'u', clientId: null },
    { type: 'agentMessage', id: 'a', text: 'x' },
    { type: 'reasoning', id: 'r', summary: [] },
    { type: 'plan', id: 'p', text: 'x' },
  ])('%j is no action', (item) => {
    expect(actedOf(itemOf({ item }))).toBeNull();
  });
});

test('a plan’s steps keep their order, and a status that we do not know is still to do', () => {
  const plan = ['pending', 'inProgress', 'completed', 'paused'].map((status) => ({ step: status, status }));
  expect(planSteps(plan).map(({ status }) => status)).toEqual(['pending', 'in_progress', 'completed', 'pending']);
});
