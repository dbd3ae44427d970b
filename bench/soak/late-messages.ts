/**
 * Late messages against the end of their agent's turn, on the real Claude Code and the real Codex, half of them in auto
 * mode: how many went which way, and whether one went wrong.
 */
import { jobOf } from '../../testing/jobs.js';
import { mainLoop } from '../../testing/main-loop.js';
import { isRight, type RaceResult, race, reportsOf } from '../../testing/races.js';
import { openWorld } from '../../testing/world.js';

const AT_ONCE = 10;
/** Races of one session: its transcript grows with each. */
const PER_SESSION = 100;
/** From well before SendMessage's reply to well after the agent's last step, in milliseconds. */
const EARLIEST_MS = -150;
const LATEST_MS = 600;

/** Resolves to whether all `total` races went right; prints what happened. */
export async function soakLateMessages(total: number): Promise<boolean> {
  const startedAt = Date.now();
  const results: (RaceResult & { readonly mode: string })[] = [];
  let ofAgents = 0;
  for (let session = 0; results.length < total; session += 1) {
    const mode = session % 2 === 0 ? 'default' : 'auto';
    const world = await openWorld({ mode });
    try {
      const main = mainLoop(world.claude, () => world.session);
      const wanted = Math.min(total, results.length + PER_SESSION);
      while (results.length < wanted) {
        const offsets = Array.from(
          { length: Math.min(AT_ONCE, wanted - results.length) },
          () => EARLIEST_MS + Math.round(Math.random() * (LATEST_MS - EARLIEST_MS)),
        );
        for (const result of await race(world, main, offsets)) {
          results.push({ ...result, mode });
          if (isRight(result)) continue;
          const { record, events } = jobOf(world.jobs, result.agentId);
          const reports = reportsOf(world, result.agentId);
          process.stderr.write(
            `${JSON.stringify({ mode, ...result, reports, messages: record.messages, events }, null, 2)}\n`,
          );
        }
        process.stderr.write(`${results.length} of ${total}, ${results.filter((one) => !isRight(one)).length} wrong\n`);
      }
      ofAgents += world.claude.bill().ofAgents;
    } finally {
      await world.close();
    }
  }

  const wrong = results.filter((result) => !isRight(result));
  const counted = (mode: string) =>
    Object.fromEntries(
      ['steered', 'own turn', 'resumed', 'unanswered'].map((end) => [
        end,
        results.filter((result) => result.mode === mode && result.end === end).length,
      ]),
    );
  process.stdout.write(
    `${JSON.stringify(
      {
        races: results.length,
        seconds: Math.round((Date.now() - startedAt) / 1000),
        default: counted('default'),
        auto: counted('auto'),
        wrong: wrong.length,
        'requests of agents to Claude': ofAgents,
      },
      null,
      2,
    )}\n`,
  );
  return wrong.length === 0 && ofAgents === 0;
}
