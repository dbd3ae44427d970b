/** What `--help` says. */

export const HELP = `Verbatim runs other coding agents, such as Codex, as agents of Claude Code, and keeps each answer exactly.

Usage: verbatim <command> [options]

  doctor          Is everything here that Verbatim needs? Says what to do where it is not.
  jobs            Lists the jobs that Verbatim keeps: one for each agent that you spawned.
  answer <job>    Prints the answer of a job: exactly its bytes, nothing else.
  purge           Removes jobs that you no longer need.

  --help          This page; after a command, that command's page.
  --version       The version of Verbatim.

Jobs are kept for 30 days below ~/.local/state/verbatim (XDG_STATE_HOME is respected).
Exit code: 0 done, 1 not done, 2 asked for wrongly.
`;

export const COMMAND_HELP = {
  doctor: `Usage: verbatim doctor [--json]

Looks for Claude Code and for each harness (the program behind an agent): whether it is installed, which
version, whether that version was tested with this Verbatim, whether you are signed in, and what to do.

  --json          The same as JSON.

Exit code: 0 where at least one harness can be used, else 1.
`,
  jobs: `Usage: verbatim jobs [--json]

Lists the jobs, the one that changed last first. Status:
  running         A turn is under way.
  idle            No turn is under way; a message to the agent starts one.
  broken off      Verbatim was killed during a turn. Send the agent a message to go on.

  --json          All that is known of each job, as JSON.
`,
  answer: `Usage: verbatim answer <job> [--turn <n>] [--json]

Prints the answer of a job's last turn that has one: exactly its bytes, nothing else.
\`verbatim jobs\` lists the jobs.

  --turn <n>      The answer of turn n, counted from 1.
  --json          The answer with its turn, length, SHA-256 and file, as JSON.
`,
  purge: `Usage: verbatim purge (--older-than <age> | --all) [--json]

Removes jobs with their prompts, events and answers. A job whose Claude Code session is open stays.

  --older-than <age>   Jobs that have not changed for this long: 30m, 12h, 7d.
  --all                All jobs.
  --json               What was removed and what stays, as JSON.
`,
  serve: `Usage: verbatim serve [--session <pid>]

The sidecar that the plugin starts; it is of no use in a terminal. It prints one line of JSON that says where
its API listens, and ends when its parent does.

  --session <pid>      The process to end with, instead of its parent.
`,
} as const;

export type CommandName = keyof typeof COMMAND_HELP;

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMAND_HELP, name);
}
