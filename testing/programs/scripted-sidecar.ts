/**
 * The real sidecar with a harness whose turns do what their message says, in real processes:
 *
 *   say <text>      completes with the text
 *   run             starts a shell with two children, reports their pids, runs until it is interrupted
 *   wait            does nothing until it is interrupted
 *   steerable       like wait, and takes what is steered as its answer
 *
 * VERBATIM_TEST_LEASE_MS sets the lease.
 */

import { TESTED } from '../../plugin/hooks/protocol/tested.js';
import type {
  Harness,
  HarnessThread,
  OpenThread,
  Steering,
  TurnEnd,
  TurnEvent,
  TurnInput,
} from '../../sidecar/src/harness/contract.js';
import type { HarnessContext } from '../../sidecar/src/harness/registry.js';
import { Child } from '../../sidecar/src/process/child.js';
import { childEnvironment, JOB_VARIABLE } from '../../sidecar/src/process/environment.js';
import { carrying } from '../../sidecar/src/process/table.js';
import { serve } from '../../sidecar/src/server/serve.js';

class ProcessThread implements HarnessThread {
  readonly model = 'scripted-1';
  readonly harnessVersion = TESTED.codex.to;
  #finish: ((ending: TurnEnd['ending']) => void) | null = null;
  #takesMessages = false;
  #child: Child | null = null;

  constructor(
    readonly id: string,
    private readonly context: HarnessContext,
    private readonly request: OpenThread,
  ) {}

  async run(turn: TurnInput, onEvent: (event: TurnEvent) => void): Promise<TurnEnd> {
    const text = turn.messages.map((message) => message.text).join('\n');
    const [word = ''] = text.split(' ');
    if (word === 'say') return this.#ended({ kind: 'completed', answer: text.slice(4) }, []);
    this.#takesMessages = word === 'steerable';
    if (word === 'run') this.#start(onEvent);
    const ending = await new Promise<TurnEnd['ending']>((resolve) => {
      this.#finish = resolve;
    });
    this.#finish = null;
    return this.#ended(ending, await this.close());
  }

  async steer(message: { readonly text: string }): Promise<Steering> {
    if (!this.#takesMessages || this.#finish === null) return { kind: 'no_turn' };
    this.#finish({ kind: 'completed', answer: message.text });
    return { kind: 'joined' };
  }

  async interrupt(): Promise<void> {
    this.#finish?.({ kind: 'interrupted' });
  }

  async close(): Promise<readonly string[]> {
    // The one that left the tree is found by what it carries.
    return (await this.#child?.end(() => carrying(JOB_VARIABLE, [this.request.job]))) ?? [];
  }

  #start(onEvent: (event: TurnEvent) => void): void {
    const env = childEnvironment({ parent: this.context.env, keys: [], sidecar: this.context.sidecar });
    this.#child = Child.start({
      program: '/bin/sh',
      // The second one is in a session of its own, as a harness's commands are, and its parent is soon gone. The shell ends with its stdin.
      args: ['-c', 'sleep 987 & echo $!; (setsid sleep 986 & echo $!); cat'],
      cwd: this.request.cwd,
      env: { ...env, [JOB_VARIABLE]: this.request.job },
      onLine: (line) => onEvent({ kind: 'warning', text: line }),
    });
  }

  #ended(ending: TurnEnd['ending'], survivors: readonly string[]): TurnEnd {
    return { ending, tokens: { input: 1, cached: null, output: 2 }, model: this.model, survivors };
  }
}

const processHarness = (context: HarnessContext): Harness => {
  const threads: ProcessThread[] = [];
  return {
    name: 'codex',
    detect: async () => ({ kind: 'found', version: TESTED.codex.to, program: '/bin/sh', signedIn: 'yes' }),
    async open(request) {
      const thread = new ProcessThread(request.thread ?? `thread-${threads.length + 1}`, context, request);
      threads.push(thread);
      return thread;
    },
    close: async () => (await Promise.all(threads.map((thread) => thread.close()))).flat(),
  };
};

const lease = process.env.VERBATIM_TEST_LEASE_MS;
process.exitCode = await serve({
  leaseMs: lease === undefined ? undefined : Number(lease),
  makers: { codex: processHarness },
});
process.exit();
