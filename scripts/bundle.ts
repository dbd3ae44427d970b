/**
 * Builds plugin/sidecar/verbatim.mjs, the sidecar and the `verbatim` command in one file.
 *
 * The bundle is committed, for a plugin is loaded as it stands: `--check` builds it again and compares the
 * bytes. So nothing that differs between two machines may be in it: no path, no time, no source map.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const output = join(root, 'plugin/sidecar/verbatim.mjs');

const BANNER = `#!/usr/bin/env node
// Built from sidecar/src and plugin/hooks/protocol by scripts/bundle.ts: change those, then \`npm run bundle\`.`;

export async function bundle(): Promise<Buffer> {
  const result = await build({
    absWorkingDir: root,
    entryPoints: ['sidecar/src/cli/main.ts'],
    outfile: output,
    write: false,
    bundle: true,
    minify: false,
    sourcemap: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    charset: 'utf8',
    legalComments: 'inline',
    banner: { js: BANNER },
    logLevel: 'warning',
  });
  const [file] = result.outputFiles;
  if (file === undefined) throw new Error('esbuild wrote nothing');
  return Buffer.from(file.contents);
}

const built = await bundle();
if (built.includes(root)) throw new Error(`the bundle holds this machine's path ${root}`);
if (process.argv.includes('--check')) {
  const committed = readFileSync(output);
  if (!committed.equals(built)) {
    process.stderr.write(
      'plugin/sidecar/verbatim.mjs is not what the sources build: run `npm run bundle` and commit it\n',
    );
    process.exitCode = 1;
  } else {
    process.stdout.write(`plugin/sidecar/verbatim.mjs is fresh (${built.length} bytes)\n`);
  }
} else {
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, built);
  chmodSync(output, 0o755);
  process.stdout.write(`plugin/sidecar/verbatim.mjs: ${built.length} bytes\n`);
}
