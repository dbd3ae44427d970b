/**
 * The tools that our agents' steps call. None does anything by itself: a call that no hook answers just
 * fails, and is never a command of the harness run a second time.
 */
export type ToolName = 'command' | 'edit' | 'tool' | 'plan' | 'progress' | 'job';

export type ToolSpec = { readonly name: ToolName; readonly description: string };

export const TOOLS: readonly ToolSpec[] = [
  { name: 'command', description: 'A command that the harness ran, with its output and exit code.' },
  { name: 'edit', description: 'Files that the harness changed, with their diff.' },
  { name: 'tool', description: 'Another tool that the harness used.' },
  { name: 'plan', description: "The harness's plan as it stands." },
  { name: 'progress', description: 'A message, a thought, a retry or a refused request of the harness.' },
  { name: 'job', description: 'The end of a harness turn, with the state of its job.' },
];

export function fullName(plugin: string, tool: ToolName): `mcp__${string}__${string}` {
  return `mcp__${plugin}__${tool}`;
}
