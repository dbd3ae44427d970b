/** A sidecar as a process of its own, and a client of its local API. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnswerPage, EventsPage, Handshake, JobView } from '../plugin/hooks/protocol/api.js';
import type { JobEvent } from '../plugin/hooks/protocol/event.js';
import { type ProcessInfo, processOf } from './processes.js';

const PROGRAMS = join(import.meta.dirname, 'programs');

export type ApiReply<T = unknown> = {
  readonly status: number;
  readonly body: T;
  readonly headers: IncomingHttpHeaders;
};

export type RequestOptions = {
  readonly body?: unknown;
  /** Sent as it is, instead of `body` as JSON. */
  readonly raw?: string | Buffer;
  /** null: no `authorization` header. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

export type Sidecar = {
  readonly handshake: Handshake;
  /** The sidecar, or its parent where it was started with one. */
  readonly child: ChildProcess;
  readonly folders: SidecarFolders;
  /** All that was written to stdout so far. */
  output(): string;
  request<T = unknown>(method: string, path: string, options?: RequestOptions): Promise<ApiReply<T>>;
  /** A turn's answer, its pages put together. */
  answer(job: string, turn?: number): Promise<string>;
  /** Follows a job's events by long polls until `isEnough`, from the first one on. */
  follow(job: string, isEnough: (events: readonly JobEvent[], job: JobView) => boolean): Promise<JobEvent[]>;
};

/** Folders of one test: state, runtime (where the socket goes) and a working folder. */
export type SidecarFolders = {
  readonly state: string;
  readonly runtime: string;
  readonly work: string;
  remove(): void;
};

export function sidecarFolders(): SidecarFolders {
  const make = (name: string) => mkdtempSync(join(tmpdir(), `vb-${name}-`));
  const folders = { state: make('state'), runtime: make('run'), work: make('work') };
  return {
    ...folders,
    remove() {
      for (const folder of Object.values(folders)) rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type StartOptions = {
  readonly folders: SidecarFolders;
  readonly env?: NodeJS.ProcessEnv;
  /** Puts a process between, for the test to kill. */
  readonly hasParent?: boolean;
  /** What to run instead of the scripted sidecar: a program and its arguments. */
  readonly command?: readonly [string, ...string[]];
};

const FROM_SOURCE = (program: string): readonly [string, ...string[]] => [
  process.execPath,
  '--import',
  'tsx',
  join(PROGRAMS, program),
];

/** Starts a sidecar and reads its handshake. The caller ends `child`. */
export async function startSidecar({ folders, env = {}, hasParent = false, command }: StartOptions): Promise<Sidecar> {
  const own = command ?? FROM_SOURCE('scripted-sidecar.ts');
  const [program, ...args] = hasParent ? [...FROM_SOURCE('parent.ts'), ...own] : own;
  const child = spawn(program ?? '', args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, XDG_STATE_HOME: folders.state, XDG_RUNTIME_DIR: folders.runtime, ...env },
  });
  let output = '';
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (bytes: Buffer) => {
      output += bytes.toString('utf8');
      if (output.includes('\n')) resolve(output.slice(0, output.indexOf('\n')));
    });
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(new Error(`the sidecar ended (${code ?? signal}) before its handshake`)),
    );
  });
  const handshake = JSON.parse(line) as Handshake;
  const request = <T>(method: string, path: string, options: RequestOptions = {}): Promise<ApiReply<T>> =>
    send<T>(handshake, method, path, options);
  return {
    handshake,
    child,
    folders,
    output: () => output,
    request,
    async answer(job, turn = 1) {
      let text = '';
      for (let from = 0; ; ) {
        const { status, body } = await request<AnswerPage>('GET', `/v1/jobs/${job}/answers/${turn}?from=${from}`);
        if (status !== 200) throw new Error(`the answer of ${job} was refused (${status}): ${JSON.stringify(body)}`);
        text += body.text;
        if (body.next === null) return text;
        from = body.next;
      }
    },
    async follow(job, isEnough) {
      const events: JobEvent[] = [];
      for (;;) {
        const path = `/v1/jobs/${job}/events?after=${events.length}&wait=20000`;
        const { status, body } = await request<EventsPage>('GET', path);
        if (status !== 200) throw new Error(`${path} was answered ${status}: ${JSON.stringify(body)}`);
        events.push(...body.events);
        if (isEnough(events, body.job)) return events;
        if (body.job.status === 'idle' && events.length === body.job.lastSeq) {
          throw new Error(`the job is idle and has not come to what was waited for: ${JSON.stringify(events)}`);
        }
      }
    },
  };
}

export const isOver = (events: readonly JobEvent[], job: JobView): boolean =>
  job.status === 'idle' && events.length === job.lastSeq;

/** The processes that the scripted harness said it started (`run`). */
export function childrenIn(events: readonly JobEvent[]): ProcessInfo[] {
  const pids = events.flatMap((event) => (event.kind === 'warning' ? [Number(event.text)] : []));
  return pids.flatMap((pid) => processOf(pid) ?? []);
}

/** Resolves when the child has ended, to its exit code or signal. */
export function ended(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode ?? child.signalCode);
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
}

function send<T>(handshake: Handshake, method: string, path: string, options: RequestOptions): Promise<ApiReply<T>> {
  const { token = handshake.token, headers = {}, signal } = options;
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const target =
    handshake.socket === undefined ? { host: '127.0.0.1', port: handshake.port } : { socketPath: handshake.socket };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      {
        ...target,
        method,
        path,
        signal,
        agent: false,
        headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8');
          resolve({
            status: response.statusCode ?? 0,
            body: (text === '' ? undefined : JSON.parse(text)) as T,
            headers: response.headers,
          });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
