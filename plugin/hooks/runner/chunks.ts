/** A step as the chunks and the result that a `turn.step` hook yields and returns (Claude Code 2.1.332). */
import type { Step } from './steps.js';
import { fullName } from './tools.js';

export type Chunk =
  | { kind: 'text'; index: number; text: string }
  | { kind: 'thinking'; index: number; text: string }
  | { kind: 'tool'; index: number; id: string; name: string }
  | { kind: 'input'; index: number; json: string }
  | { kind: 'stop'; stopReason: 'tool_use' | 'end_turn'; usage: null };

export type StepAt = { readonly turnId: string; readonly index: number; readonly plugin: string };

export type StepResult = {
  turnId: string;
  index: number;
  answer: string;
  toolUses: { id: string; name: string; input: Record<string, unknown> }[];
  stopReason: 'tool_use' | 'end_turn';
  usage: null;
};

/** The engine's hand-back tool, by name as 2.1.332 offers it. */
export const HANDBACK = 'SubagentHandback';

/** A chunk that only says the step lives: the engine kills an agent after 600 s without one (2.1.332). */
export const HEARTBEAT: Chunk = { kind: 'thinking', index: 0, text: '' };

/**
 * Yields a step's chunks, from block `from` on, and returns its result. No step states usage.
 *
 * Block 0 is the heartbeat's: a text with the index of a thinking block is lost (2.1.332).
 */
export function* chunksOf(at: StepAt, step: Step, from = 1): Generator<Chunk, StepResult> {
  const text = step.kind === 'progress' ? (step.text ?? '') : step.kind === 'final' ? step.text : '';
  const call = callOf(at.plugin, step);
  let block = from;
  if (text !== '') yield { kind: 'text', index: block++, text };
  const toolUses: StepResult['toolUses'] = [];
  if (call !== undefined) {
    const id = `toolu_vb_${at.turnId.replace(/[^A-Za-z0-9]/g, '')}_${at.index}`;
    yield { kind: 'tool', index: block, id, name: call.name };
    yield { kind: 'input', index: block, json: JSON.stringify(call.input) };
    toolUses.push({ id, name: call.name, input: call.input });
  }
  const stopReason = call === undefined ? 'end_turn' : 'tool_use';
  yield { kind: 'stop', stopReason, usage: null };
  return { turnId: at.turnId, index: at.index, answer: text, toolUses, stopReason, usage: null };
}

function callOf(plugin: string, step: Step): { name: string; input: Record<string, unknown> } | undefined {
  switch (step.kind) {
    case 'progress':
      return { name: fullName(plugin, step.call.tool), input: { ...step.call.input } };
    case 'handback':
      return { name: HANDBACK, input: { message: step.text } };
    case 'final':
      return undefined;
  }
}
