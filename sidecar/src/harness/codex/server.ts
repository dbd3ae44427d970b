/**
 * One long-lived `codex app-server`: a JSON-RPC connection over stdin and stdout, shared by the threads of one
 * CODEX_HOME and environment.
 */
import type { Failure } from '../../../../plugin/hooks/protocol/outcome.js';
import { Child, type ChildExit } from '../../process/child.js';
import { JOB_VARIABLE } from '../../process/environment.js';
import { GRACE, killAll } from '../../process/ladder.js';
import { carrying, type ProcessIdentity } from '../../process/table.js';
import { failure, serverEnded, unreadable } from './failures.js';
import {
  type Address,
  addressOf,
  FrameFault,
  initialized,
  parseFrame,
  type RateLimits,
  type RequestId,
  type RpcErrorBody,
  rateLimits,
  read,
} from './frames.js';
import { type Answered, answerTo } from './permissions.js';

export type ServerLimits = {
  /** How long Codex may take to answer a request that does no model work, in milliseconds. */
  readonly requestMs: number;
  /** The same for opening a thread, which starts its MCP servers. */
  readonly openMs: number;
  /** How long a server that left a request unanswered has to show that it still answers anything. */
  readonly probeMs: number;
};

export const SERVER_LIMITS: ServerLimits = { requestMs: 30_000, openMs: 60_000, probeMs: 10_000 };
/**
 * What an answer that came late would still have set going, with nobody left to hear of it: a server that owes one of
 * these is ended, so that a message which was said to have failed is never worked on afterwards.
 */
const OWED: ReadonlySet<string> = new Set(['initialize', 'turn/start', 'turn/steer']);
/** How often the tree is recorded while a command runs, in milliseconds. */
const SAMPLE_MS = 500;

/**
 * Settings that hold for every thread, whatever the user's config says.
 *
 * Without the first a refused connection is tried again for ever; without the second every key in the
 * environment reaches the shell of the agent (both measured on codex 0.171.0).
 */
const OVERRIDES = [
  'features.unbounded_connection_retries=false',
  'shell_environment_policy.ignore_default_excludes=false',
];

export type Settled =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'refused'; readonly error: RpcErrorBody }
  /** The server ended, or did not answer in time: whether it did what was asked is unknown. */
  | { readonly kind: 'gone'; readonly failure: Failure };

/** What a thread of ours hears of its server. */
export interface ThreadListener {
  notified(method: string, params: unknown, address: Address): void;
  /** A notification of a sub-agent's thread below this one. */
  descendant(method: string, params: unknown, thread: string): void;
  asked(method: string, params: unknown): Answered;
  /** The server ended; `survivors` once everything it had started was killed. */
  ended(failure: Failure, survivors: Promise<readonly string[]>): void;
}

export type ServerOptions = {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** A folder that stays: each thread has a working folder of its own. */
  readonly cwd: string;
  readonly clientVersion: string;
  readonly limits?: Partial<ServerLimits>;
};

export class CodexServer {
  readonly startedAt = Date.now();
  /** Codex's version, as it states it at `initialize`. */
  version = 'unknown';
  /** The newest reset times that Codex reported, of the account. */
  rateLimits: RateLimits | null = null;

  readonly limits: ServerLimits;
  readonly #child: Child;
  readonly #pending = new Map<RequestId, (settled: Settled) => void>();
  readonly #listeners = new Map<string, ThreadListener>();
  /** Sub-agent thread → the thread that started it. */
  readonly #parents = new Map<string, string>();
  readonly #jobs = new Set<string>();
  #nextId = 0;
  #fault: Failure | null = null;
  #gone: Failure | null = null;
  #swept: Promise<readonly string[]> = Promise.resolve([]);
  #isProbed = false;
  #commands = 0;
  #sampler: NodeJS.Timeout | null = null;

  private constructor(private readonly options: ServerOptions) {
    this.limits = { ...SERVER_LIMITS, ...options.limits };
    this.#child = Child.start({
      program: options.program,
      args: ['app-server', ...OVERRIDES.flatMap((override) => ['-c', override])],
      cwd: options.cwd,
      env: options.env,
      onLine: (line) => this.#line(line),
    });
    void this.#child.exited.then((exit) => this.#exited(exit));
  }

  /** Starts it and shakes hands; rejects never: a server that did not start is `gone`. */
  static async start(options: ServerOptions): Promise<CodexServer> {
    const server = new CodexServer(options);
    const settled = await server.request('initialize', {
      clientInfo: { name: 'verbatim', title: 'Verbatim', version: options.clientVersion },
      // `thread/backgroundTerminals/clean` is experimental in 0.171.0.
      capabilities: { experimentalApi: true, requestAttestation: false },
    });
    if (settled.kind === 'result') {
      try {
        const { userAgent } = read(initialized, settled.result, 'the answer to initialize');
        server.version = /\/(\d+\.\d+\.\d+\S*)/.exec(userAgent)?.[1] ?? 'unknown';
        server.#child.write(JSON.stringify({ method: 'initialized' }));
        return server;
      } catch (error) {
        server.#distrust((error as Error).message);
      }
    } else if (settled.kind === 'refused') {
      server.#distrust(`a refusal of initialize: ${settled.error.message}`);
    }
    await server.#child.exited;
    await server.#swept;
    return server;
  }

  /** Why it can take no more requests; null while it can. */
  get gone(): Failure | null {
    return this.#gone ?? this.#fault;
  }

  /** Asks; resolves to how it went, and rejects never. */
  request(method: string, params: unknown, timeoutMs: number = this.limits.requestMs): Promise<Settled> {
    return new Promise((resolve) => this.send(method, params, resolve, timeoutMs));
  }

  /** Asks, and settles in the very moment the answer is read: before the notifications that follow it. */
  send(
    method: string,
    params: unknown,
    settle: (settled: Settled) => void,
    timeoutMs: number = this.limits.requestMs,
  ): void {
    if (this.gone) {
      settle({ kind: 'gone', failure: this.gone });
      return;
    }
    const id = this.#nextId++;
    const timer = setTimeout(() => {
      const what = `did not answer ${method} within ${timeoutMs / 1000} s.${this.#tail()}`;
      if (OWED.has(method)) {
        this.#giveUp(serverEnded(`Codex was ended, for it ${what}`));
        return;
      }
      this.#pending.delete(id);
      settle({ kind: 'gone', failure: failure('protocol', `Codex ${what}`) });
      void this.#probe();
    }, timeoutMs);
    this.#pending.set(id, (settled) => {
      clearTimeout(timer);
      settle(settled);
    });
    this.#child.write(JSON.stringify({ id, method, params }));
  }

  /** One slow answer may be an MCP server's fault; a server that answers nothing at all would fail whatever comes next. */
  async #probe(): Promise<void> {
    if (this.#isProbed) return;
    this.#isProbed = true;
    const settled = await this.request('account/read', { refreshToken: false }, this.limits.probeMs);
    this.#isProbed = false;
    if (settled.kind === 'gone') this.#giveUp(serverEnded('Codex was ended, for it answered nothing any more.'));
  }

  /** Hands a thread's notifications and requests to `listener` until it is called off. */
  listen(thread: string, job: string, listener: ThreadListener): () => void {
    this.#jobs.add(job);
    this.#listeners.set(thread, listener);
    return () => {
      if (this.#listeners.get(thread) === listener) this.#listeners.delete(thread);
    };
  }

  /** A sub-agent's thread belongs to the one that started it: what it says and asks goes there. */
  adopt(child: string, parent: string): void {
    this.#parents.set(child, parent);
  }

  /** While a command runs, what it starts is recorded: call the result when it ended. */
  commandRuns(): () => void {
    this.#commands += 1;
    this.#sampler ??= setInterval(() => this.#child.tree?.sample(), SAMPLE_MS);
    this.#sampler.unref();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#commands -= 1;
      if (this.#commands === 0 && this.#sampler) {
        clearInterval(this.#sampler);
        this.#sampler = null;
      }
    };
  }

  /** Kills what commands of this job left behind. Resolves to the survivors. */
  killStrays(job: string): Promise<string[]> {
    return killAll(() => this.#strays([job]));
  }

  /** Ends it and everything it started; resolves to the survivors. */
  async close(reason = serverEnded('Codex was ended.')): Promise<readonly string[]> {
    this.#fault ??= reason;
    const survivors = await this.#child.end(() => this.#strays([...this.#jobs]));
    await this.#child.exited;
    return [...new Set([...survivors, ...(await this.#swept)])];
  }

  #strays(jobs: readonly string[]): ProcessIdentity[] {
    const since = this.#child.identity;
    return since ? carrying(JOB_VARIABLE, jobs, since).filter((each) => each.pid !== since.pid) : [];
  }

  #line(line: string): void {
    if (line.trim() === '' || this.#fault) return;
    try {
      const frame = parseFrame(line);
      switch (frame.kind) {
        case 'result':
          this.#settle(frame.id, { kind: 'result', result: frame.result });
          return;
        case 'error':
          this.#settle(frame.id, { kind: 'refused', error: frame.error });
          return;
        case 'request':
          this.#answer(frame.id, frame.method, frame.params);
          return;
        case 'notification':
          this.#notified(frame.method, frame.params);
          return;
      }
    } catch (error) {
      if (!(error instanceof FrameFault)) throw error;
      this.#distrust(error.message);
    }
  }

  #settle(id: RequestId, settled: Settled): void {
    const settle = this.#pending.get(id);
    // An answer that came after its time: whoever asked has been told.
    if (!settle) return;
    this.#pending.delete(id);
    settle(settled);
  }

  #answer(id: RequestId, method: string, params: unknown): void {
    const { threadId } = addressOf(params);
    const listener = threadId === null ? undefined : this.#listeners.get(this.#rootOf(threadId));
    const { reply } = listener ? listener.asked(method, params) : answerTo(method, params, null);
    const body =
      reply.kind === 'result'
        ? { id, result: reply.result }
        : { id, error: { code: reply.code, message: reply.message } };
    this.#child.write(JSON.stringify(body));
  }

  #notified(method: string, params: unknown): void {
    if (method === 'account/rateLimits/updated') {
      const { rateLimits: limits } = read(rateLimits, params, method);
      // Sparse: a null does not clear what was known.
      const { primary, secondary } = this.rateLimits ?? {};
      this.rateLimits = { ...limits, primary: limits.primary ?? primary, secondary: limits.secondary ?? secondary };
      return;
    }
    const address = addressOf(params);
    if (address.threadId === null) {
      for (const listener of this.#listeners.values()) listener.notified(method, params, address);
      return;
    }
    const root = this.#rootOf(address.threadId);
    const listener = this.#listeners.get(root);
    if (root === address.threadId) listener?.notified(method, params, address);
    else listener?.descendant(method, params, address.threadId);
  }

  #rootOf(thread: string): string {
    let root = thread;
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent;
    return root;
  }

  /** It sent `what`, and cannot be relied on any more. */
  #distrust(what: string): void {
    this.#giveUp(unreadable(what));
  }

  /** Every turn on it fails with `reason`, and it is ended. */
  #giveUp(reason: Failure): void {
    if (this.#fault) return;
    this.#fault = reason;
    this.#fail(
      this.#fault,
      this.#child.end(() => this.#strays([...this.#jobs])),
    );
  }

  #exited(exit: ChildExit): void {
    this.#gone = this.#fault ?? serverEnded(this.#endedText(exit));
    if (this.#sampler) clearInterval(this.#sampler);
    this.#sampler = null;
    this.#swept = this.#child.sweep(() => this.#strays([...this.#jobs]), GRACE);
    this.#fail(this.#gone, this.#swept);
  }

  /** Nobody hears of it before it is gone with all that it had started: until then its threads are held. */
  #fail(reason: Failure, survivors: Promise<readonly string[]>): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    for (const listener of listeners) listener.ended(reason, survivors);
    void survivors.then(() => {
      for (const settle of pending) settle({ kind: 'gone', failure: reason });
    });
  }

  #endedText(exit: ChildExit): string {
    if (exit.fault) return `Codex (${this.options.program}) failed (${exit.fault.message}).`;
    // Killed from outside, it had no say in it: what it wrote before is about something else.
    if (exit.signal === 'SIGKILL' || exit.signal === 'SIGTERM') return `codex app-server was killed (${exit.signal}).`;
    const how = exit.signal ? `was ended by ${exit.signal}` : `ended with exit code ${exit.code}`;
    return `codex app-server ${how}.${this.#tail()}`;
  }

  #tail(): string {
    const tail = this.#child.stderr.lastLines(5, this.options.env);
    return tail === '' ? '' : ` Its last words: ${tail}`;
  }
}
