/**
 * Writes plugin/sidecar/verbatim.mjs. It is committed, for a plugin is loaded as it stands; `--check` builds
 * it again and compares the bytes.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { BUNDLE, buildBundle } from './sidecar-bundle.js';

const built = await buildBundle();
if (process.argv.includes('--check')) {
  if (readFileSync(BUNDLE).equals(built)) {
    process.stdout.write(`plugin/sidecar/verbatim.mjs is fresh (${built.length} bytes)\n`);
  } else {
    process.stderr.write(
      'plugin/sidecar/verbatim.mjs is not what the sources build: run `npm run bundle`, commit it\n',
    );
    process.exitCode = 1;
  }
} else {
  mkdirSync(dirname(BUNDLE), { recursive: true });
  writeFileSync(BUNDLE, built);
  chmodSync(BUNDLE, 0o755);
  process.stdout.write(`plugin/sidecar/verbatim.mjs: ${built.length} bytes\n`);
}
