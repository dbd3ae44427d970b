/** Codex as a harness: finds it, keeps one app-server up, opens threads on it. */
import { join } from 'node:path';
import { childEnvironment, DEPTH_VARIABLE, SIDECAR_VARIABLE } from '../../process/environment.js';
import { homeFolder } from '../../process/home.js';
import { askVersion } from '../../process/version.js';
import { type Detection, type Harness, HarnessError, type HarnessThread, type OpenThread } from '../contract.js';
import { Account } from './account.js';
import { failure, INSTALL } from './failures.js';
import { checkModel } from './models.js';
import { findCodex } from './program.js';
import { CodexServer, type ServerLimits } from './server.js';
import { CodexThread, type Servers } from './thread.js';

export type CodexOptions = {
  /** The sidecar's environment; Codex gets it minus `process/environment.ts`'s list. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The sidecar's instance id: marks every process that Codex starts. */
  readonly sidecar: string;
  /** Verbatim's version, which Codex shows to its provider. */
  readonly version: string;
  /** The program to run instead of `codex` on PATH. */
  readonly program?: string;
  /** How long Codex may take to answer; a test gives its own. */
  readonly limits?: Partial<ServerLimits>;
};

/** Makes the harness; nothing is started before the first `open`. */
export function codex(options: CodexOptions): Harness {
  return new Codex(options);
}

class Codex implements Harness, Servers {
  readonly name = 'codex';
  readonly account: Account;
  readonly home: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly #env: Record<string, string>;
  #starting: Promise<CodexServer> | null = null;
  readonly #servers = new Set<CodexServer>();
  readonly #turns = new Map<CodexServer, number>();

  constructor(private readonly options: CodexOptions) {
    this.#env = childEnvironment({ parent: options.env, keys: ['openai'], sidecar: options.sidecar });
    this.home = this.#env.CODEX_HOME || join(homeFolder(this.#env) ?? '/', '.codex');
    this.account = new Account(this.home);
    this.variables = {
      [SIDECAR_VARIABLE]: options.sidecar,
      [DEPTH_VARIABLE]: this.#env[DEPTH_VARIABLE] ?? '1',
    };
  }

  async detect(): Promise<Detection> {
    const program = findCodex(this.options.env, this.options.program);
    if (program.kind === 'missing') return { kind: 'missing', lookedFor: program.lookedFor, install: INSTALL };
    const answer = await askVersion(program.path, this.#env);
    if (answer.kind === 'failed' || answer.version === null) {
      return { kind: 'missing', lookedFor: `${program.path}, which does not answer --version`, install: INSTALL };
    }
    const up = await this.#starting;
    const server = up && !up.gone ? up : await this.#start(program.path);
    const signedIn = server.gone ? 'unknown' : await this.account.state(server);
    if (server !== up) await this.retire(server);
    return { kind: 'found', version: answer.version, program: program.path, signedIn };
  }

  async warm(): Promise<void> {
    try {
      await this.current();
    } catch (error) {
      // Not installed, not to be started: `open` meets the same and says it where someone reads it.
      if (!(error instanceof HarnessError)) throw error;
    }
  }

  async open(request: OpenThread): Promise<HarnessThread> {
    if (request.model !== null && request.thread === null) {
      const unknown = await checkModel(await this.current(), request.model, request.cwd);
      if (unknown) throw new HarnessError(unknown);
    }
    return await CodexThread.open(this, request);
  }

  async current(): Promise<CodexServer> {
    for (let starting = this.#starting; starting !== null; starting = this.#starting) {
      const server = await starting;
      if (!server.gone) return server;
      // Another caller may have started the next one while this one waited.
      if (this.#starting === starting) this.#starting = null;
    }
    const program = findCodex(this.options.env, this.options.program);
    if (program.kind === 'missing') {
      throw new HarnessError(
        failure('not_installed', `Codex was not found: looked for ${program.lookedFor}.`, `Run \`${INSTALL}\`.`),
      );
    }
    this.#starting = this.#start(program.path);
    const server = await this.#starting;
    if (server.gone) throw new HarnessError(server.gone);
    return server;
  }

  async #start(program: string): Promise<CodexServer> {
    const server = await CodexServer.start({
      program,
      env: this.#env,
      cwd: homeFolder(this.#env) ?? '/',
      clientVersion: this.options.version,
      limits: this.options.limits,
    });
    this.#servers.add(server);
    return server;
  }

  async retire(server: CodexServer): Promise<readonly string[]> {
    const survivors = await server.close();
    this.#servers.delete(server);
    return survivors;
  }

  turnsOn(server: CodexServer): number {
    return this.#turns.get(server) ?? 0;
  }

  turnBegan(server: CodexServer): () => void {
    this.#turns.set(server, this.turnsOn(server) + 1);
    return () => {
      const left = this.turnsOn(server) - 1;
      if (left > 0) this.#turns.set(server, left);
      else this.#turns.delete(server);
    };
  }

  async close(): Promise<readonly string[]> {
    const survivors = await Promise.all([...this.#servers].map((server) => this.retire(server)));
    return [...new Set(survivors.flat())];
  }
}
