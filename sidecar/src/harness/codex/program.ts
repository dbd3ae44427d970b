/** Where Codex is: its native binary, never the npm shim around it. */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { resolveProgram } from '../../process/resolve.js';

export type Program =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'missing'; readonly lookedFor: string };

/** Names the program to run instead of the `codex` on PATH: a path, or a name on PATH. */
const PROGRAM_VARIABLE = 'VERBATIM_CODEX';

/**
 * Finds Codex: the explicit `program`, else `VERBATIM_CODEX`, else `codex` on PATH.
 *
 * npm's `codex` is a script around the native binary; killing it with SIGKILL leaves the binary alive, and it
 * costs 41 MB and 100 ms (measured on codex 0.171.0). Where it is met, the binary next to it is taken.
 */
export function findCodex(env: Readonly<Record<string, string | undefined>>, program?: string): Program {
  const name = program || env[PROGRAM_VARIABLE] || 'codex';
  const resolution = resolveProgram(name, { env });
  if (resolution.kind === 'missing') return resolution;
  return { kind: 'found', path: nativeOf(resolution.path) ?? resolution.path };
}

/** The native binary behind npm's shim; null when `path` is no such shim, or its platform package is absent. */
function nativeOf(path: string): string | null {
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    // It vanished since it was found: starting it will say so.
    return null;
  }
  // npm on Windows writes `codex.cmd` beside `node_modules/@openai/codex`; elsewhere it links to the script.
  const packages = /\.(?:cmd|ps1)$/i.test(real)
    ? [join(dirname(real), 'node_modules', '@openai', 'codex')]
    : /[\\/]@openai[\\/]codex[\\/]bin[\\/]codex\.js$/.test(real)
      ? [dirname(dirname(real))]
      : [];
  const platform = { linux: 'linux', android: 'linux', darwin: 'darwin', win32: 'win32' }[process.platform as string];
  const binary = process.platform === 'win32' ? 'codex.exe' : 'codex';
  for (const root of packages) {
    const vendors = [
      // Hoisted beside it (npm, pnpm), nested below it (npm -g), or the vendor folder of older packages.
      join(dirname(root), `codex-${platform}-${process.arch}`, 'vendor'),
      join(root, 'node_modules', '@openai', `codex-${platform}-${process.arch}`, 'vendor'),
      join(root, 'vendor'),
    ];
    for (const vendor of vendors.filter(existsSync)) {
      const found = readdirSync(vendor)
        .map((target) => join(vendor, target, 'bin', binary))
        .find(existsSync);
      if (found) return found;
    }
  }
  return null;
}
