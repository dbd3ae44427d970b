/**
 * The process behind one errand: it keeps the desk, opens the worker, watches both, and takes the worker away again.
 *
 * It is not the process that asked: that one may be killed at any time, and the worker must not outlive it; and a host
 * that is killed is started again by it, finds the worker by its record, and goes on at the same address.
 */
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
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
/** After this long without taking its task a worker waits for something, whatever it is, in milliseconds. */
const START_MS = 20_000;
/** How long a report that was under way when its worker ended may take, in milliseconds. */
const LAST_REPORT_MS = 300;

/** What the host tells whoever asked. */
export type HostSays =
  | { readonly kind: 'opened' }
  | { readonly kind: 'waits'; readonly wait: Wait | null }
  /** Its end is told too: a disk that is full may not hold it. */
  | { readonly kind: 'ended'; readonly end: ErrandEnd; readonly survivors: readonly string[] };
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
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => interrupt('it was stopped'));

  const worker = new Worker(id, errands, desk, log);
  const { end, survivors } = await worker.run(say);
  log('info', 'the errand has ended', { end, survivors });
  say({ kind: 'ended', end, survivors });
  if (process.connected) process.disconnect();
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

  /** Opens the worker, waits for the errand's end, closes it. Resolves to that, and to the processes that outlived it. */
  async run(say: (message: HostSays) => void): Promise<{ end: ErrandEnd; survivors: readonly string[] }> {
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
    this.#server?.close();
    this.#server?.closeAllConnections();
    const { isKept, tmux } = this.#errand;
    const mayStay = isKept && tmux !== null && end.kind !== 'worker_ended' && end.kind !== 'failed';
    if (mayStay) await new Tmux(programOf('tmux', process.env), tmux).letGo();
    const survivors = mayStay ? [] : await closeWorker(this.errands, this.#errand, this.#tree);
    try {
      // A worker that stays reports no more: its token is of no use to anybody.
      this.desk.note(this.id, { host: null, desk: null, ...(mayStay ? {} : { tmux: null, worker: null }) });
    } catch (error) {
      this.log('error', 'that the worker is closed could not be written', { error });
    }
    return { end, survivors };
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
      this.desk.note(this.id, { tmux: socket });
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
    const timer = setTimeout(() => this.desk.end(this.id, { kind: 'timed_out' }), Math.max(0, left));
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
