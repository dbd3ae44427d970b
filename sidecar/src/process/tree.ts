/**
 * Everything that a process has started, recorded while it lives.
 *
 * Codex puts each command in a session of its own, so that a signal to its process group misses them; a
 * command that forks twice leaves the tree. Both stay ours: once seen below the root a process is kept
 * until it ends, whoever its parent is by then. What was never seen is found by the variables that its
 * environment carries (`carrying` in ./table.ts).
 */
import { isAlive, type ProcessEntry, type ProcessIdentity, processTable } from './table.js';

export class ProcessTree {
  readonly #known = new Map<number, ProcessIdentity>();

  constructor(readonly root: ProcessIdentity) {
    this.#known.set(root.pid, root);
  }

  /** Looks again: adds the children of every living member, drops members that ended. */
  sample(table: readonly ProcessEntry[] = processTable()): void {
    const living = new Map(table.filter((entry) => !entry.isZombie).map((entry) => [entry.pid, entry]));
    for (const [pid, identity] of this.#known) {
      if (living.get(pid)?.startTime !== identity.startTime) this.#known.delete(pid);
    }
    // A child's pid may be smaller than its parent's (pids wrap): go on until nothing is added.
    for (let grew = true; grew; ) {
      grew = false;
      for (const entry of living.values()) {
        if (this.#known.has(entry.pid) || !this.#known.has(entry.parent)) continue;
        this.#known.set(entry.pid, { pid: entry.pid, startTime: entry.startTime });
        grew = true;
      }
    }
  }

  /** The members that still run, the root among them. */
  living(): ProcessIdentity[] {
    return [...this.#known.values()].filter(isAlive);
  }

  has(pid: number): boolean {
    return this.#known.has(pid);
  }
}
