/**
 * The real Claude Code, headless: one shot (`runClaude`), or a session that stays (`openClaude`) and takes several
 * turns, interrupts, and an end that leaves no process.
 *
 * ```ts
 * const model = await fakeMessages();
 * const place = claudePlace({ url: model.url });
 * model.main([calls(agent('verbatim:codex', 'Do it.', { background: false })), says('done')]);
 * const run = await runClaude(place, { prompt: 'go', mode: 'auto' });
 * run.transcript(run.agents[0]).lastTexts;   // byte exact
 * ```
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { claudeBinary, PLUGIN, type Place } from './claude-place.js';
import { descendants, isAlive, type ProcessId, type ProcessInfo, processOf, signal, untilGone } from './processes.js';
import { agentTranscript, resultText, type Transcript } from './transcript.js';
import { until, within } from './wait.js';

export type Mode = 'default' | 'acceptEdits' | 'plan' | 'auto' | 'dontAsk' | 'bypassPermissions';

export type ClaudeOptions = {
  readonly mode?: Mode;
  /** Plugin folders to load; the repository's own by default, none with `[]` (an installed one is loaded anyway). */
  readonly plugins?: readonly string[];
  /** Settings for this run: deny rules, hooks, a plugin's options. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Further variables for this run; an undefined one is taken away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Further arguments: `['--resume', id]`, `['--continue']`. */
  readonly args?: readonly string[];
};

/** A line of `--output-format stream-json`; what else it holds depends on its type. */
export type StreamMessage = {
  readonly type: string;
  readonly subtype?: string;
  readonly session_id?: string;
  readonly parent_tool_use_id?: string | null;
  readonly message?: { readonly role: string; readonly content: unknown };
} & Readonly<Record<string, unknown>>;

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type ToolResult = {
  readonly tool: string;
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
  /** The Agent call inside whose loop it happened; null on the main loop. */
  readonly parent: string | null;
};

/** An agent's end as the stream tells it. */
export type Notification = {
  readonly agent: string;
  readonly status: string;
  readonly outputFile: string;
  readonly summary: string;
};

export type ClaudeSession = {
  readonly place: Place;
  readonly id: ProcessId;
  /** Every message so far, oldest first. */
  readonly messages: readonly StreamMessage[];
  /** Lines of stdout that were not JSON: none, when all is well. */
  readonly noise: readonly string[];
  readonly exit: Promise<Exit>;
  /** What it wrote on stderr so far. */
  stderr(): string;
  /** Claude Code's session id, once it said so. */
  session(): string;
  /** A person's message: starts a turn, or waits for the running one to end. */
  say(text: string): void;
  /** Interrupts the running turn; resolves when Claude Code has confirmed it. */
  interrupt(): Promise<void>;
  /** Changes the permission mode of the running session, as a person does with shift+tab. */
  setMode(mode: Mode): Promise<void>;
  /** Resolves with the first message, come or to come, that fits. */
  message(what: string, fits: (message: StreamMessage) => boolean, ms?: number): Promise<StreamMessage>;
  /** Resolves with the result of turn `n`, from 1. */
  result(n?: number, ms?: number): Promise<StreamMessage>;
  /** Every process below it. */
  tree(): readonly ProcessInfo[];
  /** Ids of the agents that were started, in order; a workflow's are in its own folder, not here. */
  agents(): readonly string[];
  notifications(): readonly Notification[];
  toolResults(tool?: string): readonly ToolResult[];
  transcript(agent: string | undefined): Transcript;
  debugLog(): string;
  /** Ends it as a user would, by closing its input; then SIGTERM, then SIGKILL. Resolves with how it ended. */
  end(ms?: number): Promise<Exit>;
  signal(name: NodeJS.Signals): void;
};

export type ClaudeRun = Omit<ClaudeSession, 'say' | 'interrupt' | 'setMode' | 'agents' | 'exit' | 'end'> & {
  readonly exit: Exit;
  readonly agents: readonly string[];
  /** The last turn's result text. */
  readonly text: string;
};

let runs = 0;

/** Opens a session that takes turns by `say`. */
export function openClaude(place: Place, options: ClaudeOptions = {}): ClaudeSession {
  return start(place, options, ['--input-format', 'stream-json'], true);
}

/** Runs one prompt to the end of the process, its background agents included. */
export async function runClaude(
  place: Place,
  options: ClaudeOptions & { readonly prompt?: string; readonly timeout?: number } = {},
): Promise<ClaudeRun> {
  const { prompt = 'go', timeout = 50_000 } = options;
  const session = start(place, options, [prompt], false);
  let exit: Exit;
  try {
    exit = await within('claude -p to end', timeout, session.exit);
  } catch (error) {
    await session.end(0);
    throw new Error(`${String(error)}; it had said:\n${tail(session)}`);
  }
  const last = session.messages.findLast((message) => message.type === 'result');
  return { ...session, exit, agents: session.agents(), text: typeof last?.result === 'string' ? last.result : '' };
}

function start(place: Place, options: ClaudeOptions, head: readonly string[], hasInput: boolean): ClaudeSession {
  const { mode = 'default', plugins = [PLUGIN], settings, env = {}, args = [] } = options;
  const debug = join(place.root, `debug-${++runs}.log`);
  const argv = [
    '-p',
    ...head,
    ...plugins.flatMap((folder) => ['--plugin-dir', folder]),
    '--permission-mode',
    mode,
    '--output-format',
    'stream-json',
    '--verbose',
    '--debug-file',
    debug,
    ...(settings === undefined ? [] : ['--settings', JSON.stringify(settings)]),
    ...args,
  ];
  const child = spawn(claudeBinary(), argv, {
    cwd: place.cwd,
    env: definedOf({ ...place.env, ...env }),
    stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  return sessionOf(place, child, debug);
}

function sessionOf(place: Place, child: ChildProcess, debug: string): ClaudeSession {
  const messages: StreamMessage[] = [];
  const noise: string[] = [];
  let stderr = '';
  let buffer: Buffer = Buffer.alloc(0);
  child.stdout?.on('data', (chunk: Buffer) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (let end = buffer.indexOf(10); end >= 0; end = buffer.indexOf(10)) {
      const line = buffer.subarray(0, end).toString('utf8');
      buffer = buffer.subarray(end + 1);
      if (line === '') continue;
      try {
        messages.push(JSON.parse(line) as StreamMessage);
      } catch {
        noise.push(line);
      }
    }
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  let exited: Exit | undefined;
  const exit = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    // `close`, not `exit`: what it wrote last counts too.
    child.once('close', (code, name) => {
      exited = { code, signal: name };
      resolve(exited);
    });
  });
  exit.catch(() => undefined);
  const pid = child.pid ?? -1;
  const id: ProcessId = processOf(pid) ?? { pid, started: '' };
  const write = (message: unknown) => {
    if (child.stdin === null) throw new Error('this session was started for one prompt: use openClaude');
    child.stdin.write(`${JSON.stringify(message)}\n`);
  };
  let controls = 0;
  /** Asks Claude Code for something beside the conversation; resolves once it has confirmed it. */
  const control = async (asked: { readonly subtype: string } & Readonly<Record<string, unknown>>) => {
    const id = `${asked.subtype}-${++controls}`;
    write({ type: 'control_request', request_id: id, request: asked });
    const confirmed = await session.message(`${asked.subtype} to be confirmed`, (message) => {
      const response = message.response as { request_id?: string } | undefined;
      return message.type === 'control_response' && response?.request_id === id;
    });
    const { subtype, error } = confirmed.response as { subtype?: string; error?: string };
    if (subtype === 'error') throw new Error(`Claude Code refused ${asked.subtype}: ${error}`);
  };

  const session: ClaudeSession = {
    place,
    id,
    messages,
    noise,
    exit,
    stderr: () => stderr,
    session: () => messages.find((message) => message.session_id !== undefined)?.session_id ?? '',
    say: (text) => write({ type: 'user', message: { role: 'user', content: text } }),
    interrupt: () => control({ subtype: 'interrupt' }),
    setMode: (mode) => control({ subtype: 'set_permission_mode', mode }),
    message: (what, fits, ms = 20_000) =>
      until(
        `Claude Code to say: ${what}`,
        () => {
          const found = messages.find(fits);
          if (found === undefined && exited !== undefined) throw new Error(`it has ended (${JSON.stringify(exited)})`);
          return found;
        },
        { within: ms, detail: () => tail(session) },
      ),
    result: (n = 1, ms = 40_000) =>
      until(`the result of turn ${n}`, () => messages.filter((message) => message.type === 'result')[n - 1], {
        within: ms,
        detail: () => tail(session),
      }),
    tree: () => descendants(pid),
    agents: () => [
      ...new Set(
        messages.flatMap((message) =>
          message.subtype === 'task_started' && message.task_type !== 'local_workflow' ? [String(message.task_id)] : [],
        ),
      ),
    ],
    notifications: () =>
      messages.flatMap((message) =>
        message.subtype === 'task_notification'
          ? [
              {
                agent: String(message.task_id),
                status: String(message.status),
                outputFile: String(message.output_file),
                summary: String(message.summary ?? ''),
              },
            ]
          : [],
      ),
    toolResults: (tool) => toolResultsOf(messages).filter((result) => tool === undefined || result.tool === tool),
    transcript(agent) {
      const found = agent === undefined ? undefined : agentTranscript(place.home, agent);
      if (found === undefined) throw new Error(`no transcript of agent ${agent}; it had said:\n${tail(session)}`);
      return found;
    },
    debugLog: () => (existsSync(debug) ? readFileSync(debug, 'utf8') : ''),
    signal: (name) => signal(id, name),
    async end(ms = 10_000) {
      const tree = session.tree();
      child.stdin?.end();
      for (const [name, wait] of [
        ['SIGTERM', ms],
        ['SIGKILL', 5_000],
      ] as const) {
        try {
          return await within('Claude Code to end', wait, exit);
        } catch {
          signal(id, name);
        }
      }
      const end = await within('Claude Code to end after SIGKILL', 5_000, exit);
      const left = tree.filter(isAlive);
      for (const one of left) signal(one, 'SIGKILL');
      await untilGone(left);
      return end;
    },
  };
  return session;
}

type RawBlock = {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: Record<string, unknown>;
  readonly tool_use_id?: string;
  readonly content?: string | readonly { readonly type: string; readonly text?: string }[];
  readonly is_error?: boolean;
};

function toolResultsOf(messages: readonly StreamMessage[]): readonly ToolResult[] {
  const uses = new Map<string, RawBlock>();
  const results: ToolResult[] = [];
  for (const { message, parent_tool_use_id } of messages) {
    if (!Array.isArray(message?.content)) continue;
    for (const block of message.content as readonly RawBlock[]) {
      if (block.type === 'tool_use' && block.id !== undefined) uses.set(block.id, block);
      if (block.type !== 'tool_result' || block.tool_use_id === undefined) continue;
      const use = uses.get(block.tool_use_id);
      results.push({
        tool: use?.name ?? '',
        id: block.tool_use_id,
        input: use?.input ?? {},
        text: resultText(block.content ?? ''),
        isError: block.is_error === true,
        parent: parent_tool_use_id ?? null,
      });
    }
  }
  return results;
}

/** The end of what a session said, for an error's reader. */
function tail(session: ClaudeSession): string {
  const lines = session.messages.slice(-12).map((message) => `  ${JSON.stringify(message).slice(0, 300)}`);
  const stderr = session.stderr().trim();
  return [...lines, ...(stderr === '' ? [] : [`  stderr: ${stderr.slice(-600)}`])].join('\n');
}

function definedOf(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
