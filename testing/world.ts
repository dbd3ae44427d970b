/**
 * Both real programs and both fake models together: Claude Code with the plugin, Codex behind it.
 *
 * ```ts
 * const world = await openWorld({ mode: 'auto' });
 * world.codex.script((request) => turn(say(answerTo(request))));
 * const { agentId } = await world.runAgent('the task');
 * await world.close();
 * ```
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ClaudeOptions, type ClaudeSession, openClaude, type ToolResult } from './claude.js';
import { claudePlace, type Place } from './claude-place.js';
import { type CodexHome, type CodexHomeOptions, codexHome } from './codex-home.js';
import { CODEX } from './codex-kit.js';
import {
  type AgentOptions,
  agent,
  calls,
  DEFAULT_REPLY,
  type FakeMessages,
  fakeMessages,
  type Step,
  says,
  type ToolCall,
  workflow,
} from './fake-messages.js';
import { type FakeResponses, fakeResponses } from './fake-responses.js';
import type { Transcript } from './transcript.js';
import { until } from './wait.js';

export const AGENT_TYPE = 'verbatim:codex';

export type WorldOptions = ClaudeOptions & {
  readonly codex?: Omit<CodexHomeOptions, 'url'>;
  /** Folders on PATH before the system's; absent: where npm's `codex` lies. */
  readonly path?: readonly string[];
};

export type World = {
  /** The model behind Claude Code. */
  readonly claude: FakeMessages;
  /** The model behind Codex. */
  readonly codex: FakeResponses;
  readonly home: CodexHome;
  readonly place: Place;
  readonly session: ClaudeSession;
  /** Says something and plays `steps` as the main loop's replies; resolves when that turn is over. */
  play(steps: readonly Step[]): Promise<void>;
  /** One foreground agent, to its report. */
  runAgent(prompt: string, options?: AgentOptions): Promise<AgentRun>;
  /** Foreground agents side by side, one a prompt, to their reports: in the order of the prompts. */
  runAgents(prompts: readonly string[], options?: AgentOptions): Promise<readonly AgentRun[]>;
  /** Starts one background agent; resolves with its id. */
  startAgent(prompt: string, options?: AgentOptions): Promise<string>;
  /** Runs a workflow, its script below the meta, to its end. */
  runWorkflow(body: string): Promise<WorkflowRun>;
  /** Has the main loop call one tool in a turn of its own; resolves with its result. */
  callTool(call: ToolCall): Promise<ToolResult>;
  /** Resolves when the agent's run number `n` of this session has ended (from 1), as Claude Code notifies it. */
  ended(agentId: string, n?: number): Promise<void>;
  transcript(agentId: string): Transcript;
  /** Texts of the steps of an agent, and the result of its closing call. */
  jobState(agentId: string): Readonly<Record<string, string>>;
  /** The folder that holds Verbatim's jobs. */
  readonly jobs: string;
  /** Job ids on disk. */
  jobIds(): readonly string[];
  /** Opens another session in the same place, once the first one has ended. */
  reopen(options?: ClaudeOptions): ClaudeSession;
  close(): Promise<void>;
};

export type AgentRun = {
  readonly agentId: string;
  readonly transcript: Transcript;
  /** The Agent tool's result as the main loop saw it. */
  readonly result: ToolResult;
  /** The run's last words: its last step's text, or what the hand-back carried. */
  readonly last: string;
  readonly ending: Ending;
};

export type WorkflowRun = {
  readonly status: string;
  /** What Claude Code says of it: the error, where it failed. */
  readonly summary: string;
  /** What the script returned; undefined where it failed. */
  readonly result: unknown;
};

/** What the last step is: one text alone, one hand-back alone, or anything else, which no run may end with. */
export type Ending = 'plain' | 'handback' | 'mixed';

/** Opens the world; `close` it when the test ends. */
export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const [claude, codex] = await Promise.all([fakeMessages(), fakeResponses()]);
  const home = codexHome({ ...options.codex, url: codex.url });
  const { HOME: _, ...codexEnv } = home.env;
  const place = claudePlace({ url: claude.url, path: options.path ?? [codexFolder()], cwd: home.work, env: codexEnv });
  let session = openClaude(place, options);
  let turns = 0;
  const resultCount = () => session.messages.filter((one) => one.type === 'result').length;
  const resultsOf = (tool: string) => session.toolResults(tool).filter((result) => result.parent === null);

  const world: World = {
    claude,
    codex,
    home,
    place,
    get session() {
      return session;
    },
    async play(steps) {
      // Claude Code takes turns of its own between ours, to tell its model of agents that ended: ours has a mark.
      const mark = `go ${++turns}`;
      const left = [...steps];
      let before = -1;
      claude.main((request) => {
        const step = request.text.includes(mark) ? left.shift() : undefined;
        if (left.length === 0 && before < 0) before = resultCount();
        if (step === undefined) return says(DEFAULT_REPLY);
        return typeof step === 'function' ? step(request) : step;
      });
      session.say(mark);
      await until(`the end of turn "${mark}"`, () => before >= 0 && resultCount() > before, {
        within: 50_000,
        detail: () => session.debugLog().split('\n').slice(-20).join('\n'),
      });
    },
    async runAgent(prompt, agentOptions = {}) {
      const [run] = await world.runAgents([prompt], agentOptions);
      if (run === undefined) throw new Error('the agent did not run');
      return run;
    },
    async runAgents(prompts, agentOptions = {}) {
      const before = resultsOf('Agent').length;
      await world.play([
        calls(...prompts.map((prompt) => agent(AGENT_TYPE, prompt, { background: false, ...agentOptions }))),
        says('done'),
      ]);
      const results = resultsOf('Agent').slice(before);
      const run = async (prompt: string): Promise<AgentRun> => {
        const result = results.find((one) => one.input.prompt === prompt);
        const agentId = result && agentOfCall(session, result.id);
        if (result === undefined || agentId === undefined) {
          throw new Error(`the agent for "${prompt.slice(0, 80)}" did not run: ${JSON.stringify(result)}`);
        }
        // Claude Code writes transcripts behind what it reports.
        const transcript = await until(`agent ${agentId} to have a last step of one block`, () => {
          const written = session.transcript(agentId);
          return endingOf(written) !== 'mixed' && written;
        });
        return { agentId, transcript, result, last: lastWords(transcript), ending: endingOf(transcript) };
      };
      return await Promise.all(prompts.map(run));
    },
    async startAgent(prompt, agentOptions = {}) {
      await world.play([calls(agent(AGENT_TYPE, prompt, { background: true, ...agentOptions })), says('started')]);
      const agentId = session.agents().at(-1);
      if (agentId === undefined) throw new Error('the agent did not start');
      return agentId;
    },
    async runWorkflow(body) {
      const ends = () =>
        session.messages.filter((one) => one.subtype === 'task_notification' && workflows().has(String(one.task_id)));
      const workflows = () =>
        new Set(session.messages.flatMap((one) => (one.task_type === 'local_workflow' ? [String(one.task_id)] : [])));
      const before = ends().length;
      await world.play([calls(workflow(body)), says('started')]);
      const end = await until('the workflow to end', () => ends()[before], { within: 50_000 });
      const { status, summary, output_file } = end as unknown as Record<string, string>;
      if (status !== 'completed') return { status: String(status), summary: String(summary), result: undefined };
      const output = await until(
        "the workflow's output file",
        () => JSON.parse(readFileSync(String(output_file), 'utf8')) as { result: unknown },
      );
      return { status, summary: String(summary), result: output.result };
    },
    async callTool(call) {
      const before = resultsOf(call.name).length;
      await world.play([calls(call), says('called')]);
      return until(`the result of ${call.name}`, () => resultsOf(call.name)[before]);
    },
    async ended(agentId, n = 1) {
      await until(
        `agent ${agentId} to end its run ${n}`,
        () => session.notifications().filter((one) => one.agent === agentId).length >= n,
        { within: 40_000 },
      );
    },
    transcript: (agentId) => session.transcript(agentId),
    jobState: (agentId) =>
      parsedState(session.transcript(agentId).calls('mcp__verbatim__job').at(-1)?.result?.text ?? ''),
    jobs: join(place.home, '.local', 'state', 'verbatim', 'jobs'),
    jobIds: () => readdirSync(world.jobs),
    reopen(next = {}) {
      session = openClaude(place, { ...options, ...next });
      return session;
    },
    async close() {
      await session.end();
      await Promise.all([claude.close(), codex.close()]);
      await place.dispose();
      home.remove();
    },
  };
  return world;
}

/** Where npm's `codex` lies, for PATH. */
export function codexFolder(): string {
  return join(dirname(dirname(dirname(dirname(CODEX)))), '.bin');
}

/** The last step's text, or the message of its hand-back. */
export function lastWords(transcript: Transcript): string {
  const last = transcript.steps.at(-1)?.blocks ?? [];
  const handback = last.find((block) => block.type === 'tool_use' && block.name === 'SubagentHandback');
  if (handback?.type === 'tool_use') return String(handback.input.message);
  return last.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** The agent that a call of the Agent tool started; undefined where it started none. */
function agentOfCall(session: ClaudeSession, call: string): string | undefined {
  const started = session.messages.find((one) => one.subtype === 'task_started' && one.tool_use_id === call);
  return started === undefined ? undefined : String(started.task_id);
}

/** The agent that was started with this prompt, now or to come, whoever started it. */
export function agentOfTask(session: ClaudeSession, prompt: string): Promise<string> {
  return until(`an agent for "${prompt.slice(0, 80)}"`, () => {
    const started = session.messages.find((one) => one.subtype === 'task_started' && one.prompt === prompt);
    return started && String(started.task_id);
  });
}

/** How a run ended: by its last step's one block. */
export function endingOf(transcript: Transcript): Ending {
  const [block, ...more] = transcript.steps.at(-1)?.blocks ?? [];
  if (block === undefined || more.length > 0) return 'mixed';
  if (block.type === 'text') return 'plain';
  return block.type === 'tool_use' && block.name === 'SubagentHandback' ? 'handback' : 'mixed';
}

function parsedState(block: string): Record<string, string> {
  const lines = block.split('\n').slice(1, -1);
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
  );
}
