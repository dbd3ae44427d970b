/** Where Verbatim keeps what outlives a process. */
import { isAbsolute, join } from 'node:path';
import { homeFolder } from '../process/home.js';

/** There is no folder that Verbatim could keep anything in. */
export class NoStateFolderError extends Error {
  constructor() {
    super('there is no home folder to keep jobs in; set HOME or XDG_STATE_HOME to an absolute path');
    this.name = 'NoStateFolderError';
  }
}

/** `${XDG_STATE_HOME:-~/.local/state}/verbatim`. A relative XDG_STATE_HOME is ignored, as its specification says. */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  const base = env.XDG_STATE_HOME;
  if (base !== undefined && isAbsolute(base)) return join(base, 'verbatim');
  const home = homeFolder(env);
  if (home === null) throw new NoStateFolderError();
  return join(home, '.local', 'state', 'verbatim');
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

export function errandsFolder(state: string): string {
  return join(state, 'errands');
}
