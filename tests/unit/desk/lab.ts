/** A state folder of its own with errands in it, and the desk's HTTP on a port of its own. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, type IncomingHttpHeaders, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Desk } from '../../../sidecar/src/desk/desk.js';
import type { ErrandRecord } from '../../../sidecar/src/desk/errand.js';
import { Errands, type NewErrand } from '../../../sidecar/src/desk/errands.js';
import { createDeskServer } from '../../../sidecar/src/desk/http.js';
import type { LogLevel } from '../../../sidecar/src/log.js';

export const TOKEN = 'a-Token_of-43-characters-as-they-are-minted';

export class DeskLab {
  readonly root = mkdtempSync(join(tmpdir(), 'verbatim-desk-'));
  readonly state = join(this.root, 'verbatim');
  readonly errands = new Errands(this.state);
  /** What could not be written, as the desk told it. */
  readonly unwritten: unknown[] = [];
  readonly logged: { readonly level: LogLevel; readonly what: string }[] = [];
  desk = this.newDesk();
  /** The clock of the rate: it stands until a test moves it. */
  clock = 0;
  readonly agent = new Agent({ keepAlive: true, maxSockets: 16 });
  #server: Server | undefined;

  newDesk(): Desk {
    return new Desk(
      this.errands,
      () => 1_000,
      () => {},
      (error) => this.unwritten.push(error),
    );
  }

  /** Opens an errand at the desk. */
  open(task = 'the task', changes: Partial<ErrandRecord> = {}): ErrandRecord {
    const record = { ...this.errands.open(task, NEW, 500), ...changes };
    this.errands.save(record);
    return this.desk.takeUp(record.id);
  }

  /** Opens an errand whose worker has its task. */
  taken(task?: string, changes: Partial<ErrandRecord> = {}): ErrandRecord {
    const record = this.open(task, changes);
    this.desk.take(record.session, `take-${record.id}`);
    return this.desk.errand(record.id);
  }

  /** What lies on disk of an errand. */
  onDisk(id: string): { readonly state: Record<string, unknown>; readonly answer: string | null } {
    const state = readFileSync(join(this.errands.folderOf(id), 'state.json'), 'utf8');
    return {
      state: JSON.parse(state) as Record<string, unknown>,
      answer: this.errands.answerOf(id)?.toString() ?? null,
    };
  }

  async listen(requestMs?: number): Promise<Server> {
    const server = createDeskServer({
      desk: this.desk,
      token: TOKEN,
      log: (level, what) => this.logged.push({ level, what }),
      now: () => this.clock,
      ...(requestMs === undefined ? {} : { requestMs }),
    });
    await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
    this.#server = server;
    return server;
  }

  get port(): number {
    if (this.#server === undefined) throw new Error('the desk does not listen yet');
    return (this.#server.address() as AddressInfo).port;
  }

  /** Sends a request as it is; `body` undefined: none. */
  async send(
    method: string,
    path: string,
    body?: string | Buffer,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    return await new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.port, method, path, agent: this.agent, headers };
      const sent = request(options, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(parts).toString('utf8'),
            wasReused: sent.reusedSocket,
          }),
        );
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** A report, as the worker's mod sends it. */
  async report(body: unknown): Promise<Reply> {
    return await this.send('POST', ANSWER, JSON.stringify(body));
  }

  async close(): Promise<void> {
    this.agent.destroy();
    const server = this.#server;
    if (server !== undefined) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    rmSync(this.root, { recursive: true, force: true });
  }
}

export type Reply = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Whether a request before it went over the same connection. */
  readonly wasReused: boolean;
};

export const ANSWER = `/mod/answer?token=${TOKEN}`;
export const TASK = `/verbatim/task?token=${TOKEN}`;
export const WAITING = `/verbatim/waiting?token=${TOKEN}`;

/** An errand like any other: what matters to a test, it says itself. */
export const NEW: NewErrand = {
  parent: null,
  cwd: '/',
  model: null,
  mode: null,
  depth: 1,
  timeoutMs: 60_000,
  isUnattended: false,
  isKept: false,
  asker: null,
};
