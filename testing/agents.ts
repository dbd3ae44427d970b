/** Background agents of a world: started by the main loop, each task with a model of its own. */
import { agent } from './fake-messages.js';
import { type ModelRequest, type Reply, say, turn } from './fake-responses.js';
import { type JobOnDisk, jobOf } from './jobs.js';
import type { MainLoop } from './main-loop.js';
import { reportsOf } from './races.js';
import { until } from './wait.js';
import { AGENT_TYPE, type World } from './world.js';

export type Models = Map<string, (request: ModelRequest) => Reply>;

/** Gives each task a model of its own, found by the thread's first prompt. */
export function modelsOf(world: World): Models {
  const models: Models = new Map();
  world.codex.script((request) => {
    const model = [...models].find(([task]) => request.userTexts.includes(task))?.[1];
    return model === undefined ? turn(say('no model')) : model(request);
  });
  return models;
}

/** Starts an agent for each task, all at once; resolves with their ids once each model was asked. */
export async function start(world: World, main: MainLoop, ...tasks: readonly string[]): Promise<readonly string[]> {
  const results = await main.call(...tasks.map((task) => agent(AGENT_TYPE, task, { background: true })));
  const ids = results.map((result) => {
    const id = /agentId: (\w+)/.exec(result.text)?.[1];
    if (id === undefined) throw new Error(`an agent did not start: ${JSON.stringify(result)}`);
    return id;
  });
  await until(
    'every model to be asked',
    () => tasks.every((task) => world.codex.requests.some((one) => one.userTexts.includes(task))),
    { within: 60_000 },
  );
  return ids;
}

/** Waits for exactly these reports of an agent: Claude Code writes a transcript behind what it reports. */
export async function reported(world: World, id: string, wanted: readonly string[], ms = 30_000): Promise<void> {
  await until(
    `the reports ${JSON.stringify(wanted)}`,
    () => JSON.stringify(reportsOf(world, id)) === JSON.stringify(wanted),
    { within: ms, detail: () => JSON.stringify([reportsOf(world, id), jobOf(world.jobs, id).events.slice(-3)]) },
  );
}

/** Waits until the agent's job has ended a turn so often, and answers the job. */
export async function turnsEnded(world: World, id: string, turns = 1, ms = 20_000): Promise<JobOnDisk> {
  await until(
    `turn ${turns} of ${id} to end`,
    () => jobOf(world.jobs, id).events.filter(({ kind }) => kind === 'turn_ended').length >= turns,
    { within: ms, detail: () => JSON.stringify(jobOf(world.jobs, id).events.slice(-4)) },
  );
  return jobOf(world.jobs, id);
}
