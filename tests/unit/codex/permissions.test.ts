import { describe, expect, test } from 'vitest';
import { answerTo, boundsOf } from '../../../sidecar/src/harness/codex/permissions.js';
import type { Access } from '../../../sidecar/src/harness/contract.js';

const READ: Access = { level: 'read_only' };
const WRITE: Access = { level: 'workspace_write' };
const FULL: Access = { level: 'full' };

describe('the bounds of a turn', () => {
  test('give no network below full access, and never the policy that asks nobody', () => {
    for (const access of [READ, WRITE])
      expect(boundsOf(access, '/').sandboxPolicy).toMatchObject({ networkAccess: false });
    for (const access of [READ, WRITE, FULL]) {
      expect(boundsOf(access, '/').approvalPolicy).not.toBe('never');
      expect(boundsOf(access, '/').approvalsReviewer).toBe('user');
    }
  });
});

/** Every request of codex 0.171.0's schema (ServerRequest.ts). */
const REQUESTS: readonly [string, object, object][] = [
  ['item/commandExecution/requestApproval', { kind: 'command', command: 'x', reason: 'r' }, { decision: 'decline' }],
  ['item/fileChange/requestApproval', { reason: null, grantRoot: '/' }, { decision: 'decline' }],
  [
    'item/permissions/requestApproval',
    { permissions: { network: { enabled: true } } },
    { permissions: {}, scope: 'turn' },
  ],
  [
    'mcpServer/elicitation/request',
    { serverName: 's', message: 'm' },
    { action: 'decline', content: null, _meta: null },
  ],
  ['item/tool/requestUserInput', { questions: [{ question: 'Which?' }] }, { answers: {} }],
  ['item/tool/call', { tool: 't' }, { success: false }],
  ['applyPatchApproval', {}, { decision: 'denied' }],
  ['execCommandApproval', { command: ['a', 'b'] }, { decision: 'denied' }],
];

describe.each(REQUESTS)('%s', (method, params, declined) => {
  test.each([READ, WRITE, null])('is declined with %j, and shown', (access) => {
    const { reply, shown } = answerTo(method, params, access);
    expect(reply).toMatchObject({ kind: 'result', result: declined });
    expect(shown).toMatchObject({ decision: 'declined' });
  });
});

test('with full access commands, edits, permissions and MCP tools are allowed; what needs a person is not', () => {
  const decision = (method: string, params: object) => answerTo(method, params, FULL);
  expect(decision('item/commandExecution/requestApproval', {}).reply).toMatchObject({ result: { decision: 'accept' } });
  expect(decision('item/fileChange/requestApproval', {}).reply).toMatchObject({ result: { decision: 'accept' } });
  expect(decision('item/permissions/requestApproval', { permissions: { a: 1 } }).reply).toMatchObject({
    result: { permissions: { a: 1 } },
  });
  const toolCall = { serverName: 's', _meta: { codex_approval_kind: 'mcp_tool_call' } };
  expect(decision('mcpServer/elicitation/request', toolCall).reply).toMatchObject({ result: { action: 'accept' } });
  expect(decision('mcpServer/elicitation/request', { serverName: 's' }).reply).toMatchObject({
    result: { action: 'decline' },
  });
  expect(decision('item/tool/requestUserInput', {}).shown).toMatchObject({ decision: 'declined' });
});

describe('with workspace write a command that Codex finds dangerous', () => {
  const method = 'item/commandExecution/requestApproval';
  const asks = { kind: 'command', command: "/bin/bash -lc 'rm -rf build'", cwd: '/w' };

  test('is allowed, for it runs inside the sandbox', () => {
    expect(answerTo(method, asks, WRITE)).toMatchObject({
      reply: { result: { decision: 'accept' } },
      shown: { subject: 'run: rm -rf build', decision: 'allowed' },
    });
  });

  test.each([
    { reason: '' },
    { reason: 'please' },
    { additionalPermissions: {} },
    { networkApprovalContext: {} },
    { kind: 'stdin' },
    { approvalId: 'a' },
  ])('is declined when it asks for more: %j', (more) => {
    expect(answerTo(method, { ...asks, ...more }, WRITE).reply).toMatchObject({ result: { decision: 'decline' } });
  });
});

test('a request that we do not know is refused with an error, never left open', () => {
  expect(answerTo('account/chatgptAuthTokens/refresh', {}, FULL).reply).toMatchObject({ kind: 'error', code: -32601 });
  expect(answerTo('brand/new', 'not even an object', READ)).toMatchObject({
    reply: { kind: 'error' },
    shown: { subject: 'brand/new' },
  });
});
