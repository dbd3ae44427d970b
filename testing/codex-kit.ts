/** The real Codex against the fake model, ready to run turns: `const kit = await codexKit()`, and `kit.close()` at the end. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { codex } from '../sidecar/src/harness/codex/harness.js';
import type { ServerLimits } from '../sidecar/src/harness/codex/server.js';
import type {
  Access,
  Harness,
  HarnessThread,
  OpenThread,
  TurnEnd,
  TurnEvent,
  TurnInput,
} from '../sidecar/src/harness/contract.js';
import { type CodexHome, type CodexHomeOptions, codexHome } from './codex-home.js';
import { type FakeResponses, fakeResponses } from './fake-responses.js';

/** npm's `codex` of the pinned development dependency. */
export const CODEX = join(
  dirname(createRequire(import.meta.url).resolve('@openai/codex/package.json')),
  'bin',
  'codex.js',
);

export type KitOptions = Omit<CodexHomeOptions, 'url'> & {
  /** Further variables for Codex, over the test's own environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly program?: string;
  /** How long Codex may take to answer. */
  readonly limits?: Partial<ServerLimits>;
};

export type CodexKit = {
  readonly model: FakeResponses;
  readonly home: CodexHome;
  readonly harness: Harness;
  /** The sidecar id that marks every process of this kit. */
  readonly sidecar: string;
  open(request?: Partial<OpenThread>): Promise<HarnessThread>;
  /** Runs a turn to its end, its events collected. */
  run(thread: HarnessThread, text: string, turn?: Partial<TurnInput>): Promise<RunTurn>;
  /** Starts a turn; `events` grows while it runs, `event` resolves with the first that fits, seen or to come. */
  start(thread: HarnessThread, text: string, turn?: Partial<TurnInput>): RunningTurn;
  close(): Promise<void>;
};

export type RunTurn = { readonly end: TurnEnd; readonly events: readonly TurnEvent[] };

export type RunningTurn = {
  readonly events: readonly TurnEvent[];
  readonly end: Promise<TurnEnd>;
  event<K extends TurnEvent['kind']>(
    kind: K,
    fits?: (event: Extract<TurnEvent, { kind: K }>) => boolean,
  ): Promise<Extract<TurnEvent, { kind: K }>>;
};

export const FULL: Access = { level: 'full' };
export const WRITE: Access = { level: 'workspace_write' };
export const READ: Access = { level: 'read_only' };

let kits = 0;

export async function codexKit(options: KitOptions = {}): Promise<CodexKit> {
  if (!existsSync(CODEX)) throw new Error('Codex is not installed: run `npm ci`.');
  const model = await fakeResponses();
  const home = codexHome({ ...options, url: model.url });
  const sidecar = `kit-${process.pid}-${kits++}`;
  const harness = codex({
    env: { ...process.env, ...home.env, ...options.env },
    sidecar,
    version: '0.0.0-test',
    program: options.program ?? CODEX,
    limits: options.limits,
  });
  let jobs = 0;
  const start: CodexKit['start'] = (thread, text, turn = {}) => {
    const events: TurnEvent[] = [];
    const waiting = new Set<(event: TurnEvent) => void>();
    const end = thread.run(
      {
        messages: [{ id: `m${Date.now()}-${Math.random().toString(36).slice(2)}`, text }],
        access: READ,
        cwd: home.work,
        effort: null,
        stallMs: 60_000,
        ...turn,
      },
      (event) => {
        events.push(event);
        for (const look of [...waiting]) look(event);
      },
    );
    return {
      events,
      end,
      event: (kind, fits = () => true) =>
        new Promise((resolve, reject) => {
          const look = (event: TurnEvent) => {
            if (event.kind !== kind || !fits(event as never)) return;
            waiting.delete(look);
            resolve(event as never);
          };
          waiting.add(look);
          for (const event of events) look(event);
          void end.then((ended) => {
            if (waiting.has(look))
              reject(new Error(`The turn ended without the event ${kind}: ${JSON.stringify(ended)}`));
          });
        }),
    };
  };
  return {
    model,
    home,
    harness,
    sidecar,
    open: (request = {}) =>
      harness.open({ job: `j${String(kits)}x${jobs++}`, thread: null, cwd: home.work, model: null, ...request }),
    start,
    run: async (thread, text, turn) => {
      const running = start(thread, text, turn);
      return { end: await running.end, events: running.events };
    },
    close: async () => {
      await harness.close();
      await model.close();
      home.remove();
    },
  };
}
