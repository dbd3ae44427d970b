/**
 * `verbatim worker` as a person runs it: the bundle in a copy of the plugin, the real Claude Code in its terminal, a fake
 * model behind it.
 *
 * ```ts
 * const workers = openWorkers({ claude: await fakeMessages() });
 * workers.claude.main(() => says('done'));
 * const { code, stdout } = await workers.run(['run', 'the task']);
 * await workers.close();
 * ```
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { claudeBinary, claudePlace, copyPlugin, type Place, type PlaceOptions } from './claude-place.js';
import { type FakeMessages, fakeMessages, type MessagesRequest } from './fake-messages.js';
import { isAlive, type ProcessId, type ProcessInfo, processOf, signal, withEnvironment } from './processes.js';
import { until } from './wait.js';

/** Longest wait for what a worker does, in milliseconds: two cores may have much else to do. */
export const WAIT_MS = 60_000;

/** How a command ended. */
export type Outcome = {
  /** The exit code; a signal's name where one ended it. */
  readonly code: number | NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
};

/** A `verbatim worker …` that was started. */
export type Command = {
  readonly child: ChildProcess;
  readonly id: ProcessId;
  stderr(): string;
  /** Waits until stderr says it. */
  says(what: string | RegExp): Promise<void>;
  /** The errand that it opened, as stderr names it. */
  errand(): Promise<Errand>;
  readonly ended: Promise<Outcome>;
};

/** An errand as it lies on disk. */
export type ErrandState = {
  readonly id: string;
  readonly session: string;
  readonly parent: string | null;
  readonly depth: number;
  readonly take: string | null;
  readonly wait: { readonly for: string; readonly what: string } | null;
  readonly end: { readonly kind: string; readonly detail?: string } | null;
  readonly desk: { readonly port: number; readonly token: string } | null;
  readonly tmux: string | null;
  readonly host: ProcessId | null;
  readonly worker: ProcessId | null;
};

export type Errand = {
  readonly id: string;
  /** As it is now. */
  state(): ErrandState;
  /** The host, once it keeps the desk; its Claude Code, once it is open. */
  host(): Promise<ProcessId>;
  worker(): Promise<ProcessId>;
  /** The tmux server of its terminal. */
  server(): Promise<ProcessInfo>;
  /** Waits until its session has the task. */
  taken(): Promise<void>;
  /** Every live process that was started for it, whoever its parent is. */
  processes(): readonly ProcessInfo[];
  /** What its terminal shows; '' where it is gone. */
  screen(): string;
  sees(what: string | RegExp): Promise<void>;
  /** Presses keys in its terminal by tmux's names, as whoever is attached does. */
  press(...keys: readonly string[]): void;
  type(text: string): void;
};

export type RunOptions = {
  /** What stands on stdin; absent: nothing, and its end. */
  readonly stdin?: string | Buffer;
  /** Over the place's variables; undefined takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** What is run with the words; absent: `node verbatim.mjs worker`. */
  readonly command?: readonly [string, ...string[]];
};

export type Workers = {
  readonly claude: FakeMessages;
  readonly place: Place;
  /** The program: `plugin/sidecar/verbatim.mjs` of the place's copy of the plugin. `verbatim` on PATH is a link to it. */
  readonly program: string;
  /** Starts `verbatim worker` with these words. */
  start(words: readonly string[], options?: RunOptions): Command;
  /** `verbatim worker` with these words, to its end. */
  run(words: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** The errand with this id. */
  errand(id: string): Errand;
  /** The errands on disk, in no order. */
  errands(): readonly ErrandState[];
  /** `worker list --json`'s line of one errand. */
  listed(id: string): Promise<Readonly<Record<string, unknown>>>;
  /** Throws where a process runs that was started here. */
  nothingIsLeft(): void;
  close(): Promise<void>;
};

export type WorkersOptions = Partial<PlaceOptions> & {
  /** A model that others use too; absent: one of its own, which `close` ends. */
  readonly claude?: FakeMessages;
};

/** Makes a place for workers; `close` it when the test ends. */
export async function openWorkers({ claude: given, ...options }: WorkersOptions = {}): Promise<Workers> {
  const claude = given ?? (await fakeMessages());
  const place = claudePlace({ path: [dirname(claudeBinary())], ...options, url: claude.url });
  const program = join(copyPlugin(place), 'sidecar', 'verbatim.mjs');
  const bin = join(place.root, 'bin');
  mkdirSync(bin);
  symlinkSync(program, join(bin, 'verbatim'));
  const folderOf = (env: Readonly<Record<string, string | undefined>>) =>
    join(env.XDG_STATE_HOME ?? join(place.home, '.local', 'state'), 'verbatim', 'errands');

  const workers: Workers = {
    claude,
    place,
    program,
    start(words, { stdin, env = {}, cwd = place.cwd, command = [process.execPath, program, 'worker'] } = {}) {
      const [file, ...first] = command;
      const variables = { ...place.env, PATH: `${bin}:${place.env.PATH}`, ...env };
      const child = spawn(file, [...first, ...words], {
        cwd,
        env: variables as NodeJS.ProcessEnv,
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      child.stdin.on('error', () => {
        // It may end without having read it.
      });
      child.stdin.end(stdin ?? '');
      const stdout: Buffer[] = [];
      const stderr: Buffer[] = [];
      child.stdout.on('data', (piece: Buffer) => stdout.push(piece));
      child.stderr.on('data', (piece: Buffer) => stderr.push(piece));
      const said = () => Buffer.concat(stderr).toString('utf8');
      const ended = new Promise<Outcome>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', (code, name) =>
          resolve({ code: code ?? name, stdout: Buffer.concat(stdout), stderr: said() }),
        );
      });
      const heard = <T>(what: string, look: () => T) =>
        until(`\`worker ${words.join(' ').slice(0, 80)}\` to say ${what}`, look, { within: WAIT_MS, detail: said });
      return {
        child,
        id: processOf(child.pid ?? 0) ?? { pid: child.pid ?? 0, started: '' },
        stderr: said,
        async says(what) {
          await heard(String(what), () => (typeof what === 'string' ? said().includes(what) : what.test(said())));
        },
        async errand() {
          const id = await heard('which errand it opened', () => /(e[a-z2-7]{20}) works in/.exec(said())?.[1]);
          return errandAt(join(folderOf(variables), id));
        },
        ended,
      };
    },
    run: (words, runOptions) => workers.start(words, runOptions).ended,
    errand: (id) => errandAt(join(folderOf(place.env), id)),
    errands() {
      const folder = folderOf(place.env);
      if (!existsSync(folder)) return [];
      return readdirSync(folder).flatMap((id) =>
        existsSync(join(folder, id, 'state.json')) ? stateIn(join(folder, id)) : [],
      );
    },
    async listed(id) {
      const { stdout } = await workers.run(['list', '--json']);
      const { errands } = JSON.parse(stdout.toString('utf8')) as { errands: readonly Record<string, unknown>[] };
      const found = errands.find((one) => one.id === id);
      if (found === undefined) throw new Error(`${id} is not listed`);
      return found;
    },
    nothingIsLeft() {
      const left = place.processes().map(({ command }) => command);
      if (left.length > 0) throw new Error(`left running: ${left.join(', ')}`);
    },
    async close() {
      if (given === undefined) await claude.close();
      await place.dispose();
    },
  };
  return workers;
}

/** The texts of the conversation that a request carries, block by block. */
export function blocksOf(request: MessagesRequest): readonly string[] {
  const messages = request.body.messages as readonly { readonly content: string | readonly Block[] }[];
  return messages.flatMap(({ content }) =>
    typeof content === 'string'
      ? [content]
      : content.flatMap(({ type, text }) => (type === 'text' ? [text ?? ''] : [])),
  );
}

type Block = { readonly type: string; readonly text?: string };

function errandAt(folder: string): Errand {
  const state = () => stateIn(folder);
  const id = folder.slice(folder.lastIndexOf('/') + 1);
  const known = <T>(what: string, look: (now: ErrandState) => T) =>
    until(`errand ${id} to have ${what}`, () => look(state()), {
      within: WAIT_MS,
      detail: () => JSON.stringify(state()),
    });
  const tmux = (...words: readonly string[]) =>
    execFileSync('tmux', ['-u', '-S', state().tmux ?? '', ...words], { encoding: 'utf8', stdio: 'pipe' });
  const errand: Errand = {
    id,
    state,
    host: () => known('a host', ({ host }) => host !== null && isAlive(host) && host),
    worker: () => known('a worker', ({ worker }) => worker),
    async server() {
      await errand.worker();
      const server = processOf(Number(tmux('display-message', '-p', '#{pid}')));
      if (server === undefined) throw new Error(`the tmux server of errand ${id} is gone`);
      return server;
    },
    async taken() {
      await known('taken its task', ({ take }) => take !== null);
    },
    processes: () => withEnvironment('VERBATIM_ERRAND', id),
    screen() {
      try {
        return tmux('capture-pane', '-p');
      } catch {
        return '';
      }
    },
    async sees(what) {
      await until(
        `the worker's screen to show ${String(what)}`,
        () => (typeof what === 'string' ? errand.screen().includes(what) : what.test(errand.screen())),
        { within: WAIT_MS, every: 40, detail: () => errand.screen().trimEnd() },
      );
    },
    press: (...keys) => void tmux('send-keys', '--', ...keys),
    type: (text) => void tmux('send-keys', '-l', '--', text),
  };
  return errand;
}

/** `startTime` is what the tests call `started`: both are the kernel's. */
function stateIn(folder: string): ErrandState {
  const raw = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as Omit<ErrandState, 'host' | 'worker'> &
    Record<'host' | 'worker', { readonly pid: number; readonly startTime: string } | null>;
  const identity = (of: 'host' | 'worker') => {
    const process = raw[of];
    return process === null ? null : { pid: process.pid, started: process.startTime };
  };
  return { ...raw, host: identity('host'), worker: identity('worker') };
}

/** Kills each by its own identity. */
export function kill(...all: readonly ProcessId[]): void {
  for (const one of all) signal(one, 'SIGKILL');
}
