/**
 * A harness whose every answer the test gives: threads, turns and steers stand still until they are told.
 *
 * In memory: for what depends on the moment at which something happens, not on a process.
 */

import type { Failure } from '../plugin/hooks/protocol/outcome.js';
import { TESTED } from '../plugin/hooks/protocol/tested.js';
import {
  type Detection,
  type Harness,
  HarnessError,
  type HarnessThread,
  type OpenThread,
  type Steering,
  type TurnEnd,
  type TurnEvent,
  type TurnInput,
} from '../sidecar/src/harness/contract.js';

/** One turn that the job has begun, for the test to end. */
export type ScriptedTurn = {
  readonly input: TurnInput;
  emit(event: TurnEvent): void;
  end(ending: TurnEnd['ending'], rest?: Partial<TurnEnd>): void;
  reject(error: unknown): void;
};

/** One message that the job tries to steer, for the test to answer. */
export type ScriptedSteer = {
  readonly id: string;
  readonly text: string;
  answer(kind: Steering['kind']): void;
  reject(error: unknown): void;
};

export class ScriptedThread implements HarnessThread {
  readonly model = 'scripted-1';
  harnessVersion: string = TESTED.codex.to;
  readonly turns: ScriptedTurn[] = [];
  readonly steers: ScriptedSteer[] = [];
  interrupts = 0;
  closes = 0;
  /** What `interrupt` does: by default the running turn ends as interrupted. */
  onInterrupt: () => void | Promise<void> = () => this.turns.at(-1)?.end({ kind: 'interrupted' });
  onClose: () => void | Promise<void> = () => {};
  onRun: (turn: ScriptedTurn) => void = () => {};
  onSteer: (steer: ScriptedSteer) => void = () => {};

  constructor(readonly id: string) {}

  run(input: TurnInput, onEvent: (event: TurnEvent) => void): Promise<TurnEnd> {
    return new Promise((resolve, reject) => {
      const turn: ScriptedTurn = {
        input,
        emit: onEvent,
        end: (ending, rest = {}) => resolve({ ending, tokens: null, model: this.model, survivors: [], ...rest }),
        reject,
      };
      this.turns.push(turn);
      this.onRun(turn);
    });
  }

  steer(message: { readonly id: string; readonly text: string }): Promise<Steering> {
    return new Promise((resolve, reject) => {
      const steer: ScriptedSteer = { ...message, answer: (kind) => resolve({ kind }), reject };
      this.steers.push(steer);
      this.onSteer(steer);
    });
  }

  async interrupt(): Promise<void> {
    this.interrupts += 1;
    await this.onInterrupt();
  }

  async close(): Promise<readonly string[]> {
    this.closes += 1;
    await this.onClose();
    return [];
  }
}

export class ScriptedHarness implements Harness {
  readonly name = 'codex';
  readonly opens: OpenThread[] = [];
  readonly threads: ScriptedThread[] = [];
  /** Called before a thread opens: it may wait, or throw. */
  onOpen: (request: OpenThread) => void | Promise<void> = () => {};
  /** Called with each new thread, before the job has it. */
  onThread: (thread: ScriptedThread) => void = () => {};

  async detect(): Promise<Detection> {
    return { kind: 'found', version: TESTED.codex.to, program: '/scripted', signedIn: 'yes' };
  }

  async open(request: OpenThread): Promise<HarnessThread> {
    this.opens.push(request);
    await this.onOpen(request);
    const thread = new ScriptedThread(request.thread ?? `thread-${this.threads.length + 1}`);
    this.threads.push(thread);
    this.onThread(thread);
    return thread;
  }

  async close(): Promise<readonly string[]> {
    return [];
  }

  get thread(): ScriptedThread {
    const thread = this.threads.at(-1);
    if (thread === undefined) throw new Error('no thread has been opened');
    return thread;
  }
}

export function harnessError(kind: Failure['kind'], message: string): HarnessError {
  return new HarnessError({ kind, status: 'failed', message });
}
