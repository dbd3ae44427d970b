/** What the demo needs, looked for before it begins: each missing part with the command that brings it. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { checkNode } from '../../sidecar/src/cli/node-version.js';
import { claudeBinary } from '../../testing/claude-place.js';
import { ROOT } from '../../testing/root.js';

/** One line for each part that is not there; none when all are. */
export function missingParts(): readonly string[] {
  const missing: string[] = [];
  const complaint = checkNode(process.versions.node);
  if (complaint !== null) missing.push(complaint);
  const platform = `${process.platform}-${process.arch}`;
  try {
    claudeBinary();
  } catch {
    missing.push(`Claude Code for ${platform} is not installed: run \`npm ci\` with optional dependencies`);
  }
  try {
    createRequire(import.meta.url).resolve('@openai/codex/package.json');
    if (!existsSync(join(ROOT, 'node_modules', '@openai', `codex-${platform}`))) {
      missing.push(`Codex for ${platform} is not installed: run \`npm ci\` with optional dependencies`);
    }
  } catch {
    missing.push('Codex is not installed (@openai/codex): run `npm ci`');
  }
  if (!existsSync(join(ROOT, 'plugin', 'sidecar', 'verbatim.mjs'))) {
    missing.push('the bundled sidecar plugin/sidecar/verbatim.mjs is missing: run `npm run bundle`');
  }
  try {
    execFileSync('git', ['--version'], { stdio: 'ignore' });
  } catch {
    missing.push('git is not installed: the demo works in a repository of its own');
  }
  return missing;
}
