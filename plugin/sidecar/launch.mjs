/**
 * Starts the sidecar in a session of its own, and ends once it is up.
 *
 * Claude Code ends what a plugin started, and everything below it, some seconds after a reload of that plugin: SIGTERM
 * to each, SIGKILL 2 s later (measured on 2.1.332). Jobs outlive a reload, so the sidecar must not stand below Claude
 * Code. It watches Claude Code's own process instead, and ends with it.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const bundle = fileURLToPath(new URL('./verbatim.mjs', import.meta.url));
const sidecar = spawn(process.execPath, [bundle, 'serve', '--session', String(process.ppid)], {
  detached: true,
  windowsHide: true,
  // Its first line goes to Claude Code directly.
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
sidecar.once('message', () => process.exit(0));
sidecar.once('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
sidecar.once('exit', (code) => process.exit(code ?? 1));
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => sidecar.kill(name));
