/**
 * What the runner needs of the world, as plain closures: wired to Claude Code's `$` in register.ts, to
 * scripted ones in tests. Nothing in this folder knows `$`.
 */
import type { ApiError, JobOptions } from '../protocol/api.js';

export interface Host {
  /** One request of the sidecar's local API, the sidecar started first where it is not up. */
  readonly request: (request: ApiRequest) => Promise<ApiReply>;
  /** The same, by means that still work when the step that asks was aborted. */
  readonly requestDetached: (request: ApiRequest) => Promise<unknown>;
  /** What outlives this process: agentId → job id. */
  readonly jobOf: (agent: string) => Promise<string | undefined>;
  readonly keepJob: (agent: string, job: string) => Promise<void>;
  /** What outlives a reload of the module within the session. */
  readonly recallRun: (agent: string) => Promise<unknown>;
  /** Begins to keep it; a step does not wait for that. */
  readonly keepRun: (agent: string, run: unknown) => void;
  /** Settings of new jobs, from the plugin's `userConfig`. */
  readonly jobOptions: JobOptions;
  /** How long a step may wait before it says that it lives, in milliseconds. */
  readonly heartbeatMs: number;
  readonly sleep: (ms: number) => Promise<void>;
}

export type ApiRequest = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
};

export type ApiReply =
  | { readonly kind: 'ok'; readonly body: unknown }
  /** The sidecar refused the request: its error, for a reader. */
  | { readonly kind: 'refused'; readonly status: number; readonly error: ApiError['error'] }
  /** It could not be started at all. */
  | { readonly kind: 'not_started'; readonly detail: string }
  /** It was up and did not answer: it has ended, or is ending. */
  | { readonly kind: 'gone'; readonly detail: string };
