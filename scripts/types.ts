/**
 * Writes the plugin API's declarations of the pinned Claude Code into `.types/`: `npm run types`.
 *
 * Claude Code carries them in its plugin-authoring skill and lays them into its temporary folder when the skill is
 * loaded. Here it does that against a fake model on 127.0.0.1, in a place of its own: nothing leaves the machine.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { runClaude } from '../testing/claude.js';
import { claudePlace } from '../testing/claude-place.js';
import { fakeMessages } from '../testing/fake-messages.js';
import { ROOT } from '../testing/root.js';

const TARGET = join(ROOT, '.types', 'claude-code.d.ts');
const VERSION = join(ROOT, '.types', 'version');

const pinned = (
  JSON.parse(
    readFileSync(createRequire(import.meta.url).resolve('@anthropic-ai/claude-code/package.json'), 'utf8'),
  ) as {
    version: string;
  }
).version;

const written = existsSync(TARGET) && existsSync(VERSION) ? readFileSync(VERSION, 'utf8').trim() : '';
if (written === pinned && !process.argv.includes('--force')) {
  process.stdout.write(`.types is of Claude Code ${pinned} already\n`);
} else {
  await write();
}

async function write(): Promise<void> {
  const model = await fakeMessages();
  const place = claudePlace({ url: model.url });
  try {
    const run = await runClaude(place, { prompt: '/plugin-authoring', plugins: [] });
    const found = readdirSync(place.root, { recursive: true, encoding: 'utf8' }).find((name) =>
      name.endsWith('plugin-authoring/types/claude-code.d.ts'),
    );
    if (found === undefined) {
      throw new Error(
        `Claude Code ${pinned} wrote no plugin-authoring/types/claude-code.d.ts (exit code ${run.exit.code}). ` +
          `It said: ${run.text.slice(0, 300) || run.stderr().slice(0, 300)}`,
      );
    }
    mkdirSync(dirname(TARGET), { recursive: true });
    copyFileSync(join(place.root, found), TARGET);
    writeFileSync(VERSION, `${pinned}\n`);
    process.stdout.write(`wrote .types/claude-code.d.ts of Claude Code ${pinned}\n`);
  } finally {
    await place.dispose();
    await model.close();
  }
}
