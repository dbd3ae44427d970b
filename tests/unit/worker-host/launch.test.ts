import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ErrandRecord } from '../../../sidecar/src/desk/errand.js';
import { argumentsOf, depthOf, environmentOf } from '../../../sidecar/src/worker-host/launch.js';
import { MissingProgramError, programOf, programsOf } from '../../../sidecar/src/worker-host/programs.js';

const ERRAND: ErrandRecord = {
  version: 1,
  id: `e${'a'.repeat(20)}`,
  session: `w${'b'.repeat(20)}`,
  parent: null,
  cwd: '/w',
  model: null,
  mode: null,
  depth: 2,
  timeoutMs: 1,
  isKept: false,
  isUnattended: false,
  createdAt: 1,
  take: null,
  claudeSession: null,
  wait: null,
  end: null,
  endedAt: null,
  asker: null,
  host: null,
  desk: { port: 4_711, token: 'the-token' },
  tmux: null,
  worker: null,
};

/** What every worker's environment says beside what it inherits. */
const OWN = {
  LICH_PORT: '4711',
  LICH_TOKEN: 'the-token',
  LICH_SESSION_ID: ERRAND.session,
  LICH_SUBAGENT_DEPTH: '2',
  LICH_SUBAGENT_CARDS: 'off',
  VERBATIM_ERRAND: ERRAND.id,
};

/** What is a person's own, whatever it is called. */
const PERSONAL = {
  HOME: '/home/someone',
  PATH: '/bin',
  LANG: 'de_DE.UTF-8',
  ANTHROPIC_API_KEY: 'sk-ant-x',
  ANTHROPIC_BASE_URL: 'https://gateway',
  CLAUDE_CONFIG_DIR: '/c',
  CLAUDE_CODE_TMPDIR: '/t',
  CLAUDE_CODE_USE_BEDROCK: '1',
  CLAUDE_CODE_MAX_OUTPUT_TOKENS: '9',
  MY_TMUX: 'x',
  EMPTY: '',
};

/** What Claude Code 2.1.332 sets for the commands of its Bash tool, and tmux for what runs in it. */
const OF_THE_SESSION = {
  CLAUDECODE: '1',
  AI_AGENT: 'claude-code_2-1-332_agent',
  CLAUDE_PID: '7',
  CLAUDE_EFFORT: 'low',
  CLAUDE_CODE_ENTRYPOINT: 'sdk-cli',
  CLAUDE_CODE_EXECPATH: '/claude',
  CLAUDE_CODE_SESSION_ID: 'outer',
  CLAUDE_CODE_SESSION_ATTENDED: '1',
  CLAUDE_CODE_CHILD_SESSION: '1',
  CLAUDE_CODE_CHILD_NOTES_DIR: '/notes',
  CLAUDE_CODE_MESSAGING_SOCKET: '/sock',
  CLAUDE_CODE_MESSAGING_TOKEN: 'secret',
  CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS: 'outer',
  CLAUDE_PROJECT_DIR: '/p',
  CLAUDE_PLUGIN_ROOT: '/r',
  CLAUDE_ENV_FILE: '/e',
};

describe('the environment of a worker', () => {
  it('from a terminal is the person’s, with the way to its desk', () => {
    expect(environmentOf(ERRAND, PERSONAL)).toEqual({ ...PERSONAL, ...OWN });
  });

  it('from within a session of Claude Code has nothing of that session, and all that is the person’s', () => {
    expect(environmentOf(ERRAND, { ...PERSONAL, ...OF_THE_SESSION })).toEqual({ ...PERSONAL, ...OWN });
  });

  it('has nothing of the terminal that it was asked from', () => {
    const inTmux = { TMUX: '/tmp/tmux-0/default,1,0', TMUX_PANE: '%0' };
    expect(environmentOf(ERRAND, { ...PERSONAL, ...inTmux })).toEqual({ ...PERSONAL, ...OWN });
  });

  it('from within a worker, or another orchestrator’s session, has nothing of that one', () => {
    const outer = {
      LICH_PORT: '1',
      LICH_TOKEN: 'outer',
      LICH_SESSION_ID: 'outer',
      LICH_SUBAGENT_DEPTH: '1',
      LICH_SUBAGENT_CARDS: 'on',
      LICH_OTHER: 'outer',
      VERBATIM_ERRAND: `e${'c'.repeat(20)}`,
    };
    expect(environmentOf(ERRAND, { ...PERSONAL, ...outer })).toEqual({ ...PERSONAL, ...OWN });
  });

  it('leaves out what is not set', () => {
    expect(environmentOf(ERRAND, { ...PERSONAL, GONE: undefined })).not.toHaveProperty('GONE');
  });
});

describe('the depth of a session', () => {
  it.each([
    [{}, 0],
    [{ LICH_SUBAGENT_DEPTH: '0' }, 0],
    [{ LICH_SUBAGENT_DEPTH: '1' }, 1],
    [{ LICH_SUBAGENT_DEPTH: '12' }, 12],
    [{ LICH_SUBAGENT_DEPTH: '' }, 0],
    [{ LICH_SUBAGENT_DEPTH: '-1' }, 0],
    [{ LICH_SUBAGENT_DEPTH: '1.5' }, 0],
    [{ LICH_SUBAGENT_DEPTH: 'deep' }, 0],
  ])('of %j is %i', (env, depth) => {
    expect(depthOf(env)).toBe(depth);
  });
});

describe('rule.taskIsJustText: the arguments of a worker', () => {
  it('are our plugin alone, unless more was said', () => {
    const [option, plugin, ...more] = argumentsOf(ERRAND);
    expect([option, more]).toEqual(['--plugin-dir', []]);
    // From the sources it is the folder above `worker-host`; from the bundle it is the plugin.
    expect(existsSync(join(plugin ?? '', 'worker-host', 'launch.ts'))).toBe(true);
  });

  it('name the model and the mode where they were said, and hold no secret', () => {
    const argv = argumentsOf({ ...ERRAND, model: 'opus', mode: 'plan' });
    expect(argv.slice(2)).toEqual(['--model', 'opus', '--permission-mode', 'plan']);
    for (const secret of [OWN.LICH_TOKEN, OWN.LICH_PORT, OWN.LICH_SESSION_ID])
      expect(argv.join(' ')).not.toContain(secret);
  });
});

describe('a program that is missing', () => {
  it.each([
    ['tmux', 'Install the package tmux (apt-get install tmux, brew install tmux)'],
    ['claude', 'install Claude Code: npm install -g @anthropic-ai/claude-code'],
  ] as const)('%s: says what to install and where it was looked for', (name, says) => {
    const look = () => programOf(name, { PATH: '/nowhere' });
    expect(look).toThrow(MissingProgramError);
    expect(look).toThrow(says);
    expect(look).toThrow(`${name} in 1 folders of PATH (/nowhere)`);
    expect(() => programsOf({ PATH: '' })).toThrow('PATH, which is empty');
  });
});
