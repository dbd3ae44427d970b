/** What a linked git worktree must be able to write outside itself for `git commit` to work. */
import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * The folders outside `cwd` that a commit in its linked worktree writes: the worktree's own git folder, and
 * objects, refs and logs of the common one. Not the common folder whole: `hooks` and `config` in it would let
 * a harness choose what the user's next git command runs. Empty where `cwd` is in no linked worktree.
 *
 * What stands in `.git`, and in the worktree's git folder, may be a stranger's (an archive that was unpacked), or the
 * harness's own from an earlier turn. It opens nothing by its word: the repository has to know the worktree, `commondir`
 * is not read, and no link is followed from there.
 */
export function worktreeRoots(cwd: string): string[] {
  const pointer = gitPointer(cwd);
  if (pointer === null) return [];
  try {
    const gitFolder = realpathSync(pointer.gitFolder);
    const worktrees = dirname(gitFolder);
    if (basename(worktrees) !== 'worktrees' || !isKnownAs(gitFolder, pointer.file)) return [];
    const common = dirname(worktrees);
    return [gitFolder, ...['objects', 'refs', 'logs'].map((name) => join(common, name))].filter(isRealFolder);
  } catch {
    // A pointer to nowhere, or to what is no worktree's git folder (a submodule): no commit could be made there.
    return [];
  }
}

/** Whether the worktree's git folder, which git keeps inside the repository, names this `.git` file as its own. */
function isKnownAs(gitFolder: string, file: string): boolean {
  const named = readFileSync(join(gitFolder, 'gitdir'), 'utf8').trim();
  return realpathSync(resolve(gitFolder, named)) === realpathSync(file);
}

/** The nearest `.git` file and the path that it names; null where the nearest `.git` is a folder, or there is none. */
function gitPointer(cwd: string): { readonly file: string; readonly gitFolder: string } | null {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const file = join(folder, '.git');
    try {
      if (!statSync(file).isFile()) return null;
      const named = /^gitdir: (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1]?.trim();
      return named === undefined ? null : { file, gitFolder: resolve(folder, named) };
    } catch {
      // No `.git` here: look further up.
      if (dirname(folder) === folder) return null;
    }
  }
}

function isRealFolder(path: string): boolean {
  // `logs` exists only once something was logged.
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
