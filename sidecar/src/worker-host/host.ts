/**
 * The process behind one errand: it keeps the desk, opens the worker, watches both, and takes the worker away again.
 *
 * It is not the process that asked: that one may be killed at any time, and the worker must not outlive it; and a host
 * that is killed is started again by it, finds the worker by its record, and goes on at the same address.
 */
import { existsSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Desk } from '../desk/desk.js';
import type { ErrandEnd, ErrandRecord, Wait } from '../desk/errand.js';
import { Errands } from '../desk/errands.js';
import { createDeskServer } from '../desk/http.js';
import { messageOf } from '../errors.js';
import { type Log, openLog } from '../log.js';
import { mask } from '../process/secrets.js';
import { isAlive, ownIdentity, type ProcessIdentity } from '../process/table.js';
import { ProcessTree } from '../process/tree.js';
import { privateSocket } from '../server/address.js';
import { keepHeapSmall } from '../server/heap.js';
import { mintToken } from '../server/token.js';
import { logsFolder, stateFolder } from '../state/state-folder.js';
import { closeWorker } from './close.js';
import { argumentsOf, environmentOf } from './launch.js';
import { programOf, programsOf } from './programs.js';
import { lastWordsOf, startWaitOf } from './screen.js';
import { Tmux } from './tmux.js';

/** How often the worker's process is looked at, and the screen of one that is not up yet, in milliseconds. */
const WATCH_MS = 200;
const SCREEN_MS = 500;
/** The same of a worker that stays, in milliseconds. */
const STAY_MS = 1_000;
/** After this long without taking its task a worker waits for something, whatever it is, in milliseconds. */
const START_MS = 20_000;
/** How long a report that was under way when its worker ended may take, in milliseconds. */
const LAST_REPORT_MS = 300;

/** What the host tells whoever asked. */
export type HostSays =
  | { readonly kind: 'opened' }
  | { readonly kind: 'waits'; readonly wait: Wait | null }
  /** Its end is told too: a disk that is full may not hold it. */
  | {
      readonly kind: 'ended';
      readonly end: ErrandEnd;
      readonly claudeSession: string | null;
      readonly survivors: readonly string[];
      /** Whether the worker stays, and the host with it. */
      readonly isKept: boolean;
    };
/** What it is told: how the asker took the errand back. */
export type HostHears = { readonly kind: 'interrupt'; readonly detail: string };

/** Runs errand `id` to its end. Resolves to the process's exit code. */
export async function hostErrand(id: string): Promise<number> {
  keepHeapSmall();
  const state = stateFolder(process.env);
  const hide = (text: string) => mask(text, process.env);
  const { log, close: closeLog } = openLog(join(logsFolder(state), `errand-${id}.jsonl`), hide, Date.now);
  process.on('uncaughtException', (error) => log('error', 'an unexpected error', { error }));
  process.on('unhandledRejection', (error) => log('error', 'an unexpected rejection', { error }));
  const say = (message: HostSays) => {
    if (process.connected) process.send?.(message);
  };
  const errands = new Errands(state);
  const desk = new Desk(
    errands,
    Date.now,
    ({ wait }) => say({ kind: 'waits', wait }),
    (error) => log('error', 'the end could not be written', { error }),
  );
  desk.takeUp(id);

  const interrupt = (detail: string) => desk.end(id, { kind: 'interrupted', detail });
  process.on('message', ({ detail }: HostHears) => interrupt(detail));
  const orphaned = () => interrupt('the command that asked was killed');
  process.on('disconnect', orphaned);
  // Killed before anybody here listened.
  if (!process.connected) orphaned();
  const stopped = new Promise<void>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(name, () => {
        interrupt('it was stopped');
        resolve();
      });
    }
  });

  const worker = new Worker(id, errands, desk, log);
  const end = await worker.run(say);
  const isKept = await worker.isToStay(end);
  let survivors = isKept ? [] : await worker.close();
  log('info', 'the errand has ended', { end: end.kind, isKept, survivors });
  say({ kind: 'ended', end, claudeSession: desk.errand(id).claudeSession, survivors, isKept });
  if (process.connected) process.disconnect();
  if (isKept) {
    await Promise.race([stopped, worker.gone()]);
    survivors = await worker.close();
  }
  closeLog();
  return survivors.length > 0 ? 1 : 0;
}

class Worker {
  #server: Server | undefined;
  #tmux: Tmux | undefined;
  #tree: ProcessTree | undefined;
  #isOver = false;

  constructor(
    private readonly id: string,
    private readonly errands: Errands,
    private readonly desk: Desk,
    private readonly log: Log,
  ) {}

  /** Opens the worker, and waits for the errand's end. Resolves to that. */
  async run(say: (message: HostSays) => void): Promise<ErrandEnd> {
    try {
      this.desk.note(this.id, { host: ownIdentity() });
      if (this.#errand.end === null) {
        await this.#openDesk();
        await this.#openWorker();
        say({ kind: 'opened' });
      }
    } catch (error) {
      this.log('error', 'the worker could not be opened', { error });
      this.desk.end(this.id, { kind: 'failed', detail: messageOf(error) });
    }
    const end = await this.#end();
    this.#isOver = true;
    return end;
  }

  /**
   * Whether the worker stays, as was asked. Its desk then stays too, and takes what it still reports: at a port that was
   * given up, whoever listens there next would hear it.
   */
  async isToStay(end: ErrandEnd): Promise<boolean> {
    const { isKept, tmux, worker } = this.#errand;
    if (!isKept || tmux === null || !isAlive(worker) || end.kind === 'failed') return false;
    await new Tmux(programOf('tmux', process.env), tmux).letGo();
    return true;
  }

  /** Resolves when the worker has ended by itself. */
  async gone(): Promise<void> {
    while (isAlive(this.#errand.worker)) await sleep(STAY_MS);
  }

  /** Ends the worker and the desk. Resolves to the processes that outlived it. */
  async close(): Promise<readonly string[]> {
    const survivors = await closeWorker(this.errands, this.#errand, this.#tree);
    this.#server?.close();
    this.#server?.closeAllConnections();
    try {
      this.desk.note(this.id, { host: null, desk: null, tmux: null, worker: null });
    } catch (error) {
      this.log('error', 'that the worker is closed could not be written', { error });
    }
    return survivors;
  }

  get #errand(): ErrandRecord {
    return this.desk.errand(this.id);
  }

  /** Where a desk of this errand listened before, it must again: the worker knows no other address. */
  async #openDesk(): Promise<void> {
    const token = this.#errand.desk?.token ?? mintToken();
    const server = createDeskServer({ desk: this.desk, token, log: this.log, now: () => performance.now() });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: '127.0.0.1', port: this.#errand.desk?.port ?? 0 }, resolve);
    });
    this.#server = server;
    this.desk.note(this.id, { desk: { port: (server.address() as AddressInfo).port, token } });
  }

  async #openWorker(): Promise<void> {
    const programs = programsOf(process.env);
    const { tmux, worker } = this.#errand;
    const socket = tmux ?? privateSocket(process.env);
    if (socket === null) throw new Error('no temporary folder has a path short enough for a socket; set TMPDIR to one');
    this.#tmux = new Tmux(programs.tmux, socket);
    if (worker === null) {
      // Known before it is there: a host that is killed in between leaves nothing that is not found.
      try {
        this.desk.note(this.id, { tmux: socket });
      } catch (error) {
        rmSync(dirname(socket), { recursive: true, force: true });
        throw error;
      }
      if (!existsSync(this.#errand.cwd)) throw new Error(`its folder ${this.#errand.cwd} is gone`);
      const argv = [programs.claude, ...argumentsOf(this.#errand)];
      const opened = await this.#tmux.start(argv, this.#errand.cwd, environmentOf(this.#errand, process.env));
      this.desk.note(this.id, { worker: opened });
    }
    this.#tree = new ProcessTree(this.#errand.worker as ProcessIdentity);
    void this.#watchProcess();
    void this.#watchStart();
  }

  #end(): Promise<ErrandEnd> {
    const left = this.#errand.createdAt + this.#errand.timeoutMs - Date.now();
    const timeOut = () => {
      const { take, wait } = this.#errand;
      this.desk.end(this.id, { kind: 'timed_out', isTaken: take !== null, ...(wait === null ? {} : { wait }) });
    };
    const timer = setTimeout(timeOut, Math.max(0, left));
    return this.desk.ended(this.id).finally(() => clearTimeout(timer));
  }

  async #watchProcess(): Promise<void> {
    const worker = this.#errand.worker as ProcessIdentity;
    while (isAlive(worker)) {
      await sleep(WATCH_MS);
      if (this.#isOver) return;
      this.#tree?.sample();
    }
    // What tmux says of the end pushes a line off the screen, which may be all that the program said.
    const screen = (await this.#tmux?.screen(1)) ?? '';
    const how = (await this.#tmux?.ending()) ?? 'its terminal was closed';
    await sleep(LAST_REPORT_MS);
    const words = mask(lastWordsOf(screen));
    this.desk.end(this.id, { kind: 'worker_ended', detail: words === '' ? how : `${how}; its screen says: ${words}` });
  }

  /** A dialog before the worker is up can be seen on its screen alone. */
  async #watchStart(): Promise<void> {
    const begun = performance.now();
    while (!this.#isOver && this.#errand.take === null) {
      await sleep(SCREEN_MS);
      const screen = (await this.#tmux?.screen()) ?? '';
      if (this.#isOver || this.#errand.take !== null) return;
      const isLate = performance.now() - begun > START_MS;
      const start: Wait | null = isLate ? { for: 'start', what: mask(lastWordsOf(screen)) } : null;
      this.desk.waits(this.id, startWaitOf(screen) ?? start);
    }
  }
}
