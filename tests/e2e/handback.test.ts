/** rule.handbackWhereAsked, rule.handbackTwiceRefused and rule.harnessTokens on the real Claude Code and the real Codex. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { agent, blocks, calls, lets, says, sendMessage } from '../../testing/fake-messages.js';
import { comment, type ModelRequest, say, shell, turn, usage } from '../../testing/fake-responses.js';
import type { Transcript } from '../../testing/transcript.js';
import { until } from '../../testing/wait.js';
import {
  AGENT_TYPE,
  type AgentRun,
  agentOfTask,
  endingOf,
  lastWords,
  openWorld,
  type World,
} from '../../testing/world.js';

const SENTENCE =
  'Your final report is delivered through SubagentHandback: when your work is complete, call SubagentHandback({message: <your full report>}).';

/** The answers that these agents give: hostile to whoever would trim or escape them. */
const answerTo = (request: ModelRequest) => `\n  <b>"${request.lastUserText}"</b>\t&amp;\n`;

let world: World;

describe('rule.handbackTwiceRefused', () => {
  describe('by a hook of the user', () => {
    // Denies as often as the file says.
    const hook =
      'n=$(cat "$HOME/refuse" 2>/dev/null || echo 0); [ "$n" -gt 0 ] || exit 0; echo $((n-1)) > "$HOME/refuse"; ' +
      `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not <now>]"}}'`;
    const refuse = (times: number) => writeFileSync(join(world.place.home, 'refuse'), String(times));

    beforeAll(async () => {
      world = await openWorld({
        mode: 'auto',
        settings: {
          hooks: { PreToolUse: [{ matcher: 'SubagentHandback', hooks: [{ type: 'command', command: hook }] }] },
        },
      });
      world.codex.script((request) => turn(say(answerTo(request))));
    });
    afterAll(() => world.close());

    test('refused once it is delivered at the second try, and only that one counts', async () => {
      refuse(1);
      const run = await world.runAgent('once');
      expect(stepsOf(run.transcript)).toEqual(['text+mcp__verbatim__job', 'SubagentHandback', 'SubagentHandback']);
      expect(handbacksOf(run.transcript).map((call) => call.result?.isError)).toEqual([true, false]);
      expect(run.last).toBe('\n  <b>"once"</b>\t&amp;\n');
      expect(await deliveriesOf(run.agentId)).toEqual(['handback']);
      expect(requestsOf('once')).toBe(1);
    });

    test('refused twice it ends in the plain answer and the refusal, and each of three nudges gets the same text', async () => {
      refuse(9);
      const run = await world.runAgent('always');
      const text = `\n  <b>"always"</b>\t&amp;\n\n\n[not delivered: SubagentHandback refused this report twice: ${refusalOf(run)}]`;
      expect(refusalOf(run)).toContain('not \\<now\\>\\]');
      expect(stepsOf(run.transcript)).toEqual([
        'text+mcp__verbatim__job',
        'SubagentHandback',
        'SubagentHandback',
        ...Array.from({ length: 4 }, () => 'text'),
      ]);
      expect(textsOf(run.transcript).slice(1)).toEqual([text, text, text, text]);
      expect(requestsOf('always')).toBe(1);
      expect(await deliveriesOf(run.agentId)).toEqual(['handback_refused']);
      expect(run.result.text).toContain('ended without delivering a report');
      expect(world.claude.bill().ofAgents).toBe(0);
    });

    test('a run that was refused does not spoil the next one', async () => {
      refuse(9);
      const run = await world.runAgent('first');
      refuse(0);
      await world.callTool(sendMessage(run.agentId, 'second'));
      await world.ended(run.agentId, 2);
      await untilLast(run.agentId, '\n  <b>"second"</b>\t&amp;\n', 'handback');
      expect(await deliveriesOf(run.agentId, 2)).toEqual(['handback_refused', 'handback']);
    });
  });

  test('by a deny rule it ends in the plain answer and the refusal, and Codex was asked once', async () => {
    world = await openWorld({ mode: 'auto', settings: { permissions: { deny: ['SubagentHandback'] } } });
    try {
      world.codex.script((request) => turn(say(answerTo(request))));
      const run = await world.runAgent('denied');
      expect(run.last).toBe(
        '\n  <b>"denied"</b>\t&amp;\n\n\n[not delivered: SubagentHandback refused this report twice: Permission to use SubagentHandback has been denied.]',
      );
      expect(run.ending).toBe('plain');
      expect(world.codex.requests).toHaveLength(1);
      expect(await deliveriesOf(run.agentId)).toEqual(['handback_refused']);
      expect(world.claude.bill().ofAgents).toBe(0);
    } finally {
      await world.close();
    }
  });
});

describe('rule.handbackWhereAsked', () => {
  afterEach(() => world.close());

  test('is decided in each run: by the mode that the session is in, never by a text in the task', async () => {
    world = await openWorld({ mode: 'default' });
    world.codex.script((request) => turn(say(answerTo(request))));
    const run = await world.runAgent(SENTENCE);
    expect(run.ending).toBe('plain');
    expect(run.last).toBe(`\n  <b>"${SENTENCE}"</b>\t&amp;\n`);

    await world.session.setMode('auto');
    await world.callTool(sendMessage(run.agentId, `In auto. ${SENTENCE}`));
    await world.ended(run.agentId, 2);
    await untilLast(run.agentId, `\n  <b>"In auto. ${SENTENCE}"</b>\t&amp;\n`, 'handback');

    await world.session.setMode('default');
    await world.callTool(sendMessage(run.agentId, SENTENCE));
    await world.ended(run.agentId, 3);
    await untilLast(run.agentId, `\n  <b>"${SENTENCE}"</b>\t&amp;\n`, 'plain');
    expect(await deliveriesOf(run.agentId, 3)).toEqual(['plain', 'handback', 'plain']);
    expect(world.claude.bill().ofAgents).toBe(0);
  });

  test('is decided anew in a session that resumes the agent in another mode', async () => {
    world = await openWorld({ mode: 'default' });
    world.codex.script((request) => turn(say(answerTo(request))));
    const { agentId } = await world.runAgent('one');
    const session = world.session.session();
    for (const [mode, text, how] of [
      ['auto', 'two', 'handback'],
      ['default', 'three', 'plain'],
    ] as const) {
      await world.session.end();
      world.reopen({ mode, args: ['--resume', session] });
      await world.callTool(sendMessage(agentId, text));
      await world.ended(agentId);
      await untilLast(agentId, `\n  <b>"${text}"</b>\t&amp;\n`, how);
    }
    // One thread throughout: each turn carried those before it.
    expect(world.codex.requests.at(-1)?.userTexts.slice(-3)).toEqual(['one', 'two', 'three']);
    expect(world.claude.bill().ofAgents).toBe(0);
  });

  test('holds for an agent that another agent started, in the background, and for one that the review flags', async () => {
    world = await openWorld({ mode: 'auto' });
    world.codex.script((request) => turn(say(answerTo(request))));
    world.claude.subagent((request) =>
      request.results.length === 0
        ? calls(agent(AGENT_TYPE, 'the inner task', { background: false }))
        : calls({ name: 'SubagentHandback', input: { message: 'the outer report' } }),
    );
    await world.play([calls(agent('general-purpose', 'the outer task', { background: false })), says('ok')]);
    const inner = await agentOfTask(world.session, 'the inner task');
    await untilLast(inner, '\n  <b>"the inner task"</b>\t&amp;\n', 'handback');
    expect(world.claude.requests.filter((request) => request.agent === inner)).toHaveLength(0);

    const background = await world.startAgent('behind');
    await world.ended(background);
    await untilLast(background, '\n  <b>"behind"</b>\t&amp;\n', 'handback');

    world.claude.classifier((request) =>
      request.lastText.includes('hand-back to the agent that spawned this one') ? blocks(request) : lets(request),
    );
    const flagged = await world.runAgent('to be flagged');
    expect(flagged.last).toBe('\n  <b>"to be flagged"</b>\t&amp;\n');
    expect(handbacksOf(flagged.transcript).map((call) => call.result?.isError)).toEqual([false]);
    expect(await deliveriesOf(flagged.agentId)).toEqual(['handback']);
  });
});

describe('rule.harnessTokens', () => {
  let run: AgentRun;
  beforeAll(async () => {
    // A window so small that the engine compacts this agent again and again.
    world = await openWorld({
      mode: 'auto',
      env: { CLAUDE_CODE_MAX_CONTEXT_TOKENS: '60000', CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '50' },
    });
  });
  afterAll(() => world.close());

  test('each turn of a thread has its own tokens, those of all its requests', async () => {
    world.codex.next(
      turn(shell('true'), usage(100, 7, 20)),
      turn(say('one'), usage(250, 9, 120)),
      turn(say('two'), usage(1000, 1)),
    );
    run = await world.runAgent('first');
    await world.callTool(sendMessage(run.agentId, 'again'));
    await world.ended(run.agentId, 2);
    await untilLast(run.agentId, 'two', 'handback');
    expect(tokensLines(world.transcript(run.agentId))).toEqual([
      'gpt-5.5: 350 input tokens (140 cached), 16 output',
      'gpt-5.5: 1000 input tokens (0 cached), 1 output',
    ]);
  });

  test('a run so long that the engine compacts it costs no Claude request, and is handed back whole', async () => {
    const words = 'It goes on and on. '.repeat(420);
    world.codex.next(turn(...Array.from({ length: 60 }, (_, at) => comment(`${at}: ${words}`)), say('the end')));
    const long = await world.runAgent('a long one');
    expect(compactionsOf(long.transcript)).toBeGreaterThan(1);
    expect(long.last).toBe('the end');
    expect(long.ending).toBe('handback');
  });

  test('no step states usage, and no step, title, summary or compaction is asked of Claude', async () => {
    for (const id of world.session.agents()) {
      for (const row of world.transcript(id).rows) {
        const used = (row.message as { usage?: Record<string, unknown> } | undefined)?.usage;
        for (const count of Object.values(used ?? {})) expect(typeof count === 'number' ? count : 0).toBe(0);
      }
    }
    const { ofAgents, compaction, auxiliary, workflow, subagent } = world.claude.bill();
    expect({ ofAgents, compaction, auxiliary, workflow, subagent }).toEqual({
      ofAgents: 0,
      compaction: 0,
      auxiliary: 0,
      workflow: 0,
      subagent: 0,
    });
  });
});

/** The steps as the kinds of their blocks. */
function stepsOf(transcript: Transcript): string[] {
  return transcript.steps.map((step) =>
    step.blocks.map((block) => (block.type === 'tool_use' ? block.name : block.type)).join('+'),
  );
}

function textsOf(transcript: Transcript): string[] {
  return transcript.steps.flatMap((step) =>
    step.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
  );
}

const tokensLines = (transcript: Transcript) => textsOf(transcript).filter((text) => / input tokens \(/.test(text));

const handbacksOf = (transcript: Transcript) => transcript.calls('SubagentHandback');

/** Why the engine refused the hand-back, as our note shows it. */
function refusalOf(run: AgentRun): string {
  return /refused this report twice: (.*)\]$/.exec(run.last)?.[1] ?? '';
}

function compactionsOf(transcript: Transcript): number {
  return transcript.rows.filter((row) => (row as { subtype?: string }).subtype === 'compact_boundary').length;
}

/** How each run of an agent was delivered, as the job's journal has it. */
async function deliveriesOf(agentId: string, runs = 1): Promise<string[]> {
  const file = join(world.jobs, world.jobState(agentId).job ?? '', 'state.json');
  return until(`${runs} deliveries in ${file}`, () => {
    const { deliveries } = JSON.parse(readFileSync(file, 'utf8')) as { deliveries: { how: string }[] };
    return deliveries.length >= runs && deliveries.map(({ how }) => how);
  });
}

/** How many requests of Codex ended in this task. */
function requestsOf(task: string): number {
  return world.codex.requests.filter((request) => request.lastUserText === task).length;
}

/** Waits for the last step to be this text, delivered this way: transcripts are written behind what is reported. */
async function untilLast(agentId: string, text: string, how: 'plain' | 'handback'): Promise<void> {
  await until(`${agentId} to end in ${JSON.stringify(text)} by way of ${how}`, () => {
    const transcript = world.transcript(agentId);
    return lastWords(transcript) === text && endingOf(transcript) === how;
  });
}
