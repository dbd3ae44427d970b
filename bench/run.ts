/**
 * `npm run bench`: Verbatim beside the bare program and beside what a user does today, in one run.
 *
 * Real Claude Code and real Codex, models faked on loopback that answer at once. Prints a table and writes JSON to
 * bench/out/. Machines differ and are busy: read the ratios and differences, which come from interleaved rounds.
 * `--rounds <n>` (default 30), `--only <part,…>` with the parts warm, first, many, memory.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../sidecar/src/errors.js';
import { agent, bash, calls, type MessagesRequest, type Step, says } from '../testing/fake-messages.js';
import { comment, say, turn } from '../testing/fake-responses.js';
import { sidecarFolders, startSidecar } from '../testing/sidecar.js';
import { until } from '../testing/wait.js';
import { AGENT_TYPE, codexFolder, openWorld, type World } from '../testing/world.js';
import { openAppServer } from './app-server.js';
import { type Figure, figure, interleaved, over, table, timed } from './figures.js';

const FLOOR = join(import.meta.dirname, 'floor');
const ANSWER = 'The answer, with its last newline.\n';

const PARTS = { warm, first, many, memory } as const;
type Part = keyof typeof PARTS;

const { rounds, parts } = asked();
const figures: Figure[] = [];

for (const part of parts) await PARTS[part]();

const out = join(import.meta.dirname, 'out');
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'bench.json'), `${JSON.stringify({ node: process.version, rounds, figures }, null, 2)}\n`);
process.stdout.write(`\n${table(figures)}\n\n(bench/out/bench.json holds the same)\n`);

/** What the command line asks for; what it cannot ask for ends the program with a word about it. */
function asked(): { rounds: number; parts: readonly Part[] } {
  const usage = `usage: npm run bench -- [--rounds <n>] [--only <${Object.keys(PARTS).join(',')}>]`;
  try {
    const { values } = parseArgs({
      options: {
        rounds: { type: 'string', default: '30' },
        only: { type: 'string', default: Object.keys(PARTS).join(',') },
      },
    });
    const count = Number(values.rounds);
    if (!Number.isInteger(count) || count < 1)
      throw new Error(`--rounds takes a whole number from 1, not ${values.rounds}`);
    const wanted = values.only.split(',');
    const unknown = wanted.find((part) => !(part in PARTS));
    if (unknown !== undefined) throw new Error(`there is no part ${unknown}`);
    return { rounds: count, parts: wanted as Part[] };
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${usage}\n`);
    process.exit(2);
  }
}

/** One Agent call of a running session, from the call to the report, beside the same task done in other ways. */
async function warm(): Promise<void> {
  const world = await openWorld({ mode: 'bypassPermissions' });
  const floor = await openWorld({ mode: 'bypassPermissions', plugins: [FLOOR] });
  const today = await openWorld({ mode: 'bypassPermissions', plugins: [] });
  const server = await openAppServer({ ...process.env, ...world.home.env });
  for (const one of [world, today]) one.codex.script(() => turn(say(ANSWER)));
  const bill = { requests: 0, bytes: 0, rounds: 0 };
  let reported = '';
  const byBash = async () => {
    const before = today.claude.requests.length;
    today.claude.subagent((request) => {
      const ran = request.results.at(-1);
      if (ran === undefined) return calls(bash('codex exec --skip-git-repo-check "Do it."'));
      reported = ran.text;
      return says(ran.text);
    });
    const ms = await agentCall(today, 'general-purpose');
    const own = today.claude.requests.slice(before).filter((request) => request.class === 'subagent');
    bill.requests += own.length;
    bill.bytes += own.reduce((sum, request) => sum + request.bytes, 0);
    bill.rounds += 1;
    return ms;
  };
  try {
    await Promise.all([
      agentCall(world, AGENT_TYPE),
      agentCall(floor, 'floor:floor'),
      server.turn('Do it.', world.home.work),
    ]);
    const samples = await interleaved(
      rounds,
      {
        bare: () => timed(() => server.turn('Do it.', world.home.work)),
        verbatim: () => agentCall(world, AGENT_TYPE),
        floor: () => agentCall(floor, 'floor:floor'),
        today: byBash,
      },
      progress('warm'),
    );
    figures.push(
      figure('a bare app-server turn on a new thread', 'ms', samples.bare),
      figure('Claude Code alone: two steps and a tool call', 'ms', samples.floor),
      figure('verbatim:codex, from the Agent call to the report', 'ms', samples.verbatim),
      figure('… over the bare turn', 'ms', over(samples.verbatim, samples.bare)),
      figure('codex exec through Bash, by a Claude subagent', 'ms', samples.today),
      figure('… over the bare turn', 'ms', over(samples.today, samples.bare)),
      figure("Claude requests of the agent's own loop, verbatim:codex", '', [world.claude.bill().ofAgents]),
      figure("Claude requests of the agent's own loop, codex exec through Bash", '', [bill.requests / bill.rounds]),
      figure('… and their prompt bytes', 'B', [bill.bytes / bill.rounds]),
      figure('lines in that answer that are not the answer', '', [
        reported.split('\n').length - ANSWER.split('\n').length + 1,
      ]),
      figure('sidecar at rest', 'MB', [sidecarMegabytes(world)]),
    );
  } finally {
    await server.close();
    await Promise.all([world.close(), floor.close(), today.close()]);
  }
}

/** The first Agent call of a fresh session, beside a fresh app-server's first turn. */
async function first(): Promise<void> {
  const samples = await interleaved(
    rounds,
    {
      bare: async () => {
        const world = await openWorld({ mode: 'bypassPermissions', plugins: [] });
        try {
          return await timed(async () => {
            const server = await openAppServer({ ...process.env, ...world.home.env });
            await server.turn('Do it.', world.home.work);
            await server.close();
          });
        } finally {
          await world.close();
        }
      },
      verbatim: async () => {
        const world = await openWorld({ mode: 'bypassPermissions' });
        try {
          return await agentCall(world, AGENT_TYPE);
        } finally {
          await world.close();
        }
      },
    },
    progress('first'),
  );
  figures.push(
    figure('a fresh app-server and its first turn', 'ms', samples.bare),
    figure('the first job of a session', 'ms', samples.verbatim),
    figure('… over that', 'ms', over(samples.verbatim, samples.bare)),
  );
}

/**
 * Agents in the background, from the call to the last one's notification. (In the foreground Claude Code 2.1.332 runs ten
 * tool calls at a time.)
 */
async function inBackground(world: World, count: number): Promise<number> {
  let asked = 0;
  const before = world.session.notifications().length;
  await world.play([
    () => {
      asked = performance.now();
      return calls(...Array.from({ length: count }, () => agent(AGENT_TYPE, 'Do it.', { background: true })));
    },
    says('started'),
  ]);
  const options = { within: 60_000, every: 5 };
  await until('every agent to end', () => world.session.notifications().length >= before + count, options);
  return performance.now() - asked;
}

/** Twenty agents whose model takes two seconds, beside one. */
async function many(): Promise<void> {
  const world = await openWorld({ mode: 'bypassPermissions' });
  world.codex.script(async () => {
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    return turn(say(ANSWER));
  });
  try {
    await agentCall(world, AGENT_TYPE);
    const samples = await interleaved(
      rounds,
      { one: () => inBackground(world, 1), twenty: () => inBackground(world, 20) },
      progress('many'),
    );
    figures.push(
      figure('one agent with a turn of 2 s', 'ms', samples.one),
      figure('twenty at once', 'ms', samples.twenty),
      figure(
        '… as many times one',
        '×',
        samples.twenty.map((ms, index) => ms / (samples.one[index] ?? 1)),
      ),
    );
  } finally {
    await world.close();
  }
}

/** The sidecar's memory after the first and after the tenth round of large turns, driven over its own API. */
async function memory(): Promise<void> {
  const large = `${'x'.repeat(79)}\n`.repeat(25_000);
  for (const [name, reply] of [
    ['a 2 MB answer', turn(say(large))],
    [
      'a turn of 2,000 items',
      turn(...Array.from({ length: 2_000 }, (_, item) => comment(`item ${item}`)), say(ANSWER)),
    ],
  ] as const) {
    const world = await openWorld({ mode: 'bypassPermissions', plugins: [] });
    const folders = sidecarFolders();
    const bundle = join(import.meta.dirname, '..', 'plugin', 'sidecar', 'verbatim.mjs');
    const sidecar = await startSidecar({
      folders,
      env: { ...world.home.env, PATH: `${codexFolder()}:${process.env.PATH}` },
      command: [process.execPath, bundle, 'serve'],
    });
    world.codex.script(() => reply);
    try {
      const after: number[] = [];
      for (let one = 0; one < 10; one += 1) {
        const created = await sidecar.request<{ job: { id: string } }>('POST', '/v1/jobs', {
          body: {
            harness: 'codex',
            agent: `bench${one}`,
            session: 'bench',
            cwd: world.home.work,
            mode: 'bypassPermissions',
            message: { id: `m${one}`, text: 'Do it.' },
          },
        });
        await sidecar.follow(created.body.job.id, (events) => events.at(-1)?.kind === 'turn_ended');
        await sidecar.answer(created.body.job.id);
        after.push(megabytes(sidecar.handshake.pid));
        progress(`memory, ${name}`)(one + 1, 10);
      }
      figures.push(
        figure(`sidecar after the first round of ${name}`, 'MB', after.slice(0, 1)),
        figure('… after the tenth, as many times that', '×', [(after[9] ?? 0) / (after[0] ?? 1)]),
      );
    } finally {
      const ended = new Promise((resolve) => sidecar.child.once('exit', resolve));
      sidecar.child.kill('SIGTERM');
      await ended;
      folders.remove();
      await world.close();
    }
  }
}

/** Time from the moment the model has asked for the agents to the moment it gets their reports. */
async function agentCall(world: World, type: string, count = 1): Promise<number> {
  let asked = 0;
  let reported = 0;
  const steps: Step[] = [
    () => {
      asked = performance.now();
      return calls(...Array.from({ length: count }, () => agent(type, 'Do it.', { background: false })));
    },
    (request: MessagesRequest) => {
      reported = performance.now();
      const failed = request.results.filter((result) => result.tool === 'Agent' && result.isError);
      if (failed.length > 0) throw new Error(`an agent failed: ${failed[0]?.text.slice(0, 300)}`);
      return says('done');
    },
  ];
  await world.play(steps);
  return reported - asked;
}

function sidecarMegabytes(world: World): number {
  const sidecar = world.place.processes().find((one) => one.command.includes('verbatim.mjs serve'));
  if (sidecar === undefined) throw new Error('no sidecar runs');
  return megabytes(sidecar.pid);
}

function megabytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

function progress(part: string): (done: number, of?: number) => void {
  return (done, of = rounds) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${part}: round ${done} of ${of}   ${done === of ? '\n' : ''}`);
    else if (done === of || done % 10 === 0) process.stderr.write(`${part}: round ${done} of ${of}\n`);
  };
}
