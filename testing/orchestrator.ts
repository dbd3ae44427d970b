/**
 * An orchestrator as a worker session knows it: a loopback endpoint that keeps every request exactly as it came, and
 * the variables that name it. `openWorker` opens the real interactive Claude Code as such a worker.
 *
 * ```ts
 * const worker = await openWorker();
 * await worker.turn([says('done')]);
 * await worker.reports({ text: 'done' });   // and nothing else, since the session began
 * await worker.close();
 * ```
 */
import { deepStrictEqual } from 'node:assert';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Mode } from './claude.js';
import { claudePlace, type Place, type PlaceOptions } from './claude-place.js';
import { type FakeMessages, fakeMessages, type MessagesScript, type Step } from './fake-messages.js';
import { openTui, type Tui } from './tui.js';
import { until } from './wait.js';

/** One request, as it came. */
export type Arrival = {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** When its last byte was here, by `performance.now()`. */
  readonly at: number;
  /** Whether it was answered, or given up by whoever asked. */
  isOver(): boolean;
};

export type Orchestrator = {
  readonly port: number;
  readonly token: string;
  readonly session: string;
  /** What an orchestrator sets for every session: where it is, and what it calls the session. No word of workers. */
  readonly env: Readonly<Record<string, string>>;
  readonly arrivals: readonly Arrival[];
  /** Every report's body, parsed, oldest first. */
  reports(): readonly unknown[];
  /** Answers from now on with this status; the default is 204. */
  answers(status: number): void;
  /** Answers nothing from now on; what hangs stays so until `release`. */
  hangs(): void;
  /** Answers what hangs, and whatever comes, with 204. */
  release(): void;
  /** Refuses connections from now on, until `listens`. */
  refuses(): Promise<void>;
  /** Takes connections again, on the same port. */
  listens(): Promise<void>;
  /** Resolves once so many requests have come. */
  arrived(count: number, ms?: number): Promise<void>;
  close(): Promise<void>;
};

let opened = 0;

/** Starts an orchestrator; `close` it when the test ends. */
export async function fakeOrchestrator(): Promise<Orchestrator> {
  const arrivals: Arrival[] = [];
  const hanging: ServerResponse[] = [];
  let status: number | undefined = 204;
  const make = () =>
    createServer((message, response) => {
      const chunks: Buffer[] = [];
      message.on('data', (chunk: Buffer) => chunks.push(chunk));
      message.on('end', () => {
        let isOver = false;
        response.once('close', () => {
          isOver = true;
        });
        arrivals.push({
          method: message.method ?? '',
          url: message.url ?? '',
          headers: message.headers,
          body: Buffer.concat(chunks),
          at: performance.now(),
          isOver: () => isOver,
        });
        if (status === undefined) hanging.push(response);
        else response.writeHead(status).end();
      });
    });
  const listen = (server: Server, at: number) =>
    new Promise<void>((listening, failed) => {
      server.once('error', failed);
      server.listen(at, '127.0.0.1', listening);
    });
  const shut = (server: Server) =>
    new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  let server = make();
  await listen(server, 0);
  const { port } = server.address() as AddressInfo;
  // A query has to escape it: who forgets that reports to nobody.
  opened += 1;
  const token = `t+o/k&e=n ${opened}`;
  const session = `session-${opened}`;
  return {
    port,
    token,
    session,
    env: { LICH_PORT: String(port), LICH_TOKEN: token, LICH_SESSION_ID: session },
    arrivals,
    reports: () => arrivals.map(({ body }) => JSON.parse(body.toString('utf8')) as unknown),
    answers(next) {
      status = next;
    },
    hangs() {
      status = undefined;
    },
    release() {
      status = 204;
      for (const response of hanging.splice(0)) response.writeHead(204).end();
    },
    refuses: () => shut(server),
    async listens() {
      server = make();
      await listen(server, port);
    },
    async arrived(count, ms = 20_000) {
      await until(`${count} requests to the orchestrator`, () => arrivals.length >= count, {
        within: ms,
        every: 5,
        detail: () => JSON.stringify(arrivals.map(({ body }) => body.toString('utf8').slice(0, 300))),
      });
    },
    close: () => shut(server),
  };
}

/** What Claude Code told a Stop hook of the user's. */
export type SeenStop = {
  readonly last_assistant_message?: string;
  readonly background_tasks: readonly { readonly id: string; readonly type: string; readonly status: string }[];
  readonly session_crons: readonly { readonly recurring: boolean }[];
};

export type WorkerOptions = {
  readonly mode?: Mode;
  /** Variables that make it a worker; absent: LICH_SUBAGENT_DEPTH is 1. */
  readonly worker?: Readonly<Record<string, string>>;
  /** Further options of its place. */
  readonly place?: Omit<PlaceOptions, 'url'>;
};

export type Worker = {
  readonly orchestrator: Orchestrator;
  readonly claude: FakeMessages;
  readonly place: Place;
  readonly tui: Tui;
  /** Scripts the model and types a prompt that no other turn had: the turn has begun when that was sent. */
  turn(script: readonly Step[] | MessagesScript): Promise<void>;
  /** Waits for one more report, and fails unless that one and those expected before it are all that there were. */
  reports(what: { readonly text: string } | { readonly unanswered: string }): Promise<void>;
  /** What Claude Code told the user's own Stop hook at each Stop, oldest first. */
  stops(): readonly SeenStop[];
  /** Resolves with the first Stop since the prompt was typed; called again, with the second one, and so on. */
  stopped(): Promise<SeenStop>;
  /** Makes the user's own Stop hook send the next turn on, once, with these words to the model. */
  blockNextStop(words: string): void;
  close(): Promise<void>;
};

/** Keeps each Stop in a file, and blocks one where another file says so. */
const STOP_HOOK = [
  'cat >> "$HOME/stops"; echo >> "$HOME/stops"',
  'if [ -e "$HOME/block" ]; then cat "$HOME/block" >&2; rm "$HOME/block"; exit 2; fi',
].join('; ');

/** Opens Claude Code in a terminal as a worker of an orchestrator of its own; bypassPermissions unless told otherwise. */
export async function openWorker(options: WorkerOptions = {}): Promise<Worker> {
  const { mode = 'bypassPermissions', worker = { LICH_SUBAGENT_DEPTH: '1' } } = options;
  const [orchestrator, claude] = await Promise.all([fakeOrchestrator(), fakeMessages()]);
  const place = claudePlace({
    ...options.place,
    url: claude.url,
    env: { ...options.place?.env, ...orchestrator.env, ...worker },
    // The questions that the mode asks at its first start, answered (measured on 2.1.332).
    config: { bypassPermissionsModeAccepted: true },
    settings: {
      skipDangerousModePermissionPrompt: true,
      hooks: { Stop: [{ hooks: [{ type: 'command', command: STOP_HOOK }] }] },
    },
  });
  const closeAll = async () => {
    await place.dispose();
    await Promise.all([orchestrator.close(), claude.close()]);
  };
  let tui: Tui;
  try {
    tui = await openTui(place, { mode });
  } catch (error) {
    await closeAll();
    throw error;
  }
  const stops = (): readonly SeenStop[] => {
    const file = join(place.home, 'stops');
    if (!existsSync(file)) return [];
    // What follows the last line break is still being written.
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as SeenStop);
  };
  const expected: object[] = [];
  let turns = 0;
  let asked = 0;
  return {
    orchestrator,
    claude,
    place,
    tui,
    async turn(script) {
      turns += 1;
      asked = stops().length;
      claude.main(script);
      await tui.say(`turn number ${turns}.`);
    },
    async reports(what) {
      expected.push({ session_id: orchestrator.session, ...what });
      await orchestrator.arrived(expected.length);
      deepStrictEqual(orchestrator.reports(), expected);
    },
    stops,
    stopped: () => {
      asked += 1;
      const count = asked;
      return until(`Stop ${count}`, () => stops()[count - 1], {
        within: 20_000,
        detail: () => tui.screen().trimEnd(),
      });
    },
    blockNextStop: (words) => writeFileSync(join(place.home, 'block'), words),
    async close() {
      await tui.close();
      await closeAll();
    },
  };
}

/** One worker for several tests; a test that failed closes it, for it may have left the session anywhere. */
export function sharedWorker(options: () => WorkerOptions = () => ({})) {
  let worker: Worker | undefined;
  return {
    async open(): Promise<Worker> {
      worker ??= await openWorker(options());
      return worker;
    },
    async close(): Promise<void> {
      const open = worker;
      worker = undefined;
      await open?.close();
    },
  };
}
