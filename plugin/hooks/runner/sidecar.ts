/**
 * The link to the sidecar: started at the first request, found again by its handshake, started anew
 * when it is gone. One a module; requests go out by the ports of whoever asks.
 */
import { type ApiError, type Handshake, PROTOCOL, REQUEST_LIMIT } from '../protocol/api.js';
import type { ApiReply, ApiRequest } from './host.js';

export type SidecarPorts = {
  /** Starts the sidecar; `onOutput` gets stdout in pieces. The promise settles when its launcher has ended, up or not. */
  readonly start: (onOutput: (piece: string) => void) => Promise<{ detail: string }>;
  readonly sleep: (ms: number) => Promise<void>;
  /** What a module that this one took the place of had left: its sidecar goes on. */
  readonly recall: () => Promise<unknown>;
  readonly keep: (handshake: Handshake) => Promise<void>;
  readonly fetch: Fetch;
};

export type Fetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: string; socketPath?: string },
) => Promise<{ status: number; text: string }>;

type Start =
  | { readonly kind: 'up'; readonly handshake: Handshake }
  | { readonly kind: 'down'; readonly detail: string };

/** How long a sidecar may take to its handshake, in milliseconds: 60–120 ms measured, 8 at once on 2 cores 900 ms. */
const HANDSHAKE_LIMIT_MS = 8_000;

export class Sidecar {
  #start: Promise<Start> | undefined;
  #ports: SidecarPorts | undefined;

  /** Gives the link its way to start a child; `session.start` does, again after every reload. */
  bind(ports: SidecarPorts): void {
    this.#ports = ports;
  }

  /** Whether a start was asked for and has not failed: a renewal of the lease must not start one. */
  get isUp(): boolean {
    return this.#start !== undefined;
  }

  async request(fetch: Fetch, request: ApiRequest): Promise<ApiReply> {
    const start = await this.#up();
    if (start.kind === 'down') return { kind: 'not_started', detail: start.detail };
    const { handshake } = start;
    const reply = await ask(fetch, handshake, request);
    // Its end is heard of in no other way: it does not stand below Claude Code. The next request starts another one.
    if (reply.kind === 'gone') this.#start = undefined;
    return reply;
  }

  #up(): Promise<Start> {
    this.#start ??= this.#launch();
    return this.#start;
  }

  async #launch(): Promise<Start> {
    const ports = this.#ports;
    if (ports === undefined) {
      this.#start = undefined;
      return { kind: 'down', detail: 'the session has not started yet' };
    }
    const adopted = await adopt(ports);
    if (adopted !== undefined) return adopted;
    let output = '';
    const start = await new Promise<Start>((settle) => {
      const ended = ports.start((piece) => {
        if (output.includes('\n')) return;
        output += piece;
        const line = output.indexOf('\n');
        if (line >= 0) settle(startOf(output.slice(0, line)));
      });
      ended.then(
        ({ detail }) => settle({ kind: 'down', detail }),
        (error: unknown) => settle({ kind: 'down', detail: messageOf(error) }),
      );
      const silent = () => settle({ kind: 'down', detail: `it said nothing within ${HANDSHAKE_LIMIT_MS / 1000} s` });
      // A clock that refuses is a session that is over: nobody waits for the sidecar then.
      ports.sleep(HANDSHAKE_LIMIT_MS).then(silent, silent);
    });
    if (start.kind === 'down') this.#start = undefined;
    // Not kept (the module is being unloaded): a reload then starts a sidecar of its own.
    else await ports.keep(start.handshake).catch(() => undefined);
    return start;
  }
}

/** Goes on with the sidecar of the module before a reload, where there is one that answers. */
async function adopt(ports: SidecarPorts): Promise<Start | undefined> {
  const handshake = (await ports.recall()) as Handshake | undefined;
  if (handshake?.protocol !== PROTOCOL) return undefined;
  const reply = await ask(ports.fetch, handshake, { method: 'POST', path: '/v1/adopt', body: {} });
  return reply.kind === 'ok' ? { kind: 'up', handshake } : undefined;
}

async function ask(fetch: Fetch, handshake: Handshake, request: ApiRequest): Promise<ApiReply> {
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  if (body !== undefined && body.length > REQUEST_LIMIT) {
    const message = `the message has ${body.length} characters in its JSON form, and Claude Code hands on at most ${REQUEST_LIMIT}`;
    return { kind: 'refused', status: 413, error: { code: 'too_large', message } };
  }
  const port = handshake.port === undefined ? '' : `:${handshake.port}`;
  try {
    const reply = await fetch(`http://127.0.0.1${port}${request.path}`, {
      method: request.method,
      headers: { authorization: `Bearer ${handshake.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
      ...(handshake.socket === undefined ? {} : { socketPath: handshake.socket }),
    });
    return replyOf(reply);
  } catch (error) {
    return { kind: 'gone', detail: messageOf(error) };
  }
}

function startOf(line: string): Start {
  let handshake: Handshake;
  try {
    handshake = JSON.parse(line) as Handshake;
  } catch {
    return { kind: 'down', detail: `its first line was not a handshake: ${line.slice(0, 200)}` };
  }
  if (handshake.protocol !== PROTOCOL) {
    return {
      kind: 'down',
      detail: `it speaks protocol ${handshake.protocol}, the plugin ${PROTOCOL}; run /reload-plugins after an update`,
    };
  }
  return { kind: 'up', handshake };
}

function replyOf(reply: { status: number; text: string }): ApiReply {
  const body: unknown = reply.text === '' ? undefined : JSON.parse(reply.text);
  if (reply.status < 400) return { kind: 'ok', body };
  const error = (body as Partial<ApiError> | undefined)?.error ?? { code: 'internal', message: `HTTP ${reply.status}` };
  return { kind: 'refused', status: reply.status, error };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
