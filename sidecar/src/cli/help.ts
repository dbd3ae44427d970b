/** What `--help` says. */
import { DEPTH_LIMIT } from '../worker-host/launch.js';

export const HELP = `Verbatim runs other coding agents, such as Codex, as agents of Claude Code, and keeps each answer exactly.

Usage: verbatim <command> [options]

  doctor          Is everything here that Verbatim needs? Says what to do where it is not.
  jobs            Lists the jobs that Verbatim keeps: one for each agent that you spawned.
  answer <job>    Prints the answer of a job: exactly its bytes, nothing else.
  purge           Removes jobs and errands that you no longer need.
  worker …        Hands a task to a Claude Code of its own, and prints exactly its answer.

  --help          This page; after a command, that command's page.
  --version       The version of Verbatim.

Jobs and errands are kept for 30 days below ~/.local/state/verbatim (XDG_STATE_HOME is respected).
Exit code: 0 done, 1 not done, 2 asked for wrongly.
`;

export const COMMAND_HELP = {
  doctor: `Usage: verbatim doctor [--json]

Looks for Claude Code and for each harness (the program behind an agent): whether it is installed, which
version, whether that version was tested with this Verbatim, whether you are signed in, and what to do. Looks for
tmux too, which only \`verbatim worker\` needs; without it the exit code is the same.

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

Removes jobs with their prompts, events and answers, and errands with their tasks and answers. A job whose session
is open stays, and so does an errand whose worker is open.

  --older-than <age>   Jobs that have not changed, and errands that ended, for this long: 30m, 12h, 7d.
  --all                All of them.
  --json               What was removed and what stays, as JSON.
`,
  worker: `Usage: verbatim worker <command>

A worker is an interactive Claude Code in a terminal of its own (tmux), opened for one task. What it says last is
the answer. An errand is that task with its answer; it has an id.

  run [<task>]       Opens a worker, waits, prints exactly its answer, and closes it.
  list               Lists the errands: which work, which wait for you, which have ended.
  attach <errand>    Shows the worker's terminal in this one; Ctrl-b d leaves it.
  answer <errand>    Prints the answer again.
  stop <errand>      Takes the task back, and closes the worker.

For an errand its id will do, or a beginning of it that no other has.
\`verbatim worker <command> --help\` says more.
`,
  serve: `Usage: verbatim serve [--session <pid>]

The sidecar that the plugin starts; it is of no use in a terminal. It prints one line of JSON that says where
its API listens, and ends when its parent does.

  --session <pid>      The process to end with, instead of its parent.
`,
} as const;

export const WORKER_HELP = {
  run: `Usage: verbatim worker run [<task> | --file <path> | -] [options]

Opens an interactive Claude Code in a terminal of its own, hands it the task as your own words, waits until it has
nothing left to do, prints its last message (exactly, and nothing else) to stdout, and closes it. A message over
16,000 characters is cut, and says so. The task comes from the command line, a file, or stdin (which is not read
beside another); it is just text, whatever it begins with. Other options of Claude Code belong into its settings.

  --file <path>             The task is what stands in this file.
  --cwd <folder>            Where the worker works; this folder unless said.
  --model <model>           Claude Code's --model.
  --permission-mode <mode>  Claude Code's --permission-mode; your own default unless said.
  --timeout <time>          Give up this long after the start: 90s, 60m, 2h. 60m unless said.
  --unattended              Nobody is there: give up as soon as it waits for a person.
  --keep                    Leave the worker open when the task has ended; \`worker stop\` closes it.
  --depth <n>               How deep this worker stands among workers. One deeper than this session unless said,
                            at most ${DEPTH_LIMIT}; a worker that deep opens no other.
  --json                    The answer with the errand and how it ended, as JSON.

What waits for you (trust, sign-in, permission, a question, a failed turn) is said on stderr, with how to get to it;
until somebody comes it waits. In a script, say --unattended.

Exit code: 0 answered, 3 ended without an answer, 4 the worker ended first, 5 unattended and waits for a person,
124 timed out, 130 interrupted, 1 could not be done, 2 asked for wrongly.
`,
  list: `Usage: verbatim worker list [--json]

Lists the errands, the newest first. Status:
  starting, working   The worker is being opened; it has the task.
  waits: …            It waits for you: \`verbatim worker attach <errand>\`.
  answered, unanswered, worker ended, timed out, needs person, interrupted, failed
                      How it ended; "kept open": the worker is still there.
  abandoned           Who asked was killed, and so was the desk; \`worker stop\` closes the worker.

  --json              All that is known of each errand, as JSON.
`,
  attach: `Usage: verbatim worker attach <errand>

Shows the worker's terminal in this one. What you do there, the worker gets. Ctrl-b d leaves it; inside a tmux of
your own, which takes the first Ctrl-b, Ctrl-b Ctrl-b d.
`,
  answer: `Usage: verbatim worker answer <errand> [--json]

Prints the answer of an errand as \`worker run\` did, with the same exit codes.

  --json          The answer with how the errand ended, as JSON.
`,
  stop: `Usage: verbatim worker stop <errand>

Takes the task back where the errand is open, and closes the worker, one that was kept open too.
`,
  host: `Usage: verbatim worker host <errand>

The process behind an errand, which \`worker run\` starts; it is of no use in a terminal.
`,
} as const;

export type WorkerCommand = keyof typeof WORKER_HELP;
export type CommandName = keyof typeof COMMAND_HELP;

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMAND_HELP, name);
}

export function isWorkerCommand(name: string): name is WorkerCommand {
  return Object.hasOwn(WORKER_HELP, name);
}

/** The page of a command: `worker run` has one of its own. */
export function helpOf(name: CommandName, rest: readonly string[]): string {
  const [sub = ''] = rest;
  return name === 'worker' && isWorkerCommand(sub) ? WORKER_HELP[sub] : COMMAND_HELP[name];
}
