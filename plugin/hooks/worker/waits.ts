/** What the worker's session waits for a person to do, as its dialogs open and its tools go on. */

import { cut } from '../notes/foreign.js';
import { WAITING_LIMIT, type Waiting } from '../protocol/errand.js';

/** A dialog's tool, and whose call it is: a subagent's calls and the main loop's are under way side by side. */
export type Asker = { readonly tool_name: string; readonly agent_id?: string | undefined };

export class Waits {
  readonly #dialogs = new Map<string, Waiting>();
  #turn: Waiting | undefined;
  #said = '';

  asked(asker: Asker, input: unknown): void {
    const { tool_name } = asker;
    const waiting: Waiting =
      tool_name === 'AskUserQuestion'
        ? { for: 'question', what: questionOf(input) }
        : { for: 'permission', what: callOf(tool_name, input) };
    this.#dialogs.set(keyOf(asker), { ...waiting, what: cut(waiting.what, WAITING_LIMIT) });
  }

  /** The tool has been at work, so its dialog was answered. */
  wentOn(asker: Asker): void {
    this.#dialogs.delete(keyOf(asker));
  }

  /** The turn of the main loop, or of this agent: the other's dialogs stay open. */
  turnEnded(agent_id?: string): void {
    for (const key of this.#dialogs.keys())
      if (key.startsWith(keyOf({ tool_name: '', agent_id }))) this.#dialogs.delete(key);
  }

  /** @param error Claude Code's word for it; `unknown` says nothing beside the message. */
  turnFailed(error: string, message: string | undefined): void {
    const what = [error === 'unknown' ? '' : error, message ?? ''].filter(Boolean).join(': ');
    this.#turn = { for: 'turn_failed', what: cut(what, WAITING_LIMIT) };
  }

  turnBegan(): void {
    this.#turn = undefined;
  }

  refused(what: string): void {
    this.#turn = { for: 'task_refused', what: cut(what, WAITING_LIMIT) };
  }

  /** What is to be said now; undefined where nothing has changed. */
  news(): Waiting | null | undefined {
    const [dialog] = this.#dialogs.values();
    const waiting = dialog ?? this.#turn ?? null;
    const said = waiting === null ? '' : JSON.stringify(waiting);
    if (said === this.#said) return undefined;
    this.#said = said;
    return waiting;
  }
}

function keyOf({ tool_name, agent_id = '' }: Asker): string {
  return `${agent_id} ${tool_name}`;
}

/** A call in a line: the tool, and what of its input a person decides by. */
function callOf(tool: string, input: unknown): string {
  const { command, file_path, url } = (input ?? {}) as Readonly<Record<string, unknown>>;
  const on = [command, file_path, url].find((one) => typeof one === 'string');
  return on === undefined ? tool : `${tool}: ${on}`;
}

/** The first of AskUserQuestion's questions. */
function questionOf(input: unknown): string {
  const { questions } = (input ?? {}) as { questions?: readonly { readonly question?: unknown }[] };
  const question = Array.isArray(questions) ? questions[0]?.question : undefined;
  return typeof question === 'string' ? question : '';
}
