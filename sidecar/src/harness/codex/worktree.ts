/** What a linked git worktree must be able to write outside itself for `git commit` to work. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';

/**
 * The folders outside `cwd` that a commit in its linked worktree writes: the worktree's own git folder, and
 * objects, refs and logs of the common one. Not the common folder whole: `hooks` and `config` in it would let
 * a harness choose what the user's next git command runs. Empty where `cwd` is in no linked worktree.
 */
export function worktreeRoots(cwd: string): string[] {
  const pointer = gitPointer(cwd);
  if (pointer === null) return [];
  try {
    const gitFolder = realpathSync(pointer);
    const common = readFileSync(join(gitFolder, 'commondir'), 'utf8').trim();
    const commonFolder = realpathSync(isAbsolute(common) ? common : resolve(gitFolder, common));
    return [gitFolder, join(commonFolder, 'objects'), join(commonFolder, 'refs'), join(commonFolder, 'logs')].filter(
      isFolder,
    );
  } catch {
    // No `commondir` (a submodule), or a pointer to nowhere: no worktree that a commit could be made in.
    return [];
  }
}

/** The path that the nearest `.git` file names; null where the nearest `.git` is a folder, or there is none. */
function gitPointer(cwd: string): string | null {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const candidate = join(folder, '.git');
    try {
      if (!statSync(candidate).isFile()) return null;
      const named = /^gitdir: (.+)$/m.exec(readFileSync(candidate, 'utf8'))?.[1]?.trim();
      return named === undefined ? null : resolve(folder, named);
    } catch {
      // No `.git` here: look further up.
      if (dirname(folder) === folder) return null;
    }
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // `logs` exists only once something was logged.
    return false;
  }
}
