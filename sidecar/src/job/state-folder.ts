/** Where Verbatim keeps what outlives a process. */
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** `${XDG_STATE_HOME:-~/.local/state}/verbatim`. A relative XDG_STATE_HOME is ignored, as its specification says. */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  const base = env.XDG_STATE_HOME;
  return join(base !== undefined && isAbsolute(base) ? base : join(home(), '.local', 'state'), 'verbatim');
}

/** The user's own folder, as the system knows it where HOME is empty or relative: never one below the working folder. */
function home(): string {
  const stated = homedir();
  return isAbsolute(stated) ? stated : userInfo().homedir;
}

export function jobsFolder(state: string): string {
  return join(state, 'jobs');
}

export function jobFolder(state: string, id: string): string {
  return join(jobsFolder(state), id);
}

export function logsFolder(state: string): string {
  return join(state, 'logs');
}

/** One file for each sidecar that is up: who it is, so that what it left can be found when it is gone. */
export function sidecarsFolder(state: string): string {
  return join(state, 'sidecars');
}
