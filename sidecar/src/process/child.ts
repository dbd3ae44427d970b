/**
 * A child process that speaks lines: no shell, a process group of its own, its tree recorded.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { GRACE, type Grace, killAll, signal, untilGone } from './ladder.js';
import { LINE_LIMIT, LineFramer } from './lines.js';
import { entryOf, type ProcessIdentity } from './table.js';
import { Tail } from './tail.js';
import { ProcessTree } from './tree.js';

export type ChildOptions = {
  /** Absolute path: `resolveProgram` finds it. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing of this process's is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Called with each line of stdout, without its `\n`. */
  readonly onLine: (line: string) => void;
  readonly lineLimit?: number;
};

export type ChildExit = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What stopped us from reading it: a line over the limit, a failed spawn. */
  readonly fault: Error | null;
};

export class Child {
  readonly exited: Promise<ChildExit>;
  readonly stderr = new Tail();
  readonly tree: ProcessTree | null;
  readonly identity: ProcessIdentity | null;
  #exit: ChildExit | null = null;

  private constructor(
    /** An error where it could not even be tried. */
    private readonly process: ChildProcessWithoutNullStreams | Error,
    private readonly options: ChildOptions,
  ) {
    if (process instanceof Error) {
      this.identity = null;
      this.tree = null;
      this.#exit = { code: null, signal: null, fault: process };
      this.exited = Promise.resolve(this.#exit);
      return;
    }
    // Right after the spawn the pid is our child's, alive or a zombie: nobody else can have it yet.
    const entry = process.pid === undefined ? null : entryOf(process.pid);
    this.identity = entry ? { pid: entry.pid, startTime: entry.startTime } : null;
    this.tree = this.identity ? new ProcessTree(this.identity) : null;

    let fault: Error | null = null;
    const framer = new LineFramer(options.onLine, options.lineLimit ?? LINE_LIMIT);
    process.stdout.on('data', (chunk: Buffer) => {
      if (fault) return;
      try {
        framer.push(chunk);
      } catch (error) {
        fault = error as Error;
        process.kill('SIGTERM');
      }
    });
    process.stderr.on('data', (chunk: Buffer) => this.stderr.push(chunk));
    // A write to a child that has just ended fails with EPIPE; its exit says all there is to say.
    process.stdin.on('error', () => {});
    this.exited = new Promise((resolve) => {
      const settle = (exit: ChildExit) => {
        this.#exit ??= exit;
        resolve(this.#exit);
      };
      process.once('error', (error) => settle({ code: null, signal: null, fault: error }));
      // `exit` comes before the last of stdout was read, `close` after it; a grandchild that keeps the pipe
      // open would hold `close` back for ever, so that it is waited for only a moment.
      process.once('exit', (code, name) => {
        const done = () => settle({ code, signal: name, fault });
        const timer = setTimeout(done, 250);
        process.once('close', () => {
          clearTimeout(timer);
          if (!fault) framer.end();
          done();
        });
      });
    });
  }

  /** Starts it. A program that cannot be started shows in `exited`, as `fault`. */
  static start(options: ChildOptions): Child {
    try {
      const process = spawn(options.program, [...options.args], {
        cwd: options.cwd,
        env: { ...options.env },
        stdio: ['pipe', 'pipe', 'pipe'],
        // An own group (and session): a signal to ours, such as Ctrl-C, does not reach it.
        detached: globalThis.process.platform !== 'win32',
        windowsHide: true,
      });
      return new Child(process, options);
    } catch (error) {
      // Node reports a few errors by an event, and throws the others: ETXTBSY while an update writes it, E2BIG.
      return new Child(error as Error, options);
    }
  }

  /** Writes one line, which nobody reads when the child has ended: `exited` says so. */
  write(line: string): void {
    if (this.#exit || this.process instanceof Error) return;
    if (this.process.stdin.writable) this.process.stdin.write(`${line}\n`);
  }

  /**
   * Ends it and all that it started: close stdin, wait, SIGTERM, wait, SIGKILL the whole recorded tree and
   * what `strays` names, verify. Resolves to the survivors, as `pid command`.
   */
  async end(strays: () => readonly ProcessIdentity[] = () => [], grace: Grace = GRACE): Promise<string[]> {
    if (this.process instanceof Error) return [];
    this.tree?.sample();
    this.process.stdin.end();
    if (!this.identity) return await this.#endBlindly(this.process, grace);
    const left = await untilGone([this.identity], grace.askMs);
    this.tree?.sample();
    if (left.length > 0) {
      signal(this.identity, 'SIGTERM');
      await untilGone([this.identity], grace.termMs);
    }
    return await this.sweep(strays, grace);
  }

  /** SIGKILLs the whole recorded tree and what `strays` names, at once. Resolves to the survivors. */
  async sweep(strays: () => readonly ProcessIdentity[] = () => [], grace: Grace = GRACE): Promise<string[]> {
    const { tree } = this;
    if (!tree) return [];
    return await killAll(() => {
      tree.sample();
      return [...tree.living(), ...strays()];
    }, grace);
  }

  /** Where there is no table of processes (Windows): the child, and by `taskkill /T` what still hangs below it. */
  async #endBlindly(process: ChildProcessWithoutNullStreams, grace: Grace): Promise<string[]> {
    const { pid } = process;
    if (pid === undefined) return [];
    const isOver = async (ms: number) => {
      const timeout = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), ms).unref());
      return (await Promise.race([this.exited, timeout])) !== 'late';
    };
    if (await isOver(grace.askMs)) return [];
    if (globalThis.process.platform === 'win32') {
      // A taskkill that cannot be started leaves the SIGKILL below, and whoever outlives that is reported.
      spawn('taskkill', ['/pid', String(pid), '/T', '/F']).on('error', () => {});
    }
    process.kill('SIGKILL');
    return (await isOver(grace.killMs)) ? [] : [`${pid} ${this.options.program}`];
  }
}
