/**
 * `npm run demo`: both directions, on the real programs. Claude Code hands a task to Codex; then a Claude Code session is
 * opened as a worker and answers its errand. Only the models are embedded fakes on 127.0.0.1, so it needs no login and
 * nothing leaves the machine. Exit code 0 when each answer's bytes are the same on both sides.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { missingParts } from './parts.js';
import { bold, dim, print } from './print.js';

async function demo(): Promise<number> {
  const missing = missingParts();
  if (missing.length > 0) {
    for (const line of missing) process.stderr.write(`${line}\n`);
    return 1;
  }
  const { devDependencies: versions } = JSON.parse(
    readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'),
  ) as { devDependencies: Record<string, string> };
  print();
  print(bold('Verbatim: another coding agent, run as a real Claude Code agent, its answer delivered exactly.'));
  print(
    `Real: Claude Code ${versions['@anthropic-ai/claude-code']} (in auto mode, its default), Codex ${versions['@openai/codex']}. ` +
      'Fake: their two models, here on 127.0.0.1.',
  );
  try {
    const { showAgent } = await import('./agent.js');
    const { showErrand } = await import('./errand.js');
    const isExact = [await showAgent(), await showErrand()].every(Boolean);
    print();
    print(dim('With your own logins: see "Install" in README.md.'));
    print();
    return isExact ? 0 : 1;
  } catch (error) {
    process.stderr.write(`\nThe demo did not get through: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

process.exitCode = await demo();
