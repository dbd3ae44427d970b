import { expect, test } from 'vitest';
import { childEnvironment, DEPTH_VARIABLE, depthIn } from '../../../sidecar/src/process/environment.js';

test('a harness inherits what is its user’s, and nothing of the session or of another harness', () => {
  const parent = {
    PATH: '/bin',
    HOME: '/home/someone',
    MY_CLAUDE: 'kept',
    CODEX_HOME: '/c',
    OPENAI_API_KEY: 'openai',
    CLAUDECODE: '1',
    CLAUDE_CODE_SESSION_ID: 'x',
    CLAUDE_CODE_ENTRYPOINT: 'cli',
    CLAUDE_PROJECT_DIR: '/p',
    CLAUDE_PLUGIN_ROOT: '/r',
    ANTHROPIC_API_KEY: 'a',
    ANTHROPIC_AUTH_TOKEN: 'b',
    GEMINI_API_KEY: 'g',
    LICH_SUBAGENT_DEPTH: '1',
    VERBATIM_JOB: 'outer',
    VERBATIM_DEPTH: '1',
    GONE: undefined,
  };
  expect(childEnvironment({ parent, keys: ['openai'], sidecar: 's1' })).toEqual({
    PATH: '/bin',
    HOME: '/home/someone',
    MY_CLAUDE: 'kept',
    CODEX_HOME: '/c',
    OPENAI_API_KEY: 'openai',
    VERBATIM_SIDECAR: 's1',
    VERBATIM_DEPTH: '2',
  });
});

test.each([
  [{}, 0],
  [{ VERBATIM_DEPTH: '3' }, 3],
  [{ VERBATIM_DEPTH: 'x' }, 0],
  [{ VERBATIM_DEPTH: '-1' }, 0],
])('the depth of %j is %i', (env, depth) => {
  expect(depthIn(env, DEPTH_VARIABLE)).toBe(depth);
});
