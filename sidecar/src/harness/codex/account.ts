/** Whether Codex is signed in, asked of Codex itself. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Failure } from '../../../../plugin/hooks/protocol/outcome.js';
import { failure, SIGN_IN_HINT } from './failures.js';
import { account, FrameFault, read } from './frames.js';
import type { CodexServer } from './server.js';

export type SignedIn = 'yes' | 'no' | 'unknown';

export class Account {
  readonly #file: string;

  /** @param home CODEX_HOME */
  constructor(home: string) {
    this.#file = join(home, 'auth.json');
  }

  /**
   * `no` exactly where the provider needs an OpenAI sign-in and there is none. Codex does not look by itself: a
   * turn would fail with a 401 after six seconds (measured on codex 0.171.0).
   */
  async state(server: CodexServer): Promise<SignedIn> {
    const settled = await server.request('account/read', { refreshToken: false });
    if (settled.kind !== 'result') return 'unknown';
    try {
      const state = read(account, settled.result, 'the answer to account/read');
      return state.requiresOpenaiAuth && (state.account ?? null) === null ? 'no' : 'yes';
    } catch (error) {
      if (error instanceof FrameFault) return 'unknown';
      throw error;
    }
  }

  /** The failure of a turn that would run without a sign-in; null where it may run. */
  async check(server: CodexServer): Promise<Failure | null> {
    const state = await this.state(server);
    return state === 'no' ? failure('sign_in', 'Codex is not signed in.', SIGN_IN_HINT) : null;
  }

  /** Whether the sign-in was written, or removed, after `time` (milliseconds since the epoch). */
  hasChangedSince(time: number): boolean {
    try {
      return statSync(this.#file).mtimeMs > time;
    } catch {
      // No file: a sign-in kept in a keyring, or none. Nothing says that it changed.
      return false;
    }
  }
}
