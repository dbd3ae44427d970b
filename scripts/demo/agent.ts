/**
 * The demo's first part: the real Claude Code hands a task to the real Codex through Verbatim. It shows the agent's steps
 * as they happen and the answer, and compares the answer's bytes on both sides.
 */
import { readFileSync } from 'node:fs';
import { ANSWER, codexModel, TASK, writeRepository } from '../../testing/demo/story.js';
import { agent, calls, says } from '../../testing/fake-messages.js';
import { type Row, resultText } from '../../testing/transcript.js';
import { within } from '../../testing/wait.js';
import type { World } from '../../testing/world.js';
import { bold, dim, indented, print, printBytes, VISIBLE_KEY, visible } from './print.js';

const AGENT = 'verbatim:codex';
const LIMIT_MS = 50_000;

/** Where what belongs to a step begins. */
const DEEP = ' '.repeat(12);

/** Resolves to whether the answer came through exactly, and without a request to Claude. */
export async function showAgent(): Promise<boolean> {
  const { openWorld, lastWords } = await import('../../testing/world.js');
  const begun = Date.now();
  const world = await openWorld({ mode: 'auto' });
  try {
    writeRepository(world.home.work);
    world.codex.script(codexModel());

    print();
    print(bold('1  Claude’s model calls the Agent tool, as it would for any agent'));
    print(`      Agent(${AGENT})  ${TASK}`);
    print();
    print(bold('2  The agent’s steps, as they happen: what Codex does, as native Claude Code steps'));
    const stop = follow(world);
    const run = world.play([calls(agent(AGENT, TASK, { description: 'fix the test', background: false })), says('ok')]);
    await within('the task to get through', LIMIT_MS, run);
    stop();

    const agentId = world.session.agents()[0];
    if (agentId === undefined) throw new Error(`the agent did not start: ${world.session.stderr().slice(0, 500)}`);
    const transcript = world.transcript(agentId);
    const got = lastWords(transcript);
    const file = readFileSync(world.jobState(agentId)['answer file'] ?? '', 'utf8');

    print();
    print(bold('3  The answer that Claude Code got, from the agent’s last step'));
    print(indented(visible(got)));
    print(dim(`      ${VISIBLE_KEY}`));
    print();
    print(bold('4  The bytes'));
    const isExact = printBytes([
      ['what Codex’s model said', ANSWER],
      ['what the agent handed back', got],
      ['the answer file on disk', file],
    ]);

    const bill = world.claude.bill();
    print();
    print(
      `Requests to Claude for the agent’s own loop: ${bill.ofAgents}. For the conversation: ${bill.main}. ` +
        `For auto mode’s own review of the call and the hand-back: ${bill.classifier}.`,
    );
    print(dim(`Took ${((Date.now() - begun) / 1000).toFixed(1)} s.`));
    return isExact && bill.ofAgents === 0;
  } finally {
    await world.close();
  }
}

/**
 * Prints the agent's steps while they come, from its transcript: Claude Code's stream leaves out the texts of an agent
 * in the foreground. The returned function prints the rest and ends.
 */
function follow(world: World): () => void {
  const begun = Date.now();
  let shown = 0;
  const show = () => {
    let rows: readonly Row[];
    try {
      const agentId = world.session.agents()[0];
      if (agentId === undefined) return;
      rows = world.transcript(agentId).rows;
    } catch {
      // Not written yet, or its last line is half written: the next look sees it.
      return;
    }
    for (const row of rows.slice(shown)) for (const line of linesOf(row)) printStep(line, begun);
    shown = rows.length;
  };
  const timer = setInterval(show, 40);
  return () => {
    clearInterval(timer);
    show();
  };
}

/** A step has its moment beside it, what belongs to a step stands below it. */
function printStep(line: string, begun: number): void {
  const at = `${((Date.now() - begun) / 1000).toFixed(1)} s`.padStart(8);
  print(line.startsWith(DEEP) ? dim(line) : `${dim(at)}${line}`);
}

function linesOf(row: Row): readonly string[] {
  if (row.message === undefined || typeof row.message.content === 'string') return [];
  return row.message.content.flatMap((block) => {
    switch (block.type) {
      case 'text':
        return [`  ${block.text}`];
      case 'tool_use':
        return callLine(block.name, block.input);
      case 'tool_result':
        return resultLines(resultText(block.content));
      default:
        return [];
    }
  });
}

function callLine(name: string, input: Readonly<Record<string, unknown>>): readonly string[] {
  switch (name) {
    case 'mcp__verbatim__command':
      return [`  ${bold('command')}  ${String(input.command)}`];
    case 'mcp__verbatim__edit': {
      const changes = Array.isArray(input.changes) ? (input.changes as readonly { path: string; diff: string }[]) : [];
      return changes.flatMap(({ path, diff }) => [`  ${bold('edit')}  ${path}`, indented(diff, DEEP)]);
    }
    case 'mcp__verbatim__job':
      return [`  ${bold('turn over')}  the job state, for whoever wants to know or to go on later`];
    case 'SubagentHandback':
      return [`  ${bold('hand-back')}  the answer goes to Claude Code, unchanged`];
    default:
      return [];
  }
}

function resultLines(text: string): readonly string[] {
  if (text === '' || text === '[noted]' || text.startsWith('{"success"')) return [];
  return [indented(text, DEEP)];
}
