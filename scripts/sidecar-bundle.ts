/** Builds the sidecar and the `verbatim` command into one file. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from '../testing/root.js';

/** Where the committed bundle stands. */
export const BUNDLE = join(ROOT, 'plugin/sidecar/verbatim.mjs');

const BANNER = `#!/usr/bin/env node
// Built from sidecar/src and plugin/hooks/{protocol,notes} by scripts/bundle.ts: change those, then \`npm run bundle\`.`;

/** The bundle's bytes: the same on every machine, so no path, no time and no source map is in it. */
export async function buildBundle(): Promise<Buffer> {
  const result = await build({
    absWorkingDir: ROOT,
    entryPoints: ['sidecar/src/cli/main.ts'],
    outfile: BUNDLE,
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
  const bytes = Buffer.from(file.contents);
  if (bytes.includes(ROOT)) throw new Error(`the bundle holds this machine's path ${ROOT}`);
  return bytes;
}
