/**
 * The sidecar's local API: what the mod asks and what it is answered.
 *
 * JSON over HTTP on a Unix domain socket, the token in `authorization: Bearer <token>` on every
 * request. The sidecar hands socket and token over on its first line of stdout (`Handshake`), once.
 */
import type { JobEvent } from './event.js';

/** Raised when a message or an event changes its shape; a mod refuses a sidecar of another number. */
export const PROTOCOL = 1;

/** Claude Code's permission modes (2.1.332), and `unknown` where no event said one. */
export const PERMISSION_MODES = ['default', 'acceptEdits', 'plan', 'auto', 'dontAsk', 'bypassPermissions'] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number] | 'unknown';

export const HARNESS_NAMES = ['codex'] as const;
export type HarnessName = (typeof HARNESS_NAMES)[number];

export type Handshake = {
  readonly verbatim: string;
  readonly protocol: number;
  readonly pid: number;
  /** Absolute path of the Unix domain socket; absent where the API listens on 127.0.0.1 (`port`). */
  readonly socket?: string;
  readonly port?: number;
  readonly token: string;
};

/** Job ids: `j` and 20 lower-case base-32 characters, nothing that a path could climb with. */
export const JOB_ID = /^j[a-z2-7]{20}$/;
/** Message ids, minted by the mod; the same id twice is the same message. */
export const MESSAGE_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Largest request body, in bytes. A prompt that Codex would take (1,048,576 characters) fits, escaped. */
export const BODY_LIMIT = 8 * 1024 * 1024;
/** Longest time an events request is held open, in milliseconds: `$.http.fetch` gives up after 30 s. */
export const POLL_LIMIT_MS = 20_000;
/**
 * Longest that the mod has one held, in milliseconds. Claude Code 2.1.332 may keep the session's next prompt waiting for
 * a request of a hook that was under way when the last turn ended (measured: as long as the request was held).
 */
export const POLL_SLICE_MS = 1_000;

export type Message = {
  readonly id: string;
  /** The raw text, never the engine's frame around it. */
  readonly text: string;
};

/** Settings of one job that the mod passes on from the plugin's `userConfig`. */
export type JobOptions = {
  /** Silence of the model after which a turn ends as `stalled`, in milliseconds (default 300,000). */
  readonly stallMs?: number;
};

/** `POST /v1/jobs` → 201 `{ job }`. The same `agent` and `session` again answers the job that is there. */
export type CreateJob = {
  readonly harness: HarnessName;
  /** The Claude Code agent's id. */
  readonly agent: string;
  /** The Claude Code session's id. */
  readonly session: string;
  /** Absolute path of the agent's working folder. */
  readonly cwd: string;
  readonly mode: PermissionMode;
  readonly message: Message;
  /** A model of the harness that the caller asked for; absent: the harness's own default. */
  readonly model?: string;
  readonly effort?: string;
  readonly options?: JobOptions;
};

/**
 * `POST /v1/jobs/:id/messages` → 200 `{ disposition, job }`: steers the running turn, else starts one.
 */
export type SendMessage = { readonly message: Message; readonly mode: PermissionMode };
export type Disposition = 'steered' | 'queued' | 'started' | 'duplicate';

/** `POST /v1/jobs/:id/stop` → 200 `{ job }` once the turn has ended and its processes are gone. */
export type StopJob = { readonly reason: 'stopped' | 'session_ended' };

/**
 * `GET /v1/jobs/:id/events?after=<seq>&wait=<ms>` → 200 `{ events, job }`: the events after `after`, oldest
 * first; holds until there is one, the job is idle, or `wait` (at most POLL_LIMIT_MS) is over.
 */
export type EventsPage = { readonly events: readonly JobEvent[]; readonly job: JobView };

/**
 * Characters (UTF-16 units) of an answer in one page. `$.http.fetch` refuses a response over 4,194,304 bytes and a
 * request over as many characters (measured on 2.1.332), and JSON may need six for one: a NUL is `\\u0000`.
 */
export const ANSWER_PAGE = 600_000;
/** Largest request body that the mod can send, in characters. */
export const REQUEST_LIMIT = 4_194_304;

/** `GET /v1/jobs/:id/answers/:turn?from=<unit>` → 200: the answer from unit `from` on, at most ANSWER_PAGE of it. */
export type AnswerPage = {
  readonly turn: number;
  readonly text: string;
  /** Where the next page begins, in UTF-16 units; null when this is the last. */
  readonly next: number | null;
  /** Of the answer whole. */
  readonly bytes: number;
  readonly sha256: string;
};

export const DELIVERY_WAYS = ['plain', 'handback', 'handback_refused'] as const;

/** `POST /v1/jobs/:id/deliveries` → 204: how a run's end was delivered, for the journal. */
export type Delivery = {
  readonly turn: number;
  /** The Claude Code run (its turn id): a run is delivered once. */
  readonly run: string;
  readonly how: (typeof DELIVERY_WAYS)[number];
};

/** `POST /v1/warm` → 202: the harness's program is being started, so that the first job finds it up. */
export type WarmHarness = { readonly harness: HarnessName };

/**
 * `GET /v1/health` → 200; `POST /v1/lease` (no body) → 200 the same; `POST /v1/adopt` (no body) → 200 the same, and
 * from then on a SIGTERM meant for a module that was replaced does not end the sidecar. Any request that
 * carries the token renews the lease.
 */
export type Health = {
  readonly verbatim: string;
  readonly protocol: number;
  readonly pid: number;
  /** Milliseconds without a request after which the sidecar ends its jobs and itself. */
  readonly leaseMs: number;
  readonly running: number;
};

export type JobView = {
  readonly id: string;
  readonly harness: HarnessName;
  readonly harnessVersion: string;
  readonly agent: string;
  readonly model: string;
  readonly thread: string | null;
  readonly cwd: string;
  /** `running`: a turn is under way or about to start; `idle`: none is, and no message waits. */
  readonly status: 'running' | 'idle';
  /** Harness turns begun so far. */
  readonly turns: number;
  /** Number of the newest event, 0 before the first. */
  readonly lastSeq: number;
  /** When the job was made, in milliseconds since the epoch. */
  readonly createdAt: number;
};

/** Every refusal's body. `code` is for programs, `message` for a reader: what happened, to what, what to do. */
export type ApiError = { readonly error: { readonly code: ApiErrorCode; readonly message: string } };

export type ApiErrorCode =
  | 'unauthorized' // 401: no token, or another one
  | 'not_found' // 404: no such path, job, turn or answer
  | 'method' // 405
  | 'too_large' // 413: a body over BODY_LIMIT
  | 'invalid' // 400: a body or a query that is not of the route's form
  | 'rate' // 429: the errand desk alone; too many requests at once
  | 'conflict' // 409: the job's folder is not ours (a link, another user's), or the job belongs to another sidecar
  | 'closing' // 503: the sidecar is ending
  | 'internal'; // 500: ours; the message says what, the log says where
