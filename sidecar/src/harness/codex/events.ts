/** Codex items in our vocabulary. Pure: the turn decides what is shown and when. */
import type {
  Action,
  ActionResult,
  ActionStatus,
  FileChange,
  PlanStep,
} from '../../../../plugin/hooks/protocol/event.js';
import { capped } from '../../capped.js';
import type { Item, OtherItem } from './frames.js';
import { unwrapped } from './shell.js';

export type Acted = { readonly action: Action; readonly result: ActionResult };

/** Items that say something of the turn but are no action of its own. */
const NO_ACTION = new Set(['hookPrompt', 'functionCallOutput', 'plan', 'enteredReviewMode', 'exitedReviewMode']);

/** The action that an item is, with its result so far; null for messages, reasoning and the like. */
export function actedOf(item: Item | OtherItem): Acted | null {
  switch (item.type) {
    case 'commandExecution':
      return {
        action: { tool: 'command', command: capped(unwrapped(item.command)).text, cwd: item.cwd },
        result: result(item.status, {
          output: item.aggregatedOutput ?? '',
          exitCode: item.exitCode ?? null,
          durationMs: item.durationMs ?? null,
        }),
      };
    case 'fileChange':
      return { action: { tool: 'edit', changes: item.changes.map(changeOf) }, result: result(item.status) };
    case 'mcpToolCall':
      return {
        action: { tool: 'other', name: `${item.server}.${item.tool}`, input: textOf(item.arguments) },
        result: result(item.status, {
          output: item.error?.message ?? (item.result?.content ?? []).map(contentText).join('\n'),
          durationMs: item.durationMs ?? null,
        }),
      };
    case 'dynamicToolCall':
      return {
        action: { tool: 'other', name: item.tool, input: textOf(item.arguments) },
        result: result(item.status, {
          output: (item.contentItems ?? []).map(contentText).join('\n'),
          durationMs: item.durationMs ?? null,
        }),
      };
    case 'collabAgentToolCall':
      return {
        action: {
          tool: 'other',
          name: item.tool,
          input: capped(item.prompt ?? item.receiverThreadIds.join(', ')).text,
        },
        result: result(item.status, {
          output: Object.entries(item.agentsStates ?? {})
            .map(([agent, state]) => [`${agent}: ${state.status}`, state.message ?? ''].filter(Boolean).join('\n'))
            .join('\n'),
        }),
      };
    case 'subAgentActivity':
      return {
        action: { tool: 'other', name: 'sub-agent', input: `${item.agentPath}: ${item.kind}` },
        result: result('completed'),
      };
    case 'webSearch':
      return { action: { tool: 'other', name: 'web_search', input: item.query }, result: result('completed') };
    case 'imageView':
      return { action: { tool: 'other', name: 'view_image', input: item.path }, result: result('completed') };
    case 'unknown':
      if (NO_ACTION.has(item.name)) return null;
      return { action: { tool: 'other', name: item.name, input: '' }, result: result('completed') };
    case 'agentMessage':
    case 'reasoning':
    case 'userMessage':
      return null;
  }
}

/** The result of an action that the turn's end cut off. */
export const CUT_OFF: ActionResult = {
  status: 'interrupted',
  exitCode: null,
  output: '',
  omitted: 0,
  durationMs: null,
};

/** Codex's plan statuses; one that we do not know counts as still to do. */
export function planSteps(plan: readonly { readonly step: string; readonly status: string }[]): PlanStep[] {
  return plan.map(({ step, status }) => {
    switch (status) {
      case 'completed':
        return { step, status: 'completed' };
      case 'inProgress':
        return { step, status: 'in_progress' };
      default:
        return { step, status: 'pending' };
    }
  });
}

function result(
  status: string,
  fields: { output?: string; exitCode?: number | null; durationMs?: number | null } = {},
): ActionResult {
  const { text, omitted } = capped(fields.output ?? '');
  return {
    status: statusOf(status),
    exitCode: fields.exitCode ?? null,
    output: text,
    omitted,
    durationMs: fields.durationMs ?? null,
  };
}

function statusOf(status: string): ActionStatus {
  switch (status) {
    case 'completed':
      return 'completed';
    case 'declined':
      return 'declined';
    case 'failed':
      return 'failed';
    default:
      // `inProgress` in a completed item, or a new word: it did not end by itself.
      return 'interrupted';
  }
}

function changeOf(change: { path: string; kind: { type: string }; diff: string }): FileChange {
  const { text, omitted } = capped(change.diff);
  const { type } = change.kind;
  return { path: change.path, change: type === 'add' || type === 'delete' ? type : 'update', diff: text, omitted };
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return capped(typeof value === 'string' ? value : JSON.stringify(value)).text;
}

/** The text of an MCP content block; what is no text is named by its type. */
function contentText(block: unknown): string {
  if (typeof block !== 'object' || block === null) return String(block);
  const { text, type } = block as { text?: unknown; type?: unknown };
  return typeof text === 'string' ? text : `[${typeof type === 'string' ? type : 'content'}]`;
}
