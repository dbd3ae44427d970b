/**
 * Where tests make their folders: below the repository, but never below a temporary folder.
 *
 * Codex 0.171.0 warns about a CODEX_HOME below `$TMPDIR`, and its sandbox leaves `/tmp` and `$TMPDIR` writable whatever
 * the access level: a test that a write is refused would prove nothing there. A checkout that lies there itself uses
 * /var/tmp, which the sandbox does not leave open.
 */
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, sep } from 'node:path';
import { ROOT } from './root.js';

/** Makes a new folder with this prefix; whoever asks removes it. */
export function scratchFolder(prefix: string): string {
  const parent = isTemporary(ROOT) ? `/var/tmp/verbatim-tests-${userInfo().uid}` : join(ROOT, 'build', 'tmp');
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  return realpathSync(mkdtempSync(join(parent, prefix)));
}

function isTemporary(folder: string): boolean {
  const real = realpathSync(folder);
  return ['/tmp', realpathSync(tmpdir())].some((temporary) => real === temporary || real.startsWith(temporary + sep));
}
