/** One Codex thread: its turns, one after another, on whichever server is up. */
import { statSync } from 'node:fs';
import type { Failure } from '../../../../plugin/hooks/protocol/outcome.js';
import { JOB_VARIABLE } from '../../process/environment.js';
import {
  HarnessError,
  type HarnessThread,
  type OpenThread,
  type Steering,
  type TurnEnd,
  type TurnEvent,
  type TurnInput,
} from '../contract.js';
import type { Account } from './account.js';
import { failure, INPUT_LIMIT, rpcFailure, unreadable } from './failures.js';
import { type Address, FrameFault, read, threadOpened } from './frames.js';
import { type Answered, answerTo } from './permissions.js';
import { rulesWarning } from './rules.js';
import type { CodexServer, Settled, ThreadListener } from './server.js';
import { TokenMeter, totalOf } from './tokens.js';
import { CodexTurn } from './turn.js';

/** What a thread needs of the harness that it belongs to. */
export type Servers = {
  /** The server that is up, started where none is. @throws HarnessError */
  current(): Promise<CodexServer>;
  readonly account: Account;
  /** CODEX_HOME. */
  readonly home: string;
  /** Ends this server, so that `current` starts another. */
  retire(server: CodexServer): Promise<readonly string[]>;
  /** Turns under way on this server. */
  turnsOn(server: CodexServer): number;
  turnBegan(server: CodexServer): () => void;
  /** Variables of this sidecar that each command of a thread gets, beside VERBATIM_JOB. */
  readonly variables: Readonly<Record<string, string>>;
};

export class CodexThread implements HarnessThread, ThreadListener {
  #server: CodexServer;
  #id: string;
  #model: string;
  #turn: CodexTurn | null = null;
  #isRunning = false;
  #isStopWanted = false;
  #hasTurns: boolean;
  #isWarned = false;
  #meter: TokenMeter;
  #hangUp: () => void = () => {};

  private constructor(
    private readonly servers: Servers,
    private readonly request: OpenThread,
    server: CodexServer,
  ) {
    this.#server = server;
    this.#id = request.thread ?? '';
    this.#model = request.model ?? '';
    this.#meter = new TokenMeter(request.thread === null);
    this.#hasTurns = request.thread !== null;
  }

  /** @throws HarnessError */
  static async open(servers: Servers, request: OpenThread): Promise<CodexThread> {
    checkFolder(request.cwd);
    const thread = new CodexThread(servers, request, await servers.current());
    await thread.#load(request.thread);
    return thread;
  }

  get id(): string {
    return this.#id;
  }

  get model(): string {
    return this.#model;
  }

  get harnessVersion(): string {
    return this.#server.version;
  }

  async run(input: TurnInput, onEvent: (event: TurnEvent) => void): Promise<TurnEnd> {
    if (this.#isRunning) {
      const busy = failure('thread_busy', 'A turn of this thread is under way.', 'Wait for it to end.');
      return this.#unbegun({ kind: 'failed', failure: busy, partial: [] });
    }
    this.#isRunning = true;
    this.#isStopWanted = false;
    try {
      const end = await this.#attempt(input, onEvent);
      const { ending } = end;
      if (ending.kind !== 'failed' || ending.failure.kind !== 'sign_in') return end;
      if (!(await this.#renewSignIn())) return end;
      return await this.#attempt(input, onEvent);
    } catch (error) {
      if (error instanceof HarnessError) return this.#unbegun({ kind: 'failed', failure: error.failure, partial: [] });
      throw error;
    } finally {
      this.#isRunning = false;
      this.#turn = null;
    }
  }

  async #attempt(input: TurnInput, onEvent: (event: TurnEvent) => void): Promise<TurnEnd> {
    checkInput(input);
    checkFolder(input.cwd);
    await this.#ready();
    // A running server never reads the sign-in again (measured on codex 0.171.0).
    await this.#renewSignIn();
    const notSignedIn = await this.servers.account.check(this.#server);
    if (notSignedIn) throw new HarnessError(notSignedIn);
    if (this.#isStopWanted) return this.#unbegun({ kind: 'interrupted' });

    if (input.access.level !== 'full' && !this.#isWarned) {
      this.#isWarned = true;
      const text = rulesWarning(this.servers.home);
      if (text !== null) onEvent({ kind: 'warning', text });
    }

    const over = this.servers.turnBegan(this.#server);
    try {
      this.#hasTurns = true;
      this.#turn = new CodexTurn(
        { server: this.#server, thread: this.#id, job: this.request.job, model: this.#model, meter: this.#meter },
        input,
        onEvent,
      );
      const end = await this.#turn.end;
      this.#model = end.model;
      return end;
    } finally {
      over();
    }
  }

  /** Loads the thread into the server that is up, where the one it was in is gone. */
  async #ready(): Promise<void> {
    if (!this.#server.gone) return;
    this.#server = await this.servers.current();
    // A thread without a turn is not on disk: a new one loses nothing.
    const thread = this.#hasTurns ? this.#id : null;
    if (thread === null) this.#meter = new TokenMeter(true);
    await this.#load(thread);
  }

  /** Starts (`thread` null) or resumes the thread on the server. @throws HarnessError */
  async #load(thread: string | null): Promise<void> {
    const { request, servers } = this;
    const variables = { ...servers.variables, [JOB_VARIABLE]: request.job };
    const params = {
      cwd: request.cwd,
      approvalPolicy: 'on-request',
      approvalsReviewer: 'user',
      // Anything more would mark the folder as trusted in the user's config.toml and load the folder's own
      // .codex/config.toml (measured on codex 0.171.0). Each turn carries its own sandbox policy.
      sandbox: 'read-only',
      // Each sets one variable and keeps those that the user's own `set` names (measured).
      config: Object.fromEntries(
        Object.entries(variables).map(([name, value]) => [`shell_environment_policy.set.${name}`, value]),
      ),
      ...(request.model === null ? {} : { model: request.model }),
    };
    this.#hangUp();
    // Heard from before it is resumed: the thread's total follows the answer at once.
    if (thread !== null) this.#hangUp = this.#server.listen(thread, request.job, this);
    const { openMs } = this.#server.limits;
    const settled =
      thread === null
        ? await this.#server.request('thread/start', params, openMs)
        : await this.#server.request('thread/resume', { ...params, threadId: thread, excludeTurns: true }, openMs);
    try {
      const opened = read(threadOpened, resultOf(settled, this.#server, request), 'the answer to opening a thread');
      this.#id = opened.thread.id;
      this.#model = opened.model;
      if (thread === null) this.#hangUp = this.#server.listen(this.#id, request.job, this);
    } catch (error) {
      this.#hangUp();
      if (error instanceof FrameFault) throw new HarnessError(unreadable(error.message));
      throw error;
    }
  }

  // --- what the server says: to the turn under way, if one is ---

  notified(method: string, params: unknown, address: Address): void {
    if (this.#turn) this.#turn.notified(method, params, address);
    else if (method === 'thread/tokenUsage/updated') this.#meter.before(totalOf(params));
  }

  descendant(method: string, params: unknown, thread: string): void {
    this.#turn?.descendant(method, params, thread);
  }

  asked(method: string, params: unknown): Answered {
    return this.#turn ? this.#turn.asked(method, params) : answerTo(method, params, null);
  }

  ended(reason: Failure, survivors: Promise<readonly string[]>): void {
    this.#turn?.ended(reason, survivors);
  }

  /** Restarts the server when the sign-in changed since it started and nobody else uses it. */
  async #renewSignIn(): Promise<boolean> {
    const { account } = this.servers;
    if (!account.hasChangedSince(this.#server.startedAt) || this.servers.turnsOn(this.#server) > 0) return false;
    await this.servers.retire(this.#server);
    await this.#ready();
    return true;
  }

  async steer(message: { readonly id: string; readonly text: string }): Promise<Steering> {
    if (message.text.trim() === '' || charactersOf([message.text]) > INPUT_LIMIT) return { kind: 'no_turn' };
    const turn = this.#turn;
    if (!turn) return { kind: 'no_turn' };
    const steering = await turn.steer(message);
    // The turn that it missed may have been followed by another: look again, once.
    const next = this.#turn;
    return steering.kind === 'no_turn' && next && next !== turn ? await next.steer(message) : steering;
  }

  async interrupt(): Promise<void> {
    this.#isStopWanted = true;
    await this.#turn?.interrupt();
  }

  async close(): Promise<readonly string[]> {
    await this.interrupt();
    const server = this.#server;
    if (!server.gone) {
      await server.request('thread/backgroundTerminals/clean', { threadId: this.#id }, 5_000);
      // Stops the thread's MCP servers and forgets who listens; the thread stays on disk.
      await server.request('thread/unsubscribe', { threadId: this.#id }, 5_000);
    }
    this.#hangUp();
    return await server.killStrays(this.request.job);
  }

  /** The end of a turn that Codex never began. */
  #unbegun(ending: TurnEnd['ending']): TurnEnd {
    return { ending, tokens: null, model: this.#model, survivors: [] };
  }
}

function resultOf(settled: Settled, server: CodexServer, request: OpenThread): unknown {
  switch (settled.kind) {
    case 'result':
      return settled.result;
    case 'gone':
      throw new HarnessError(settled.failure);
    case 'refused':
      throw new HarnessError(
        rpcFailure(settled.error, { rateLimits: server.rateLimits, model: request.model ?? 'the default model' }),
      );
  }
}

/** Codex takes a missing folder and fails later, each command by itself. @throws HarnessError */
function checkFolder(cwd: string): void {
  let isFolder = false;
  try {
    isFolder = statSync(cwd).isDirectory();
  } catch {
    // Not there, or not ours to see: said below.
  }
  if (!isFolder) throw new HarnessError(failure('invalid_request', `The working folder ${cwd} does not exist.`));
}

/** Codex takes an empty input silently, and refuses one that is too long without saying how long. @throws HarnessError */
function checkInput(input: TurnInput): void {
  const texts = input.messages.map((message) => message.text);
  if (texts.every((text) => text.trim() === '')) {
    throw new HarnessError(failure('invalid_request', 'The message is empty.'));
  }
  const length = charactersOf(texts);
  if (length > INPUT_LIMIT) {
    throw new HarnessError(
      failure(
        'invalid_request',
        `The message has ${length} characters; Codex takes at most ${INPUT_LIMIT}.`,
        'Put the text into a file of the working folder and name the file.',
      ),
    );
  }
}

/** Unicode scalar values, as Codex counts. */
function charactersOf(texts: readonly string[]): number {
  let count = 0;
  for (const text of texts) {
    count += text.length;
    if (text.length > INPUT_LIMIT) for (const _ of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) count -= 1;
  }
  return count;
}
