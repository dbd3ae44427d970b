/** What the demo needs, looked for before it begins: each missing part with the command that brings it. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** One line for each part that is not there; none when all are. */
export function missingParts(): readonly string[] {
  const missing: string[] = [];
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    missing.push(`Node.js ${process.versions.node} is too old: Verbatim needs 20.19 or newer (https://nodejs.org)`);
  }
  const platform = `${process.platform}-${process.arch}`;
  const claude = join(ROOT, 'node_modules', '@anthropic-ai', `claude-code-${platform}`, 'claude');
  if (!existsSync(claude)) {
    missing.push(`Claude Code for ${platform} is not installed (looked for ${claude}): run \`npm ci\``);
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
