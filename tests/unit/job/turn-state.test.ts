import { describe, expect, it } from 'vitest';
import {
  type Effect,
  type Happening,
  isBusy,
  next,
  restingState,
  type TurnState,
} from '../../../sidecar/src/job/turn-state.js';

/** Applies happenings to a job at rest; answers the last state and all effects, by kind and value. */
function play(...happenings: Happening[]): { state: TurnState; effects: Effect[] } {
  let state = restingState(0, []);
  const effects: Effect[] = [];
  for (const happening of happenings) {
    const step = next(state, happening);
    state = step.state;
    effects.push(...step.effects);
  }
  return { state, effects };
}

const message = (id: string, isSteerable = true): Happening => ({ kind: 'message', id, isSteerable });
const opened = (turn = 1): Happening => ({ kind: 'opened', turn });
const settled = (turn = 1): Happening => ({ kind: 'settled', turn });
const recorded = (turn = 1): Happening => ({ kind: 'recorded', turn });
const steered = (id: string, hasJoined: boolean): Happening => ({ kind: 'steered', id, hasJoined });
const stop: Happening = { kind: 'stop' };
const runs = (effects: readonly Effect[]) =>
  effects.flatMap((effect) => (effect.kind === 'run' ? [effect.messages] : []));

describe('the turn state machine', () => {
  it('opens the thread for the first message and hands it over once the thread is open', () => {
    const { state, effects } = play(message('a'), opened());
    expect(effects).toEqual([
      { kind: 'open', turn: 1 },
      { kind: 'run', turn: 1, messages: ['a'] },
    ]);
    expect(state).toMatchObject({ phase: 'running', waiting: [], turn: 1 });
  });

  it('hands over with the first message what came while the thread was being opened', () => {
    expect(runs(play(message('a'), message('b'), opened()).effects)).toEqual([['a', 'b']]);
  });

  it('steers a message that comes during the turn', () => {
    const { state, effects } = play(message('a'), opened(), message('b'), steered('b', true), settled(), recorded());
    expect(effects).toContainEqual({ kind: 'steer', id: 'b' });
    expect(runs(effects)).toEqual([['a']]);
    expect(isBusy(state)).toBe(false);
  });

  it('steers one message at a time, in the order in which they came', () => {
    const before = play(message('a'), opened(), message('b'), message('c'));
    expect(before.effects.filter((effect) => effect.kind === 'steer')).toEqual([{ kind: 'steer', id: 'b' }]);
    expect(next(before.state, steered('b', true)).effects).toEqual([{ kind: 'steer', id: 'c' }]);
  });

  it('starts the next turn at once with all that waits when no turn took a message', () => {
    const { effects } = play(
      ...[message('a'), opened(), message('b'), message('c'), steered('b', false), message('d'), settled(), recorded()],
      opened(2),
    );
    expect(runs(effects)).toEqual([['a'], ['b', 'c', 'd']]);
  });

  it('waits for an open steer before the end of its turn is recorded', () => {
    const open = play(message('a'), opened(), message('b'), settled());
    expect(open.effects.some((effect) => effect.kind === 'record_end')).toBe(false);
    expect(next(open.state, steered('b', true)).effects).toEqual([{ kind: 'record_end', turn: 1 }]);
    const refused = next(open.state, steered('b', false));
    expect(refused.effects).toEqual([{ kind: 'record_end', turn: 1 }]);
    expect(next(refused.state, recorded()).effects).toEqual([{ kind: 'open', turn: 2 }]);
  });

  it('gives a message that came as the turn ended a turn of its own', () => {
    expect(runs(play(message('a'), opened(), settled(), message('b'), recorded(), opened(2)).effects)).toEqual([
      ['a'],
      ['b'],
    ]);
  });

  it('gives a message that must not join the running turn the next one', () => {
    const { effects } = play(message('a'), opened(), message('b', false), settled(), recorded(), opened(2));
    expect(effects.some((effect) => effect.kind === 'steer')).toBe(false);
    expect(runs(effects)).toEqual([['a'], ['b']]);
  });

  it('keeps what waits when stopped, starts nothing by itself, and hands it over with the next message', () => {
    const stopped = play(
      message('a'),
      opened(),
      message('b'),
      message('c'),
      stop,
      steered('b', false),
      settled(),
      recorded(),
    );
    expect(isBusy(stopped.state)).toBe(false);
    expect(stopped.state.waiting).toEqual(['b', 'c']);
    const resumed = next(stopped.state, message('d'));
    expect(resumed.effects).toEqual([{ kind: 'open', turn: 2 }]);
    expect(next(resumed.state, opened(2)).effects).toEqual([{ kind: 'run', turn: 2, messages: ['b', 'c', 'd'] }]);
  });

  it('starts a turn for a message that came after the stop and before the end', () => {
    const { effects } = play(message('a'), opened(), stop, message('b'), settled(), recorded(), opened(2));
    expect(runs(effects)).toEqual([['a'], ['b']]);
  });

  it('interrupts once, however often it is stopped', () => {
    const { effects } = play(message('a'), opened(), stop, stop);
    expect(effects.filter((effect) => effect.kind === 'interrupt')).toHaveLength(1);
  });

  it('ends a turn that is stopped while its thread is being opened, and ignores the thread that comes late', () => {
    const { state, effects } = play(message('a'), stop, recorded(), opened(1));
    expect(effects).toContainEqual({ kind: 'record_unstarted', turn: 1, why: 'stopped', messages: ['a'] });
    expect(runs(effects)).toEqual([]);
    expect(state).toMatchObject({ phase: 'idle', waiting: ['a'] });
  });

  it('ends a turn whose thread cannot be opened, and does not try again by itself', () => {
    const { state, effects } = play(message('a'), message('b'), { kind: 'open_failed', turn: 1 }, recorded());
    expect(effects.at(-1)).toEqual({ kind: 'record_unstarted', turn: 1, why: 'open_failed', messages: ['a', 'b'] });
    expect(state).toMatchObject({ phase: 'idle', waiting: ['a', 'b'], isWanted: false });
  });

  it('ignores a report of a turn that is over', () => {
    const { state } = play(message('a'), opened(), settled(), recorded(), message('b'));
    for (const late of [opened(1), settled(1), recorded(1), steered('a', true)]) {
      expect(next(state, late)).toEqual({ state, effects: [] });
    }
  });
});

/**
 * Every order in which messages, stops and the harness's answers can come, to a depth: the harness is played
 * as it may behave, each answer that it owes being one choice.
 */
describe('in every order of messages, stops and answers', () => {
  type World = {
    state: TurnState;
    owed: readonly Happening[][];
    sent: readonly string[];
    handed: readonly string[];
    stops: number;
    fails: number;
  };

  function advance(world: World, happening: Happening): World {
    const { state, effects } = next(world.state, happening);
    let { owed, handed, fails } = world;
    if (happening.kind === 'steered' && happening.hasJoined) handed = [...handed, happening.id];
    for (const effect of effects) {
      switch (effect.kind) {
        case 'open':
          owed = [
            ...owed,
            [opened(effect.turn), ...(fails > 0 ? [{ kind: 'open_failed', turn: effect.turn } as const] : [])],
          ];
          fails -= 1;
          break;
        case 'run':
          handed = [...handed, ...effect.messages];
          owed = [...owed, [settled(effect.turn)]];
          break;
        case 'steer':
          owed = [...owed, [steered(effect.id, true), steered(effect.id, false)]];
          break;
        case 'record_end':
        case 'record_unstarted':
          owed = [...owed, [recorded(effect.turn)]];
          break;
        case 'interrupt':
          break;
      }
    }
    return { ...world, state, owed, handed, fails };
  }

  function check(world: World): void {
    const kept = [...world.handed, ...world.state.steering, ...world.state.waiting];
    if (kept.join() !== world.sent.join()) {
      throw new Error(
        `sent ${world.sent.join()}, handed over, steered and waiting ${kept.join()}: ${JSON.stringify(world)}`,
      );
    }
    if (world.owed.length === 0) {
      if (isBusy(world.state)) throw new Error(`nothing will end this: ${JSON.stringify(world)}`);
      if (world.state.isWanted) throw new Error(`a message waits and nothing starts: ${JSON.stringify(world)}`);
    }
  }

  function explore(world: World, messages: number): number {
    check(world);
    let seen = 1;
    if (world.sent.length < messages) {
      for (const isSteerable of [true, false]) {
        const id = `m${world.sent.length}`;
        seen += explore(advance({ ...world, sent: [...world.sent, id] }, message(id, isSteerable)), messages);
      }
    }
    if (world.stops > 0) seen += explore(advance({ ...world, stops: world.stops - 1 }, stop), messages);
    for (const [index, choices] of world.owed.entries()) {
      const owed = world.owed.filter((_, other) => other !== index);
      for (const choice of choices) seen += explore(advance({ ...world, owed }, choice), messages);
    }
    return seen;
  }

  it('hands each message over at most once, in order, loses none and always comes to rest', () => {
    const world: World = { state: restingState(0, []), owed: [], sent: [], handed: [], stops: 1, fails: 1 };
    expect(explore(world, 3)).toBeGreaterThan(10_000);
  });
});
