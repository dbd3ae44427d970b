/**
 * Finds and ends what a sidecar that is gone has left running.
 *
 * Each sidecar keeps a file: who it is, and the processes below it by (pid, start time). What is left is
 * found by that and by the sidecar's id in VERBATIM_SIDECAR, which all that it started carries. Only files
 * of this machine, this boot and this pid namespace count: a home folder may be shared with a container,
 * whose pids mean something else.
 */
import { readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../errors.js';
import type { Log } from '../log.js';
import { SIDECAR_VARIABLE } from '../process/environment.js';
import { killAll } from '../process/ladder.js';
import { carrying, isAlive, type ProcessIdentity, processTable } from '../process/table.js';
import { ProcessTree } from '../process/tree.js';
import { countOf, objectOf, ShapeError, textOf } from '../shape.js';
import { ensurePrivateFolder, namesIn, readPrivate, writeAtomic } from '../state/private-files.js';
import { sidecarsFolder } from '../state/state-folder.js';
import { sidecarId } from './owner.js';

/** How often the processes below a sidecar that works are recorded, in milliseconds. */
const RECORD_MS = 1_000;

type SidecarFile = {
  readonly sidecar: ProcessIdentity;
  /** Boot and pid namespace, '' where the system has no such thing. */
  readonly world: string;
  readonly processes: readonly ProcessIdentity[];
};

export type Recorder = {
  /** Looks at once, whether or not the sidecar works. */
  record(): void;
  /** Stops; the file goes, unless something outlived the sidecar. */
  close(survived: boolean): void;
};

/** Keeps the file of this sidecar, while `isActive` says that it works. */
export function recordSidecar(state: string, self: ProcessIdentity, isActive: () => boolean, log: Log): Recorder {
  ensurePrivateFolder(sidecarsFolder(state));
  const path = join(sidecarsFolder(state), `${sidecarId(self)}.json`);
  const tree = new ProcessTree(self);
  let written = '';
  const record = () => {
    try {
      tree.sample(processTable());
      const processes = tree.living().filter((each) => each.pid !== self.pid);
      const text = JSON.stringify({ sidecar: self, world: world(), processes } satisfies SidecarFile);
      if (text !== written) writeAtomic(path, text);
      written = text;
    } catch (error) {
      log('warning', 'the processes of this sidecar could not be recorded', { error });
    }
  };
  record();
  const timer = setInterval(() => {
    if (isActive()) record();
  }, RECORD_MS);
  timer.unref();
  return {
    record,
    close(survived) {
      clearInterval(timer);
      if (survived) record();
      else rmSync(path, { force: true });
    },
  };
}

export type Reaped = {
  /** The sidecar that had left them. */
  readonly sidecar: string;
  readonly ended: number;
  /** What would not end, as `pid command`. */
  readonly survivors: readonly string[];
};

/** Ends what sidecars that are gone have left. Resolves to what was found, one entry a sidecar that left something. */
export async function reap(state: string, log: Log): Promise<Reaped[]> {
  const reaped: Reaped[] = [];
  for (const name of namesIn(sidecarsFolder(state)).filter((each) => /^\d+-\w+\.json$/.test(each))) {
    const path = join(sidecarsFolder(state), name);
    const file = readFile(path, log);
    if (file === null || file.world !== world() || isAlive(file.sidecar)) continue;
    const sidecar = sidecarId(file.sidecar);
    const found = () => [
      ...file.processes.filter(isAlive),
      ...carrying(SIDECAR_VARIABLE, [sidecar]).map(({ pid, startTime }) => ({ pid, startTime })),
    ];
    const left = new Set(found().map(({ pid }) => pid)).size;
    const survivors = await killAll(found);
    if (left > 0) reaped.push({ sidecar, ended: left - survivors.length, survivors });
    if (survivors.length === 0) rmSync(path, { force: true });
  }
  return reaped;
}

function readFile(path: string, log: Log): SidecarFile | null {
  try {
    const fields = objectOf(JSON.parse(readPrivate(path).toString('utf8')), 'the file');
    if (!Array.isArray(fields.processes)) throw new ShapeError('processes', 'must be a list');
    return {
      sidecar: identityOf(fields.sidecar, 'sidecar'),
      world: typeof fields.world === 'string' ? fields.world : '',
      processes: fields.processes.map((value, index) => identityOf(value, `processes[${index}]`)),
    };
  } catch (error) {
    // Gone meanwhile (its sidecar ended), or not of our form: nothing may be killed on its word.
    if (codeOf(error) !== 'ENOENT') log('warning', `${path} cannot be read; what it names is not ended`, { error });
    return null;
  }
}

function identityOf(value: unknown, field: string): ProcessIdentity {
  const fields = objectOf(value, field);
  return {
    pid: countOf(fields, 'pid', 2, Number.MAX_SAFE_INTEGER, `${field}.`),
    startTime: textOf(fields, 'startTime', { max: 64 }, `${field}.`),
  };
}

function world(): string {
  if (process.platform !== 'linux') return '';
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    // A system that hides them: start times still tell the processes apart.
    return '';
  }
}
