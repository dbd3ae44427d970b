/**
 * Races of a late message against the end of its agent's turn, on the real programs: how each one went.
 *
 * A race is one agent. Its model is held, then let go at a moment near the one at which SendMessage runs, so that the
 * message meets the turn anywhere from its middle to after the agent's last step.
 */
import { agent, sendMessage } from './fake-messages.js';
import { hold, say, turn } from './fake-responses.js';
import { jobOf } from './jobs.js';
import type { MainLoop } from './main-loop.js';
import { gate, until } from './wait.js';
import { AGENT_TYPE, type World } from './world.js';

/** Where the message was answered. */
export type RaceEnd =
  /** It joined the running turn. */
  | 'steered'
  /** It got a turn of its own before the agent ended. */
  | 'own turn'
  /** The agent's last step beat it: Claude Code resumed the agent. */
  | 'resumed';

export type RaceResult = {
  readonly name: string;
  readonly message: string;
  readonly offsetMs: number;
  readonly agentId: string;
  readonly end: RaceEnd | 'unanswered';
  /** How often the message stands in the thread as the model saw it last. */
  readonly seen: number;
  /** The turn that took each message after the prompt, as the journal says. */
  readonly taken: readonly (number | null)[];
  /** Reports of the agent that answer the message, and whether the last one does. */
  readonly reports: number;
  readonly isLast: boolean;
};

/** How long before SendMessage's reply the first model may be let go, in milliseconds. */
const LEAD_MS = 200;

let raced = 0;

/** Runs one race an offset, all at once; an offset is when the model is let go, against SendMessage's reply. */
export async function race(world: World, main: MainLoop, offsets: readonly number[]): Promise<readonly RaceResult[]> {
  const racers = offsets.map((offsetMs) => {
    const number = ++raced;
    return { offsetMs, name: `race-${number}.`, message: `late-${number}.`, gate: gate() };
  });
  world.codex.script((request) => {
    const racer = racers.find(({ name }) => request.userTexts.includes(name));
    if (racer === undefined) return turn(say('no race'));
    const { name, message } = racer;
    if (request.userTexts.includes(message)) return turn(say(`answer to ${name} ${message}`));
    return turn(hold(racer.gate.promise), say(`answer to ${name}`));
  });
  const spawned = await main.call(...racers.map(({ name }) => agent(AGENT_TYPE, name, { background: true })));
  const ids = spawned.map(({ text }) => /agentId: (\w+)/.exec(text)?.[1] ?? '');
  await until(
    'every model to be asked',
    () => racers.every(({ name }) => world.codex.requests.some((request) => request.userTexts.includes(name))),
    { within: 60_000 },
  );
  const letGo = async () => {
    for (const racer of racers) setTimeout(racer.gate.open, LEAD_MS + racer.offsetMs);
    await new Promise((resolve) => setTimeout(resolve, LEAD_MS));
  };
  await main.callAfter(letGo, ...racers.map(({ message }, at) => sendMessage(ids[at] ?? '', message)));
  return Promise.all(
    racers.map(async ({ name, message, offsetMs }, at) => {
      const agentId = ids[at] ?? '';
      const reports = () => reportsOf(world, agentId);
      let isAnswered = true;
      try {
        await until(`an answer to ${message}`, () => reports().some((report) => report.includes(message)), {
          within: 20_000,
        });
      } catch {
        isAnswered = false;
      }
      const { events, record } = jobOf(world.jobs, agentId);
      const end = !isAnswered
        ? 'unanswered'
        : reports().length > 1
          ? 'resumed'
          : events.some((event) => event.kind === 'steered')
            ? 'steered'
            : 'own turn';
      return {
        name,
        message,
        offsetMs,
        agentId,
        end,
        seen: world.codex.seen(message).inLast,
        taken: record.messages.slice(1).map((taken) => taken.turn),
        reports: reports().filter((report) => report.includes(message)).length,
        isLast: reports().at(-1)?.includes(message) === true,
      } as const;
    }),
  );
}

/** What the agent reported, oldest first: by a hand-back, or in plain text. */
export function reportsOf(world: World, agentId: string): readonly string[] {
  const plain = world.session.notifications().flatMap((one) => (one.agent === agentId ? [one.summary] : []));
  const handed = world
    .transcript(agentId)
    .calls('SubagentHandback')
    .flatMap(({ input, result }) => (result !== undefined && !result.isError ? [String(input.message)] : []));
  return handed.length > 0 ? handed : plain;
}

/** Whether a race went as it must: the message reached the model once, and one report, the last, answers it. */
export function isRight({ end, seen, taken, reports, isLast }: RaceResult): boolean {
  return end !== 'unanswered' && seen === 1 && taken.length === 1 && taken[0] !== null && reports === 1 && isLast;
}
