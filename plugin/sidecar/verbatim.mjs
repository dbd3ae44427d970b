#!/usr/bin/env node
// Built from sidecar/src and plugin/hooks/protocol by scripts/bundle.ts: change those, then `npm run bundle`.

// sidecar/src/cli/node-version.ts
var OLDEST = [20, 19];
function checkNode(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST[0] || major === OLDEST[0] && minor >= OLDEST[1]) return null;
  return `Verbatim needs Node ${OLDEST.join(".")} or newer, and this is Node ${version}. Install a newer Node (https://nodejs.org) and try again.`;
}

// sidecar/src/server/serve.ts
import { writeSync as writeSync3 } from "node:fs";
import { join as join8 } from "node:path";

// plugin/hooks/protocol/api.ts
var PROTOCOL = 1;
var PERMISSION_MODES = ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"];
var HARNESS_NAMES = ["codex"];
var JOB_ID = /^j[a-z2-7]{20}$/;
var MESSAGE_ID = /^[A-Za-z0-9_-]{1,128}$/;
var BODY_LIMIT = 8 * 1024 * 1024;
var POLL_LIMIT_MS = 2e4;

// sidecar/src/harness/registry.ts
var MAKERS = {
  codex: () => {
    throw new Error("codex is not wired");
  }
};
var Harnesses = class {
  constructor(context) {
    this.context = context;
  }
  context;
  #made = /* @__PURE__ */ new Map();
  of(name) {
    const made = this.#made.get(name) ?? MAKERS[name](this.context);
    this.#made.set(name, made);
    return made;
  }
  /** Ends every harness that was made. Resolves to the processes that would not end. */
  async close() {
    const ended = await Promise.all([...this.#made.values()].map((harness) => harness.close()));
    return ended.flat();
  }
};

// sidecar/src/job/access.ts
var ORDER = ["read_only", "workspace_write", "full"];
function levelOf(mode) {
  switch (mode) {
    case "plan":
    case "dontAsk":
    case "default":
    case "unknown":
      return "read_only";
    case "acceptEdits":
    case "auto":
      return "workspace_write";
    case "bypassPermissions":
      return "full";
    default:
      mode;
      return "read_only";
  }
}
function stricterOf(a, b) {
  return ORDER.indexOf(a) <= ORDER.indexOf(b) ? a : b;
}
function isStricter(a, b) {
  return ORDER.indexOf(a) < ORDER.indexOf(b);
}
function rememberedAfter(remembered, mode) {
  return mode === "unknown" ? remembered : stricterOf(remembered, levelOf(mode));
}
function accessOfTurn(remembered, modes) {
  return { level: modes.map(levelOf).reduce(stricterOf, remembered) };
}
function mayJoin(mode, turn) {
  return mode === "unknown" || !isStricter(levelOf(mode), turn);
}

// sidecar/src/job/job.ts
import { stat } from "node:fs/promises";

// sidecar/src/harness/contract.ts
var HarnessError = class extends Error {
  constructor(failure) {
    super(failure.message);
    this.failure = failure;
    this.name = "HarnessError";
  }
  failure;
};

// sidecar/src/job/outcome.ts
async function outcomeOf(ending, store) {
  switch (ending.kind) {
    case "completed":
      if (ending.answer.trim() === "") return { kind: "empty" };
      try {
        return { kind: "completed", answer: await store(ending.answer) };
      } catch (error) {
        const message = `the answer could not be stored: ${messageOf(error)}`;
        return { kind: "failed", failure: { kind: "unknown", status: "failed", message }, partial: [ending.answer] };
      }
    case "empty":
      return { kind: "empty" };
    case "interrupted":
      return { kind: "interrupted" };
    case "failed":
      return { kind: "failed", failure: ending.failure, partial: ending.partial };
    default:
      return ending;
  }
}
function failureOf(error) {
  if (error instanceof HarnessError) return error.failure;
  return { kind: "unknown", status: "failed", message: messageOf(error) };
}
function losesThread(ending) {
  if (ending.kind !== "failed") return false;
  switch (ending.failure.kind) {
    case "crashed":
    case "protocol":
    case "stalled":
    case "thread_lost":
    case "thread_busy":
    case "not_installed":
    case "no_runtime":
    case "sign_in":
    case "unknown":
      return true;
    case "quota":
    case "rate_limit":
    case "capacity":
    case "context_window":
    case "model":
    case "policy":
    case "permission":
    case "network":
    case "invalid_request":
      return false;
    default:
      return ending.failure.kind;
  }
}
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

// sidecar/src/job/turn-state.ts
function restingState(turn, waiting) {
  return { phase: "idle", turn, waiting, steering: [], wanted: false, stopping: false };
}
function isBusy(state) {
  return state.phase !== "idle";
}
function next(state, happening) {
  switch (happening.kind) {
    case "message":
      return onMessage(state, happening.id, happening.steerable);
    case "opened": {
      if (state.phase !== "starting" || happening.turn !== state.turn) return unchanged(state);
      const messages = state.waiting;
      return {
        state: { ...state, phase: "running", waiting: [], wanted: false },
        effects: [{ kind: "run", turn: state.turn, messages }]
      };
    }
    case "open_failed":
      if (state.phase !== "starting" || happening.turn !== state.turn) return unchanged(state);
      return endUnstarted(state, "open_failed");
    case "steered":
      return onSteered(state, happening.id, happening.joined);
    case "settled":
      if (state.phase !== "running" || happening.turn !== state.turn) return unchanged(state);
      return onSettled(state);
    case "recorded": {
      if (state.phase !== "ending" || happening.turn !== state.turn) return unchanged(state);
      const rested = { ...state, phase: "idle", stopping: false };
      return rested.wanted ? start(rested) : { state: rested, effects: [] };
    }
    case "stop":
      return onStop(state);
    default:
      return happening;
  }
}
function onMessage(state, id, steerable) {
  const queued = { ...state, waiting: [...state.waiting, id], wanted: true };
  switch (state.phase) {
    case "idle":
      return start(queued);
    case "starting":
    case "ending":
      return { state: queued, effects: [] };
    case "running": {
      if (state.stopping || !steerable || state.waiting.length > 0) return { state: queued, effects: [] };
      const steering = [...state.steering, id];
      return { state: { ...state, steering }, effects: steering.length === 1 ? [{ kind: "steer", id }] : [] };
    }
    default:
      return state.phase;
  }
}
function onSteered(state, id, joined) {
  const [first, ...rest] = state.steering;
  if (first !== id) return unchanged(state);
  if (joined) {
    const after = { ...state, steering: rest };
    const following = rest[0];
    if (following !== void 0) return { state: after, effects: [{ kind: "steer", id: following }] };
    return afterSteers(after);
  }
  const waiting = [first, ...rest, ...state.waiting];
  return afterSteers({ ...state, steering: [], waiting, wanted: state.stopping ? state.wanted : true });
}
function onSettled(state) {
  const [first, ...rest] = state.steering;
  if (first === void 0) return afterSteers({ ...state, phase: "ending" });
  const waiting = [...rest, ...state.waiting];
  const wanted = state.wanted || rest.length > 0 && !state.stopping;
  return { state: { ...state, phase: "ending", steering: [first], waiting, wanted }, effects: [] };
}
function afterSteers(state) {
  if (state.phase !== "ending") return { state, effects: [] };
  return { state, effects: [{ kind: "record_end", turn: state.turn }] };
}
function onStop(state) {
  switch (state.phase) {
    case "idle":
      return unchanged(state);
    case "starting":
      return endUnstarted(state, "stopped");
    case "running": {
      if (state.stopping) return { state: { ...state, wanted: false }, effects: [] };
      const [first, ...rest] = state.steering;
      const stopped = {
        ...state,
        stopping: true,
        wanted: false,
        steering: first === void 0 ? [] : [first],
        waiting: [...rest, ...state.waiting]
      };
      return { state: stopped, effects: [{ kind: "interrupt" }] };
    }
    case "ending":
      return { state: { ...state, stopping: true, wanted: false }, effects: [] };
    default:
      return state.phase;
  }
}
function start(state) {
  const turn = state.turn + 1;
  return { state: { ...state, phase: "starting", turn }, effects: [{ kind: "open", turn }] };
}
function endUnstarted(state, why) {
  return {
    state: { ...state, phase: "ending", wanted: false },
    effects: [{ kind: "record_unstarted", turn: state.turn, why, messages: state.waiting }]
  };
}
function unchanged(state) {
  return { state, effects: [] };
}

// sidecar/src/job/job.ts
var JournalFault = class extends Error {
};
var JOB_LIMITS = { interruptMs: 8e3, closeMs: 8e3, steerMs: 5e3 };
var Job = class {
  #journal;
  #harness;
  #log;
  #now;
  #limits;
  #state;
  #thread = null;
  #opening = null;
  #openFailure = null;
  #startedAt = 0;
  #current = null;
  /** Resolves, by message id, what became of a message that was to join the running turn. */
  #steers = /* @__PURE__ */ new Map();
  /** Long polls and stops that wait for the job to change. */
  #watchers = /* @__PURE__ */ new Set();
  #isClosed = false;
  /** Why the journal could not be written; a reader is told instead of waiting for what cannot come. */
  #fault = null;
  constructor(ports) {
    this.#journal = ports.journal;
    this.#harness = ports.harness;
    this.#log = ports.log;
    this.#now = ports.now;
    this.#limits = ports.limits ?? JOB_LIMITS;
    this.#state = restingState(ports.journal.record.turns, ports.journal.waiting);
  }
  get id() {
    return this.#journal.record.id;
  }
  get isBusy() {
    return isBusy(this.#state);
  }
  view() {
    const { record } = this.#journal;
    return {
      id: record.id,
      harness: record.harness,
      harnessVersion: record.harnessVersion,
      agent: record.agent,
      model: record.model,
      thread: this.#thread?.id ?? record.thread,
      cwd: record.cwd,
      status: this.isBusy ? "running" : "idle",
      turns: this.#state.turn,
      lastSeq: this.#journal.lastSeq,
      createdAt: record.createdAt
    };
  }
  /**
   * Takes a message: it is on disk before this does anything else, and handed to the harness exactly once.
   * Resolves to what became of it, which for a running turn waits for the harness's word; throws where the
   * message could not be kept.
   */
  send(message, mode) {
    if (this.#journal.hasMessage(message.id)) return Promise.resolve("duplicate");
    this.#journal.accept(message, mode);
    this.#fault = null;
    const steerable = this.#current === null || mayJoin(mode, this.#current.access.level);
    if (this.#state.phase === "idle") {
      this.#apply({ kind: "message", id: message.id, steerable });
      return Promise.resolve("started");
    }
    const disposition = new Promise((resolve) => this.#steers.set(message.id, resolve));
    this.#apply({ kind: "message", id: message.id, steerable });
    return disposition;
  }
  /** Ends the running turn, if there is one; resolves once its end is recorded. Messages that wait stay. */
  async stop() {
    const { turn } = this.#state;
    if (!this.isBusy) return;
    this.#apply({ kind: "stop" });
    await this.#until(() => !this.isBusy || this.#state.turn > turn);
  }
  /** Stops the job, ends its thread and lets its folder go. Resolves to the processes that would not end. */
  async close() {
    await this.stop();
    this.#isClosed = true;
    const thread = this.#thread;
    this.#thread = null;
    const survivors = thread === null ? [] : await this.#closeThread(thread);
    this.#journal.close();
    this.#changed();
    return survivors;
  }
  /**
   * The events after number `after`. Holds until there is one, the job is idle, `waitMs` is over or `signal`
   * aborts, whichever is first.
   */
  async events(after, waitMs, signal) {
    const isReady = () => this.#journal.lastSeq > after || !this.isBusy || this.#isClosed || this.#fault !== null;
    if (!isReady() && waitMs > 0) await this.#until(isReady, waitMs, signal);
    if (this.#fault !== null && this.#journal.lastSeq <= after) throw this.#fault;
    return { events: this.#isClosed ? [] : this.#journal.eventsAfter(after), job: this.view() };
  }
  answer(turn) {
    return this.#journal.readAnswer(turn);
  }
  deliver(delivery) {
    this.#journal.deliver(delivery);
  }
  #apply(happening) {
    const { state, effects } = next(this.#state, happening);
    this.#state = state;
    for (const id of state.waiting) this.#settleSteer(id, "queued");
    for (const effect of effects) this.#perform(effect);
    this.#changed();
  }
  #perform(effect) {
    switch (effect.kind) {
      case "open":
        this.#startedAt = this.#now();
        this.#run(this.#open(effect.turn));
        return;
      case "run":
        this.#run(this.#runTurn(effect.turn, effect.messages));
        return;
      case "steer":
        this.#run(this.#steer(effect.id));
        return;
      case "interrupt":
        this.#run(this.#interrupt());
        return;
      case "record_end":
        this.#run(this.#recordEnd(effect.turn));
        return;
      case "record_unstarted":
        this.#recordUnstarted(effect);
        return;
      default:
        effect;
    }
  }
  /** Work that nobody awaits: what goes wrong in it is ours, and is logged. */
  #run(work) {
    work.catch((error) => this.#log("error", `job ${this.id}: an unexpected error`, { error }));
  }
  async #open(turn) {
    try {
      await this.#ensureThread();
      this.#apply({ kind: "opened", turn });
    } catch (error) {
      this.#openFailure = failureOf(error);
      this.#log("warning", `job ${this.id}: the harness's thread could not be opened`, { error });
      this.#apply({ kind: "open_failed", turn });
    }
  }
  async #ensureThread() {
    const { record } = this.#journal;
    if (!await isFolder(record.cwd)) throw new HarnessError(goneFolder(record.cwd));
    if (this.#thread !== null) return this.#thread;
    this.#opening ??= this.#harness.open({ job: record.id, thread: record.thread, cwd: record.cwd, model: record.requestedModel }).finally(() => {
      this.#opening = null;
    });
    this.#thread = await this.#opening;
    return this.#thread;
  }
  async #runTurn(turn, ids) {
    const thread = this.#thread;
    if (thread === null) throw new Error("a turn began without a thread");
    const { record } = this.#journal;
    const messages = ids.map((id) => this.#journal.message(id));
    const current = {
      turn,
      startedAt: this.#startedAt,
      access: accessOfTurn(
        record.access,
        messages.map((message) => message.mode)
      ),
      files: /* @__PURE__ */ new Set(),
      end: null,
      timers: /* @__PURE__ */ new Set()
    };
    this.#current = current;
    const settle = (end) => {
      if (current.end !== null) return;
      current.end = end;
      this.#boundSteer(current);
      this.#apply({ kind: "settled", turn });
    };
    try {
      this.#journal.handOver(ids, turn, {
        turns: turn,
        thread: thread.id,
        model: thread.model,
        harnessVersion: thread.harnessVersion
      });
      this.#append(turn, { kind: "turn_started", messages: ids });
      const end = await thread.run(
        {
          messages: messages.map(({ id, text }) => ({ id, text })),
          access: current.access,
          cwd: record.cwd,
          effort: record.effort,
          stallMs: record.stallMs
        },
        (event) => this.#onEvent(current, event)
      );
      settle(end);
    } catch (error) {
      this.#log("error", `job ${this.id}: turn ${turn} broke off`, { error });
      settle(endOf({ kind: "failed", failure: failureOf(error), partial: [] }, thread.model));
    }
  }
  #onEvent(current, event) {
    if (current.end !== null) {
      this.#log("warning", `job ${this.id}: an event came after turn ${current.turn} had ended`, { kind: event.kind });
      return;
    }
    if (event.kind === "action_completed" && event.action.tool === "edit" && event.result.status === "completed") {
      for (const change of event.action.changes) current.files.add(change.path);
    }
    this.#append(current.turn, event);
    this.#changed();
  }
  async #steer(id) {
    const thread = this.#thread;
    const current = this.#current;
    let joined = false;
    try {
      if (thread !== null && current !== null) {
        const { text } = this.#journal.message(id);
        joined = (await thread.steer({ id, text })).kind === "joined";
      }
    } catch (error) {
      this.#log("warning", `job ${this.id}: message ${id} could not join the turn; it gets the next one`, { error });
    }
    this.#onSteered(id, joined, current);
  }
  #onSteered(id, joined, current) {
    if (this.#state.steering[0] !== id) return;
    if (joined && current !== null) {
      this.#keep(() => this.#journal.handOver([id], current.turn));
      this.#append(current.turn, { kind: "steered", message: id });
      this.#settleSteer(id, "steered");
    }
    this.#apply({ kind: "steered", id, joined });
  }
  /** A steer that the harness never answers must not hold the end of its turn back for ever. */
  #boundSteer(current) {
    const id = this.#state.steering[0];
    if (id === void 0) return;
    this.#later(current, this.#limits.steerMs, () => {
      this.#log(
        "warning",
        `job ${this.id}: the harness did not answer a message that was to join turn ${current.turn}`
      );
      this.#onSteered(id, false, current);
    });
  }
  async #interrupt() {
    const current = this.#current;
    const thread = this.#thread;
    if (current === null || thread === null) return;
    this.#later(current, this.#limits.interruptMs, () => this.#run(this.#forceEnd(current, thread)));
    try {
      await thread.interrupt();
    } catch (error) {
      this.#log("warning", `job ${this.id}: the harness refused to interrupt turn ${current.turn}`, { error });
      await this.#forceEnd(current, thread);
    }
  }
  /** The turn did not end when asked: its thread is closed, and if that does not end it either it is given up. */
  async #forceEnd(current, thread) {
    if (current.end !== null || this.#thread !== thread) return;
    this.#log("warning", `job ${this.id}: turn ${current.turn} did not end when asked; its thread is closed`);
    this.#thread = null;
    const survivors = await this.#closeThread(thread);
    if (current.end !== null) return;
    current.end = endOf({ kind: "interrupted" }, thread.model, survivors);
    this.#boundSteer(current);
    this.#apply({ kind: "settled", turn: current.turn });
  }
  async #closeThread(thread) {
    let timer;
    const given = new Promise((resolve) => {
      timer = setTimeout(() => {
        this.#log("error", `job ${this.id}: the harness's thread ${thread.id} did not close in time`);
        resolve([]);
      }, this.#limits.closeMs);
    });
    try {
      return await Promise.race([thread.close(), given]);
    } catch (error) {
      this.#log("error", `job ${this.id}: the harness's thread ${thread.id} could not be closed`, { error });
      return [];
    } finally {
      clearTimeout(timer);
    }
  }
  async #recordEnd(turn) {
    const current = this.#current;
    if (current?.end == null || current.turn !== turn) throw new Error(`turn ${turn} has no end to record`);
    for (const timer of current.timers) clearTimeout(timer);
    const { end } = current;
    const outcome = await outcomeOf(end.ending, (answer3) => this.#journal.storeAnswer(turn, answer3));
    const model = end.model || this.#journal.record.model;
    if (model !== this.#journal.record.model) this.#keep(() => this.#journal.update({ model }));
    if (losesThread(end.ending) && this.#thread !== null) {
      const thread = this.#thread;
      this.#thread = null;
      await this.#closeThread(thread);
    }
    this.#append(turn, {
      kind: "turn_ended",
      outcome,
      tokens: end.tokens,
      model,
      durationMs: this.#now() - current.startedAt,
      filesChanged: [...current.files],
      survivors: end.survivors
    });
    this.#current = null;
    this.#apply({ kind: "recorded", turn });
  }
  #recordUnstarted({ turn, why, messages }) {
    const failure = this.#openFailure ?? { kind: "unknown", status: "failed", message: "the turn did not start" };
    this.#openFailure = null;
    const model = this.#journal.record.model;
    this.#keep(() => this.#journal.update({ turns: turn }));
    this.#append(turn, { kind: "turn_started", messages });
    this.#append(turn, {
      kind: "turn_ended",
      outcome: why === "stopped" ? { kind: "interrupted" } : { kind: "failed", failure, partial: [] },
      tokens: null,
      model,
      durationMs: this.#now() - this.#startedAt,
      filesChanged: [],
      survivors: []
    });
    this.#apply({ kind: "recorded", turn });
  }
  #append(turn, body) {
    this.#keep(() => this.#journal.append(turn, body));
  }
  /** Writes to the journal. A disk that is full must not leave the job running for ever: readers are told. */
  #keep(write2) {
    try {
      write2();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#fault = new JournalFault(
        `job ${this.id}: its journal ${this.#journal.folder} cannot be written: ${reason}`
      );
      this.#log("error", `job ${this.id}: its journal cannot be written`, { error });
    }
  }
  #settleSteer(id, disposition) {
    const resolve = this.#steers.get(id);
    if (resolve === void 0) return;
    this.#steers.delete(id);
    resolve(disposition);
  }
  #later(current, ms, work) {
    const timer = setTimeout(work, ms);
    timer.unref();
    current.timers.add(timer);
  }
  #changed() {
    for (const watcher of [...this.#watchers]) watcher();
  }
  async #until(isSo, ms, signal) {
    if (isSo() || signal?.aborted) return;
    await new Promise((resolve) => {
      let timer;
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        this.#watchers.delete(look);
        resolve();
      };
      const look = () => {
        if (isSo()) done();
      };
      if (ms !== void 0) timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done, { once: true });
      this.#watchers.add(look);
    });
  }
};
function endOf(ending, model, survivors = []) {
  return { ending, tokens: null, model, survivors };
}
function goneFolder(cwd) {
  return {
    kind: "invalid_request",
    status: "failed",
    message: `the working folder ${cwd} is gone`,
    hint: "Make it again, or spawn the agent in another folder."
  };
}
async function isFolder(path) {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

// sidecar/src/job/job-id.ts
import { createHash } from "node:crypto";
var ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
function jobIdOf(session, agent) {
  const digest2 = createHash("sha256").update(`${session}\0${agent}`, "utf8").digest();
  let id = "j";
  for (const byte of digest2.subarray(0, 20)) id += ALPHABET[byte & 31];
  return id;
}
function isJobId(text) {
  return JOB_ID.test(text);
}

// sidecar/src/job/journal.ts
import { lstatSync as lstatSync2 } from "node:fs";
import { join as join6 } from "node:path";

// sidecar/src/job/answers.ts
import { createHash as createHash2 } from "node:crypto";
import { join as join2 } from "node:path";

// sidecar/src/job/private-files.ts
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
var UnsafePathError = class extends Error {
  constructor(path, why) {
    super(`${path} ${why}`);
    this.path = path;
    this.why = why;
    this.name = "UnsafePathError";
  }
  path;
  why;
};
var NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
function ensurePrivateFolder(path) {
  mkdirSync(path, { recursive: true, mode: 448 });
  checkPrivateFolder(path);
}
function checkPrivateFolder(path) {
  const stat2 = lstatSync(path);
  if (stat2.isSymbolicLink()) throw new UnsafePathError(path, "is a link; Verbatim does not follow links here");
  if (!stat2.isDirectory()) throw new UnsafePathError(path, "is not a folder");
  checkOwner(path, stat2.uid);
  if (process.platform !== "win32" && (stat2.mode & 63) !== 0) chmodSync(path, 448);
}
function openPrivate(path, flags) {
  let descriptor;
  try {
    descriptor = openSync(path, flags | NO_FOLLOW, 384);
  } catch (error) {
    if (codeOf(error) === "ELOOP" || codeOf(error) === "EMLINK") {
      throw new UnsafePathError(path, "is a link; Verbatim does not follow links here");
    }
    throw error;
  }
  try {
    const stat2 = fstatSync(descriptor);
    if (!stat2.isFile()) throw new UnsafePathError(path, "is not a file");
    checkOwner(path, stat2.uid);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}
function readPrivate(path) {
  const descriptor = openPrivate(path, constants.O_RDONLY);
  try {
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
function writeAtomic(path, bytes) {
  const draft = draftOf(path);
  rmSync(draft, { force: true });
  const descriptor = openPrivate(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  try {
    writeFileSync(descriptor, bytes);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, path);
}
async function writeAtomicLarge(path, bytes) {
  const draft = draftOf(path);
  await rm(draft, { force: true });
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;
  const handle = await open(draft, flags, 384);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, path);
  if (process.platform === "win32") return;
  const folder = await open(dirname(path), constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
function codeOf(error) {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
function draftOf(path) {
  return join(dirname(path), `.${basename(path)}.${process.pid}.draft`);
}
function checkOwner(path, uid) {
  const own = process.getuid?.();
  if (own !== void 0 && uid !== own) {
    throw new UnsafePathError(path, `belongs to another user (uid ${uid}, not ${own})`);
  }
}

// sidecar/src/job/answers.ts
function answerFile(folder, turn) {
  return join2(folder, "answers", String(turn));
}
async function storeAnswer(folder, turn, text) {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.toString("utf8") !== text) {
    await writeAtomicLarge(jsonFile(folder, turn), Buffer.from(JSON.stringify(text), "utf8"));
  }
  await writeAtomicLarge(answerFile(folder, turn), bytes);
  return { bytes: bytes.length, sha256: sha256Of(bytes), file: answerFile(folder, turn) };
}
function readAnswerBytes(folder, turn) {
  return readIfThere(answerFile(folder, turn));
}
function readAnswer(folder, turn) {
  const bytes = readAnswerBytes(folder, turn);
  if (bytes === null) return null;
  const json = readIfThere(jsonFile(folder, turn));
  const text = json === null ? bytes.toString("utf8") : JSON.parse(json.toString("utf8"));
  return { turn, text, bytes: bytes.length, sha256: sha256Of(bytes) };
}
function answerRecord(folder, turn) {
  const bytes = readAnswerBytes(folder, turn);
  return bytes === null ? null : { bytes: bytes.length, sha256: sha256Of(bytes), file: answerFile(folder, turn) };
}
function jsonFile(folder, turn) {
  return `${answerFile(folder, turn)}.json`;
}
function readIfThere(path) {
  try {
    return readPrivate(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}
function sha256Of(bytes) {
  return createHash2("sha256").update(bytes).digest("hex");
}

// sidecar/src/job/event-log.ts
import { closeSync as closeSync2, constants as constants2, fstatSync as fstatSync2, ftruncateSync, readSync, writeSync } from "node:fs";
import { dirname as dirname2, join as join3 } from "node:path";
var KEPT_EVENTS = 32;
var KEPT_CHARACTERS = 512 * 1024;
var PAGE_BYTES = 4 * 1024 * 1024;
var PAGE_EVENTS = 500;
var EventLog = class _EventLog {
  #descriptor;
  /** Where event n begins is `#offsets[n - 1]`; the last entry is the end of the file. */
  #offsets;
  #kept = [];
  #keptCharacters = 0;
  constructor(descriptor, offsets) {
    this.#descriptor = descriptor;
    this.#offsets = offsets;
  }
  /**
   * Opens the log, makes it where it is not there, and calls `onEvent` for every event in it.
   * Whatever follows the last whole event (a line torn by a crash) is moved to `events.damaged`: it was
   * never published, for an event is published only once its line is whole.
   */
  static open(path, onEvent) {
    const descriptor = openPrivate(path, constants2.O_RDWR | constants2.O_CREAT | constants2.O_APPEND);
    try {
      const { size } = fstatSync2(descriptor);
      const offsets = [0];
      readLines(descriptor, size, (line, end) => {
        const event = eventIn(line, offsets.length);
        if (event === null) return false;
        offsets.push(end);
        onEvent(event);
        return true;
      });
      const good = offsets[offsets.length - 1] ?? 0;
      if (good < size) {
        setAside(descriptor, good, size, join3(dirname2(path), "events.damaged"));
        ftruncateSync(descriptor, good);
      }
      return new _EventLog(descriptor, offsets);
    } catch (error) {
      closeSync2(descriptor);
      throw error;
    }
  }
  get lastSeq() {
    return this.#offsets.length - 1;
  }
  /** Appends `event`, whose `seq` must be the next one. Once it returns, the event survives this process. */
  append(event) {
    if (event.seq !== this.lastSeq + 1) throw new Error(`event ${event.seq} cannot follow event ${this.lastSeq}`);
    const line = JSON.stringify(event);
    const bytes = Buffer.from(`${line}
`, "utf8");
    const end = this.#offsets[this.#offsets.length - 1] ?? 0;
    try {
      writeWhole(this.#descriptor, bytes);
    } catch (error) {
      ftruncateSync(this.#descriptor, end);
      throw error;
    }
    this.#offsets.push(end + bytes.length);
    this.#keep({ seq: event.seq, line });
  }
  /** The events after number `after`, oldest first, as many as a page holds. */
  after(after) {
    if (after >= this.lastSeq) return [];
    const oldest = this.#kept[0];
    if (oldest !== void 0 && after + 1 >= oldest.seq) {
      return this.#kept.slice(after + 1 - oldest.seq).map((kept) => JSON.parse(kept.line));
    }
    return this.#read(after);
  }
  close() {
    closeSync2(this.#descriptor);
  }
  #read(after) {
    const start2 = this.#offsets[after] ?? 0;
    let last = after;
    while (last < this.lastSeq && last - after < PAGE_EVENTS && (last === after || (this.#offsets[last + 1] ?? 0) - start2 <= PAGE_BYTES)) {
      last += 1;
    }
    const bytes = Buffer.alloc((this.#offsets[last] ?? 0) - start2);
    readWhole(this.#descriptor, bytes, start2);
    return bytes.toString("utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  }
  #keep(kept) {
    this.#kept.push(kept);
    this.#keptCharacters += kept.line.length;
    while (this.#kept.length > KEPT_EVENTS || this.#keptCharacters > KEPT_CHARACTERS) {
      const dropped = this.#kept.shift();
      if (dropped === void 0) break;
      this.#keptCharacters -= dropped.line.length;
    }
  }
};
function readLines(descriptor, size, onLine) {
  const piece = Buffer.alloc(256 * 1024);
  let parts = [];
  let position = 0;
  while (position < size) {
    const count = readSync(descriptor, piece, 0, piece.length, position);
    if (count === 0) return;
    let from = 0;
    for (; ; ) {
      const at = piece.subarray(0, count).indexOf(10, from);
      if (at === -1) break;
      const line = Buffer.concat([...parts, piece.subarray(from, at)]);
      parts = [];
      from = at + 1;
      if (!onLine(line, position + from)) return;
    }
    parts.push(Buffer.from(piece.subarray(from, count)));
    position += count;
  }
}
function eventIn(line, seq) {
  try {
    const value = JSON.parse(line.toString("utf8"));
    if (typeof value !== "object" || value === null) return null;
    const event = value;
    return event.seq === seq && typeof event.kind === "string" && typeof event.turn === "number" ? event : null;
  } catch {
    return null;
  }
}
function setAside(descriptor, from, to, path) {
  const bytes = Buffer.alloc(to - from);
  readWhole(descriptor, bytes, from);
  const target = openPrivate(path, constants2.O_WRONLY | constants2.O_CREAT | constants2.O_APPEND);
  try {
    writeWhole(target, Buffer.concat([bytes, Buffer.from("\n")]));
  } finally {
    closeSync2(target);
  }
}
function writeWhole(descriptor, bytes) {
  let written = 0;
  while (written < bytes.length) written += writeSync(descriptor, bytes, written);
}
function readWhole(descriptor, bytes, position) {
  let read = 0;
  while (read < bytes.length) {
    const count = readSync(descriptor, bytes, read, bytes.length - read, position + read);
    if (count === 0) throw new Error("the event log is shorter than it was: something else changed it");
    read += count;
  }
}

// sidecar/src/job/mask-event.ts
function maskEvent(event, mask2) {
  if (event.kind === "turn_ended" && event.outcome.kind === "completed") {
    return { ...deep(event, mask2), outcome: event.outcome };
  }
  return deep(event, mask2);
}
function deep(value, mask2) {
  if (typeof value === "string") return mask2(value);
  if (Array.isArray(value)) return value.map((item) => deep(item, mask2));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, deep(item, mask2)]));
  }
  return value;
}

// sidecar/src/job/owner.ts
import { closeSync as closeSync3, constants as constants3, linkSync, renameSync as renameSync2, rmSync as rmSync2, writeFileSync as writeFileSync2 } from "node:fs";
import { join as join4 } from "node:path";

// sidecar/src/process/table.ts
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync as readFileSync2 } from "node:fs";
var IS_LINUX = process.platform === "linux";
function processTable() {
  if (IS_LINUX) {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map((name) => entryOf(Number(name))).filter((entry) => entry !== null);
  }
  if (process.platform === "win32") return [];
  return psTable();
}
function entryOf(pid) {
  if (!IS_LINUX) return processTable().find((entry) => entry.pid === pid) ?? null;
  try {
    return parseStat(readFileSync2(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return null;
  }
}
function isAlive(identity) {
  const entry = entryOf(identity.pid);
  return entry !== null && !entry.isZombie && entry.startTime === identity.startTime;
}
function parseStat(stat2) {
  const open2 = stat2.indexOf("(");
  const close = stat2.lastIndexOf(")");
  if (open2 === -1 || close === -1) return null;
  const rest = stat2.slice(close + 2).split(" ");
  const [state, parent] = rest;
  const startTime = rest[19];
  if (state === void 0 || parent === void 0 || startTime === void 0) return null;
  return {
    pid: Number(stat2.slice(0, open2)),
    parent: Number(parent),
    startTime,
    isZombie: state === "Z" || state === "X",
    name: stat2.slice(open2 + 1, close)
  };
}
function psTable() {
  const text = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,lstart=,comm="], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" }
  });
  return text.split("\n").flatMap((line) => {
    const found = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s+(.*)$/.exec(line);
    if (!found) return [];
    const [, pid, parent, state, startTime, name] = found;
    return [{ pid: Number(pid), parent: Number(parent), startTime, isZombie: state.startsWith("Z"), name }];
  });
}

// sidecar/src/shape.ts
var ShapeError = class extends Error {
  constructor(field, rule) {
    super(`${field} ${rule}`);
    this.field = field;
    this.rule = rule;
    this.name = "ShapeError";
  }
  field;
  rule;
};
function objectOf(value, field) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ShapeError(field, `must be an object, it is ${wordFor(value)}`);
  }
  return value;
}
function onlyFields(fields, known, parent = "") {
  for (const name of Object.keys(fields)) {
    if (!known.includes(name)) {
      throw new ShapeError(`${parent}${name.slice(0, 60)}`, `is not a field here; known: ${known.join(", ")}`);
    }
  }
}
function textOf(fields, name, rule, parent = "") {
  const value = fields[name];
  const field = `${parent}${name}`;
  if (value === void 0) throw new ShapeError(field, "is missing");
  if (typeof value !== "string") throw new ShapeError(field, `must be a string, it is ${wordFor(value)}`);
  if (value.length === 0) throw new ShapeError(field, "must not be empty");
  if (value.length > rule.max) {
    throw new ShapeError(field, `must have at most ${rule.max} characters, it has ${value.length}`);
  }
  if (rule.pattern !== void 0 && !rule.pattern.test(value)) {
    throw new ShapeError(field, rule.patternRule ?? `must match ${rule.pattern.source}`);
  }
  return value;
}
function optionalTextOf(fields, name, rule, parent = "") {
  return fields[name] === void 0 ? void 0 : textOf(fields, name, rule, parent);
}
function choiceOf(fields, name, choices, parent = "") {
  const value = textOf(fields, name, { max: 200 }, parent);
  const found = choices.find((choice) => choice === value);
  if (found === void 0) {
    throw new ShapeError(`${parent}${name}`, `must be one of ${choices.join(", ")}; it is ${JSON.stringify(value)}`);
  }
  return found;
}
function countOf(fields, name, min, max, parent = "") {
  const value = fields[name];
  const field = `${parent}${name}`;
  if (value === void 0) throw new ShapeError(field, "is missing");
  if (typeof value !== "number" || !Number.isSafeInteger(value)) {
    throw new ShapeError(field, `must be a whole number, it is ${wordFor(value)}`);
  }
  if (value < min || value > max) throw new ShapeError(field, `must be from ${min} to ${max}, it is ${value}`);
  return value;
}
function wordFor(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value === "number") return `the number ${value}`;
  if (typeof value === "boolean") return `${value}`;
  return `a ${typeof value}`;
}

// sidecar/src/job/owner.ts
var JobTakenError = class extends Error {
  constructor(job, owner) {
    super(
      `job ${job} belongs to another Verbatim sidecar that is running (pid ${owner.pid}); end that Claude Code session, or wait for it to let the job go`
    );
    this.job = job;
    this.owner = owner;
    this.name = "JobTakenError";
  }
  job;
  owner;
};
function ownIdentity() {
  const entry = entryOf(process.pid);
  return { pid: process.pid, startTime: entry?.startTime ?? "" };
}
function sidecarId({ pid, startTime }) {
  return `${pid}-${startTime.replace(/[^A-Za-z0-9]+/g, "_")}`;
}
function takeJob(folder, job, self) {
  const path = join4(folder, "owner");
  for (let attempt = 0; attempt < 20; attempt++) {
    if (claim(path, self)) return;
    const owner = readOwner(path);
    if (owner === null) continue;
    if (owner.pid === self.pid && owner.startTime === self.startTime) return;
    if (isOwnerAlive(owner)) throw new JobTakenError(job, owner);
    removeDead(path, owner, self);
  }
  throw new Error(`cannot take job ${job}: ${path} changes hands again and again`);
}
function letJobGo(folder, self) {
  const path = join4(folder, "owner");
  const owner = readOwner(path);
  if (owner?.pid === self.pid && owner.startTime === self.startTime) rmSync2(path, { force: true });
}
function isOwnerAlive(owner) {
  if (owner.startTime !== "") return isAlive(owner);
  try {
    process.kill(owner.pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
function claim(path, self) {
  const draft = `${path}.${self.pid}`;
  rmSync2(draft, { force: true });
  const descriptor = openPrivate(draft, constants3.O_WRONLY | constants3.O_CREAT | constants3.O_EXCL);
  try {
    writeFileSync2(descriptor, JSON.stringify({ pid: self.pid, startTime: self.startTime }));
  } finally {
    closeSync3(descriptor);
  }
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    rmSync2(draft, { force: true });
  }
}
function removeDead(path, dead, self) {
  const aside = `${path}.${self.pid}.dead`;
  try {
    renameSync2(path, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  const moved = readOwner(aside);
  try {
    if (moved !== null && (moved.pid !== dead.pid || moved.startTime !== dead.startTime)) linkSync(aside, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    rmSync2(aside, { force: true });
  }
}
function readOwner(path) {
  let text;
  try {
    text = readPrivate(path).toString("utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
  try {
    const fields = objectOf(JSON.parse(text), "owner");
    return { pid: Number(fields.pid), startTime: String(fields.startTime) };
  } catch {
    return { pid: 0, startTime: "damaged" };
  }
}

// sidecar/src/job/record.ts
var RECORD_VERSION = 1;
function recordOf(text, id) {
  const fields = objectOf(JSON.parse(text), "state.json");
  const version = countOf(fields, "version", 1, 1e6);
  if (version !== RECORD_VERSION) {
    throw new ShapeError("version", `is ${version}; this Verbatim reads ${RECORD_VERSION}. Update Verbatim`);
  }
  if (fields.id !== id) throw new ShapeError("id", `must be ${id}, the name of its folder`);
  const word = { max: 4096 };
  return {
    version,
    id,
    harness: choiceOf(fields, "harness", HARNESS_NAMES),
    harnessVersion: possiblyEmpty(fields.harnessVersion, "harnessVersion"),
    agent: textOf(fields, "agent", word),
    session: textOf(fields, "session", word),
    cwd: textOf(fields, "cwd", word),
    requestedModel: fields.requestedModel === null ? null : textOf(fields, "requestedModel", word),
    model: possiblyEmpty(fields.model, "model"),
    effort: fields.effort === null ? null : textOf(fields, "effort", word),
    stallMs: countOf(fields, "stallMs", 1, Number.MAX_SAFE_INTEGER),
    thread: fields.thread === null ? null : optionalTextOf(fields, "thread", word) ?? null,
    access: choiceOf(fields, "access", ["read_only", "workspace_write", "full"]),
    turns: countOf(fields, "turns", 0, Number.MAX_SAFE_INTEGER),
    createdAt: countOf(fields, "createdAt", 0, Number.MAX_SAFE_INTEGER),
    updatedAt: countOf(fields, "updatedAt", 0, Number.MAX_SAFE_INTEGER),
    messages: listOf(fields.messages, "messages", messageOf2),
    deliveries: listOf(fields.deliveries, "deliveries", deliveryOf)
  };
}
function messageOf2(value, field) {
  const fields = objectOf(value, field);
  return {
    id: textOf(fields, "id", { max: 128 }, `${field}.`),
    mode: choiceOf(fields, "mode", [...PERMISSION_MODES, "unknown"], `${field}.`),
    turn: fields.turn === null ? null : countOf(fields, "turn", 1, Number.MAX_SAFE_INTEGER, `${field}.`)
  };
}
function deliveryOf(value, field) {
  const fields = objectOf(value, field);
  return {
    turn: countOf(fields, "turn", 1, Number.MAX_SAFE_INTEGER, `${field}.`),
    run: textOf(fields, "run", { max: 512 }, `${field}.`),
    how: choiceOf(fields, "how", ["plain", "handback", "handback_refused"], `${field}.`),
    at: countOf(fields, "at", 0, Number.MAX_SAFE_INTEGER, `${field}.`)
  };
}
function listOf(value, field, read) {
  if (!Array.isArray(value)) throw new ShapeError(field, "must be a list");
  return value.map((item, index) => read(item, `${field}[${index}]`));
}
function possiblyEmpty(value, field) {
  if (typeof value !== "string") throw new ShapeError(field, "must be a string");
  return value;
}

// sidecar/src/job/state-folder.ts
import { homedir } from "node:os";
import { isAbsolute, join as join5 } from "node:path";
function stateFolder(env) {
  const base = env.XDG_STATE_HOME;
  return join5(base !== void 0 && isAbsolute(base) ? base : join5(homedir(), ".local", "state"), "verbatim");
}
function jobsFolder(state) {
  return join5(state, "jobs");
}
function jobFolder(state, id) {
  return join5(jobsFolder(state), id);
}
function logsFolder(state) {
  return join5(state, "logs");
}

// sidecar/src/job/journal.ts
var DeliveryConflict = class extends Error {
};
var Journal = class _Journal {
  constructor(place, folder, record, log) {
    this.place = place;
    this.folder = folder;
    this.#record = record;
    this.#log = log;
    this.#ids = new Set(record.messages.map((message) => message.id));
  }
  place;
  folder;
  #record;
  #log;
  #ids;
  /** Makes the folder of a new job and takes it. */
  static create(place, record) {
    ensurePrivateFolder(place.state);
    ensurePrivateFolder(jobsFolder(place.state));
    const folder = jobFolder(place.state, record.id);
    ensurePrivateFolder(folder);
    ensurePrivateFolder(join6(folder, "prompts"));
    ensurePrivateFolder(join6(folder, "answers"));
    takeJob(folder, record.id, place.self);
    writeAtomic(join6(folder, "state.json"), JSON.stringify(record));
    return new _Journal(
      place,
      folder,
      record,
      EventLog.open(join6(folder, "events.jsonl"), () => {
      })
    );
  }
  /**
   * Takes up a job that is on disk; null where there is none. A turn that its sidecar left open is ended:
   * as completed where its answer had been stored whole, else as failed (`crashed`) with what it had said.
   *
   * Throws JobTakenError where a living sidecar has it, UnsafePathError where the folder is not ours alone,
   * ShapeError where state.json is not of our form.
   */
  static open(place, id) {
    const folder = jobFolder(place.state, id);
    if (!isThere(folder)) return null;
    for (const path of [jobsFolder(place.state), folder]) checkPrivateFolder(path);
    for (const name of ["prompts", "answers"]) ensurePrivateFolder(join6(folder, name));
    if (!isThere(join6(folder, "state.json"))) return null;
    takeJob(folder, id, place.self);
    try {
      const record = recordOf(readPrivate(join6(folder, "state.json")).toString("utf8"), id);
      let open2 = null;
      const log = EventLog.open(join6(folder, "events.jsonl"), (event) => {
        open2 = openTurnAfter(open2, event);
      });
      const journal = new _Journal(place, folder, record, log);
      if (open2 !== null) journal.#endAbandoned(open2);
      return journal;
    } catch (error) {
      letJobGo(folder, place.self);
      throw error;
    }
  }
  get record() {
    return this.#record;
  }
  get lastSeq() {
    return this.#log.lastSeq;
  }
  /** The ids of the messages that no turn has taken, oldest first. */
  get waiting() {
    return this.#record.messages.filter((message) => message.turn === null).map((message) => message.id);
  }
  hasMessage(id) {
    return this.#ids.has(id);
  }
  /** Keeps a message: once this returns it cannot be lost. What the job may do becomes as strict as its mode. */
  accept(message, mode) {
    const { messages, access } = this.#record;
    writeAtomic(this.#promptFile(messages.length + 1), message.text);
    this.update({
      messages: [...messages, { id: message.id, mode, turn: null }],
      access: rememberedAfter(access, mode)
    });
    this.#ids.add(message.id);
  }
  message(id) {
    const index = this.#record.messages.findIndex((message2) => message2.id === id);
    const message = this.#record.messages[index];
    if (message === void 0) throw new Error(`job ${this.#record.id} has no message ${id}`);
    return { ...message, text: readPrivate(this.#promptFile(index + 1)).toString("utf8") };
  }
  /** Says that these messages are handed to `turn`: from now on they are never handed over again. */
  handOver(ids, turn, changes = {}) {
    const messages = this.#record.messages.map(
      (message) => ids.includes(message.id) && message.turn === null ? { ...message, turn } : message
    );
    this.update({ ...changes, messages });
  }
  update(changes) {
    const record = { ...this.#record, ...changes, updatedAt: this.place.now() };
    writeAtomic(join6(this.folder, "state.json"), JSON.stringify(record));
    this.#record = record;
  }
  /** Appends an event, masked, under the next number. */
  append(turn, body) {
    const event = {
      ...maskEvent(body, this.place.mask),
      seq: this.#log.lastSeq + 1,
      turn,
      at: this.place.now()
    };
    this.#log.append(event);
    return event;
  }
  eventsAfter(seq) {
    return this.#log.after(seq);
  }
  async storeAnswer(turn, text) {
    return await storeAnswer(this.folder, turn, text);
  }
  readAnswer(turn) {
    return readAnswer(this.folder, turn);
  }
  /** Notes how a run was delivered. The same again changes nothing; something else for one run is a conflict. */
  deliver(delivery) {
    const { deliveries } = this.#record;
    const before = deliveries.find((known) => known.run === delivery.run);
    if (before === void 0) {
      this.update({ deliveries: [...deliveries, { ...delivery, at: this.place.now() }] });
      return;
    }
    if (before.turn !== delivery.turn || before.how !== delivery.how) {
      throw new DeliveryConflict(
        `run ${delivery.run} was delivered already: turn ${before.turn}, ${before.how}; a run is delivered once`
      );
    }
  }
  /** Closes the files and lets the job go, for another sidecar to take up. */
  close() {
    this.#log.close();
    letJobGo(this.folder, this.place.self);
  }
  #endAbandoned(open2) {
    const answer3 = answerRecord(this.folder, open2.turn);
    const outcome = answer3 !== null ? { kind: "completed", answer: answer3 } : {
      kind: "failed",
      failure: {
        kind: "crashed",
        status: "failed",
        message: "the sidecar that ran this turn ended before the turn did",
        hint: "The thread is kept: send the agent a message to go on."
      },
      partial: open2.messages
    };
    this.append(open2.turn, {
      kind: "turn_ended",
      outcome,
      tokens: null,
      model: this.#record.model,
      durationMs: Math.max(0, this.place.now() - open2.startedAt),
      filesChanged: [...open2.files],
      survivors: []
    });
  }
  #promptFile(number) {
    return join6(this.folder, "prompts", String(number));
  }
};
function openTurnAfter(open2, event) {
  if (event.kind === "turn_started") {
    return { turn: event.turn, startedAt: event.at, messages: [], files: /* @__PURE__ */ new Set() };
  }
  if (event.kind === "turn_ended") return null;
  if (open2 === null) return null;
  if (event.kind === "message") open2.messages.push(event.text);
  if (event.kind === "action_completed" && event.action.tool === "edit" && event.result.status === "completed") {
    for (const change of event.action.changes) open2.files.add(change.path);
  }
  return open2;
}
function isThere(path) {
  try {
    lstatSync2(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

// sidecar/src/job/jobs.ts
var DEFAULT_STALL_MS = 3e5;
var Jobs = class {
  constructor(ports) {
    this.ports = ports;
  }
  ports;
  #jobs = /* @__PURE__ */ new Map();
  get running() {
    return [...this.#jobs.values()].filter((job) => job.isBusy).length;
  }
  /**
   * The job of this agent and session, with the message taken; made where there is none yet. Answers at
   * once: the harness's thread is opened afterwards, and what goes wrong there is a failed turn.
   */
  create(body) {
    const id = jobIdOf(body.session, body.agent);
    const found = this.find(id);
    const job = found ?? this.#make(id, body);
    void job.send(body.message, body.mode);
    return { job: job.view(), isNew: found === null };
  }
  /** The job with this id, taken up from disk where its sidecar is gone; null where there is none. */
  find(id) {
    if (!isJobId(id)) return null;
    const known = this.#jobs.get(id);
    if (known !== void 0) return known;
    const journal = Journal.open(this.ports.place, id);
    return journal === null ? null : this.#keep(journal, this.ports.harnessOf(journal.record.harness));
  }
  /** Ends every job, all at once. Resolves to the processes that would not end. */
  async close() {
    const jobs = [...this.#jobs.values()];
    const ended = await Promise.allSettled(jobs.map((job) => job.close()));
    return ended.flatMap((result, index) => {
      if (result.status === "fulfilled") return result.value;
      this.ports.log("error", `job ${jobs[index]?.id}: could not be ended`, { error: result.reason });
      return [];
    });
  }
  #make(id, body) {
    const now = this.ports.place.now();
    const harness = this.ports.harnessOf(body.harness);
    const journal = Journal.create(this.ports.place, {
      version: RECORD_VERSION,
      id,
      harness: body.harness,
      harnessVersion: "",
      agent: body.agent,
      session: body.session,
      cwd: body.cwd,
      requestedModel: body.model ?? null,
      model: body.model ?? "",
      effort: body.effort ?? null,
      stallMs: body.options?.stallMs ?? DEFAULT_STALL_MS,
      thread: null,
      access: levelOf(body.mode),
      turns: 0,
      createdAt: now,
      updatedAt: now,
      messages: [],
      deliveries: []
    });
    return this.#keep(journal, harness);
  }
  #keep(journal, harness) {
    const { place, log, limits } = this.ports;
    const job = new Job({ journal, harness, log, now: place.now, limits });
    this.#jobs.set(job.id, job);
    return job;
  }
};

// sidecar/src/log.ts
import { closeSync as closeSync4, constants as constants4, writeSync as writeSync2 } from "node:fs";
import { dirname as dirname3 } from "node:path";
var LOG_LIMIT = 4 * 1024 * 1024;
function openLog(path, mask2, now) {
  ensurePrivateFolder(dirname3(path));
  const descriptor = openPrivate(path, constants4.O_WRONLY | constants4.O_CREAT | constants4.O_APPEND);
  let left = LOG_LIMIT;
  let isClosed = false;
  const write2 = (line) => {
    const bytes = Buffer.from(`${line}
`, "utf8");
    left -= bytes.length;
    writeSync2(descriptor, bytes);
  };
  return {
    log(level, what, details = {}) {
      if (isClosed || left <= 0) return;
      try {
        write2(mask2(JSON.stringify({ at: new Date(now()).toISOString(), level, what, ...plain(details) })));
        if (left <= 0) write2(JSON.stringify({ level: "warning", what: "the log is full; the rest is left out" }));
      } catch {
        left = 0;
      }
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      closeSync4(descriptor);
    }
  };
}
function plain(details) {
  return Object.fromEntries(
    Object.entries(details).map(([key, value]) => [
      key,
      value instanceof Error ? value.stack ?? value.message : value
    ])
  );
}

// sidecar/src/process/secrets.ts
var MASK = "[masked]";
var SECRET_NAME = /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH)(?:_|$)/i;
var SHORTEST_VALUE = 8;
var SHAPES = [
  /\bsk-[A-Za-z0-9_-]{8,}/g,
  /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})/g,
  /\bglpat-[A-Za-z0-9_-]{16,}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{8,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bnpm_[A-Za-z0-9]{30,}/g,
  /\bhf_[A-Za-z0-9]{20,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g
];
var FRAMED = [
  [/\b(bearer|basic)(\s+)[A-Za-z0-9+/._~=-]{8,}/gi, `$1$2${MASK}`],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]+:)[^\s/@]+@/gi, `$1${MASK}@`]
];
function mask(text, env = process.env) {
  let masked = text;
  for (const value of secretValues(env)) masked = masked.replaceAll(value, MASK);
  for (const [shape, replacement] of FRAMED) masked = masked.replace(shape, replacement);
  for (const shape of SHAPES) masked = masked.replace(shape, MASK);
  return masked;
}
function secretValues(env) {
  return Object.entries(env).filter(([name, value]) => value !== void 0 && value.length >= SHORTEST_VALUE && SECRET_NAME.test(name)).map(([, value]) => value).filter((value) => !value.startsWith("/")).sort((a, b) => b.length - a.length);
}

// sidecar/src/version.ts
var VERSION = "0.1.0";

// sidecar/src/server/address.ts
import { chmodSync as chmodSync2, mkdtempSync, rmSync as rmSync3 } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute as isAbsolute2, join as join7 } from "node:path";
var LONGEST_SOCKET = 100;
async function listen(server, env, platform = process.platform) {
  const folder = platform === "win32" ? null : socketFolder(env);
  if (folder === null) {
    await begin(server, { host: "127.0.0.1", port: 0 });
    const bound = server.address();
    if (bound === null || typeof bound === "string") throw new Error("the local API has no port");
    return { address: { port: bound.port }, remove: () => {
    } };
  }
  const socket = join7(folder, "s");
  try {
    await begin(server, { path: socket });
  } catch (error) {
    rmSync3(folder, { recursive: true, force: true });
    throw error;
  }
  return { address: { socket }, remove: () => rmSync3(folder, { recursive: true, force: true }) };
}
function socketFolder(env) {
  for (const base of [env.XDG_RUNTIME_DIR, tmpdir(), "/tmp"]) {
    if (base === void 0 || !isAbsolute2(base)) continue;
    if (Buffer.byteLength(join7(base, "verbatim-XXXXXX", "s")) > LONGEST_SOCKET) continue;
    try {
      const folder = mkdtempSync(join7(base, "verbatim-"));
      chmodSync2(folder, 448);
      return folder;
    } catch {
    }
  }
  return null;
}
async function begin(server, options) {
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

// sidecar/src/server/http.ts
import { createServer } from "node:http";

// sidecar/src/server/refusal.ts
var STATUS = {
  unauthorized: 401,
  not_found: 404,
  method: 405,
  too_large: 413,
  invalid: 400,
  conflict: 409,
  closing: 503,
  internal: 500
};
var Refusal = class extends Error {
  constructor(code, message, headers = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
    this.name = "Refusal";
  }
  code;
  headers;
  get status() {
    return STATUS[this.code];
  }
  get body() {
    return { error: { code: this.code, message: this.message } };
  }
};
function refusalOf(error) {
  if (error instanceof Refusal) return error;
  if (error instanceof JobTakenError || error instanceof DeliveryConflict)
    return new Refusal("conflict", error.message);
  if (error instanceof UnsafePathError) {
    return new Refusal("conflict", `${error.message}; remove it, or move it away, and try again`);
  }
  if (error instanceof ShapeError) return new Refusal("invalid", error.message);
  if (error instanceof JournalFault) return new Refusal("internal", error.message);
  return null;
}

// sidecar/src/server/body-reader.ts
var TOO_LARGE = `the body is larger than ${BODY_LIMIT} bytes`;
async function readJson(request) {
  const bytes = await readBody(request);
  if (bytes.length === 0) throw new Refusal("invalid", "the body is empty; it must be a JSON object");
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refusal("invalid", "the body is not UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    const place = /position \d+/.exec(error instanceof Error ? error.message : "")?.[0];
    throw new Refusal("invalid", `the body is not JSON${place === void 0 ? "" : ` (at ${place})`}`);
  }
}
async function readBody(request) {
  if (Number(request.headers["content-length"] ?? 0) > BODY_LIMIT) throw new Refusal("too_large", TOO_LARGE);
  const parts = [];
  let size = 0;
  return await new Promise((resolve, reject) => {
    request.on("data", (part) => {
      size += part.length;
      if (size > BODY_LIMIT) {
        request.pause();
        reject(new Refusal("too_large", TOO_LARGE));
        return;
      }
      parts.push(part);
    });
    request.on("end", () => resolve(Buffer.concat(parts)));
    request.on("error", reject);
    request.on("aborted", () => reject(new Refusal("invalid", "the request broke off before its end")));
  });
}

// sidecar/src/server/bodies.ts
import { isAbsolute as isAbsolute3 } from "node:path";
var ID = { max: 512 };
var LONGEST_STALL_MS = 7 * 24 * 36e5;
function createJobOf(value) {
  const body = objectOf(value, "the body");
  onlyFields(body, ["harness", "agent", "session", "cwd", "mode", "message", "model", "effort", "options"]);
  const cwd = textOf(body, "cwd", { max: 4096, pattern: /^[^\0]*$/, patternRule: "must not hold a NUL character" });
  if (!isAbsolute3(cwd)) throw new ShapeError("cwd", `must be an absolute path, it is ${JSON.stringify(cwd)}`);
  return {
    harness: choiceOf(body, "harness", HARNESS_NAMES),
    agent: textOf(body, "agent", ID),
    session: textOf(body, "session", ID),
    cwd,
    mode: modeOf(body),
    message: messageOf3(body),
    model: optionalTextOf(body, "model", { max: 200 }),
    effort: optionalTextOf(body, "effort", { max: 200 }),
    options: body.options === void 0 ? void 0 : optionsOf(body.options)
  };
}
function sendMessageOf(value) {
  const body = objectOf(value, "the body");
  onlyFields(body, ["message", "mode"]);
  return { message: messageOf3(body), mode: modeOf(body) };
}
function stopJobOf(value) {
  const body = objectOf(value, "the body");
  onlyFields(body, ["reason"]);
  return { reason: choiceOf(body, "reason", ["stopped", "session_ended"]) };
}
function deliveryOf2(value) {
  const body = objectOf(value, "the body");
  onlyFields(body, ["turn", "run", "how"]);
  return {
    turn: countOf(body, "turn", 1, Number.MAX_SAFE_INTEGER),
    run: textOf(body, "run", ID),
    how: choiceOf(body, "how", ["plain", "handback", "handback_refused"])
  };
}
function warmHarnessOf(value) {
  const body = objectOf(value, "the body");
  onlyFields(body, ["harness"]);
  return { harness: choiceOf(body, "harness", HARNESS_NAMES) };
}
function queryCount(query, name, max, fallback) {
  const text = query.get(name);
  if (text === null) return fallback;
  if (!/^\d{1,15}$/.test(text) || Number(text) > max) {
    throw new ShapeError(name, `must be a whole number from 0 to ${max}, it is ${JSON.stringify(text.slice(0, 60))}`);
  }
  return Number(text);
}
function onlyQuery(query, known) {
  onlyFields(Object.fromEntries(query), known, "?");
}
function messageOf3(body) {
  const message = objectOf(body.message, "message");
  onlyFields(message, ["id", "text"], "message.");
  return {
    id: textOf(
      message,
      "id",
      { max: 128, pattern: MESSAGE_ID, patternRule: 'must hold only letters, digits, "_" and "-"' },
      "message."
    ),
    // The body's own limit bounds it.
    text: textOf(message, "text", { max: Number.MAX_SAFE_INTEGER }, "message.")
  };
}
function modeOf(body) {
  return choiceOf(body, "mode", [...PERMISSION_MODES, "unknown"]);
}
function optionsOf(value) {
  const options = objectOf(value, "options");
  onlyFields(options, ["stallMs"], "options.");
  if (options.stallMs === void 0) return {};
  return { stallMs: countOf(options, "stallMs", 1, LONGEST_STALL_MS, "options.") };
}

// sidecar/src/server/routes.ts
function resourceAt(path, context) {
  const parts = path.split("/").slice(1);
  const [version, kind, id, part, turn, ...rest] = parts;
  if (version !== "v1" || rest.length > 0) throw noPath(path);
  if (id === void 0) {
    switch (kind) {
      case "health":
        return { GET: async () => ({ status: 200, body: health(context) }) };
      case "lease":
        return { POST: async () => ({ status: 200, body: health(context) }) };
      case "warm":
        return { POST: warm(context) };
      case "jobs":
        return { POST: create(context) };
      default:
        throw noPath(path);
    }
  }
  if (kind !== "jobs") throw noPath(path);
  if (part === "answers" && turn !== void 0) return { GET: answer(jobAt(id, context), turn) };
  if (turn !== void 0) throw noPath(path);
  switch (part) {
    case void 0: {
      const job = jobAt(id, context);
      return { GET: async () => ({ status: 200, body: { job: job.view() } }) };
    }
    case "messages":
      return { POST: send(jobAt(id, context)) };
    case "stop":
      return { POST: stop(jobAt(id, context)) };
    case "events":
      return { GET: events(jobAt(id, context)) };
    case "deliveries":
      return { POST: deliver(jobAt(id, context)) };
    default:
      throw noPath(path);
  }
}
function health({ jobs, leaseMs }) {
  return { verbatim: VERSION, protocol: PROTOCOL, pid: process.pid, leaseMs, running: jobs.running };
}
function warm({ harnessOf, log }) {
  return async ({ json }) => {
    const { harness } = warmHarnessOf(await json());
    const warming = harnessOf(harness).warm?.() ?? Promise.resolve();
    warming.catch((error) => log("warning", `${harness} could not be started ahead`, { error }));
    return { status: 202, body: {} };
  };
}
function create({ jobs }) {
  return async ({ json }) => {
    const { job, isNew } = jobs.create(createJobOf(await json()));
    return { status: isNew ? 201 : 200, body: { job } };
  };
}
function send(job) {
  return async ({ json }) => {
    const { message, mode } = sendMessageOf(await json());
    const disposition = await job.send(message, mode);
    return { status: 200, body: { disposition, job: job.view() } };
  };
}
function stop(job) {
  return async ({ json }) => {
    stopJobOf(await json());
    await job.stop();
    return { status: 200, body: { job: job.view() } };
  };
}
function events(job) {
  return async ({ query, signal }) => {
    onlyQuery(query, ["after", "wait"]);
    const after = queryCount(query, "after", Number.MAX_SAFE_INTEGER, 0);
    const wait = queryCount(query, "wait", POLL_LIMIT_MS, 0);
    return { status: 200, body: await job.events(after, wait, signal) };
  };
}
function answer(job, turn) {
  return async () => {
    const page = /^[1-9]\d{0,8}$/.test(turn) ? job.answer(Number(turn)) : null;
    if (page === null) throw new Refusal("not_found", `turn ${turn.slice(0, 20)} of job ${job.id} has no answer`);
    return { status: 200, body: page };
  };
}
function deliver(job) {
  return async ({ json }) => {
    const delivery = deliveryOf2(await json());
    if (delivery.turn > job.view().turns) {
      throw new Refusal("not_found", `job ${job.id} has no turn ${delivery.turn}`);
    }
    job.deliver(delivery);
    return { status: 204 };
  };
}
function jobAt(id, { jobs }) {
  const job = JOB_ID.test(id) ? jobs.find(id) : null;
  if (job === null) throw new Refusal("not_found", `there is no job ${id.slice(0, 40)}; it may have been purged`);
  return job;
}
function noPath(path) {
  return new Refusal("not_found", `there is nothing at ${path.slice(0, 120)}`);
}

// sidecar/src/server/token.ts
import { createHash as createHash3, randomBytes, timingSafeEqual } from "node:crypto";
function mintToken() {
  return randomBytes(32).toString("base64url");
}
function isAuthorized(header, token) {
  const given = /^Bearer ([\x21-\x7e]{1,256})$/i.exec(header ?? "")?.[1] ?? "";
  return timingSafeEqual(digest(given), digest(token));
}
function digest(text) {
  return createHash3("sha256").update(text).digest();
}

// sidecar/src/server/http.ts
function createApi(ports) {
  const server = createServer({ keepAlive: true }, (request, response) => {
    answer2(ports, request, response).catch((error) => {
      ports.log("warning", "an answer could not be written", { error });
      response.destroy();
    });
  });
  server.keepAliveTimeout = 12e4;
  server.headersTimeout = 125e3;
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  });
  return server;
}
async function answer2(ports, request, response) {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  try {
    const { status, body } = await route(ports, request, AbortSignal.any([gone.signal, ports.closing]));
    write(response, status, body);
  } catch (error) {
    let refusal = refusalOf(error);
    if (refusal === null) {
      ports.log("error", `${request.method} ${pathOf(request)} failed`, { error });
      const reason = error instanceof Error ? error.message : String(error);
      refusal = new Refusal("internal", `Verbatim's sidecar failed: ${reason}; its log says where`);
    }
    if (!request.complete) response.setHeader("connection", "close");
    for (const [name, value] of Object.entries(refusal.headers)) response.setHeader(name, value);
    write(response, refusal.status, refusal.body);
    if (!request.complete) response.once("finish", () => request.destroy());
  }
}
async function route(ports, request, signal) {
  if (!isAuthorized(request.headers.authorization, ports.token)) {
    throw new Refusal("unauthorized", "the token is missing or is another one", { "www-authenticate": "Bearer" });
  }
  if (ports.closing.aborted) throw new Refusal("closing", "the sidecar is ending; start another one");
  ports.onRequest();
  const resource = resourceAt(pathOf(request), ports.routes);
  const handler = request.method === "GET" || request.method === "POST" ? resource[request.method] : void 0;
  if (handler === void 0) {
    const allowed = Object.keys(resource).join(", ");
    throw new Refusal("method", `${request.method} is not for ${pathOf(request)}; it takes ${allowed}`, {
      allow: allowed
    });
  }
  const query = new URLSearchParams((request.url ?? "").split("?")[1] ?? "");
  return await handler({ query, json: () => readJson(request), signal });
}
function pathOf(request) {
  return (request.url ?? "/").split("?")[0] ?? "/";
}
function write(response, status, body) {
  if (response.destroyed) return;
  if (body === void 0) {
    response.writeHead(status).end();
    return;
  }
  const bytes = Buffer.from(JSON.stringify(body), "utf8");
  response.writeHead(status, { "content-type": "application/json", "content-length": bytes.length }).end(bytes);
}

// sidecar/src/server/lifeline.ts
var PARENT_POLL_MS = 200;
function openLifeline(leaseMs, now, end) {
  const parent = process.ppid;
  let renewedAt = now();
  const timer = setInterval(
    () => {
      if (process.ppid !== parent) end("parent_gone");
      else if (now() - renewedAt > leaseMs) end("lease_over");
    },
    Math.min(PARENT_POLL_MS, leaseMs)
  );
  const onSignal = (name) => end(name);
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(name, onSignal);
  return {
    renew() {
      renewedAt = now();
    },
    cut() {
      clearInterval(timer);
    }
  };
}

// sidecar/src/server/serve.ts
var DEFAULT_LEASE_MS = 6e5;
var END_LIMIT_MS = 3e4;
async function serve(options = {}) {
  const { env } = process;
  const leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS;
  const self = ownIdentity();
  const sidecar = sidecarId(self);
  const state = stateFolder(env);
  const hide = (text) => mask(text, env);
  const logFile = openLog(join8(logsFolder(state), `sidecar-${sidecar}.jsonl`), hide, Date.now);
  const { log } = logFile;
  process.on("uncaughtException", (error) => log("error", "an unexpected error", { error }));
  process.on("unhandledRejection", (error) => log("error", "an unexpected rejection", { error }));
  process.stdout.on("error", () => {
  });
  process.stderr.on("error", () => {
  });
  let lifeline;
  const ended = new Promise((resolve) => {
    lifeline = openLifeline(leaseMs, () => performance.now(), resolve);
  });
  const closing = new AbortController();
  const harnesses = new Harnesses({ env, sidecar });
  const jobs = new Jobs({
    place: { state, self, mask: hide, now: Date.now },
    harnessOf: (name) => harnesses.of(name),
    log
  });
  const token = mintToken();
  const server = createApi({
    routes: { jobs, harnessOf: (name) => harnesses.of(name), leaseMs, log },
    token,
    log,
    onRequest: () => lifeline?.renew(),
    closing: closing.signal
  });
  const { address, remove } = await listen(server, env);
  const handshake = { verbatim: VERSION, protocol: PROTOCOL, pid: process.pid, ...address, token };
  writeSync3(1, `${JSON.stringify(handshake)}
`);
  log("info", "the sidecar is up", { version: VERSION, pid: process.pid, parent: process.ppid, node: process.version });
  const reason = await ended;
  log("info", "the sidecar is ending", { reason });
  setTimeout(() => {
    log("error", "ending took too long; the process ends as it is");
    process.exit(1);
  }, END_LIMIT_MS).unref();
  closing.abort();
  remove();
  server.close();
  const survivors = [...await jobs.close(), ...await harnesses.close()];
  server.closeAllConnections();
  lifeline?.cut();
  if (survivors.length > 0) log("error", "processes outlived the sidecar", { survivors });
  log("info", "the sidecar has ended");
  logFile.close();
  return survivors.length > 0 ? 1 : 0;
}

// sidecar/src/cli/run.ts
async function run(args) {
  const [command] = args;
  if (command === "serve") return await serve();
  process.stderr.write(`verbatim: there is no command ${command}
`);
  return 2;
}

// sidecar/src/cli/main.ts
var complaint = checkNode(process.versions.node);
if (complaint !== null) {
  process.stderr.write(`${complaint}
`);
  process.exitCode = 1;
} else {
  process.exitCode = await run(process.argv.slice(2));
  if (process.argv[2] === "serve") process.exit();
}
