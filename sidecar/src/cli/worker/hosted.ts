/** An errand in a host of its own, as the command that asked sees it. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { ErrandEnd } from '../../desk/errand.js';
import type { Errands } from '../../desk/errands.js';
import { closeErrand } from '../../worker-host/close.js';
import type { HostHears, HostSays } from '../../worker-host/host.js';
import { oneLine, type Terminal } from '../terminal.js';
import type { EndedErrand } from './end.js';
import { errandAt } from './errand-at.js';
import { sayWait } from './words.js';

/** How often a host that was killed is started again. */
const HOSTS = 5;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** How an errand ended, and the processes that outlived its worker, as `pid command`. */
export type Ended = Pick<EndedErrand, 'end' | 'claudeSession'> & { readonly survivors: readonly string[] };

type LastWords = Extract<HostSays, { kind: 'ended' }>;

/** Runs the errand to its end: in a host, and in another where that one is killed. */
export async function hosted(errands: Errands, id: string, terminal: Terminal): Promise<Ended> {
  let host: ChildProcess | undefined;
  let interruption: HostHears | undefined;
  const onSignal = (name: NodeJS.Signals) => {
    interruption = { kind: 'interrupt', detail: name };
    // The second time nobody waits for the worker's end: its host sees to that.
    if (host !== undefined) tell(host, interruption);
    for (const each of SIGNALS) process.removeListener(each, onSignal);
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  try {
    let isOpened = false;
    for (let tries = 0; tries < HOSTS; tries += 1) {
      // What is not on disk any more throws here: no host could take it up.
      const { cwd } = errandAt(errands, id);
      if (tries > 0) terminal.complain('verbatim worker: the errand desk was killed; it is started again');
      host = startHost(id);
      if (interruption !== undefined) tell(host, interruption);
      const ended = await heard(host, (message) => {
        if (message.kind === 'waits') sayWait(message.wait, id, terminal);
        if (message.kind !== 'opened' || isOpened) return;
        isOpened = true;
        terminal.complain(`verbatim worker: ${id} works in ${oneLine(cwd)}; to watch it: verbatim worker attach ${id}`);
      });
      if (ended !== null) {
        // It lives as long as its worker: this command does not wait for that.
        if (ended.isKept) host.unref();
        return ended;
      }
    }
    const end: ErrandEnd = { kind: 'failed', detail: `the errand desk was killed ${HOSTS} times` };
    const survivors = await closeErrand(errands, id, end);
    const errand = errandAt(errands, id);
    return { end: errand.end ?? end, claudeSession: errand.claudeSession, survivors };
  } finally {
    for (const name of SIGNALS) process.removeListener(name, onSignal);
  }
}

/** The process that keeps the errand's desk: out of this terminal's reach, so that Ctrl-C comes to it from us alone. */
function startHost(id: string): ChildProcess {
  // What is around this command is nothing of the new worker's host: not its errand, and not its desk's token.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:LICH_.*|VERBATIM_ERRAND)$/.test(name)),
  );
  return spawn(process.execPath, [process.argv[1] ?? '', 'worker', 'host', id], {
    detached: true,
    // Not ours: Node does not start in a folder that was removed meanwhile.
    cwd: '/',
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    windowsHide: true,
  });
}

function tell(host: ChildProcess, message: HostHears): void {
  // One that has just been killed hears nothing; the next one is told again.
  if (host.connected) host.send(message, () => {});
}

/** Resolves to how the errand ended, as the host says at its end; null where it was killed before. */
function heard(host: ChildProcess, onMessage: (message: HostSays) => void): Promise<LastWords | null> {
  return new Promise((settle, fail) => {
    host.on('message', (message: HostSays) => {
      if (message.kind === 'ended') settle(message);
      else onMessage(message);
    });
    host.once('error', fail);
    // Not `exit`: what it said last may still be on its way then.
    host.once('close', () => settle(null));
  });
}
