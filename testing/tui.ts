/**
 * The real interactive Claude Code in tmux: a server of its own behind a private socket, no configuration of the
 * user's, a screen of a fixed size. Auto mode is its default mode.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClaudeOptions } from './claude.js';
import { claudeBinary, copyPlugin, type Place } from './claude-place.js';
import { descendants, isAlive, type ProcessId, type ProcessInfo, processOf, signal, untilGone } from './processes.js';
import { until } from './wait.js';

const COLUMNS = 200;
const ROWS = 50;

export type Tui = {
  readonly place: Place;
  /** Claude Code itself. */
  readonly id: ProcessId;
  /** What the screen shows now. */
  screen(): string;
  /** What has scrolled off, then what the screen shows. */
  history(): string;
  /** Types text literally; nothing is sent yet. */
  type(text: string): void;
  /** Presses keys by tmux's names: `Enter`, `Escape`, `Down`, `C-c`. */
  press(...keys: readonly string[]): void;
  /** Types a message into the prompt and sends it. */
  say(text: string): Promise<void>;
  /** Waits until the screen shows it. */
  sees(what: string | RegExp, ms?: number): Promise<string>;
  /** Waits until the screen shows it no more. */
  unsees(what: string | RegExp, ms?: number): Promise<void>;
  tree(): readonly ProcessInfo[];
  debugLog(): string;
  /** Ends Claude Code as closing its terminal does, and then whatever it left. */
  close(): Promise<void>;
};

/** Whether tmux is here; the tests that need it fail with `NO_TMUX` where it is not. */
export function hasTmux(): boolean {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

const NO_TMUX = 'tmux is not installed: the interactive Claude Code needs a terminal (apt-get install tmux)';

let screens = 0;

/** Starts Claude Code in a terminal, with a copy of the plugin (`copyPlugin`), and waits for its prompt. */
export async function openTui(place: Place, options: ClaudeOptions = {}): Promise<Tui> {
  if (!hasTmux()) throw new Error(NO_TMUX);
  const { mode, plugins = [copyPlugin(place)], settings, env = {}, args = [] } = options;
  // Short, for a socket's path may not be longer than 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), 'vb-tmux-'));
  const socket = join(folder, 's');
  const debug = join(place.root, `debug-tui-${++screens}.log`);
  const variables = { ...place.env, ...env };
  const argv = [
    'env',
    '-i',
    ...Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])),
    claudeBinary(),
    ...plugins.flatMap((one) => ['--plugin-dir', one]),
    ...(mode === undefined ? [] : ['--permission-mode', mode]),
    '--debug-file',
    debug,
    ...(settings === undefined ? [] : ['--settings', JSON.stringify(settings)]),
    ...args,
  ];
  const tmux = (...words: readonly string[]) =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...words], {
      env: { PATH: process.env.PATH, LANG: 'C.UTF-8' },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const size = ['-x', String(COLUMNS), '-y', String(ROWS)];
  tmux('new-session', '-d', ...size, '-c', place.cwd, `exec ${argv.map(quoted).join(' ')}`);
  const server = processOf(Number(tmux('display-message', '-p', '#{pid}')));
  const pid = Number(tmux('display-message', '-p', '#{pane_pid}'));
  const id: ProcessId = processOf(pid) ?? { pid, started: '' };

  const tui: Tui = {
    place,
    id,
    screen: () => tmux('capture-pane', '-p'),
    history: () => tmux('capture-pane', '-p', '-S', '-'),
    type: (text) => void tmux('send-keys', '-l', '--', text),
    press: (...keys) => void tmux('send-keys', '--', ...keys),
    async say(text) {
      tui.type(text);
      // Enter that comes in one read with the text would be taken for a pasted line break.
      await tui.sees(text.slice(0, 40));
      tui.press('Enter');
    },
    sees: (what, ms = 20_000) =>
      until(`the screen to show ${String(what)}`, () => (shows(tui.screen(), what) ? tui.screen() : ''), {
        within: ms,
        every: 40,
        detail: () => tui.screen().trimEnd(),
      }),
    async unsees(what, ms = 20_000) {
      await until(`the screen to show ${String(what)} no more`, () => !shows(tui.screen(), what), {
        within: ms,
        every: 40,
        detail: () => tui.screen().trimEnd(),
      });
    },
    tree: () => descendants(pid),
    debugLog: () => (existsSync(debug) ? readFileSync(debug, 'utf8') : ''),
    async close() {
      const tree = [...(processOf(pid) ? [id] : []), ...tui.tree()];
      try {
        tmux('kill-server');
      } catch {
        // The server ends by itself when Claude Code does.
      }
      try {
        await untilGone(tree, 5_000);
      } catch {
        for (const one of tree.filter(isAlive)) signal(one, 'SIGKILL');
        await untilGone(tree);
      }
      if (server !== undefined) await untilGone([server]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await tui.sees(/❯/);
    await tui.sees(/(mode|permissions) on|\? for shortcuts|for agents/);
  } catch (error) {
    await tui.close();
    throw error;
  }
  return tui;
}

const shows = (screen: string, what: string | RegExp): boolean =>
  typeof what === 'string' ? screen.includes(what) : what.test(screen);

/** A word for sh, whatever it holds. */
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
