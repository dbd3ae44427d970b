import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  bash,
  blocks,
  calls,
  DEFAULT_REPLY,
  type FakeMessages,
  fakeMessages,
  holds,
  IMPOSTURE,
  refuses,
  says,
} from '../../../testing/fake-messages.js';
import { gate } from '../../../testing/wait.js';

let fake: FakeMessages;
beforeEach(async () => {
  fake = await fakeMessages();
});
afterEach(() => fake.close());

const TOOLS = [{ name: 'Agent' }];
const user = (text: string) => [{ role: 'user', content: text }];

async function ask(body: Record<string, unknown>, headers: Record<string, string> = {}, path = '/v1/messages') {
  const response = await fetch(`${fake.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'm', messages: user('hello'), ...body }),
  });
  return { status: response.status, body: await response.text() };
}

const textOf = (body: string): string => (JSON.parse(body) as { content: { text: string }[] }).content[0]?.text ?? '';

describe('requests are told apart', () => {
  test.each([
    ['main', { tools: TOOLS }, { 'x-claude-code-request-class': 'main' }],
    ['subagent', { tools: TOOLS }, { 'x-claude-code-request-class': 'subagent', 'x-claude-code-agent-id': 'a1' }],
    ['workflow', { tools: TOOLS }, { 'x-claude-code-request-class': 'workflow', 'x-claude-code-agent-id': 'a1' }],
    ['compaction', { tools: TOOLS }, { 'x-claude-code-request-class': 'compaction', 'x-claude-code-agent-id': 'a1' }],
    ['auxiliary', {}, { 'x-claude-code-request-class': 'auxiliary' }],
    ['classifier', { stop_sequences: ['</block>'] }, { 'x-claude-code-request-class': 'auxiliary' }],
    ['main', { tools: TOOLS }, {}],
    ['subagent', { tools: TOOLS, system: [{ type: 'text', text: 'cc_is_subagent=true;' }] }, {}],
    ['auxiliary', {}, {}],
  ])('%s: %j %j', async (kind, body, headers) => {
    await ask(body, headers);
    expect(fake.requests.map((request) => request.class)).toEqual([kind]);
  });

  test('a count of tokens is answered, another path is a 404', async () => {
    expect(JSON.parse((await ask({}, {}, '/v1/messages/count_tokens')).body)).toEqual({
      input_tokens: expect.any(Number),
    });
    expect((await ask({}, {}, '/api/event_logging')).status).toBe(404);
    expect(fake.requests.map((request) => request.class)).toEqual(['count_tokens', 'other']);
  });
});

test('the main loop takes one step a request, then the default', async () => {
  fake.main([says('one'), (request) => says(`two: ${request.lastText}`)]);
  expect(textOf((await ask({ tools: TOOLS })).body)).toBe('one');
  expect(textOf((await ask({ tools: TOOLS, messages: user('and?') })).body)).toBe('two: and?');
  expect(textOf((await ask({ tools: TOOLS })).body)).toBe(DEFAULT_REPLY);
});

test("an agent's loop that reaches Claude is answered with words that a test finds", async () => {
  const { body } = await ask({ tools: TOOLS }, { 'x-claude-code-agent-id': 'a1' });
  expect(textOf(body)).toBe(IMPOSTURE);
  expect(fake.bill()).toMatchObject({ subagent: 1, ofAgents: 1, main: 0 });
});

test('a stream carries the same blocks as a plain reply', async () => {
  fake.main(() => calls(bash('ls')));
  const { body } = await ask({ tools: TOOLS, stream: true });
  expect(body).toContain('event: content_block_start');
  expect(body).toContain('"partial_json":"{\\"command\\":\\"ls\\"');
  expect(body).toContain('"stop_reason":"tool_use"');
  expect(body).toContain('event: message_stop');
});

test('a held reply waits for its gate', async () => {
  const { promise, open } = gate();
  fake.main([holds(promise, 'now')]);
  const answer = ask({ tools: TOOLS });
  await fake.request('the held one', (request) => request.class === 'main');
  open();
  expect(textOf((await answer).body)).toBe('now');
});

test('tool results are read with the tool that they answer', async () => {
  await ask({
    tools: TOOLS,
    messages: [
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'out', is_error: true }] },
    ],
  });
  expect(fake.requests[0]?.results).toEqual([{ tool: 'Bash', id: 't1', text: 'out', isError: true }]);
});

test("auto mode's review is answered in the form in which it asks", async () => {
  const verdict = { stop_sequences: ['</block>'], messages: user('Your ENTIRE response MUST begin with <block>.') };
  const grade = {
    system: [{ type: 'text', text: 'You are a security monitor for autonomous AI coding agents.' }],
    messages: user('Respond with <severity>N</severity> ONLY.'),
  };
  expect(textOf((await ask(verdict)).body)).toBe('<block>no</block>');
  expect(textOf((await ask(grade)).body)).toBe('<severity>3</severity>');
  fake.classifier(blocks);
  expect(textOf((await ask(verdict)).body)).toMatch(/^<block>yes<\/block>/);
  expect(textOf((await ask(grade)).body)).toMatch(/^<severity>95<\/severity>/);
  expect(fake.bill().classifier).toBe(4);
});

test('an error of the API, and of the script itself, is an answer', async () => {
  fake.main([refuses(529, 'overloaded_error', 'busy')]);
  expect(await ask({ tools: TOOLS })).toMatchObject({ status: 529, body: expect.stringContaining('overloaded_error') });
  fake.main(() => {
    throw new Error('a broken test');
  });
  expect(await ask({ tools: TOOLS })).toMatchObject({ status: 400, body: expect.stringContaining('a broken test') });
});
