/** The programs that a worker needs, and what to do where one is missing. */
import { resolveProgram } from '../process/resolve.js';

export class MissingProgramError extends Error {}

const INSTALL = {
  tmux: 'a worker is an interactive Claude Code in a terminal of its own. Install the package tmux (apt-get install tmux, brew install tmux)',
  claude: 'install Claude Code: npm install -g @anthropic-ai/claude-code',
} as const;

/** The paths of both. Throws MissingProgramError, which says what to install. */
export function programsOf(env: NodeJS.ProcessEnv): { readonly tmux: string; readonly claude: string } {
  return { tmux: programOf('tmux', env), claude: programOf('claude', env) };
}

export function programOf(name: keyof typeof INSTALL, env: NodeJS.ProcessEnv): string {
  const found = resolveProgram(name, { env });
  if (found.kind === 'found') return found.path;
  throw new MissingProgramError(`${name} is missing: ${INSTALL[name]}. Looked for ${found.lookedFor}`);
}
