/** What the runner knows of one of its agents, and of the run that the agent is in. */

import type { TurnEnded } from '../notes/job-state.js';
import type { JobView, PermissionMode } from '../protocol/api.js';
import type { Failure } from '../protocol/outcome.js';
import type { AgentType } from './harnesses.js';

/** What `agent.spawn` says of an agent; the engine may raise it after the agent's first events. */
export type SpawnFacts = {
  readonly type: AgentType;
  readonly prompt: string;
  readonly mode: PermissionMode;
  readonly model: string | undefined;
  readonly name: string | undefined;
  readonly isResume: boolean;
  /** The Claude Code session's id. */
  readonly session: string;
};

/** A text for the harness that its job has not taken yet. */
type Unsent = { readonly id: string; readonly text: string };

/** One run of the agent's loop, plain data: it is kept across a reload of the module. */
export type Run = {
  readonly turnId: string;
  /** The first message the run handed over: events before the turn that answers it are an older run's. */
  opening: string;
  /** Whether that turn has been seen. */
  isOpen: boolean;
  /** The number of the last event shown. */
  cursor: number;
  /** The harness turn whose end was shown last and which no other has followed yet. */
  ended: TurnEnded | undefined;
  /** The job as it was then. */
  endedJob: JobView | undefined;
  /** Hand-backs emitted so far, and what refused them. */
  handbacks: number;
  refusals: string[];
  /**
   * The engine offered the hand-back tool for this run, which it does exactly where it wants the report that way. Its
   * note that asks for it stands in the agent's transcript once: a resume in the same mode has none (2.1.332).
   */
  isHandbackOwed: boolean;
  /** The engine aborted it, and the harness was told. */
  isStopped: boolean;
  /** What the next steps are to say: messages that were refused. */
  notices: string[];
  /** An action whose call was answered before it ended, to be waited for again. */
  reopen: number | undefined;
};

export type Opened =
  | { readonly kind: 'open'; readonly job: string }
  | { readonly kind: 'failed'; readonly failure: Failure };

export type Agent = {
  readonly id: string;
  type: AgentType;
  /** Absolute path, from the event that states it for this agent; undefined where none did. */
  cwd: string | undefined;
  name: string | undefined;
  mode: PermissionMode;
  model: string | undefined;
  session: string;
  job: string | undefined;
  unsent: Unsent[];
  /** Whether its loop is in a run now, as far as the engine's events say. */
  isRunning: boolean;
  run: Run | undefined;
  /** The run's hand-over, once it has begun. */
  opening: Promise<Opened> | undefined;
  /** Settles when the stop of its last run was carried out. */
  stopping: Promise<unknown> | undefined;
  /** Settles when a message may wait for the agent; replaced each time it was looked at. */
  mail: Signal;
};

export function newAgent(id: string, type: AgentType): Agent {
  return {
    id,
    type,
    cwd: undefined,
    name: undefined,
    mode: 'unknown',
    model: undefined,
    session: '',
    job: undefined,
    unsent: [],
    isRunning: false,
    run: undefined,
    opening: undefined,
    stopping: undefined,
    mail: signal(),
  };
}

/** A promise and its trigger. */
type Signal = { readonly raised: Promise<'mail'>; isRaised: boolean; raise: () => void };

export function signal(): Signal {
  let settle: (value: 'mail') => void = () => undefined;
  const raised = new Promise<'mail'>((resolve) => {
    settle = resolve;
  });
  const one: Signal = {
    raised,
    isRaised: false,
    raise: () => {
      one.isRaised = true;
      settle('mail');
    },
  };
  return one;
}

export function newRun(turnId: string): Run {
  return {
    turnId,
    opening: messageId(turnId),
    isOpen: false,
    cursor: 0,
    ended: undefined,
    endedJob: undefined,
    handbacks: 0,
    refusals: [],
    isHandbackOwed: false,
    isStopped: false,
    notices: [],
    reopen: undefined,
  };
}

/** The id of the message that a run begins with: the run's own, so that it is handed over once. */
function messageId(turnId: string): string {
  return `run_${turnId.replace(/[^A-Za-z0-9_-]/g, '')}`.slice(0, 128);
}
