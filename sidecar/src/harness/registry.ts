/** The harnesses that this sidecar has, by name. */
import type { HarnessName } from '../../../plugin/hooks/protocol/api.js';
import { VERSION } from '../../../plugin/hooks/protocol/version.js';
import { codex } from './codex/harness.js';
import type { Harness } from './contract.js';

export type HarnessContext = {
  readonly env: NodeJS.ProcessEnv;
  /** The sidecar's instance id, which everything that a harness starts carries as VERBATIM_SIDECAR. */
  readonly sidecar: string;
};

export type HarnessMakers = Readonly<Record<HarnessName, (context: HarnessContext) => Harness>>;

const MAKERS: HarnessMakers = {
  codex: ({ env, sidecar }) => codex({ env, sidecar, version: VERSION }),
};

/** Makes each harness when it is first asked for, and only once. */
export class Harnesses {
  readonly #made = new Map<HarnessName, Harness>();

  constructor(
    private readonly context: HarnessContext,
    private readonly makers: HarnessMakers = MAKERS,
  ) {}

  of(name: HarnessName): Harness {
    const made = this.#made.get(name) ?? this.makers[name](this.context);
    this.#made.set(name, made);
    return made;
  }

  /** Ends every harness that was made. Resolves to the processes that would not end. */
  async close(): Promise<readonly string[]> {
    const ended = await Promise.all([...this.#made.values()].map((harness) => harness.close()));
    return ended.flat();
  }
}
