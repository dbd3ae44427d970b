/**
 * A fresh CODEX_HOME that talks to the fake model, and a git work folder for it.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratchFolder } from './scratch.js';

export type CodexHome = {
  /** Absolute path for the CODEX_HOME variable. */
  readonly home: string;
  /** Absolute path of a git repository with one commit. */
  readonly work: string;
  /**
   * The environment that a Codex of this home needs: CODEX_HOME, the fake provider's key, and a HOME of its own, for
   * Codex runs commands in login shells, and the profile of whoever runs the tests is not part of them.
   */
  readonly env: Readonly<Record<string, string>>;
  /** Writes `auth.json`, as `codex login --with-api-key` would. */
  signIn(key: string): void;
  /** config.toml as it stands now. */
  config(): string;
  /** Removes everything. */
  remove(): void;
};

export type CodexHomeOptions = {
  /** The fake's `url`. */
  readonly url: string;
  readonly model?: string;
  /** How often Codex tries a request again; 0 where a test does not look at the retries. */
  readonly retries?: number;
  readonly streamIdleMs?: number;
  /** Whether the fake is a provider that needs an OpenAI sign-in (`auth.json`) instead of a key from a variable. */
  readonly needsSignIn?: boolean;
  /** Codex features to switch on or off. */
  readonly features?: Readonly<Record<string, boolean>>;
  /** Further lines of config.toml before the first table: top-level keys. */
  readonly top?: string;
  /** Further tables at the end of config.toml. */
  readonly tables?: string;
};

/** Makes both folders; `remove` them when the test ends. */
export function codexHome(options: CodexHomeOptions): CodexHome {
  const { url, model = 'gpt-5.5', retries = 1, streamIdleMs = 60_000, top = '', tables = '' } = options;
  const { needsSignIn = false, features = {} } = options;
  const root = scratchFolder('codex-');
  const home = join(root, 'home');
  const work = join(root, 'work');
  const userHome = join(root, 'user');
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(userHome);
  gitFolder(work);
  writeFileSync(
    join(home, 'config.toml'),
    `model = ${JSON.stringify(model)}
model_provider = "fake"
check_for_update_on_startup = false
${top}
[model_providers.fake]
name = "Fake"
base_url = ${JSON.stringify(url)}
${needsSignIn ? 'requires_openai_auth = true' : 'env_key = "FAKE_KEY"'}
wire_api = "responses"
request_max_retries = ${retries}
stream_max_retries = ${retries}
stream_idle_timeout_ms = ${streamIdleMs}

[features]
plugins = false
${Object.entries(features)
  .map(([name, isOn]) => `${name} = ${isOn}`)
  .join('\n')}

[tools.update_plan]
enabled = true

[analytics]
enabled = false

${tables}
`,
  );
  return {
    home,
    work,
    env: { CODEX_HOME: home, FAKE_KEY: 'fake-key', HOME: userHome },
    signIn: (key) =>
      writeFileSync(join(home, 'auth.json'), JSON.stringify({ auth_mode: 'apikey', OPENAI_API_KEY: key })),
    config: () => readFileSync(join(home, 'config.toml'), 'utf8'),
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  };
}

/** Makes a git repository with one commit, its author set, at `path`. */
export function gitFolder(path: string): void {
  mkdirSync(path, { recursive: true });
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: path, stdio: 'pipe' });
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@example.invalid');
  writeFileSync(join(path, 'README.md'), '# A work folder\n');
  git('add', '.');
  git('commit', '--quiet', '-m', 'Start');
}
