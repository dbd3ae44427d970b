/** `verbatim serve`: puts the sidecar together, says where it listens, and takes it apart again. */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Handshake, type HarnessName, PROTOCOL } from '../../../plugin/hooks/protocol/api.js';
import { VERSION } from '../../../plugin/hooks/protocol/version.js';
import { Harnesses, type HarnessMakers } from '../harness/registry.js';
import { Jobs } from '../job/jobs.js';
import { sidecarId } from '../job/owner.js';
import { recordSidecar } from '../job/reaper.js';
import { openLog } from '../log.js';
import { SIDECAR_VARIABLE } from '../process/environment.js';
import { killAll } from '../process/ladder.js';
import { mask } from '../process/secrets.js';
import { carrying, ownIdentity } from '../process/table.js';
import { logsFolder, stateFolder } from '../state/state-folder.js';
import { listen } from './address.js';
import { keepHeapSmall } from './heap.js';
import { createApi } from './http.js';
import { type EndReason, type Lifeline, openLifeline } from './lifeline.js';
import { tidy } from './tidy.js';
import { mintToken } from './token.js';

/** Milliseconds without a request after which the sidecar ends: the mod renews far more often. */
const DEFAULT_LEASE_MS = 600_000;
/** Longest that ending may take, in milliseconds: every step in it has a bound of its own, this is the last one. */
const END_LIMIT_MS = 25_000;

export type ServeOptions = {
  /** The process to end with; absent: the parent. */
  readonly session?: number;
  readonly leaseMs?: number;
  /** What makes each harness; a test gives its own. */
  readonly makers?: HarnessMakers;
};

/** Runs the sidecar until it is to end. Resolves to the process's exit code. */
export async function serve(options: ServeOptions = {}): Promise<number> {
  keepHeapSmall();
  const { env } = process;
  const leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS;
  const self = ownIdentity();
  const sidecar = sidecarId(self);
  const state = stateFolder(env);
  const hide = (text: string) => mask(text, env);
  const logFile = openLog(join(logsFolder(state), `sidecar-${sidecar}.jsonl`), hide, Date.now);
  const { log } = logFile;
  // A fault of ours in one job must not end the others.
  process.on('uncaughtException', (error) => log('error', 'an unexpected error', { error }));
  process.on('unhandledRejection', (error) => log('error', 'an unexpected rejection', { error }));
  // Whoever read the handshake may close our output: nothing more is written there.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});

  let lifeline: Lifeline | undefined;
  const ended = new Promise<EndReason>((resolve) => {
    lifeline = openLifeline({ leaseMs, session: options.session, now: () => performance.now(), end: resolve });
  });
  const closing = new AbortController();
  const harnesses = new Harnesses({ env, sidecar }, options.makers);
  const harnessOf = (name: HarnessName) => harnesses.of(name);
  const jobs = new Jobs({ place: { state, self, mask: hide, now: Date.now }, harnessOf, log });
  const token = mintToken();
  const server = createApi({
    routes: { jobs, harnessOf, leaseMs, log, onAdopted: () => lifeline?.adopt() },
    token,
    log,
    onRequest: () => lifeline?.renew(),
    closing: closing.signal,
  });
  const { address, remove } = await listen(server, env);
  const handshake: Handshake = { verbatim: VERSION, protocol: PROTOCOL, pid: process.pid, ...address, token };
  writeSync(1, `${JSON.stringify(handshake)}\n`);
  // Whoever launched it may end now.
  process.send?.('up', () => process.disconnect());
  const recorder = recordSidecar(state, self, () => jobs.running > 0, log);
  // After the handshake, so that it never delays a first job.
  setImmediate(() => void tidy(state, self, log));
  log('info', 'the sidecar is up', { version: VERSION, pid: process.pid, parent: process.ppid, node: process.version });

  const reason = await ended;
  log('info', 'the sidecar is ending', { reason });
  // Whatever a harness or a job missed carries this sidecar's id (Linux; elsewhere the harnesses' own ladders are all).
  const sweep = () => killAll(() => carrying(SIDECAR_VARIABLE, [sidecar]));
  setTimeout(() => {
    log('error', 'ending took too long; what is left is killed');
    void sweep().finally(() => process.exit(1));
  }, END_LIMIT_MS).unref();
  closing.abort();
  remove();
  server.close();
  const survivors = [...new Set([...(await jobs.close()), ...(await harnesses.close()), ...(await sweep())])];
  server.closeAllConnections();
  lifeline?.cut();
  if (survivors.length > 0) log('error', 'processes outlived the sidecar', { survivors });
  log('info', 'the sidecar has ended');
  recorder.close(survivors.length > 0);
  logFile.close();
  return survivors.length > 0 ? 1 : 0;
}
