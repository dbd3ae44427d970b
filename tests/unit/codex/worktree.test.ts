/** What a linked worktree may write outside itself, and what nobody can make it write. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { worktreeRoots } from '../../../sidecar/src/harness/codex/worktree.js';
import { gitFolder } from '../../../testing/codex-home.js';
import { scratchFolder } from '../../../testing/scratch.js';

let root: string;
let main: string;
let linked: string;
beforeEach(() => {
  root = scratchFolder('worktree-');
  main = join(root, 'main');
  linked = join(root, 'linked');
  gitFolder(main);
  execFileSync('git', ['worktree', 'add', '--quiet', '-b', 'topic', linked], { cwd: main, stdio: 'pipe' });
  mkdirSync(join(root, 'elsewhere'));
});
afterEach(() => rmSync(root, { recursive: true }));

const own = () => join(main, '.git', 'worktrees', 'linked');

describe('outside itself', () => {
  it('a linked worktree writes its own git folder and objects, refs and logs of the repository', () => {
    const shared = ['objects', 'refs', 'logs'].map((name) => join(main, '.git', name));
    expect(worktreeRoots(linked)).toEqual([own(), ...shared]);
    mkdirSync(join(linked, 'below'));
    expect(worktreeRoots(join(linked, 'below'))).toEqual([own(), ...shared]);
  });

  it('a plain repository, and a folder without one, write nothing', () => {
    expect(worktreeRoots(main)).toEqual([]);
    expect(worktreeRoots('/')).toEqual([]);
  });

  it('a `.git` that names a folder of its own, with links in it, opens nothing', () => {
    const forged = join(root, 'forged');
    mkdirSync(join(forged, 'x', 'worktrees', 'y'), { recursive: true });
    writeFileSync(join(forged, '.git'), 'gitdir: x/worktrees/y\n');
    writeFileSync(join(forged, 'x', 'worktrees', 'y', 'commondir'), `${root}\n`);
    for (const name of ['objects', 'refs']) symlinkSync(join(root, 'elsewhere'), join(forged, 'x', name));
    expect(worktreeRoots(forged)).toEqual([]);
    writeFileSync(join(forged, 'x', 'worktrees', 'y', 'gitdir'), join(forged, '.git'));
    expect(worktreeRoots(forged)).toEqual([join(forged, 'x', 'worktrees', 'y')]);
  });

  it('a `.git` that names the worktree of somebody else opens nothing', () => {
    const forged = join(root, 'forged');
    mkdirSync(forged);
    writeFileSync(join(forged, '.git'), `gitdir: ${own()}\n`);
    expect(worktreeRoots(forged)).toEqual([]);
  });

  it('a `commondir` that an earlier turn has changed opens nothing more', () => {
    const before = worktreeRoots(linked);
    mkdirSync(join(root, 'elsewhere', 'objects'));
    writeFileSync(join(own(), 'commondir'), `${join(root, 'elsewhere')}\n`);
    expect(worktreeRoots(linked)).toEqual(before);
  });
});
