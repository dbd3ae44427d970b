/** Stands for Claude Code: starts the command in argv with this process's output, and stays. */
import { spawn } from 'node:child_process';

const [program = '', ...args] = process.argv.slice(2);
spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
setInterval(() => {}, 60_000);
