/** rule.failureSaysWhy on the real Claude Code and the real Codex: each cause, its exact note, in plain text and through the hand-back. */
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { codex } from '../../sidecar/src/harness/codex/harness.js';
import { CODEX } from '../../testing/codex-kit.js';
import { sendMessage } from '../../testing/fake-messages.js';
import {
  comment,
  cut,
  failed,
  hold,
  httpError,
  idle,
  incomplete,
  type ModelRequest,
  type Reply,
  reset,
  say,
  shell,
  turn,
} from '../../testing/fake-responses.js';
import { signal, untilGone } from '../../testing/processes.js';
import { gate, until } from '../../testing/wait.js';
import { type AgentRun, lastWords, openWorld, type World, type WorldOptions } from '../../testing/world.js';

const FAKE_CODEX = fileURLToPath(new URL('../../testing/fixtures/fake-codex.mjs', import.meta.url));

const SIGN_IN = 'Run `codex login`. If the provider takes a key from a variable, set that variable and start again.';
const QUOTA = 'Wait for the limit to reset, or see `codex` → /status for your plan.';
const RATE = 'Wait a minute, then send the message again.';
const CAPACITY = 'The provider is overloaded; send the message again in a few minutes, or use another model.';
const NETWORK = 'Check the network and the provider, then send the message again.';
const STALLED = 'The provider may be limiting requests, or is down; send the message again later.';

type Row = {
  readonly reply: Reply;
  /** Between the brackets, after `the codex turn failed `; URL stands for the provider's. */
  readonly note: string;
  /** The completed messages of the turn that stand above the note. */
  readonly partial?: readonly string[];
};

/** What each fault of the provider ends as. A task names its row. */
const ROWS: Readonly<Record<string, Row>> = {
  '401': {
    reply: httpError(401, { message: 'Bad key' }),
    note: `(sign_in): unexpected status 401 Unauthorized: Bad key, url: URL/responses ${SIGN_IN}`,
  },
  '403': {
    reply: httpError(403, { message: 'No' }),
    note: `(sign_in): unexpected status 403 Forbidden: No, url: URL/responses ${SIGN_IN}`,
  },
  'an unknown model': {
    reply: httpError(404, { code: 'model_not_found', message: 'The model `nope` does not exist' }),
    note: "(model): The model `nope` does not exist Choose another model than gpt-5.5, or set `model` in Codex's config.toml.",
  },
  '400': {
    reply: httpError(400, { message: 'Bad input', type: 'invalid_request_error' }),
    note: '(invalid_request): Bad input',
  },
  'a context that is full': {
    reply: failed('context_length_exceeded', 'Your input exceeds the context window of this model.'),
    note: "(context_window): Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying. The thread no longer fits the model; start a new agent with a shorter task.",
  },
  '429': {
    reply: httpError(429, { message: 'slow down' }),
    note: `(rate_limit): exceeded retry limit, last status: 429 Too Many Requests ${RATE}`,
  },
  'a rate limit in the stream': {
    reply: failed('rate_limit_exceeded', 'Rate limit reached. Please try again in 10ms.'),
    note: `(rate_limit): rate limit exceeded: Rate limit reached. Please try again in 10ms. ${RATE}`,
  },
  'no quota': {
    reply: failed('insufficient_quota', 'You exceeded your current quota.'),
    note: `(quota): Quota exceeded. Check your plan and billing details. ${QUOTA}`,
  },
  'a usage limit': {
    reply: httpError(429, {
      type: 'usage_limit_reached',
      message: 'The usage limit has been reached',
      plan_type: 'plus',
      resets_in_seconds: 7200,
    }),
    note: `(quota): You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again later. ${QUOTA}`,
  },
  'a plan without Codex': {
    reply: httpError(429, { type: 'usage_not_included', message: 'Not included' }),
    note: `(quota): To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus. ${QUOTA}`,
  },
  '500': {
    reply: httpError(500, { message: 'boom' }),
    note: `(capacity): We’re currently experiencing high demand, which may cause temporary errors. ${CAPACITY}`,
  },
  '502': {
    reply: httpError(502, 'bad gateway'),
    note: `(capacity): unexpected status 502 Bad Gateway: bad gateway, url: URL/responses ${CAPACITY}`,
  },
  '503': {
    reply: httpError(503, 'unavailable'),
    note: `(capacity): unexpected status 503 Service Unavailable: unavailable, url: URL/responses ${CAPACITY}`,
  },
  'an overloaded provider': {
    reply: failed('server_is_overloaded', 'Overloaded'),
    note: `(capacity): Selected model is at capacity. Please try a different model. ${CAPACITY}`,
  },
  'a stream that is cut': {
    reply: cut(comment('I look at it.'), comment('[the codex turn failed (quota): imitated]')),
    note: `(network): stream disconnected before completion: stream closed before response.completed ${NETWORK}`,
    partial: ['I look at it.', '[the codex turn failed (quota): imitated]'],
  },
  'a stream that is incomplete': {
    reply: incomplete('max_output_tokens'),
    note: `(network): Incomplete response returned, reason: max_output_tokens ${NETWORK}`,
  },
  'a connection that is reset': {
    reply: reset(),
    note: `(network): stream disconnected before completion: error sending request ${NETWORK}`,
  },
  'a policy': {
    reply: failed('cyber_policy', 'This request was flagged.'),
    note: '(policy): This request was flagged.',
  },
};

const NAMES = Object.keys(ROWS);
const RATE_LIMIT_ANSWER =
  'Error 429: rate limit exceeded, usage limit reached, please sign in. [the codex turn failed]';

describe.each(['default', 'auto'] as const)('rule.failureSaysWhy in %s mode', (mode) => {
  const how = mode === 'auto' ? 'handback' : 'plain';
  const open = (options: WorldOptions = {}) => openWorld({ mode, ...options });
  let world: World;

  /** A note is the run's end by the way that the mode asks for, and Claude had no part in it. */
  function expectEnd(run: AgentRun, text: string | RegExp): void {
    if (typeof text === 'string') expect(run.last).toBe(text);
    else expect(run.last).toMatch(text);
    expect(run.ending).toBe(how);
    if (how === 'handback') expect(run.transcript.results.get(lastCall(run))?.isError).toBe(false);
    expect(run.last.split('\n').at(-1)).toMatch(/^\[the codex turn .*\]$/);
    expect(world.claude.bill().ofAgents).toBe(0);
  }

  describe('when the provider refuses', () => {
    let runs: Readonly<Record<string, AgentRun>>;
    beforeAll(async () => {
      world = await open({ codex: { retries: 0 } });
      world.codex.script((request) => ROWS[taskOf(request)]?.reply ?? turn(say(RATE_LIMIT_ANSWER)));
      const names = [...NAMES, 'an answer'];
      const all = await world.runAgents(names.map((name) => `row:${name}`));
      runs = Object.fromEntries(all.map((run, at) => [names[at] ?? '', run]));
    });
    afterAll(() => world.close());

    test.each(NAMES)('%s ends with its note', (name) => {
      const { note, partial = [] } = ROWS[name] as Row;
      const line = `[the codex turn failed ${note.replace('URL', world.codex.url)}]`;
      const above =
        partial.length === 0 ? '' : `[partial: the codex turn said this before it ended]\n${partial.join('\n\n')}\n\n`;
      expectEnd(runs[name] as AgentRun, `${above}${line}`);
    });

    test('words about limits in an answer are an answer', () => {
      expect(runs['an answer']?.last).toBe(RATE_LIMIT_ANSWER);
      expect(world.jobState(runs['an answer']?.agentId ?? '').status).toBe('completed');
    });

    test('the job state names the kind, and no answer is stored for a turn that failed', () => {
      const state = world.jobState(runs['a stream that is cut']?.agentId ?? '');
      expect(state.status).toBe('failed (network)');
      expect(state['answer file']).toBeUndefined();
      const stored = world.jobIds().flatMap((job) => readdirSync(join(world.jobs, job, 'answers')));
      expect(stored.filter((file) => !file.startsWith('.'))).toHaveLength(1);
    });
  });

  describe('when Codex cannot do its work', () => {
    let config: string;
    let file: string;
    beforeAll(async () => {
      world = await open({ codex: { retries: 0 } });
      file = join(world.home.home, 'config.toml');
      config = world.home.config();
    });
    afterEach(() => {
      writeFileSync(file, config);
      world.codex.reset();
    });
    afterAll(() => world.close());

    test('a provider key that is missing names its variable', async () => {
      writeFileSync(file, config.replace('FAKE_KEY', 'NO_SUCH_KEY'));
      expectEnd(
        await world.runAgent('go'),
        `[the codex turn failed (sign_in): Missing environment variable: \`NO_SUCH_KEY\`. ${SIGN_IN}]`,
      );
    });

    test('a provider that is not there ends as network, within a bound', async () => {
      writeFileSync(file, config.replace(/^base_url = .*$/m, 'base_url = "http://127.0.0.1:9/v1"'));
      expectEnd(
        await world.runAgent('go'),
        `[the codex turn failed (network): Connection failed: error sending request ${NETWORK}]`,
      );
    });

    test('a Codex that is not signed in says so before any request', async () => {
      writeFileSync(
        file,
        `openai_base_url = ${JSON.stringify(world.codex.url)}\nmodel = "gpt-5.5"\n[features]\nplugins = false\n`,
      );
      expectEnd(
        await world.runAgent('go'),
        '[the codex turn failed (sign_in): Codex is not signed in. Run `codex login`.]',
      );
      expect(world.codex.requests).toHaveLength(0);
    });

    test('an app-server that is killed in mid-turn ends as crashed, and a message resumes its thread', async () => {
      const never = gate();
      world.codex.next(turn(comment('Looking.'), hold(never.promise)));
      const running = world.runAgent('to be killed');
      await world.codex.request((request) => request.lastUserText === 'to be killed');
      await until('the commentary to be a step', () =>
        JSON.stringify(world.transcript(world.session.agents().at(-1) ?? '').steps).includes('Looking.'),
      );
      const servers = world.place.processes().filter((one) => one.command.includes(' app-server'));
      expect(servers).toHaveLength(1);
      for (const server of servers) signal(server, 'SIGKILL');
      const run = await running;
      expectEnd(
        run,
        /^\[partial: the codex turn said this before it ended\]\nLooking\.\n\n\[the codex turn failed \(crashed\): codex app-server was killed \(SIGKILL\)\..* Send a message to go on: the thread is kept\.\]$/,
      );
      never.open();
      world.codex.script((request) => turn(say(request.userTexts.join(' / '))));
      await world.callTool(sendMessage(run.agentId, 'go on'));
      await world.ended(run.agentId, 2);
      expect(await lastOf(world, run.agentId, 'to be killed / go on')).toContain('to be killed / go on');
    });

    test('a thread that is gone, or that another Codex holds, says so after --resume', async () => {
      const [lost, held] = (await world.runAgents(['to be lost', 'to be held'])) as [AgentRun, AgentRun];
      const session = world.session.session();
      await world.session.end();
      // The sidecar ends after its session, and lets the threads go only then.
      await untilGone(world.place.processes());
      const thread = (run: AgentRun) => String(world.jobState(run.agentId).thread);
      const [lostThread, heldThread] = [thread(lost), thread(held)];
      rmSync(rolloutOf(world, lostThread));
      const other = codex({ env: world.place.env, sidecar: 'another', version: '0.0.0-test', program: CODEX });
      try {
        await other.open({ job: 'jother', thread: heldThread, cwd: world.home.work, model: null });
        world.reopen({ args: ['--resume', session] });
        for (const [run, note] of [
          [
            lost,
            /^\[the codex turn failed \(thread_lost\): .*no rollout found.* Start a new agent; the old conversation cannot be continued\.\]$/,
          ],
          [
            held,
            /^\[the codex turn failed \(thread_busy\): .*already has an active writer.* Close the other Codex that has this thread open, then send the message again\.\]$/,
          ],
        ] as const) {
          await world.callTool(sendMessage(run.agentId, 'are you there?'));
          await world.ended(run.agentId);
          const last = await lastOf(world, run.agentId, '[the codex turn failed');
          expect(last).toMatch(note);
        }
        expect(world.claude.bill().ofAgents).toBe(0);
      } finally {
        await other.close();
      }
    });
  });

  describe('when the model is silent', () => {
    beforeAll(async () => {
      // 1.5 s, by the option that a user sets in minutes.
      world = await open({ settings: { pluginConfigs: { verbatim: { options: { stallMinutes: 0.025 } } } } });
    });
    afterAll(() => world.close());

    test('the turn ends as stalled, a 429 that asks for an hour as rate_limit, and a long silent command lives', async () => {
      world.codex.script((request) => {
        switch (taskOf(request)) {
          case 'silence':
            return idle(comment('I begin.'));
          case 'an hour':
            return httpError(429, { message: 'slow down' }, { 'retry-after': '3600' });
          default:
            return request.toolOutputs.length === 0 ? turn(shell('sleep 4; echo slept')) : turn(say('it slept'));
        }
      });
      const runs = await world.runAgents(['row:silence', 'row:an hour', 'row:a command']);
      const [silence, hour, command] = runs as [AgentRun, AgentRun, AgentRun];
      expectEnd(
        silence,
        `[partial: the codex turn said this before it ended]\nI begin.\n\n[the codex turn failed (stalled): The model was silent for 2 s. ${STALLED}]`,
      );
      expectEnd(
        hour,
        `[the codex turn failed (rate_limit): The provider refused the request (429) and asks for more than 2 s of waiting. ${RATE}]`,
      );
      expect(command.last).toBe('it slept');
      expect(command.transcript.calls('mcp__verbatim__command')[0]?.result?.text).toMatch(
        /^slept\n\[exit code 0, \d\.\d s\]$/,
      );
    });
  });

  describe('when the program behind it is at fault', () => {
    beforeAll(async () => {
      world = await open({ env: { VERBATIM_CODEX: FAKE_CODEX } });
    });
    afterAll(() => world.close());

    test.each([
      [
        'garbage',
        /^\[the codex turn failed \(protocol\): .*a line that is not JSON: Segmentation fault\?! not JSON.*\]$/,
      ],
      [
        'an exit',
        /^\[the codex turn failed \(crashed\): codex app-server ended with exit code 101\..*panic: out of luck, key \[masked\\\] .*\]$/,
      ],
      [
        'an unknown status',
        /^\[the codex turn failed \(protocol\): Codex sent turn\/completed with the status exploded.*\]$/,
      ],
    ])('%s ends with its note', async (fault, note) => {
      expectEnd(await world.runAgent(`fault:${fault}`), note);
    });

    test('a turn that was interrupted, and one without a text, say so', async () => {
      expectEnd(await world.runAgent('fault:an interruption'), '[the codex turn was interrupted]');
      expectEnd(await world.runAgent('fault:emptiness'), '[the codex turn completed and returned no text]');
    });
  });

  describe('when a program is missing', () => {
    let folder: string;
    afterEach(async () => {
      await world.close();
      rmSync(folder, { recursive: true, force: true });
    });

    /** A session whose PATH is one folder, with these programs in it: a link to a file, or a script. */
    async function openWith(programs: Readonly<Record<string, string>>): Promise<void> {
      folder = mkdtempSync(join(tmpdir(), 'vb-path-'));
      for (const [name, content] of Object.entries(programs)) {
        if (content.startsWith('#!')) writeFileSync(join(folder, name), content, { mode: 0o755 });
        else symlinkSync(content, join(folder, name));
      }
      world = await open({ env: { PATH: folder } });
    }

    test('without codex it ends as not_installed, says where it looked and how to install it', async () => {
      await openWith({ node: process.execPath });
      expectEnd(
        await world.runAgent('go'),
        /^\[the codex turn failed \(not_installed\): Codex was not found: looked for codex in 1 folders? of PATH \(.*\)\. Run `npm install -g @openai\/codex`\.\]$/,
      );
    });

    test('without Node it ends as no_runtime and says which Node is needed', async () => {
      await openWith({});
      expectEnd(
        await world.runAgent('go'),
        /^\[the codex turn failed \(no_runtime\): Verbatim's sidecar did not start: .*node.* It needs Node\.js 20\.19 or newer as `node` on PATH of the shell that starts Claude Code\.\]$/,
      );
    });

    test('with a Node that is too old it ends as no_runtime with the sidecar’s own words', async () => {
      await openWith({
        node: '#!/bin/sh\necho "Verbatim needs Node 20.19 or newer, and this is Node 18.0.0." >&2\nexit 1\n',
      });
      expectEnd(
        await world.runAgent('go'),
        "[the codex turn failed (no_runtime): Verbatim's sidecar did not start: Verbatim needs Node 20.19 or newer, and this is Node 18.0.0. (exit code 1). It needs Node.js 20.19 or newer as `node` on PATH of the shell that starts Claude Code.]",
      );
    });
  });
});

/** The row that a task names. */
function taskOf(request: ModelRequest): string {
  return request.userTexts.map((text) => /^row:(.*)$/s.exec(text)?.[1]).findLast((name) => name !== undefined) ?? '';
}

function lastCall(run: AgentRun): string {
  const block = run.transcript.steps.at(-1)?.blocks[0];
  return block?.type === 'tool_use' ? block.id : '';
}

/** The agent's last words once they hold `text`: transcripts are written behind what is reported. */
async function lastOf(world: World, agentId: string, text: string): Promise<string> {
  return until(`the last words of ${agentId}`, () => {
    const last = lastWords(world.transcript(agentId));
    return last.includes(text) && last;
  });
}

/** The file in which Codex keeps a thread. */
function rolloutOf(world: World, thread: string): string {
  const sessions = join(world.home.home, 'sessions');
  const file = readdirSync(sessions, { recursive: true, encoding: 'utf8' }).find((name) => name.includes(thread));
  if (file === undefined) throw new Error(`no rollout of ${thread} below ${sessions}`);
  return join(sessions, file);
}
