/** The `verbatim` command: what the bundle does when it is run. */
import { checkNode } from './node-version.js';
import { run } from './run.js';
import { TERMINAL } from './terminal.js';

const complaint = checkNode(process.versions.node);
if (complaint !== null) {
  process.stderr.write(`${complaint}\n`);
  process.exitCode = 1;
} else {
  process.exitCode = await run(process.argv.slice(2), TERMINAL);
  // The sidecar has ended all that it started: nothing that still holds the event loop may keep it alive.
  if (process.argv[2] === 'serve') process.exit();
}
