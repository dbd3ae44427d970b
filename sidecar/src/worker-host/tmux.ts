/**
 * A tmux server of a worker's own: its socket in a private folder, none of the user's configuration, one window.
 *
 * The server is started with the worker's environment, so that no part of it stands on a command line, and a person
 * can attach to it. Measured on tmux 3.3a.
 */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { messageOf } from '../errors.js';
import { entryOf, type ProcessIdentity } from '../process/table.js';

const run = promisify(execFile);

/** The window's size until somebody attaches. */
const COLUMNS = 200;
const ROWS = 50;
/** Lines that scrolled off and are kept for whoever attaches. */
const HISTORY = 20_000;
/** tmux answers within milliseconds; a server that does not is stuck. */
const TIMEOUT_MS = 10_000;
/** How long taking a dead child away may take, and how often it is looked for, in milliseconds. */
const REAP_MS = 3_000;
const LOOK_MS = 50;
/** The only session's name: what is started twice is there once. */
const SESSION = 'worker';

export class TmuxError extends Error {}

export class Tmux {
  constructor(
    private readonly program: string,
    readonly socket: string,
  ) {}

  /**
   * Starts the server and, in its only window, `argv` without a shell. Resolves to that program's process; where it was
   * started before, by somebody who was killed before it could be noted, to that one's.
   */
  async start(argv: readonly string[], cwd: string, env: Readonly<Record<string, string>>): Promise<ProcessIdentity> {
    const started = this.#tmux(
      [
        ...['set-option', '-g', 'default-terminal', 'tmux-256color', ';'],
        ...['set-option', '-g', 'history-limit', String(HISTORY), ';'],
        ...['set-option', '-g', 'window-size', 'latest', ';'],
        // Escape is a key of Claude Code's, not the beginning of one.
        ...['set-option', '-s', 'escape-time', '0', ';'],
        ...['set-option', '-g', 'mouse', 'on', ';'],
        ...['set-option', '-g', 'focus-events', 'on', ';'],
        ...['set-option', '-g', 'status', 'off', ';'],
        // Says how the program ended, and what it said last.
        ...['set-option', '-g', 'remain-on-exit', 'on', ';'],
        // A line of tmux's own would push the first line of the screen out; one older than 3.3 has no say in it.
        ...['set-option', '-gq', 'remain-on-exit-format', '', ';'],
        ...['new-session', '-d', '-s', SESSION, '-x', String(COLUMNS), '-y', String(ROWS), '--', ...argv.map(literal)],
      ],
      // The window begins where the client stands: tmux would expand what looks like a format in `-c`.
      { cwd, env },
    );
    await started.catch((error: unknown) => {
      if (!messageOf(error).includes('duplicate session')) throw error;
    });
    const pid = Number(await this.#tmux(['display-message', '-p', '#{pane_pid}']));
    return { pid, startTime: entryOf(pid)?.startTime ?? '' };
  }

  /**
   * What the window shows; '' where the server is gone.
   *
   * @param above How many lines that have scrolled off come first.
   */
  async screen(above = 0): Promise<string> {
    return await this.#tmux(['capture-pane', '-p', '-S', String(-above)]).catch(() => '');
  }

  /** How the program ended, for a reader; undefined where the server is gone, or cannot say. */
  async ending(): Promise<string | undefined> {
    const format = '#{pid} #{pane_dead} #{pane_dead_status} #{pane_dead_signal}';
    const end = performance.now() + REAP_MS;
    try {
      while (performance.now() < end) {
        const said = await this.#tmux(['display-message', '-p', format]);
        const [pid, isDead, status, signal] = said.trimEnd().split(' ');
        if (isDead === '1' && signal) return `signal ${signal}`;
        if (isDead === '1' && status) return `exit code ${status}`;
        // tmux often misses its child's end until it is told to look again.
        process.kill(Number(pid), 'SIGCHLD');
        await sleep(LOOK_MS);
      }
    } catch {
      // The server is gone.
    }
    return undefined;
  }

  /** From now on the window closes with its program, as a person who goes on in it expects. */
  async letGo(): Promise<void> {
    await this.#tmux(['set-option', '-g', 'remain-on-exit', 'off']).catch(() => '');
  }

  /** Ends the server and with it what runs in it, and removes its folder. */
  async close(): Promise<void> {
    // No server is the answer that is wanted.
    await this.#tmux(['kill-server']).catch(() => '');
    rmSync(dirname(this.socket), { recursive: true, force: true });
  }

  /** What a terminal is to run to show the window. */
  get attachCommand(): { readonly program: string; readonly args: readonly string[] } {
    return { program: this.program, args: ['-u', '-S', this.socket, 'attach-session'] };
  }

  async #tmux(
    args: readonly string[],
    place: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
  ): Promise<string> {
    try {
      const { stdout } = await run(this.program, ['-u', '-S', this.socket, '-f', '/dev/null', ...args], {
        ...place,
        timeout: TIMEOUT_MS,
        maxBuffer: 16 * 1024 * 1024,
      });
      return stdout;
    } catch (error) {
      const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
      throw new TmuxError(said || messageOf(error));
    }
  }
}

/** A word that tmux must not take for the end of a command. */
function literal(word: string): string {
  return word.endsWith(';') ? `${word.slice(0, -1)}\\;` : word;
}
