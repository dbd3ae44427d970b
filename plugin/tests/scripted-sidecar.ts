/**
 * A sidecar in memory, for the engine's kit: the same routes, answered from a script of events.
 *
 * It is no harness: it plays back what a harness's adapter would have journaled.
 */
import type { CreateJob, JobView, SendMessage } from '../hooks/protocol/api.js';
import type { EventBody, JobEvent } from '../hooks/protocol/event.js';
import type { AnswerRecord } from '../hooks/protocol/outcome.js';

export type ScriptedTurn = {
  readonly events?: readonly EventBody[];
  /** The turn's answer; absent where `ending` says how else it ended. */
  readonly answer?: string;
  readonly ending?: Extract<EventBody, { kind: 'turn_ended' }>['outcome'];
  readonly tokens?: Extract<EventBody, { kind: 'turn_ended' }>['tokens'];
  readonly model?: string;
  /** Called once when the turn has been played, before its end is journaled: a message that comes late. */
  readonly beforeEnd?: () => void;
};

export const TOKEN = 'scripted-token';
export const JOB = 'jabcdefghijklmnopqrst';

export class ScriptedSidecar {
  readonly requests: { method: string; path: string; body: unknown }[] = [];
  readonly messages: { id: string; text: string }[] = [];
  readonly answers = new Map<number, string>();
  #events: JobEvent[] = [];
  #turn = 0;
  #created: CreateJob | undefined;

  constructor(
    private readonly turns: readonly ScriptedTurn[],
    private readonly refused?: string,
  ) {}

  /** Prompts and messages the harness was given, in order. */
  get texts(): string[] {
    return this.messages.map((message) => message.text);
  }

  get harnessTurns(): number {
    return this.#turn;
  }

  answer(
    method: string,
    url: string,
    authorization: string | undefined,
    body: string | undefined,
  ): { status: number; text: string } {
    if (authorization !== `Bearer ${TOKEN}`) return error(401, 'unauthorized', 'no token');
    const { pathname, searchParams } = new URL(url);
    const given: unknown = body === undefined ? undefined : JSON.parse(body);
    this.requests.push({ method, path: pathname, body: given });
    if (pathname === '/v1/jobs') {
      this.#created = given as CreateJob;
      this.#take(this.#created.message);
      return ok({ job: this.#view() });
    }
    const [, , , job, what, turn] = pathname.split('/');
    if (pathname === '/v1/lease' || pathname === '/v1/warm') return ok({});
    if (job !== JOB || this.#created === undefined) return error(404, 'not_found', 'no such job');
    switch (what) {
      case 'messages':
        if ((given as SendMessage).message.text === this.refused)
          return error(400, 'invalid', `It is ${this.refused}.`);
        this.#take((given as SendMessage).message);
        return ok({ disposition: 'started', job: this.#view() });
      case 'events': {
        const after = Number(searchParams.get('after'));
        return ok({ events: this.#events.filter((event) => event.seq > after), job: this.#view() });
      }
      case 'answers': {
        const text = this.answers.get(Number(turn));
        if (text === undefined) return error(404, 'not_found', 'no answer');
        // Pages as small as can be, so that every text is put together from several, its surrogate pairs split.
        const from = Number(searchParams.get('from'));
        const next = from + 3 < text.length ? from + 3 : null;
        return ok({ turn: Number(turn), text: text.slice(from, from + 3), next, bytes: 0, sha256: '' });
      }
      default:
        return ok({ job: this.#view() });
    }
  }

  #take(message: { id: string; text: string }): void {
    if (this.messages.some((one) => one.id === message.id)) return;
    this.messages.push(message);
    const script = this.turns[this.#turn];
    if (script === undefined) throw new Error(`the script has no turn ${this.#turn + 1}`);
    this.#turn += 1;
    this.#push({ kind: 'turn_started', messages: [message.id] });
    for (const event of script.events ?? []) this.#push(event);
    script.beforeEnd?.();
    if (script.answer !== undefined) this.answers.set(this.#turn, script.answer);
    this.#push({
      kind: 'turn_ended',
      outcome: script.ending ?? { kind: 'completed', answer: record(script.answer ?? '', this.#turn) },
      tokens: script.tokens === undefined ? { input: 12, cached: 3, output: 4 } : script.tokens,
      model: script.model ?? 'gpt-5.5',
      durationMs: 5,
      filesChanged: [],
      survivors: [],
    });
  }

  #push(body: EventBody): void {
    this.#events.push({ ...body, seq: this.#events.length + 1, turn: this.#turn, at: 0 });
  }

  #view(): JobView {
    return {
      id: JOB,
      harness: 'codex',
      harnessVersion: '0.171.0',
      agent: this.#created?.agent ?? '',
      model: 'gpt-5.5',
      thread: '0199-thread',
      cwd: this.#created?.cwd ?? '',
      status: 'idle',
      turns: this.#turn,
      lastSeq: this.#events.length,
      createdAt: 0,
    };
  }
}

function record(answer: string, turn: number): AnswerRecord {
  return {
    bytes: new TextEncoder().encode(answer).length,
    sha256: 'ab'.repeat(32),
    file: `/state/jobs/${JOB}/answers/${turn}`,
  };
}

function ok(body: unknown): { status: number; text: string } {
  return { status: 200, text: JSON.stringify(body) };
}

function error(status: number, code: string, message: string): { status: number; text: string } {
  return { status, text: JSON.stringify({ error: { code, message } }) };
}
