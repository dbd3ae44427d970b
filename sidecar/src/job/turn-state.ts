/**
 * The one turn state machine: which messages wait, which are being steered, when a turn starts and ends.
 *
 * Pure. `next` takes a state and what happened, and answers the new state and what is to be done; the
 * job does it and reports back. Two promises hold in every path through it: a message is handed to the
 * harness at most once, and a message that was not handed over stays in `waiting`, in order of arrival.
 *
 *   idle ──message──▶ starting ──opened──▶ running ──settled──▶ ending ──recorded──▶ idle | starting
 *                        └──── open_failed | stop ────────────────▶┘
 */

/** Where the job stands. */
export type Phase =
  /** No turn. Messages may wait here after a stop or a failed start: the next message brings them along. */
  | 'idle'
  /** The thread is being opened; nothing has been handed over. */
  | 'starting'
  /** The harness's turn runs. */
  | 'running'
  /** The harness's turn is over, its end is not recorded: a steer may still be open, the answer is being stored. */
  | 'ending';

export type TurnState = {
  readonly phase: Phase;
  /** Turns begun so far; the current turn's number while there is one. */
  readonly turn: number;
  /** Messages that no turn has taken, oldest first. */
  readonly waiting: readonly string[];
  /** Messages that are to join the running turn, oldest first; the first one is with the harness now. */
  readonly steering: readonly string[];
  /** A message has come since the last stop or failed start: a turn is to start as soon as one can. */
  readonly isWanted: boolean;
  /** The running turn was told to stop. */
  readonly isStopping: boolean;
};

export type Happening =
  /** `isSteerable` is false for a message that must not join the running turn, for it allows less than the turn does. */
  | { readonly kind: 'message'; readonly id: string; readonly isSteerable: boolean }
  | { readonly kind: 'opened'; readonly turn: number }
  | { readonly kind: 'open_failed'; readonly turn: number }
  | { readonly kind: 'steered'; readonly id: string; readonly hasJoined: boolean }
  | { readonly kind: 'settled'; readonly turn: number }
  | { readonly kind: 'recorded'; readonly turn: number }
  | { readonly kind: 'stop' };

export type Effect =
  | { readonly kind: 'open'; readonly turn: number }
  /** Hand these messages over as the turn's input. */
  | { readonly kind: 'run'; readonly turn: number; readonly messages: readonly string[] }
  | { readonly kind: 'steer'; readonly id: string }
  | { readonly kind: 'interrupt' }
  /** Record how a turn that ran ended. */
  | { readonly kind: 'record_end'; readonly turn: number }
  /** Record that the turn ended before anything was handed over; `messages` wait on. */
  | {
      readonly kind: 'record_unstarted';
      readonly turn: number;
      readonly why: 'open_failed' | 'stopped';
      readonly messages: readonly string[];
    };

export type Step = { readonly state: TurnState; readonly effects: readonly Effect[] };

/** The state of a job that has no turn under way; `waiting` and `turn` as the journal has them. */
export function restingState(turn: number, waiting: readonly string[]): TurnState {
  return { phase: 'idle', turn, waiting, steering: [], isWanted: false, isStopping: false };
}

/** Whether a turn is under way or about to start. */
export function isBusy(state: TurnState): boolean {
  return state.phase !== 'idle';
}

/** What follows from `happening`. A report that belongs to an earlier turn or another phase changes nothing. */
export function next(state: TurnState, happening: Happening): Step {
  switch (happening.kind) {
    case 'message':
      return onMessage(state, happening.id, happening.isSteerable);
    case 'opened': {
      if (state.phase !== 'starting' || happening.turn !== state.turn) return unchanged(state);
      const messages = state.waiting;
      return {
        state: { ...state, phase: 'running', waiting: [], isWanted: false },
        effects: [{ kind: 'run', turn: state.turn, messages }],
      };
    }
    case 'open_failed':
      if (state.phase !== 'starting' || happening.turn !== state.turn) return unchanged(state);
      return endUnstarted(state, 'open_failed');
    case 'steered':
      return onSteered(state, happening.id, happening.hasJoined);
    case 'settled':
      if (state.phase !== 'running' || happening.turn !== state.turn) return unchanged(state);
      return onSettled(state);
    case 'recorded': {
      if (state.phase !== 'ending' || happening.turn !== state.turn) return unchanged(state);
      const rested: TurnState = { ...state, phase: 'idle', isStopping: false };
      return rested.isWanted ? start(rested) : { state: rested, effects: [] };
    }
    case 'stop':
      return onStop(state);
    default:
      return happening satisfies never;
  }
}

function onMessage(state: TurnState, id: string, isSteerable: boolean): Step {
  const queued: TurnState = { ...state, waiting: [...state.waiting, id], isWanted: true };
  switch (state.phase) {
    case 'idle':
      return start(queued);
    case 'starting':
    case 'ending':
      return { state: queued, effects: [] };
    case 'running': {
      // An older message that waits goes first: joining past it would turn the order around.
      if (state.isStopping || !isSteerable || state.waiting.length > 0) return { state: queued, effects: [] };
      const steering = [...state.steering, id];
      // One at a time, so that the harness sees them in the order in which they were sent.
      return { state: { ...state, steering }, effects: steering.length === 1 ? [{ kind: 'steer', id }] : [] };
    }
    default:
      return state.phase satisfies never;
  }
}

function onSteered(state: TurnState, id: string, hasJoined: boolean): Step {
  const [first, ...rest] = state.steering;
  if (first !== id) return unchanged(state);
  if (hasJoined) {
    const after: TurnState = { ...state, steering: rest };
    const following = rest[0];
    if (following !== undefined) return { state: after, effects: [{ kind: 'steer', id: following }] };
    return afterSteers(after);
  }
  // No turn took it: it and those behind it wait for the next one. They are older than anything that waits.
  const waiting = [first, ...rest, ...state.waiting];
  return afterSteers({ ...state, steering: [], waiting, isWanted: state.isStopping ? state.isWanted : true });
}

function onSettled(state: TurnState): Step {
  const [first, ...rest] = state.steering;
  if (first === undefined) return afterSteers({ ...state, phase: 'ending' });
  // The one that is with the harness is waited for: only its answer says whether this turn had it.
  const waiting = [...rest, ...state.waiting];
  const isWanted = state.isWanted || (rest.length > 0 && !state.isStopping);
  return { state: { ...state, phase: 'ending', steering: [first], waiting, isWanted }, effects: [] };
}

/** Records the end of a turn that has settled as soon as no steer is open. */
function afterSteers(state: TurnState): Step {
  if (state.phase !== 'ending') return { state, effects: [] };
  return { state, effects: [{ kind: 'record_end', turn: state.turn }] };
}

function onStop(state: TurnState): Step {
  switch (state.phase) {
    case 'idle':
      return unchanged(state);
    case 'starting':
      return endUnstarted(state, 'stopped');
    case 'running': {
      if (state.isStopping) return { state: { ...state, isWanted: false }, effects: [] };
      const [first, ...rest] = state.steering;
      const stopped: TurnState = {
        ...state,
        isStopping: true,
        isWanted: false,
        steering: first === undefined ? [] : [first],
        waiting: [...rest, ...state.waiting],
      };
      return { state: stopped, effects: [{ kind: 'interrupt' }] };
    }
    case 'ending':
      return { state: { ...state, isStopping: true, isWanted: false }, effects: [] };
    default:
      return state.phase satisfies never;
  }
}

function start(state: TurnState): Step {
  const turn = state.turn + 1;
  return { state: { ...state, phase: 'starting', turn }, effects: [{ kind: 'open', turn }] };
}

function endUnstarted(state: TurnState, why: 'open_failed' | 'stopped'): Step {
  return {
    state: { ...state, phase: 'ending', isWanted: false },
    effects: [{ kind: 'record_unstarted', turn: state.turn, why, messages: state.waiting }],
  };
}

function unchanged(state: TurnState): Step {
  return { state, effects: [] };
}
