/**
 * Claude Code's main loop as a hand that calls tools at will, however many turns Claude Code takes in between to tell
 * its model of agents that ended.
 */
import type { ClaudeSession, ToolResult } from './claude.js';
import { calls, type FakeMessages, says, type ToolCall } from './fake-messages.js';
import { until } from './wait.js';

export type MainLoop = {
  /** Calls tools, all in one reply; resolves with their results, in the order of the calls. */
  call(...all: readonly ToolCall[]): Promise<readonly ToolResult[]>;
  /** The same; the reply goes out when `before`, called once Claude Code waits for it, has settled. */
  callAfter(before: () => Promise<void> | void, ...all: readonly ToolCall[]): Promise<readonly ToolResult[]>;
};

let called = 0;

/** Takes the main loop's script over; `session` is asked for at each call, for a world may open another one. */
export function mainLoop(claude: FakeMessages, session: () => ClaudeSession): MainLoop {
  const waiting = new Map<string, () => Promise<readonly ToolCall[]>>();
  claude.main(async (request) => {
    for (const [token, take] of waiting) {
      if (!request.text.includes(token)) continue;
      waiting.delete(token);
      return calls(...(await take()));
    }
    return says('noted');
  });
  const callAfter = async (before: () => Promise<void> | void, ...all: readonly ToolCall[]) => {
    const token = `call-${++called}-now`;
    const given = all.map((call, index) => ({ ...call, id: `toolu_${token.replaceAll('-', '_')}_${index}` }));
    waiting.set(token, async () => {
      await before();
      return given;
    });
    const open = session();
    open.say(token);
    const wanted = new Set(given.map(({ id }) => id));
    const found = await until(
      `the results of ${all.map(({ name }) => name).join(', ')}`,
      () => {
        const results = open.toolResults().filter(({ id }) => wanted.has(id));
        return results.length === all.length && results;
      },
      { within: 60_000 },
    );
    return given.map(({ id }) => found.find((result) => result.id === id) as ToolResult);
  };
  return { callAfter, call: (...all) => callAfter(() => undefined, ...all) };
}
