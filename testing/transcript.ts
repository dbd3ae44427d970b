/** What Claude Code wrote of a conversation: its .jsonl file, read row by row, texts byte exact. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

export type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: Record<string, unknown> }
  | {
      readonly type: 'tool_result';
      readonly tool_use_id: string;
      readonly content: string | readonly { readonly type: string; readonly text?: string }[];
      readonly is_error?: boolean;
    };

export type Row = {
  readonly type: string;
  readonly uuid?: string;
  readonly isMeta?: boolean;
  readonly message?: { readonly id?: string; readonly role: string; readonly content: string | readonly Block[] };
};

/** One step of an agent: all blocks of one response. */
export type Step = { readonly id: string; readonly blocks: readonly Block[] };

export type Transcript = {
  readonly path: string;
  readonly rows: readonly Row[];
  readonly steps: readonly Step[];
  /** The text blocks of the last step. */
  readonly lastTexts: readonly string[];
  /** Results of the agent's own tool calls, by call id. */
  readonly results: ReadonlyMap<string, { readonly text: string; readonly isError: boolean }>;
  /** Calls of one tool, in order, each with its result. */
  calls(tool: string): readonly {
    readonly id: string;
    readonly input: Record<string, unknown>;
    readonly result?: { readonly text: string; readonly isError: boolean };
  }[];
};

/** The transcript of an agent, of the Agent tool or a workflow's; undefined when none was written. */
export function agentTranscript(home: string, agent: string): Transcript | undefined {
  const path = filesBelow(join(home, '.claude', 'projects')).find((file) => basename(file) === `agent-${agent}.jsonl`);
  return path === undefined ? undefined : readTranscript(path);
}

/** The ids of all agents that have a transcript. */
export const agentsWithTranscript = (home: string): readonly string[] =>
  filesBelow(join(home, '.claude', 'projects')).flatMap(
    (file) => /^agent-(.+)\.jsonl$/.exec(basename(file))?.[1] ?? [],
  );

/** What each agent of the workflows run below this HOME returned to its script, in the order in which they ended. */
export function workflowReturns(home: string): readonly { readonly agent: string; readonly value: unknown }[] {
  return filesBelow(join(home, '.claude', 'projects'))
    .filter((file) => basename(file) === 'journal.jsonl')
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { type: string; agentId?: string; result?: unknown })
    .flatMap(({ type, agentId = '', result }) => (type === 'result' ? [{ agent: agentId, value: result }] : []));
}

function readTranscript(path: string): Transcript {
  const rows = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
  const steps: { id: string; blocks: Block[] }[] = [];
  const results = new Map<string, { text: string; isError: boolean }>();
  for (const { type, message } of rows) {
    if (message === undefined || typeof message.content === 'string') continue;
    if (type === 'assistant') {
      const id = message.id ?? '';
      const step = steps.at(-1);
      // Claude Code writes a row for each block; those of one response share the message's id.
      if (step !== undefined && step.id === id) step.blocks.push(...message.content);
      else steps.push({ id, blocks: [...message.content] });
    }
    for (const block of message.content) {
      if (block.type !== 'tool_result') continue;
      results.set(block.tool_use_id, { text: resultText(block.content), isError: block.is_error === true });
    }
  }
  return {
    path,
    rows,
    steps,
    lastTexts: (steps.at(-1)?.blocks ?? []).flatMap((block) => (block.type === 'text' ? [block.text] : [])),
    results,
    calls: (tool) =>
      steps
        .flatMap((step) => step.blocks)
        .flatMap((block) =>
          block.type === 'tool_use' && block.name === tool
            ? [{ id: block.id, input: block.input, result: results.get(block.id) }]
            : [],
        ),
  };
}

export function resultText(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('');
}

function filesBelow(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  } catch {
    return [];
  }
}
