/**
 * Finds a program on PATH without a shell, and says what was looked for and where.
 *
 * On Windows `spawn('codex')` fails with ENOENT where npm installed `codex.cmd`: PATHEXT is applied here.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

export type Resolution =
  | { readonly kind: 'found'; readonly path: string }
  /** `lookedFor` is a sentence part: `codex, codex.exe in 3 folders of PATH (/a, /b, /c)`. */
  | { readonly kind: 'missing'; readonly lookedFor: string };

export type ResolveOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
  /** Base of a relative path that is no bare name. */
  readonly cwd?: string;
};

/**
 * @param name A bare name (`codex`: looked up on PATH) or a path (taken as it is).
 */
export function resolveProgram(name: string, options: ResolveOptions): Resolution {
  const { env, platform = process.platform, cwd = process.cwd() } = options;
  const isWindows = platform === 'win32';
  const names = [...new Set(isWindows ? withExtensions(name, env) : [name])];
  if (isAbsolute(name) || name.includes('/') || (isWindows && name.includes('\\'))) {
    const found = names.map((candidate) => resolve(cwd, candidate)).find((path) => isProgram(path, isWindows));
    return found ? { kind: 'found', path: found } : { kind: 'missing', lookedFor: names.join(', ') };
  }
  const folders = (variable(env, 'PATH', isWindows) ?? '').split(isWindows ? ';' : delimiter).filter(Boolean);
  for (const folder of folders) {
    // A relative folder of PATH names another program in each working folder: not followed.
    if (!isAbsolute(folder)) continue;
    for (const candidate of names) {
      const path = join(folder, candidate);
      if (isProgram(path, isWindows)) return { kind: 'found', path };
    }
  }
  const where =
    folders.length === 0 ? 'PATH, which is empty' : `${folders.length} folders of PATH (${folders.join(', ')})`;
  return { kind: 'missing', lookedFor: `${names.join(', ')} in ${where}` };
}

function withExtensions(name: string, env: Readonly<Record<string, string | undefined>>): string[] {
  const extensions = (variable(env, 'PATHEXT', true) ?? '.COM;.EXE;.BAT;.CMD').split(';').filter(Boolean);
  const hasExtension = extensions.some((extension) => name.toLowerCase().endsWith(extension.toLowerCase()));
  return hasExtension ? [name] : extensions.map((extension) => name + extension.toLowerCase());
}

/** Names of variables are case-insensitive on Windows, where it is `Path`. */
function variable(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  isWindows: boolean,
): string | undefined {
  if (!isWindows) return env[name];
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}

function isProgram(path: string, isWindows: boolean): boolean {
  try {
    if (!statSync(path).isFile()) return false;
    if (!isWindows) accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Not there, or not ours to run: the next candidate.
    return false;
  }
}
