/**
 * A place for the real Claude Code to run in: a fresh HOME, a git folder to work in, an exact environment, and no way
 * out of the machine. Everything that starts there carries its HOME, so it can be found and ended by it.
 */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gitFolder } from './codex-home.js';
import { type ProcessInfo, signal, untilGone, withEnvironment } from './processes.js';
import { ROOT } from './root.js';
import { scratchFolder } from './scratch.js';

/** The plugin of this repository. */
export const PLUGIN = join(ROOT, 'plugin');

/**
 * A copy of the plugin inside a place, to edit at will. An interactive Claude Code watches the folder it loads, and
 * writes its types and a tsconfig.json there: it gets a copy.
 */
export function copyPlugin(place: Place, from: string = PLUGIN): string {
  const copy = join(place.root, 'plugin');
  if (!existsSync(copy))
    cpSync(from, copy, { recursive: true, filter: (path) => !path.endsWith('/.claude-plugin/types') });
  return copy;
}

/** The key that every place uses; the fake asks for none. */
const API_KEY = 'sk-ant-test-000000000000000000000000';

/** The pinned Claude Code's own binary: its npm package holds it as an optional dependency of the platform. */
export function claudeBinary(): string {
  const platform = `claude-code-${process.platform}-${process.arch}`;
  const binary = join(ROOT, 'node_modules', '@anthropic-ai', platform, 'claude');
  if (existsSync(binary)) return binary;
  // A hoisted or linked installation: ask where the package itself lies.
  const main = dirname(createRequire(import.meta.url).resolve('@anthropic-ai/claude-code/package.json'));
  const beside = join(dirname(main), platform, 'claude');
  if (existsSync(beside)) return beside;
  throw new Error(`Claude Code is not installed: ${binary} is missing; run \`npm ci\` (with optional dependencies)`);
}

export type PlaceOptions = {
  /** The fake's `url`. */
  readonly url: string;
  /** Folders before the system's on PATH: where `codex` lies, say. */
  readonly path?: readonly string[];
  /** Further variables, over the place's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** A work folder that is there already; absent: a new git repository with one commit. */
  readonly cwd?: string;
  /** Further content of $HOME/.claude.json. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Content of $HOME/.claude/settings.json. */
  readonly settings?: Readonly<Record<string, unknown>>;
};

export type Place = {
  readonly root: string;
  readonly home: string;
  readonly cwd: string;
  /** Every variable that a program started here gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Every live process that was started here. */
  processes(): readonly ProcessInfo[];
  /** Ends what still runs and removes the folders. */
  dispose(): Promise<void>;
};

/** Makes a place; `dispose` of it when the test ends. */
export function claudePlace(options: PlaceOptions): Place {
  const root = scratchFolder('claude-');
  const home = join(root, 'home');
  const temporary = join(root, 'tmp');
  mkdirSync(join(home, '.claude'), { recursive: true, mode: 0o700 });
  mkdirSync(temporary);
  const cwd = options.cwd ?? join(root, 'work');
  if (options.cwd === undefined) gitFolder(cwd);
  writeFileSync(
    join(home, '.claude.json'),
    JSON.stringify({
      // The questions of a first start, answered (measured on 2.1.332).
      hasCompletedOnboarding: true,
      theme: 'dark',
      projects: { [cwd]: { hasTrustDialogAccepted: true } },
      customApiKeyResponses: { approved: [API_KEY.slice(-20)], rejected: [] },
      hasSeenAutoDefaultNotice: true,
      officialMarketplaceAutoInstallAttempted: true,
      autoModeClassifierBillingNoticeAcknowledgedAt: Date.now(),
      ...options.config,
    }),
  );
  if (options.settings !== undefined) {
    writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify(options.settings));
  }
  const path = [...(options.path ?? []), dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'];
  const processes = () => withEnvironment('HOME', home);
  return {
    root,
    home,
    cwd,
    env: {
      PATH: path.join(':'),
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      ANTHROPIC_BASE_URL: options.url,
      ANTHROPIC_API_KEY: API_KEY,
      // Lets bypassPermissions run as root, as in a container.
      IS_SANDBOX: '1',
      // Claude Code then says of each request what it is.
      CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1',
      CLAUDE_CODE_TMPDIR: temporary,
      // Nothing leaves the machine.
      HTTPS_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: '127.0.0.1,localhost',
      ...options.env,
      // The place's own, whatever another kit's variables say: its processes are found by it.
      HOME: home,
    },
    processes,
    async dispose() {
      const left = processes();
      for (const one of left) signal(one, 'SIGKILL');
      await untilGone(left);
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
  };
}
