#!/usr/bin/env node
// Built from sidecar/src and plugin/hooks/{protocol,notes} by scripts/bundle.ts: change those, then `npm run bundle`.

// sidecar/src/cli/node-version.ts
var OLDEST = [20, 19];
function checkNode(version2) {
  const [major = 0, minor = 0] = version2.split(".").map(Number);
  if (major > OLDEST[0] || major === OLDEST[0] && minor >= OLDEST[1]) return null;
  return `Verbatim needs Node ${OLDEST.join(".")} or newer, and this is Node ${version2}. Install a newer Node (https://nodejs.org) and try again.`;
}

// plugin/hooks/protocol/version.ts
var VERSION = "0.1.0";

// sidecar/src/server/serve.ts
import { writeSync as writeSync3 } from "node:fs";
import { join as join18 } from "node:path";

// plugin/hooks/protocol/api.ts
var PROTOCOL = 1;
var PERMISSION_MODES = ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"];
var HARNESS_NAMES = ["codex"];
var JOB_ID = /^j[a-z2-7]{20}$/;
var MESSAGE_ID = /^[A-Za-z0-9_-]{1,128}$/;
var BODY_LIMIT = 8 * 1024 * 1024;
var POLL_LIMIT_MS = 2e4;
var ANSWER_PAGE = 6e5;
var DELIVERY_WAYS = ["plain", "handback", "handback_refused"];

// sidecar/src/harness/codex/harness.ts
import { join as join6 } from "node:path";

// sidecar/src/process/environment.ts
var SIDECAR_VARIABLE = "VERBATIM_SIDECAR";
var JOB_VARIABLE = "VERBATIM_JOB";
var DEPTH_VARIABLE = "VERBATIM_DEPTH";
var NEVER_INHERITED = [
  /^CLAUDECODE$/,
  /^CLAUDE_CODE_/,
  /^CLAUDE_(?:PLUGIN|PROJECT|SESSION|ENV|AGENT|EFFORT|AUTOCOMPACT|BASH|BG|JOB|TMPDIR|INTERNAL)(?:_|$)/,
  /^AI_AGENT$/,
  /^LICH_/,
  /^VERBATIM_/
];
var KEYS_OF = {
  anthropic: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"],
  openai: ["OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN"],
  google: ["GEMINI_API_KEY", "GOOGLE_API_KEY"]
};
function childEnvironment({ parent, keys, sidecar }) {
  const foreign2 = new Set(
    Object.entries(KEYS_OF).filter(([owner]) => !keys.includes(owner)).flatMap(([, names]) => names)
  );
  const kept = Object.entries(parent).filter(
    (entry) => entry[1] !== void 0 && !foreign2.has(entry[0]) && !NEVER_INHERITED.some((name2) => name2.test(entry[0]))
  );
  return {
    ...Object.fromEntries(kept),
    [SIDECAR_VARIABLE]: sidecar,
    [DEPTH_VARIABLE]: String(depthIn(parent, DEPTH_VARIABLE) + 1)
  };
}
function depthIn(env, variable2) {
  const depth = Number(env[variable2] ?? "0");
  return Number.isInteger(depth) && depth >= 0 ? depth : 0;
}

// sidecar/src/process/home.ts
import { homedir, userInfo } from "node:os";
import { isAbsolute } from "node:path";
function homeFolder(env = process.env) {
  if (env.HOME !== void 0 && isAbsolute(env.HOME)) return env.HOME;
  for (const known of [homedir, () => userInfo().homedir]) {
    try {
      const folder = known();
      if (isAbsolute(folder)) return folder;
    } catch {
    }
  }
  return null;
}

// sidecar/src/process/version.ts
import { dirname } from "node:path";

// sidecar/src/process/child.ts
import { spawn } from "node:child_process";

// sidecar/src/process/ladder.ts
import { setTimeout as sleep } from "node:timers/promises";

// sidecar/src/process/table.ts
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
var IS_LINUX = process.platform === "linux";
function processTable() {
  if (IS_LINUX) {
    return readdirSync("/proc").filter((name2) => /^\d+$/.test(name2)).map((name2) => entryOf(Number(name2))).filter((entry) => entry !== null);
  }
  if (process.platform === "win32") return [];
  return psTable();
}
function entryOf(pid) {
  if (process.platform === "win32") return null;
  if (!IS_LINUX) return psTable(pid)[0] ?? null;
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return null;
  }
}
function ownIdentity() {
  return { pid: process.pid, startTime: entryOf(process.pid)?.startTime ?? "" };
}
function isAlive(identity) {
  if (identity === null) return false;
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
function describe(identity) {
  const entry = entryOf(identity.pid);
  let command = entry?.name ?? "unknown";
  if (IS_LINUX) {
    try {
      const line = readFileSync(`/proc/${identity.pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      if (line !== "") command = line;
    } catch {
    }
  }
  return `${identity.pid} ${command.slice(0, 200)}`;
}
function carrying(name2, values, since) {
  if (!IS_LINUX || values.length === 0) return [];
  const wanted = new Set(values.map((value) => `${name2}=${value}`));
  return processTable().filter((entry) => {
    if (entry.isZombie || entry.pid === process.pid) return false;
    if (since && BigInt(entry.startTime) < BigInt(since.startTime)) return false;
    return environmentOf(entry.pid).some((variable2) => wanted.has(variable2));
  });
}
function environmentOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}
function psTable(pid) {
  const columns = ["-o", "pid=,ppid=,stat=,lstart=,comm="];
  const which = pid === void 0 ? ["-A"] : ["-p", String(pid)];
  let text2;
  try {
    text2 = execFileSync("ps", [...which, ...columns], { encoding: "utf8", env: { ...process.env, LC_ALL: "C" } });
  } catch {
    return [];
  }
  return parsePs(text2);
}
function parsePs(text2) {
  const line = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s+(.*)$/gm;
  return [...text2.matchAll(line)].map(([, pid, parent, state = "", startTime = "", name2 = ""]) => ({
    pid: Number(pid),
    parent: Number(parent),
    startTime,
    isZombie: state.startsWith("Z"),
    name: name2
  }));
}

// sidecar/src/process/ladder.ts
var GRACE = { askMs: 1e3, termMs: 1e3, killMs: 2e3 };
var POLL_MS = 10;
function signal(identity, name2) {
  if (!isAlive(identity)) return false;
  try {
    process.kill(identity.pid, name2);
    return true;
  } catch {
    return false;
  }
}
async function untilGone(processes, ms) {
  const end = performance.now() + ms;
  let living = processes.filter(isAlive);
  while (living.length > 0 && performance.now() < end) {
    await sleep(POLL_MS);
    living = living.filter(isAlive);
  }
  return living;
}
async function killAll(find, grace = GRACE) {
  const end = performance.now() + grace.killMs;
  let living = find().filter(isAlive);
  while (living.length > 0 && performance.now() < end) {
    for (const identity of living) signal(identity, "SIGKILL");
    await untilGone(living, Math.min(200, Math.max(POLL_MS, end - performance.now())));
    living = find().filter(isAlive);
  }
  return living.map(describe);
}

// sidecar/src/process/lines.ts
var LINE_LIMIT = 64 * 1024 * 1024;
var NEWLINE = 10;
var LineTooLong = class extends Error {
  constructor(limit) {
    super(`a line is longer than ${limit} bytes; nothing after it can be read`);
    this.limit = limit;
    this.name = "LineTooLong";
  }
  limit;
};
var LineFramer = class {
  constructor(onLine, limit = LINE_LIMIT) {
    this.onLine = onLine;
    this.limit = limit;
  }
  onLine;
  limit;
  #parts = [];
  #length = 0;
  /**
   * Takes the next bytes and hands on each line that they complete, without its `\n`.
   *
   * @throws LineTooLong when the line under way grows past the limit; the framer is then of no more use.
   */
  push(chunk) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE, from); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      this.#hold(chunk.subarray(from, at));
      this.#flush();
      from = at + 1;
    }
    this.#hold(chunk.subarray(from));
  }
  /** Hands on what came after the last `\n`, if anything did. */
  end() {
    if (this.#length > 0) this.#flush();
  }
  #hold(bytes) {
    if (bytes.length === 0) return;
    this.#length += bytes.length;
    if (this.#length > this.limit) throw new LineTooLong(this.limit);
    this.#parts.push(bytes);
  }
  #flush() {
    const [only] = this.#parts;
    const line = this.#parts.length === 1 && only ? only : Buffer.concat(this.#parts, this.#length);
    this.#parts = [];
    this.#length = 0;
    this.onLine(line.toString("utf8"));
  }
};

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
  /\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g
];
var FRAMED = [
  [/\b(bearer|basic)(\s+)[A-Za-z0-9+/._~=-]{8,}/gi, `$1$2${MASK}`],
  [/(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s:/@]+:)[^\s/@]+@/gi, `$1${MASK}@`]
];
function mask(text2, env = process.env) {
  let masked = text2;
  for (const value of secretValues(env)) masked = masked.replaceAll(value, MASK);
  for (const [shape, replacement] of FRAMED) masked = masked.replace(shape, replacement);
  for (const shape of SHAPES) masked = masked.replace(shape, MASK);
  return masked;
}
function secretValues(env) {
  return Object.entries(env).filter(([name2, value]) => value !== void 0 && value.length >= SHORTEST_VALUE && SECRET_NAME.test(name2)).map(([, value]) => value).filter((value) => !value.startsWith("/")).sort((a, b) => b.length - a.length);
}

// sidecar/src/process/tail.ts
var TAIL_LIMIT = 16 * 1024;
var TERMINAL_CODES = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g;
var Tail = class {
  constructor(limit = TAIL_LIMIT) {
    this.limit = limit;
  }
  limit;
  #chunks = [];
  #length = 0;
  push(chunk) {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    while (this.#length - (this.#chunks[0]?.length ?? 0) >= this.limit) {
      this.#length -= this.#chunks.shift()?.length ?? 0;
    }
  }
  /** The kept bytes as text, free of terminal codes, secrets masked; a character cut at the front is dropped. */
  text(env = process.env) {
    let bytes = Buffer.concat(this.#chunks);
    if (bytes.length > this.limit) {
      bytes = bytes.subarray(bytes.length - this.limit);
      let start2 = 0;
      while (start2 < 4 && ((bytes[start2] ?? 0) & 192) === 128) start2 += 1;
      bytes = bytes.subarray(start2);
    }
    return mask(bytes.toString("utf8").replace(TERMINAL_CODES, ""), env).trim();
  }
  /** The last `count` lines of `text`, joined by ` | `: one line, for a note. */
  lastLines(count2, env) {
    return this.text(env).split("\n").map((line) => line.trim()).filter((line) => line !== "").slice(-count2).join(" | ");
  }
};

// sidecar/src/process/tree.ts
var ProcessTree = class {
  constructor(root) {
    this.root = root;
    this.#known.set(root.pid, root);
  }
  root;
  #known = /* @__PURE__ */ new Map();
  /** Looks again: adds the children of every living member, drops members that ended. */
  sample(table2 = processTable()) {
    const living = new Map(table2.filter((entry) => !entry.isZombie).map((entry) => [entry.pid, entry]));
    for (const [pid, identity] of this.#known) {
      if (living.get(pid)?.startTime !== identity.startTime) this.#known.delete(pid);
    }
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
  living() {
    return [...this.#known.values()].filter(isAlive);
  }
  has(pid) {
    return this.#known.has(pid);
  }
};

// sidecar/src/process/child.ts
var Child = class _Child {
  constructor(process2, options) {
    this.process = process2;
    this.options = options;
    if (process2 instanceof Error) {
      this.identity = null;
      this.tree = null;
      this.#exit = { code: null, signal: null, fault: process2 };
      this.exited = Promise.resolve(this.#exit);
      return;
    }
    const entry = process2.pid === void 0 ? null : entryOf(process2.pid);
    this.identity = entry ? { pid: entry.pid, startTime: entry.startTime } : null;
    this.tree = this.identity ? new ProcessTree(this.identity) : null;
    let fault = null;
    const framer = new LineFramer(options.onLine, options.lineLimit ?? LINE_LIMIT);
    process2.stdout.on("data", (chunk) => {
      if (fault) return;
      try {
        framer.push(chunk);
      } catch (error) {
        fault = error;
        process2.kill("SIGTERM");
      }
    });
    process2.stderr.on("data", (chunk) => this.stderr.push(chunk));
    process2.stdin.on("error", () => {
    });
    this.exited = new Promise((resolve4) => {
      const settle = (exit) => {
        this.#exit ??= exit;
        resolve4(this.#exit);
      };
      process2.once("error", (error) => settle({ code: null, signal: null, fault: error }));
      process2.once("exit", (code, name2) => {
        const done = () => settle({ code, signal: name2, fault });
        const timer = setTimeout(done, 250);
        process2.once("close", () => {
          clearTimeout(timer);
          if (!fault) framer.end();
          done();
        });
      });
    });
  }
  process;
  options;
  exited;
  stderr = new Tail();
  tree;
  identity;
  #exit = null;
  /** Starts it. A program that cannot be started shows in `exited`, as `fault`. */
  static start(options) {
    try {
      const process2 = spawn(options.program, [...options.args], {
        cwd: options.cwd,
        env: { ...options.env },
        stdio: ["pipe", "pipe", "pipe"],
        // An own group (and session): a signal to ours, such as Ctrl-C, does not reach it.
        detached: globalThis.process.platform !== "win32",
        windowsHide: true
      });
      return new _Child(process2, options);
    } catch (error) {
      return new _Child(error, options);
    }
  }
  /** Writes one line, which nobody reads when the child has ended: `exited` says so. */
  write(line) {
    if (this.#exit || this.process instanceof Error) return;
    if (this.process.stdin.writable) this.process.stdin.write(`${line}
`);
  }
  /**
   * Ends it and all that it started: close stdin, wait, SIGTERM, wait, SIGKILL the whole recorded tree and
   * what `strays` names, verify. Resolves to the survivors, as `pid command`.
   */
  async end(strays = () => [], grace = GRACE) {
    if (this.process instanceof Error) return [];
    this.tree?.sample();
    this.process.stdin.end();
    if (!this.identity) return await this.#endBlindly(this.process, grace);
    const left = await untilGone([this.identity], grace.askMs);
    this.tree?.sample();
    if (left.length > 0) {
      signal(this.identity, "SIGTERM");
      await untilGone([this.identity], grace.termMs);
    }
    return await this.sweep(strays, grace);
  }
  /** SIGKILLs the whole recorded tree and what `strays` names, at once. Resolves to the survivors. */
  async sweep(strays = () => [], grace = GRACE) {
    const { tree } = this;
    if (!tree) return [];
    return await killAll(() => {
      tree.sample();
      return [...tree.living(), ...strays()];
    }, grace);
  }
  /** Where there is no table of processes (Windows): the child, and by `taskkill /T` what still hangs below it. */
  async #endBlindly(process2, grace) {
    const { pid } = process2;
    if (pid === void 0) return [];
    const isOver = async (ms) => {
      const timeout = new Promise((resolve4) => setTimeout(() => resolve4("late"), ms).unref());
      return await Promise.race([this.exited, timeout]) !== "late";
    };
    if (await isOver(grace.askMs)) return [];
    if (globalThis.process.platform === "win32") {
      spawn("taskkill", ["/pid", String(pid), "/T", "/F"]).on("error", () => {
      });
    }
    process2.kill("SIGKILL");
    return await isOver(grace.killMs) ? [] : [`${pid} ${this.options.program}`];
  }
};

// sidecar/src/process/version.ts
var ANSWER_MS = 1e4;
async function askVersion(program, env, limitMs = ANSWER_MS) {
  const lines2 = [];
  const set = Object.entries(env).filter((entry) => entry[1] !== void 0);
  const child = Child.start({
    program,
    args: ["--version"],
    cwd: dirname(program),
    env: Object.fromEntries(set),
    onLine: (line) => lines2.push(line)
  });
  let ending = null;
  const timer = setTimeout(() => {
    ending = child.end(() => [], { ...GRACE, askMs: 0, termMs: 0 });
  }, limitMs);
  const { code, signal: signal2, fault } = await child.exited;
  clearTimeout(timer);
  await ending;
  if (ending !== null) return { kind: "failed", why: `it said nothing within ${limitMs / 1e3} s` };
  if (fault !== null) return { kind: "failed", why: fault.message };
  if (code !== 0)
    return { kind: "failed", why: signal2 === null ? `it ended with exit code ${code}` : `${signal2} ended it` };
  return { kind: "answered", version: /\d+\.\d+\.\d+\S*/.exec(lines2.join("\n"))?.[0] ?? null };
}

// sidecar/src/harness/contract.ts
var HarnessError = class extends Error {
  constructor(failure3) {
    super(failure3.message);
    this.failure = failure3;
    this.name = "HarnessError";
  }
  failure;
};

// sidecar/src/harness/codex/account.ts
import { statSync } from "node:fs";
import { join } from "node:path";

// sidecar/src/harness/codex/failures.ts
var INSTALL = "npm install -g @openai/codex";
var SIGN_IN_HINT = "Run `codex login`.";
var INPUT_LIMIT = 1048576;
function failure(kind, message2, hint) {
  return hint === void 0 ? { kind, status: "failed", message: message2 } : { kind, status: "failed", message: message2, hint };
}
function unreadable(what) {
  return failure("protocol", `Codex sent ${what}.`, "Run `verbatim doctor`; Codex may have changed its protocol.");
}
function serverEnded(message2) {
  return failure("crashed", message2, "Send a message to go on: the thread is kept.");
}
function turnFailure(error, known) {
  if (!error) return failure("unknown", "The turn failed and Codex gave no error.");
  const message2 = messageOf(error);
  const { name: name2, httpStatus } = infoOf(error);
  const kind = kindOf(name2, httpStatus, error.message);
  return failure(kind, message2, hintFor(kind, known));
}
function httpStatusOf(error) {
  return infoOf(error).httpStatus;
}
function infoOf(error) {
  const info = error.codexErrorInfo ?? null;
  if (info === null) return { name: null, httpStatus: null };
  if (typeof info === "string") return { name: info, httpStatus: null };
  const [entry] = Object.entries(info);
  if (!entry) return { name: null, httpStatus: null };
  const [name2, body] = entry;
  const status = typeof body === "object" && body !== null ? body.httpStatusCode : null;
  return { name: name2, httpStatus: typeof status === "number" ? status : null };
}
function kindOf(name2, httpStatus, message2) {
  switch (name2) {
    case "contextWindowExceeded":
      return "context_window";
    case "usageLimitExceeded":
    case "sessionBudgetExceeded":
      return "quota";
    case "rateLimitExceeded":
      return "rate_limit";
    case "serverOverloaded":
    case "internalServerError":
    case "flexUnavailable":
    case "policyCapacityUnavailable":
      return "capacity";
    case "modelNotFound":
      return "model";
    case "cyberPolicy":
    case "bioPolicy":
    case "misalignmentPolicyViolation":
      return "policy";
    case "inferenceHookDenied":
    case "tooManyDenials":
    case "sandboxError":
      return "permission";
    case "unauthorized":
      return "sign_in";
    case "badRequest":
    case "threadRollbackFailed":
    case "activeTurnNotSteerable":
      return "invalid_request";
    case "httpConnectionFailed":
    case "responseStreamConnectionFailed":
    case "responseStreamDisconnected":
    case "responseTooManyFailedAttempts":
      return kindOfStatus(httpStatus);
    case "other":
    case null:
      return kindOfOther(message2);
    default:
      return "unknown";
  }
}
function kindOfStatus(status) {
  if (status === null) return "network";
  if (status === 401 || status === 403) return "sign_in";
  if (status === 429) return "rate_limit";
  if (status >= 500) return "capacity";
  if (status === 408) return "network";
  return "invalid_request";
}
function kindOfOther(message2) {
  const cut2 = "stream disconnected before completion";
  if (message2.endsWith("Incomplete response returned, reason: content_filter")) return "policy";
  if (message2.startsWith(`${cut2}: idle timeout`)) return "stalled";
  if (message2.startsWith(cut2) || message2.startsWith("Incomplete response returned")) return "network";
  if (message2.startsWith("Missing environment variable")) return "sign_in";
  return isJson(message2) ? "invalid_request" : "unknown";
}
function isJson(text2) {
  try {
    const value = JSON.parse(text2);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}
function messageOf(error) {
  const text2 = bodyMessage(error.message) ?? error.message;
  const details = error.additionalDetails ?? "";
  return details === "" || text2.includes(details) ? text2 : `${text2} ${details}`;
}
function bodyMessage(text2) {
  try {
    const body = JSON.parse(text2);
    for (const candidate of [body?.error?.message, body?.message, body?.detail]) {
      if (typeof candidate === "string" && candidate.trim() !== "") return candidate;
    }
    return null;
  } catch {
    return null;
  }
}
function hintFor(kind, known) {
  switch (kind) {
    case "sign_in":
      return `${SIGN_IN_HINT} If the provider takes a key from a variable, set that variable and start again.`;
    case "quota":
      return `Wait for the limit to reset${resetText(known.rateLimits)}, or see \`codex\` → /status for your plan.`;
    case "rate_limit":
      return `Wait${resetText(known.rateLimits) || " a minute"}, then send the message again.`;
    case "capacity":
      return "The provider is overloaded; send the message again in a few minutes, or use another model.";
    case "context_window":
      return "The thread no longer fits the model; start a new agent with a shorter task.";
    case "model":
      return `Choose another model than ${known.model}, or set \`model\` in Codex's config.toml.`;
    case "stalled":
      return "The provider may be limiting requests, or is down; send the message again later.";
    case "network":
      return "Check the network and the provider, then send the message again.";
    case "thread_lost":
      return "Start a new agent; the old conversation cannot be continued.";
    case "thread_busy":
      return "Close the other Codex that has this thread open, then send the message again.";
    default:
      return void 0;
  }
}
function resetText(limits) {
  const windows = [limits?.primary, limits?.secondary].filter((each) => each?.resetsAt != null);
  const used = windows.filter((each) => (each?.usedPercent ?? 0) >= 100);
  const resetsAt = Math.max(...(used.length > 0 ? used : windows).map((each) => each?.resetsAt ?? 0), 0);
  if (resetsAt <= 0 || resetsAt > 253402300799) return "";
  return ` until ${new Date(resetsAt * 1e3).toISOString().replace(".000Z", "Z")}`;
}
function rpcFailure(error, known) {
  const kind = rpcKind(error);
  return failure(kind, error.message, hintFor(kind, known));
}
function rpcKind(error) {
  const { message: message2 } = error;
  if (message2.includes("already has an active writer")) return "thread_busy";
  if (message2.includes("no rollout found") || message2.startsWith("thread not found")) return "thread_lost";
  if (error.code === -32602 || error.code === -32600) return "invalid_request";
  return "unknown";
}

// node_modules/zod/v4/core/util.js
function jsonStringifyReplacer(_, value) {
  if (typeof value === "bigint")
    return value.toString();
  return value;
}
var Cached = class {
  constructor(getter) {
    this._getter = getter;
    this._value = void 0;
  }
  get value() {
    const getter = this._getter;
    if (getter !== void 0) {
      this._value = getter();
      this._getter = void 0;
    }
    return this._value;
  }
};
function cached(getter) {
  return new Cached(getter);
}
function cleanRegex(source) {
  const start2 = source.startsWith("^") ? 1 : 0;
  const end = source.endsWith("$") ? source.length - 1 : source.length;
  return source.slice(start2, end);
}
function assignProp(target, prop, value) {
  Object.defineProperty(target, prop, {
    value,
    writable: true,
    enumerable: true,
    configurable: true
  });
}
var captureStackTrace = "captureStackTrace" in Error ? Error.captureStackTrace : (..._args) => {
};
function isObject(data) {
  return typeof data === "object" && data !== null && !Array.isArray(data);
}
function isPlainObject(o) {
  if (isObject(o) === false)
    return false;
  const ctor = o.constructor;
  if (ctor === void 0)
    return true;
  if (typeof ctor !== "function")
    return true;
  const prot = ctor.prototype;
  if (isObject(prot) === false)
    return false;
  if (Object.prototype.hasOwnProperty.call(prot, "isPrototypeOf") === false) {
    return false;
  }
  return true;
}
function escapeRegex(str) {
  return str.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
function clone(inst, def, params) {
  const cl = new inst._zod.constr(def ?? inst._zod.def);
  if (!def || params?.parent)
    cl._zod.parent = inst;
  return cl;
}
function normalizeParams(_params) {
  const params = _params;
  if (!params)
    return {};
  if (typeof params === "string")
    return { error: () => params };
  if (params?.message !== void 0) {
    if (params?.error !== void 0)
      throw new Error("Cannot specify both `message` and `error` params");
    params.error = params.message;
  }
  delete params.message;
  if (typeof params.error === "string")
    return { ...params, error: () => params.error };
  return params;
}
function optionalKeys(shape) {
  return Object.keys(shape).filter((k) => {
    return shape[k]._zod.optin !== void 0 && shape[k]._zod.optout === "optional";
  });
}
function aborted(x, startIndex = 0) {
  if (x.aborted === true)
    return true;
  for (let i = startIndex; i < x.issues.length; i++) {
    if (x.issues[i]?.continue !== true) {
      return true;
    }
  }
  return false;
}
function explicitlyAborted(x, startIndex = 0) {
  if (x.aborted === true)
    return true;
  for (let i = startIndex; i < x.issues.length; i++) {
    if (x.issues[i]?.continue === false) {
      return true;
    }
  }
  return false;
}
function prefixIssues(path, issues) {
  return issues.map((iss) => {
    var _a2;
    (_a2 = iss).path ?? (_a2.path = []);
    iss.path.unshift(path);
    return iss;
  });
}
function unwrapMessage(message2) {
  return typeof message2 === "string" ? message2 : message2?.message;
}
function sizeCaps(defChecks) {
  const caps = [];
  for (const ch of defChecks ?? []) {
    const d = ch._zod.def;
    if (!/_(length|size)$|_equals$/.test(d.check))
      break;
    const max = d.maximum ?? d.length ?? d.size;
    if (max >= 0)
      caps.push([max, ch]);
  }
  return caps;
}
function attachSchema(issues, start2, inst) {
  var _a2;
  for (let i = start2; i < issues.length; i++) {
    (_a2 = issues[i]).schema ?? (_a2.schema = inst);
  }
}
function finalizeIssue(iss, ctx, config2) {
  var _a2;
  const traits = iss.inst?._zod?.traits;
  if (traits?.has("$ZodType")) {
    if (traits.has("$ZodCheck"))
      (_a2 = iss).schema ?? (_a2.schema = iss.inst);
    else
      iss.schema = iss.inst;
  }
  const schemaError = iss.schema !== iss.inst ? iss.schema?._zod.def?.error : void 0;
  const message2 = iss.message ? iss.message : unwrapMessage(iss.inst?._zod.def?.error?.(iss)) ?? unwrapMessage(schemaError?.(iss)) ?? unwrapMessage(ctx?.error?.(iss)) ?? unwrapMessage(config2.customError?.(iss)) ?? unwrapMessage(config2.localeError?.(iss)) ?? "Invalid input";
  const full = {};
  for (const k of Object.keys(iss)) {
    if (k === "inst" || k === "schema" || k === "continue" || k === "input" || k === "__proto__")
      continue;
    full[k] = iss[k];
  }
  full.path ?? (full.path = []);
  full.message = message2;
  if (ctx?.reportInput) {
    full.input = iss.input;
  }
  return full;
}
function members(proto, table2) {
  for (const key in table2) {
    const desc = Object.getOwnPropertyDescriptor(table2, key);
    if (desc.get)
      Object.defineProperty(proto, key, { ...desc, enumerable: false });
    else
      defineBound(proto, key, desc.value);
  }
}
function own(inst, key, value, enumerable = true) {
  Object.defineProperty(inst, key, { configurable: true, writable: true, enumerable, value });
  return value;
}
function hide(inst, key, value) {
  return own(inst, key, value, false);
}
function defineBound(proto, key, fn) {
  Object.defineProperty(proto, key, {
    configurable: true,
    get() {
      return this == null ? fn : own(this, key, fn.bind(this));
    },
    set(value) {
      own(this, key, value);
    }
  });
}
function claim(inst, sentinel) {
  const proto = Object.getPrototypeOf(inst);
  return sentinel in proto ? void 0 : proto;
}
var installing;
var broke = false;
var breaker = {
  configurable: true,
  get() {
    broke = true;
    return void 0;
  }
};
function defineLazyInternal(inst, key, compute) {
  const proto = Object.getPrototypeOf(inst._zod);
  if (key in proto && installing !== inst._zod) {
    installing = void 0;
    return;
  }
  installing = inst._zod;
  Object.defineProperty(proto, key, {
    configurable: true,
    get() {
      Object.defineProperty(this, key, breaker);
      const outer = broke;
      broke = false;
      try {
        const value = compute(this);
        if (broke)
          delete this[key];
        else
          Object.defineProperty(this, key, { configurable: true, writable: true, value });
        broke = broke || outer;
        return value;
      } catch (err) {
        delete this[key];
        broke = broke || outer;
        throw err;
      }
    },
    set(value) {
      Object.defineProperty(this, key, { configurable: true, writable: true, value });
    }
  });
}
function installLazyProp(inst, key, make, enumerable) {
  const proto = claim(inst, key);
  if (!proto)
    return;
  Object.defineProperty(proto, key, {
    configurable: true,
    get() {
      const desc = { configurable: true, writable: true, enumerable, value: void 0 };
      Object.defineProperty(this, key, desc);
      desc.value = make(this);
      Object.defineProperty(this, key, desc);
      return desc.value;
    },
    set(value) {
      Object.defineProperty(this, key, { configurable: true, writable: true, enumerable, value });
    }
  });
}

// node_modules/zod/v4/core/core.js
var _a;
var _zodDesc = { value: void 0, enumerable: false };
var _E = "captureStackTrace" in Error ? Error : null;
function newError(Definition) {
  const E = _E;
  if (E) {
    const saved = E.stackTraceLimit;
    if (typeof saved === "number") {
      try {
        E.stackTraceLimit = 0;
      } catch {
        _E = null;
        return new Definition();
      }
      try {
        return new Definition();
      } finally {
        E.stackTraceLimit = saved;
      }
    }
  }
  return new Definition();
}
// @__NO_SIDE_EFFECTS__
function $constructor(name2, initializer2, proto, params) {
  const zodProto = {};
  function Internals(def) {
    this.def = def;
    this.constr = _;
    this.traits = /* @__PURE__ */ new Set();
  }
  Internals.prototype = zodProto;
  const protoMembers = proto;
  const initialized2 = protoMembers && /* @__PURE__ */ new WeakSet();
  function init(inst, def) {
    if (!inst._zod) {
      _zodDesc.value = new Internals(def);
      try {
        Object.defineProperty(inst, "_zod", _zodDesc);
      } finally {
        _zodDesc.value = void 0;
      }
    } else if (inst._zod.traits.has(name2)) {
      return;
    }
    inst._zod.traits.add(name2);
    initializer2(inst, def);
    if (initialized2) {
      const own2 = Object.getPrototypeOf(inst);
      const ctorProto = inst._zod.constr.prototype;
      let up = own2;
      while (up && up !== ctorProto)
        up = Object.getPrototypeOf(up);
      const target = up ?? own2;
      if (!initialized2.has(target)) {
        initialized2.add(target);
        members(target, protoMembers);
      }
    }
    const proto2 = _.prototype;
    for (const k in proto2) {
      if (!Object.prototype.hasOwnProperty.call(proto2, k))
        continue;
      if (!(k in inst)) {
        inst[k] = proto2[k].bind(inst);
      }
    }
  }
  const Parent = params?.Parent ?? Object;
  class Definition extends Parent {
  }
  Object.defineProperty(Definition, "name", { value: name2 });
  function _(def) {
    const inst = params?.Parent ? newError(Definition) : this;
    init(inst, def);
    const deferred = inst._zod.deferred;
    if (deferred) {
      for (const fn of deferred) {
        fn();
      }
      inst._zod.deferred = void 0;
    }
    const pp = globalThis.__zod_globalConfig?.postProcessor;
    if (pp)
      pp(inst);
    return inst;
  }
  Object.defineProperty(_, "init", { value: init });
  Object.defineProperty(_, Symbol.hasInstance, {
    value: (inst) => {
      if (params?.Parent && inst instanceof params.Parent)
        return true;
      return inst?._zod?.traits?.has(name2);
    }
  });
  Object.defineProperty(_, "name", { value: name2 });
  return _;
}
var $ZodAsyncError = class extends Error {
  constructor() {
    super(`Encountered Promise during synchronous parse. Use .parseAsync() instead.`);
  }
};
(_a = globalThis).__zod_globalConfig ?? (_a.__zod_globalConfig = {});
var globalConfig = globalThis.__zod_globalConfig;
function config(newConfig) {
  if (newConfig)
    Object.assign(globalConfig, newConfig);
  return globalConfig;
}

// node_modules/zod/v4/core/errors.js
function _getMessage() {
  const internals = this._zod;
  internals.message ?? (internals.message = JSON.stringify(internals.def, jsonStringifyReplacer, 2));
  return internals.message;
}
function _setMessage(value) {
  this._zod.message = value;
}
var _messageDesc = {
  get: _getMessage,
  set: _setMessage,
  enumerable: true,
  configurable: true
};
var _issuesDesc = { value: void 0, enumerable: false };
var _installedToString = /* @__PURE__ */ new WeakSet([Object.prototype, Error.prototype]);
var initializer = (inst, def) => {
  inst.name = "$ZodError";
  _issuesDesc.value = def;
  Object.defineProperty(inst, "issues", _issuesDesc);
  _issuesDesc.value = void 0;
  Object.defineProperty(inst, "message", _messageDesc);
  const proto = Object.getPrototypeOf(inst);
  if (!_installedToString.has(proto)) {
    _installedToString.add(proto);
    Object.defineProperty(proto, "toString", {
      configurable: true,
      enumerable: false,
      get() {
        const value = () => this.message;
        Object.defineProperty(this, "toString", { value, configurable: true, writable: true });
        return value;
      },
      set(value) {
        Object.defineProperty(this, "toString", { value, configurable: true, writable: true });
      }
    });
  }
};
var $ZodError = $constructor("$ZodError", initializer);
var $ZodRealError = $constructor("$ZodError", initializer, void 0, {
  Parent: Error
});

// node_modules/zod/v4/core/parse.js
var _parse = (_Err) => {
  const fn = (schema, value, _ctx, _params) => {
    const ctx = _ctx ? { ..._ctx, async: false } : { async: false };
    const result2 = schema._zod.run({ value, issues: [] }, ctx);
    if (result2 instanceof Promise) {
      throw new $ZodAsyncError();
    }
    if (result2.issues.length) {
      const e = new (_params?.Err ?? _Err)(result2.issues.map((iss) => finalizeIssue(iss, ctx, config())));
      captureStackTrace(e, _params?.callee ?? fn);
      throw e;
    }
    return result2.value;
  };
  return fn;
};
var parse = /* @__PURE__ */ _parse($ZodRealError);
var _parseAsync = (_Err) => {
  const fn = async (schema, value, _ctx, params) => {
    const ctx = _ctx ? { ..._ctx, async: true } : { async: true };
    let result2 = schema._zod.run({ value, issues: [] }, ctx);
    if (result2 instanceof Promise)
      result2 = await result2;
    if (result2.issues.length) {
      const e = new (params?.Err ?? _Err)(result2.issues.map((iss) => finalizeIssue(iss, ctx, config())));
      captureStackTrace(e, params?.callee ?? fn);
      throw e;
    }
    return result2.value;
  };
  return fn;
};
var parseAsync = /* @__PURE__ */ _parseAsync($ZodRealError);
var _safeParse = (_Err) => (schema, value, _ctx) => {
  const ctx = _ctx ? { ..._ctx, async: false } : { async: false };
  const result2 = schema._zod.run({ value, issues: [] }, ctx);
  if (result2 instanceof Promise) {
    throw new $ZodAsyncError();
  }
  return result2.issues.length ? failure2(_Err, result2.issues, ctx) : { success: true, data: result2.value };
};
var safeParse = /* @__PURE__ */ _safeParse($ZodRealError);
function failure2(Err, issues, ctx) {
  let error;
  return {
    success: false,
    get error() {
      if (!error) {
        error = new Err(issues.map((iss) => finalizeIssue(iss, ctx, config())));
        issues = void 0;
        ctx = void 0;
      }
      return error;
    },
    set error(e) {
      error = e;
      issues = void 0;
      ctx = void 0;
    }
  };
}
var _safeParseAsync = (_Err) => async (schema, value, _ctx) => {
  const ctx = _ctx ? { ..._ctx, async: true } : { async: true };
  let result2 = schema._zod.run({ value, issues: [] }, ctx);
  if (result2 instanceof Promise)
    result2 = await result2;
  return result2.issues.length ? failure2(_Err, result2.issues, ctx) : { success: true, data: result2.value };
};
var safeParseAsync = /* @__PURE__ */ _safeParseAsync($ZodRealError);

// node_modules/zod/v4/core/regexes.js
var anyString = /^[\s\S]{0,}$/;
var number = /^-?\d+(?:\.\d+)?$/;
var boolean = /^(?:true|false)$/i;

// node_modules/zod/v4/core/versions.js
var version = {
  major: 4,
  minor: 6,
  patch: 7
};

// node_modules/zod/v4/core/schemas.js
var $ZodType = /* @__PURE__ */ $constructor("$ZodType", (inst, def) => {
  var _a2;
  inst ?? (inst = {});
  inst._zod.def = def;
  inst._zod.bag = inst._zod.bag || {};
  inst._zod.version = version;
  const defChecks = inst._zod.def.checks;
  const checks = inst._zod.traits.has("$ZodCheck") ? [inst, ...defChecks ?? []] : defChecks?.length ? [...defChecks] : [];
  for (const ch of checks) {
    for (const fn of ch._zod.onattach) {
      fn(inst);
    }
  }
  if (checks.length === 0) {
    (_a2 = inst._zod).deferred ?? (_a2.deferred = []);
    inst._zod.deferred?.push(() => {
      inst._zod.run = inst._zod.parse;
    });
  } else {
    const runChecks = (payload, checks2, ctx) => {
      if (payload.memo)
        return payload;
      let isAborted = aborted(payload);
      let asyncResult;
      for (const ch of checks2) {
        if (ch._zod.def.when) {
          if (explicitlyAborted(payload))
            continue;
          const shouldRun = ch._zod.def.when(payload);
          if (!shouldRun)
            continue;
        } else if (isAborted) {
          continue;
        }
        const currLen = payload.issues.length;
        const _ = ch._zod.check(payload);
        if (_ instanceof Promise && ctx?.async === false) {
          throw new $ZodAsyncError();
        }
        if (asyncResult || _ instanceof Promise) {
          asyncResult = (asyncResult ?? Promise.resolve()).then(async () => {
            await _;
            const nextLen = payload.issues.length;
            if (nextLen === currLen)
              return;
            attachSchema(payload.issues, currLen, inst);
            if (!isAborted)
              isAborted = aborted(payload, currLen);
          });
        } else {
          const nextLen = payload.issues.length;
          if (nextLen === currLen)
            continue;
          attachSchema(payload.issues, currLen, inst);
          if (!isAborted)
            isAborted = aborted(payload, currLen);
        }
      }
      if (asyncResult) {
        return asyncResult.then(() => {
          return payload;
        });
      }
      return payload;
    };
    const handleCanaryResult = (canary, payload, ctx) => {
      if (aborted(canary)) {
        canary.aborted = true;
        return canary;
      }
      const checkResult = runChecks(payload, checks, ctx);
      if (checkResult instanceof Promise) {
        if (ctx.async === false)
          throw new $ZodAsyncError();
        return checkResult.then((checkResult2) => inst._zod.parse(checkResult2, ctx));
      }
      return inst._zod.parse(checkResult, ctx);
    };
    inst._zod.run = (payload, ctx) => {
      if (ctx.skipChecks) {
        return inst._zod.parse(payload, ctx);
      }
      if (ctx.direction === "backward") {
        const canary = inst._zod.parse({ value: payload.value, issues: [] }, { ...ctx, skipChecks: true });
        if (canary instanceof Promise) {
          return canary.then((canary2) => {
            return handleCanaryResult(canary2, payload, ctx);
          });
        }
        return handleCanaryResult(canary, payload, ctx);
      }
      const result2 = inst._zod.parse(payload, ctx);
      if (result2 instanceof Promise) {
        if (ctx.async === false)
          throw new $ZodAsyncError();
        return result2.then((result3) => runChecks(result3, checks, ctx));
      }
      return runChecks(result2, checks, ctx);
    };
  }
}, {
  // Wrappers extend this by installing a richer factory over it; reading it eagerly would defeat the laziness.
  get "~standard"() {
    return hide(this, "~standard", standardProps(this));
  },
  set "~standard"(value) {
    own(this, "~standard", value);
  }
});
var toStandardResult = (r, ctx) => r.issues.length ? { issues: r.issues.map((iss) => finalizeIssue(iss, ctx, config())) } : { value: r.value };
async function validateAsync(inst, value) {
  const ctx = { async: true };
  return toStandardResult(await inst._zod.run({ value, issues: [] }, ctx), ctx);
}
function standardProps(inst) {
  return {
    validate: (value) => {
      const ctx = { async: false };
      try {
        const r = inst._zod.run({ value, issues: [] }, ctx);
        if (!(r instanceof Promise))
          return toStandardResult(r, ctx);
      } catch (_) {
      }
      return validateAsync(inst, value);
    },
    vendor: "zod",
    version: 1
  };
}
var $ZodString = /* @__PURE__ */ $constructor("$ZodString", (inst, def) => {
  $ZodType.init(inst, def);
  inst._zod.pattern = def.pattern ?? anyString;
  inst._zod.parse = (payload, _) => {
    if (def.coerce)
      try {
        payload.value = String(payload.value);
      } catch (_2) {
      }
    if (typeof payload.value === "string")
      return payload;
    payload.issues.push({
      expected: "string",
      code: "invalid_type",
      input: payload.value,
      inst
    });
    return payload;
  };
});
var $ZodNumber = /* @__PURE__ */ $constructor("$ZodNumber", (inst, def) => {
  $ZodType.init(inst, def);
  inst._zod.pattern = number;
  inst._zod.parse = (payload, _ctx) => {
    if (def.coerce)
      try {
        payload.value = Number(payload.value);
      } catch (_) {
      }
    const input = payload.value;
    if (typeof input === "number" && !Number.isNaN(input) && Number.isFinite(input)) {
      return payload;
    }
    const received = typeof input === "number" ? Number.isNaN(input) ? "NaN" : !Number.isFinite(input) ? String(input) : void 0 : void 0;
    payload.issues.push({
      expected: "number",
      code: "invalid_type",
      input,
      inst,
      ...received ? { received } : {}
    });
    return payload;
  };
});
var $ZodBoolean = /* @__PURE__ */ $constructor("$ZodBoolean", (inst, def) => {
  $ZodType.init(inst, def);
  inst._zod.pattern = boolean;
  inst._zod.parse = (payload, _ctx) => {
    if (def.coerce)
      try {
        payload.value = Boolean(payload.value);
      } catch (_) {
      }
    const input = payload.value;
    if (typeof input === "boolean")
      return payload;
    payload.issues.push({
      expected: "boolean",
      code: "invalid_type",
      input,
      inst
    });
    return payload;
  };
});
var $ZodUnknown = /* @__PURE__ */ $constructor("$ZodUnknown", (inst, def) => {
  $ZodType.init(inst, def);
  inst._zod.parse = (payload) => payload;
});
function capSize(inst, size2) {
  const caps = sizeCaps(inst._zod.def.checks);
  if (!caps.length)
    return;
  const cap = Math.min(...caps.map((c) => c[0]));
  const parse2 = inst._zod.parse;
  inst._zod.parse = (payload, ctx) => {
    const n = size2(payload.value);
    if (n > cap && !ctx?.skipChecks && ctx?.direction !== "backward") {
      for (const [max, ch] of sizeCaps(inst._zod.def.checks)) {
        if (n > max && ch._zod.def.when(payload)) {
          const start2 = payload.issues.length;
          ch._zod.check(payload);
          payload.issues[start2].continue = false;
          attachSchema(payload.issues, start2, inst);
          return payload;
        }
      }
    }
    return parse2(payload, ctx);
  };
}
var arraySize = (input) => Array.isArray(input) ? input.length : -1;
function handleArrayResult(result2, final, index) {
  if (result2.issues.length) {
    final.issues.push(...prefixIssues(index, result2.issues));
  }
  final.value[index] = result2.value;
}
var $ZodArray = /* @__PURE__ */ $constructor("$ZodArray", (inst, def) => {
  $ZodType.init(inst, def);
  const memo = globalConfig.memoizer;
  memo?.attach(inst);
  inst._zod.parse = (payload, ctx) => {
    const input = payload.value;
    if (!Array.isArray(input)) {
      payload.issues.push({
        expected: "array",
        code: "invalid_type",
        input,
        inst
      });
      return payload;
    }
    payload.value = memo ? memo.alloc(inst, payload, Array(input.length), ctx) : Array(input.length);
    const proms = [];
    const abortEarly = ctx?.abortEarly;
    for (let i = 0; i < input.length; i++) {
      const item = input[i];
      const result2 = def.element._zod.run({
        value: item,
        issues: []
      }, ctx);
      if (result2 instanceof Promise) {
        proms.push(result2.then((result3) => handleArrayResult(result3, payload, i)));
      } else {
        handleArrayResult(result2, payload, i);
        if (abortEarly && result2.issues.length !== 0 && aborted(result2))
          break;
      }
    }
    if (proms.length) {
      return Promise.all(proms).then(() => payload);
    }
    return payload;
  };
  capSize(inst, arraySize);
});
function handlePropertyResult(result2, final, key, input, optin, optout) {
  const isPresent = key in input;
  const isOptionalOut = optout === "optional";
  if (!isPresent && isOptionalOut && optin === "optional") {
    return;
  }
  if (result2.issues.length) {
    if (optin !== void 0 && isOptionalOut && !isPresent) {
      return;
    }
    final.issues.push(...prefixIssues(key, result2.issues));
  }
  if (!isPresent && optin === void 0) {
    if (!result2.issues.length) {
      final.issues.push({
        code: "invalid_type",
        expected: "nonoptional",
        input: void 0,
        path: [key]
      });
    }
    return;
  }
  if (result2.value === void 0) {
    if (isPresent || optin === "defaulted" && !isOptionalOut) {
      final.value[key] = void 0;
    }
  } else {
    final.value[key] = result2.value;
  }
}
var NO_SYMBOL_KEYS = [];
function normalizeDef(def) {
  const keys = Object.keys(def.shape);
  const ownSymbols = Object.getOwnPropertySymbols(def.shape);
  const symbolKeys = ownSymbols.length ? ownSymbols : NO_SYMBOL_KEYS;
  const allKeys = symbolKeys.length ? [...keys, ...symbolKeys] : keys;
  for (const k of allKeys) {
    if (!def.shape?.[k]?._zod?.traits?.has("$ZodType")) {
      throw new Error(`Invalid element at key "${String(k)}": expected a Zod schema`);
    }
  }
  const okeys = optionalKeys(def.shape);
  return {
    ...def,
    allKeys,
    symbolKeys,
    // string-only: handleCatchall matches it against `for...in`, which never yields a symbol
    keySet: new Set(keys),
    numKeys: keys.length,
    optionalKeys: new Set(okeys)
  };
}
function handleCatchall(proms, input, payload, ctx, def, inst, abortEarly) {
  const unrecognized = [];
  const keySet = def.keySet;
  const _catchall = def.catchall._zod;
  const t = _catchall.def.type;
  const optin = _catchall.optin;
  const optout = _catchall.optout;
  let seen = 0;
  for (const key in input) {
    if (abortEarly && payload.issues.length !== seen) {
      if (aborted(payload, seen))
        break;
      seen = payload.issues.length;
    }
    if (keySet.has(key))
      continue;
    if (key === "__proto__") {
      if (t === "never")
        unrecognized.push(key);
      continue;
    }
    if (t === "never") {
      unrecognized.push(key);
      continue;
    }
    const r = _catchall.run({ value: input[key], issues: [] }, ctx);
    if (r instanceof Promise) {
      proms.push(r.then((r2) => handlePropertyResult(r2, payload, key, input, optin, optout)));
    } else {
      handlePropertyResult(r, payload, key, input, optin, optout);
    }
  }
  if (unrecognized.length) {
    payload.issues.push({
      code: "unrecognized_keys",
      keys: unrecognized,
      input,
      inst,
      // Describes the shape of the input, not the validity of the parsed value, so it never aborts. The parse still fails; the schema's own checks just get to run first, and an enclosing intersection can reconcile the key against a sibling operand.
      continue: true
    });
  }
  if (!proms.length)
    return payload;
  return Promise.all(proms).then(() => {
    return payload;
  });
}
var $ZodObject = /* @__PURE__ */ $constructor("$ZodObject", (inst, def) => {
  $ZodType.init(inst, def);
  const desc = Object.getOwnPropertyDescriptor(def, "shape");
  const sh = desc?.get ? desc.get.raw : def.shape ?? {};
  if (sh) {
    const get = () => {
      const newSh = { ...sh };
      Object.defineProperty(def, "shape", { value: newSh });
      get.raw = newSh;
      return newSh;
    };
    get.raw = sh;
    Object.defineProperty(def, "shape", { get });
  }
  const _normalized = cached(() => normalizeDef(def));
  defineLazyInternal(inst, "propValues", (zod) => {
    const shape = zod.def.shape;
    const propValues = {};
    for (const key in shape) {
      const field = shape[key]._zod;
      if (field.values) {
        if (!Object.prototype.hasOwnProperty.call(propValues, key)) {
          assignProp(propValues, key, /* @__PURE__ */ new Set());
        }
        for (const v of field.values)
          propValues[key].add(v);
        if (field.optin !== void 0)
          propValues[key].add(void 0);
      }
    }
    return propValues;
  });
  const isObject2 = isObject;
  const catchall = def.catchall;
  let value;
  const memo = globalConfig.memoizer;
  memo?.attach(inst);
  inst._zod.parse = (payload, ctx) => {
    value ?? (value = _normalized.value);
    const input = payload.value;
    if (!isObject2(input)) {
      payload.issues.push({
        expected: "object",
        code: "invalid_type",
        input,
        inst
      });
      return payload;
    }
    payload.value = memo ? memo.alloc(inst, payload, {}, ctx) : {};
    const proms = [];
    const shape = value.shape;
    const abortEarly = ctx?.abortEarly;
    let seen = payload.issues.length;
    for (const key of value.allKeys) {
      if (abortEarly && payload.issues.length !== seen) {
        if (aborted(payload, seen))
          break;
        seen = payload.issues.length;
      }
      if (key === "__proto__")
        continue;
      const el = shape[key];
      const optin = el._zod.optin;
      const optout = el._zod.optout;
      const r = el._zod.run({ value: input[key], issues: [] }, ctx);
      if (r instanceof Promise) {
        proms.push(r.then((r2) => handlePropertyResult(r2, payload, key, input, optin, optout)));
      } else {
        handlePropertyResult(r, payload, key, input, optin, optout);
      }
    }
    if (!catchall) {
      return proms.length ? Promise.all(proms).then(() => payload) : payload;
    }
    return handleCatchall(proms, input, payload, ctx, _normalized.value, inst, abortEarly === true);
  };
});
function handleUnionResults(results, final, inst, ctx) {
  for (const result2 of results) {
    if (result2.issues.length === 0) {
      final.value = result2.value;
      return final;
    }
  }
  const nonaborted = results.filter((r) => !aborted(r));
  if (nonaborted.length === 1) {
    final.value = nonaborted[0].value;
    return nonaborted[0];
  }
  final.issues.push({
    code: "invalid_union",
    input: final.value,
    inst,
    errors: results.map((result2) => result2.issues.map((iss) => finalizeIssue(iss, ctx, config())))
  });
  return final;
}
var $ZodUnion = /* @__PURE__ */ $constructor("$ZodUnion", (inst, def) => {
  $ZodType.init(inst, def);
  defineLazyInternal(inst, "optin", (zod) => zod.def.options.some((o) => o._zod.optin === "defaulted") ? "defaulted" : zod.def.options.some((o) => o._zod.optin !== void 0) ? "optional" : void 0);
  defineLazyInternal(inst, "optout", (zod) => zod.def.options.some((o) => o._zod.optout === "optional") ? "optional" : void 0);
  defineLazyInternal(inst, "values", (zod) => {
    if (zod.def.options.every((o) => o._zod.values)) {
      return new Set(zod.def.options.flatMap((option) => Array.from(option._zod.values)));
    }
    return void 0;
  });
  defineLazyInternal(inst, "pattern", (zod) => {
    if (zod.def.options.every((o) => o._zod.pattern)) {
      const patterns = zod.def.options.map((o) => o._zod.pattern);
      return new RegExp(`^(${patterns.map((p) => cleanRegex(p.source)).join("|")})$`);
    }
    return void 0;
  });
  const first = def.options.length === 1 ? def.options[0]._zod.run : null;
  inst._zod.parse = (payload, ctx) => {
    if (first) {
      return first(payload, ctx);
    }
    let async = false;
    const results = [];
    for (const option of def.options) {
      const result2 = option._zod.run({
        value: payload.value,
        issues: []
      }, ctx);
      if (result2 instanceof Promise) {
        results.push(result2);
        async = true;
      } else {
        if (result2.issues.length === 0)
          return result2;
        results.push(result2);
      }
    }
    if (!async)
      return handleUnionResults(results, payload, inst, ctx);
    return Promise.all(results).then((results2) => {
      return handleUnionResults(results2, payload, inst, ctx);
    });
  };
});
var $ZodRecord = /* @__PURE__ */ $constructor("$ZodRecord", (inst, def) => {
  $ZodType.init(inst, def);
  const memo = globalConfig.memoizer;
  memo?.attach(inst);
  inst._zod.parse = (payload, ctx) => {
    const input = payload.value;
    if (!isPlainObject(input)) {
      payload.issues.push({
        expected: "record",
        code: "invalid_type",
        input,
        inst
      });
      return payload;
    }
    const proms = [];
    const values = def.keyType._zod.values;
    if (values && !def.partial) {
      payload.value = memo ? memo.alloc(inst, payload, {}, ctx) : {};
      const recordKeys = /* @__PURE__ */ new Set();
      for (const key of values) {
        if (typeof key === "string" || typeof key === "number" || typeof key === "symbol") {
          recordKeys.add(typeof key === "number" ? key.toString() : key);
          if (key === "__proto__")
            continue;
          const keyResult = def.keyType._zod.run({ value: key, issues: [] }, ctx);
          if (keyResult instanceof Promise) {
            throw new Error("Async schemas not supported in object keys currently");
          }
          if (keyResult.issues.length) {
            payload.issues.push({
              code: "invalid_key",
              origin: "record",
              issues: keyResult.issues.map((iss) => finalizeIssue(iss, ctx, config())),
              input: key,
              path: [key],
              inst
            });
            continue;
          }
          const outKey = keyResult.value;
          if (outKey === "__proto__")
            continue;
          const result2 = def.valueType._zod.run({ value: input[key], issues: [] }, ctx);
          if (result2 instanceof Promise) {
            proms.push(result2.then((result3) => {
              if (result3.issues.length) {
                payload.issues.push(...prefixIssues(key, result3.issues));
              }
              payload.value[outKey] = result3.value;
            }));
          } else {
            if (result2.issues.length) {
              payload.issues.push(...prefixIssues(key, result2.issues));
            }
            payload.value[outKey] = result2.value;
          }
        }
      }
      let unrecognized;
      for (const key in input) {
        if (!recordKeys.has(key)) {
          if (def.mode === "loose") {
            if (key === "__proto__")
              continue;
            payload.value[key] = input[key];
          } else {
            unrecognized = unrecognized ?? [];
            unrecognized.push(key);
          }
        }
      }
      if (unrecognized && unrecognized.length > 0) {
        payload.issues.push({
          code: "unrecognized_keys",
          input,
          inst,
          keys: unrecognized,
          continue: true
        });
      }
    } else {
      payload.value = memo ? memo.alloc(inst, payload, {}, ctx) : {};
      let unrecognized;
      for (const key of Reflect.ownKeys(input)) {
        if (key === "__proto__")
          continue;
        if (!Object.prototype.propertyIsEnumerable.call(input, key))
          continue;
        let keyResult = def.keyType._zod.run({ value: key, issues: [] }, ctx);
        if (keyResult instanceof Promise) {
          throw new Error("Async schemas not supported in object keys currently");
        }
        const checkNumericKey = typeof key === "string" && number.test(key) && keyResult.issues.length;
        if (checkNumericKey) {
          const retryResult = def.keyType._zod.run({ value: Number(key), issues: [] }, ctx);
          if (retryResult instanceof Promise) {
            throw new Error("Async schemas not supported in object keys currently");
          }
          if (retryResult.issues.length === 0) {
            keyResult = retryResult;
          }
        }
        if (keyResult.issues.length) {
          if (def.mode === "loose") {
            payload.value[key] = input[key];
          } else if (values) {
            unrecognized = unrecognized ?? [];
            unrecognized.push(key);
          } else {
            payload.issues.push({
              code: "invalid_key",
              origin: "record",
              issues: keyResult.issues.map((iss) => finalizeIssue(iss, ctx, config())),
              input: key,
              path: [key],
              inst
            });
          }
          continue;
        }
        const outKey = keyResult.value;
        if (outKey === "__proto__")
          continue;
        const result2 = def.valueType._zod.run({ value: input[key], issues: [] }, ctx);
        if (result2 instanceof Promise) {
          proms.push(result2.then((result3) => {
            if (result3.issues.length) {
              payload.issues.push(...prefixIssues(key, result3.issues));
            }
            payload.value[outKey] = result3.value;
          }));
        } else {
          if (result2.issues.length) {
            payload.issues.push(...prefixIssues(key, result2.issues));
          }
          payload.value[outKey] = result2.value;
        }
      }
      if (unrecognized && unrecognized.length > 0) {
        payload.issues.push({
          code: "unrecognized_keys",
          input,
          inst,
          keys: unrecognized,
          continue: true
        });
      }
    }
    if (proms.length) {
      return Promise.all(proms).then(() => payload);
    }
    return payload;
  };
});
var $ZodLiteral = /* @__PURE__ */ $constructor("$ZodLiteral", (inst, def) => {
  $ZodType.init(inst, def);
  const values = new Set(def.values);
  inst._zod.values = values;
  defineLazyInternal(inst, "pattern", (zod) => {
    const vals = zod.def.values;
    return new RegExp(vals.length ? `^(${vals.map((o) => typeof o === "string" ? escapeRegex(o) : o ? escapeRegex(o.toString()) : String(o)).join("|")})$` : "^[^\\s\\S]$");
  });
  inst._zod.parse = (payload, _ctx) => {
    const input = payload.value;
    if (values.has(input)) {
      return payload;
    }
    payload.issues.push({
      code: "invalid_value",
      values: def.values,
      input,
      inst
    });
    return payload;
  };
});
function handleOptionalResult(payload, result2) {
  payload.value = result2.issues.length ? void 0 : result2.value;
  return payload;
}
var $ZodOptional = /* @__PURE__ */ $constructor("$ZodOptional", (inst, def) => {
  $ZodType.init(inst, def);
  defineLazyInternal(inst, "optin", (zod) => zod.def.innerType._zod.optin === "defaulted" ? "defaulted" : "optional");
  inst._zod.optout = "optional";
  defineLazyInternal(inst, "values", (zod) => {
    const values = zod.def.innerType._zod.values;
    return values ? /* @__PURE__ */ new Set([...values, void 0]) : void 0;
  });
  defineLazyInternal(inst, "pattern", (zod) => {
    const pattern = zod.def.innerType._zod.pattern;
    return pattern ? new RegExp(`^(${cleanRegex(pattern.source)})?$`) : void 0;
  });
  inst._zod.parse = (payload, ctx) => {
    if (payload.value === void 0) {
      if (def.innerType._zod.optin !== "defaulted")
        return payload;
      const result2 = def.innerType._zod.run({ value: payload.value, issues: [] }, ctx);
      if (result2 instanceof Promise)
        return result2.then((result3) => handleOptionalResult(payload, result3));
      return handleOptionalResult(payload, result2);
    }
    return def.innerType._zod.run(payload, ctx);
  };
});
var $ZodNullable = /* @__PURE__ */ $constructor("$ZodNullable", (inst, def) => {
  $ZodType.init(inst, def);
  defineLazyInternal(inst, "optin", (zod) => zod.def.innerType._zod.optin);
  defineLazyInternal(inst, "optout", (zod) => zod.def.innerType._zod.optout);
  defineLazyInternal(inst, "pattern", (zod) => {
    const pattern = zod.def.innerType._zod.pattern;
    return pattern ? new RegExp(`^(${cleanRegex(pattern.source)}|null)$`) : void 0;
  });
  defineLazyInternal(inst, "values", (zod) => {
    return zod.def.innerType._zod.values ? /* @__PURE__ */ new Set([...zod.def.innerType._zod.values, null]) : void 0;
  });
  inst._zod.parse = (payload, ctx) => {
    if (payload.value === null)
      return payload;
    return def.innerType._zod.run(payload, ctx);
  };
});

// node_modules/zod/v4/core/api.js
function snapshotChecks(def) {
  if (def.checks)
    def.checks = [...def.checks];
  return def;
}
// @__NO_SIDE_EFFECTS__
function _string(Class, params) {
  return new Class(snapshotChecks({ type: "string", ...normalizeParams(params) }));
}
// @__NO_SIDE_EFFECTS__
function _number(Class, params) {
  return new Class(snapshotChecks({ type: "number", checks: [], ...normalizeParams(params) }));
}
// @__NO_SIDE_EFFECTS__
function _boolean(Class, params) {
  return new Class({
    type: "boolean",
    ...normalizeParams(params)
  });
}
// @__NO_SIDE_EFFECTS__
function _unknown(Class) {
  return new Class({
    type: "unknown"
  });
}

// node_modules/zod/v4/mini/schemas.js
var ZodMiniType = /* @__PURE__ */ $constructor("ZodMiniType", (inst, def) => {
  if (!inst._zod)
    throw new Error("Uninitialized schema in ZodMiniType.");
  $ZodType.init(inst, def);
  inst.def = def;
  inst.type = def.type;
}, {
  // `with` is an alias for `check`: the same function object, not a wrapper.
  get with() {
    return this.check;
  },
  set with(value) {
    own(this, "with", value);
  },
  parse(data, params) {
    return parse(this, data, params, { callee: this.parse });
  },
  parseAsync(data, params) {
    return parseAsync(this, data, params, { callee: this.parseAsync });
  },
  safeParse(data, params) {
    return safeParse(this, data, params);
  },
  safeParseAsync(data, params) {
    return safeParseAsync(this, data, params);
  },
  check(...checks) {
    const def = this.def;
    return this.clone({
      ...def,
      checks: [
        ...def.checks ?? [],
        ...checks.map((ch) => typeof ch === "function" ? { _zod: { check: ch, def: { check: "custom" }, onattach: [] } } : ch)
      ]
    }, { parent: true });
  },
  clone(_def, params) {
    return clone(this, _def, params);
  },
  brand() {
    return this;
  },
  register(reg, meta2) {
    reg.add(this, meta2);
    return this;
  },
  apply(fn, ...args) {
    return args.length === 0 ? fn(this) : fn(this, ...args);
  }
});
var ZodMiniString = /* @__PURE__ */ $constructor("ZodMiniString", (inst, def) => {
  $ZodString.init(inst, def);
  ZodMiniType.init(inst, def);
});
// @__NO_SIDE_EFFECTS__
function string2(params) {
  return _string(ZodMiniString, params);
}
var ZodMiniNumber = /* @__PURE__ */ $constructor("ZodMiniNumber", (inst, def) => {
  $ZodNumber.init(inst, def);
  ZodMiniType.init(inst, def);
});
// @__NO_SIDE_EFFECTS__
function number2(params) {
  return _number(ZodMiniNumber, params);
}
var ZodMiniBoolean = /* @__PURE__ */ $constructor("ZodMiniBoolean", (inst, def) => {
  $ZodBoolean.init(inst, def);
  ZodMiniType.init(inst, def);
});
// @__NO_SIDE_EFFECTS__
function boolean2(params) {
  return _boolean(ZodMiniBoolean, params);
}
var ZodMiniUnknown = /* @__PURE__ */ $constructor("ZodMiniUnknown", (inst, def) => {
  $ZodUnknown.init(inst, def);
  ZodMiniType.init(inst, def);
});
// @__NO_SIDE_EFFECTS__
function unknown() {
  return _unknown(ZodMiniUnknown);
}
var ZodMiniArray = /* @__PURE__ */ $constructor("ZodMiniArray", (inst, def) => {
  $ZodArray.init(inst, def);
  ZodMiniType.init(inst, def);
});
// @__NO_SIDE_EFFECTS__
function array(element, params) {
  return new ZodMiniArray({
    type: "array",
    element,
    ...normalizeParams(params)
  });
}
var ZodMiniObject = /* @__PURE__ */ $constructor("ZodMiniObject", (inst, def) => {
  $ZodObject.init(inst, def);
  ZodMiniType.init(inst, def);
  installLazyProp(inst, "shape", (self) => self._zod.def.shape, false);
});
// @__NO_SIDE_EFFECTS__
function looseObject(shape, params) {
  return new ZodMiniObject({
    type: "object",
    shape,
    catchall: /* @__PURE__ */ unknown(),
    ...normalizeParams(params)
  });
}
var ZodMiniUnion = /* @__PURE__ */ $constructor("ZodMiniUnion", (inst, def) => {
  $ZodUnion.init(inst, def);
  ZodMiniType.init(inst, def);
});
// @__NO_SIDE_EFFECTS__
function union(options, params) {
  return new ZodMiniUnion({
    type: "union",
    options,
    ...normalizeParams(params)
  });
}
var ZodMiniRecord = /* @__PURE__ */ $constructor("ZodMiniRecord", (inst, def) => {
  $ZodRecord.init(inst, def);
  ZodMiniType.init(inst, def);
});
// @__NO_SIDE_EFFECTS__
function record(keyType, valueType, params) {
  if (!valueType || !valueType._zod) {
    return new ZodMiniRecord({
      type: "record",
      keyType: /* @__PURE__ */ string2(),
      valueType: keyType,
      ...normalizeParams(valueType)
    });
  }
  return new ZodMiniRecord({
    type: "record",
    keyType,
    valueType,
    ...normalizeParams(params)
  });
}
var ZodMiniLiteral = /* @__PURE__ */ $constructor("ZodMiniLiteral", (inst, def) => {
  $ZodLiteral.init(inst, def);
  ZodMiniType.init(inst, def);
});
// @__NO_SIDE_EFFECTS__
function literal(value, params) {
  return new ZodMiniLiteral({
    type: "literal",
    values: Array.isArray(value) ? value : [value],
    ...normalizeParams(params)
  });
}
var ZodMiniOptional = /* @__PURE__ */ $constructor("ZodMiniOptional", (inst, def) => {
  $ZodOptional.init(inst, def);
  ZodMiniType.init(inst, def);
});
// @__NO_SIDE_EFFECTS__
function optional(innerType) {
  return new ZodMiniOptional({
    type: "optional",
    innerType
  });
}
var ZodMiniNullable = /* @__PURE__ */ $constructor("ZodMiniNullable", (inst, def) => {
  $ZodNullable.init(inst, def);
  ZodMiniType.init(inst, def);
});
// @__NO_SIDE_EFFECTS__
function nullable(innerType) {
  return new ZodMiniNullable({
    type: "nullable",
    innerType
  });
}
// @__NO_SIDE_EFFECTS__
function nullish(innerType) {
  return /* @__PURE__ */ optional(/* @__PURE__ */ nullable(innerType));
}

// plugin/hooks/notes/foreign.ts
var FOREIGN_LIMIT = 600;
var INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
function foreign(text2, limit = FOREIGN_LIMIT) {
  const line = text2.replace(INVISIBLE, " ").replace(/ {2,}/g, " ").trim();
  return cut(line, limit).replace(/[<>\]]/g, "\\$&");
}
function cut(text2, limit) {
  if (text2.length <= limit) return text2;
  const last = text2.charCodeAt(limit - 2);
  const end = last >= 55296 && last <= 56319 ? limit - 2 : limit - 1;
  return `${text2.slice(0, end)}…`;
}

// sidecar/src/harness/codex/frames.ts
var EXCERPT = 200;
var FrameFault = class extends Error {
  constructor(what) {
    super(what);
    this.name = "FrameFault";
  }
};
var rpcError = looseObject({ code: number2(), message: string2(), data: optional(unknown()) });
var message = looseObject({
  id: optional(union([number2(), string2()])),
  method: optional(string2()),
  params: optional(unknown()),
  result: optional(unknown()),
  error: optional(rpcError)
});
function parseFrame(line) {
  let value;
  try {
    value = JSON.parse(line);
  } catch {
    throw new FrameFault(`a line that is not JSON: ${cut(line, EXCERPT)}`);
  }
  const parsed = message.safeParse(value);
  if (!parsed.success) throw new FrameFault(`a line that is no JSON-RPC message: ${cut(line, EXCERPT)}`);
  const { id, method, params, result: result2, error } = parsed.data;
  if (method !== void 0) {
    return id === void 0 ? { kind: "notification", method, params } : { kind: "request", id, method, params };
  }
  if (id === void 0) throw new FrameFault(`a message with neither id nor method: ${cut(line, EXCERPT)}`);
  return error ? { kind: "error", id, error } : { kind: "result", id, result: result2 };
}
function read(schema, value, what) {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue2] = parsed.error.issues;
  throw new FrameFault(
    `${what} without a usable ${issue2?.path.join(".") || "body"}: ${issue2?.message ?? "unreadable"}`
  );
}
var initialized = looseObject({ userAgent: string2() });
var threadOpened = looseObject({
  thread: looseObject({ id: string2() }),
  model: string2()
});
var turnBegun = looseObject({ turn: looseObject({ id: string2() }) });
var account = looseObject({
  account: nullish(unknown()),
  requiresOpenaiAuth: boolean2()
});
var modelList = looseObject({
  data: array(looseObject({ id: string2() })),
  nextCursor: nullish(string2())
});
var configRead = looseObject({
  config: looseObject({ model: nullish(string2()), model_provider: nullish(string2()) })
});
var addressed = looseObject({ threadId: nullish(string2()), turnId: nullish(string2()) });
var turnHolder = looseObject({ turn: looseObject({ id: string2() }) });
function addressOf(params) {
  const read3 = addressed.safeParse(params);
  const threadId = read3.success ? read3.data.threadId ?? null : null;
  const turnId = read3.success ? read3.data.turnId ?? null : null;
  if (turnId !== null) return { threadId, turnId };
  const holder = turnHolder.safeParse(params);
  return { threadId, turnId: holder.success ? holder.data.turn.id : null };
}
var errorInfo = nullish(union([string2(), record(string2(), unknown())]));
var turnError = looseObject({
  message: string2(),
  codexErrorInfo: errorInfo,
  additionalDetails: nullish(string2())
});
var errorNotice = looseObject({ error: turnError, willRetry: boolean2() });
var turnCompleted = looseObject({
  turn: looseObject({
    id: string2(),
    status: string2(),
    error: nullish(turnError)
  })
});
var tokens = looseObject({
  inputTokens: number2(),
  cachedInputTokens: number2(),
  outputTokens: number2()
});
var tokenUsage = looseObject({ tokenUsage: looseObject({ total: tokens }) });
var planUpdated = looseObject({
  explanation: nullish(string2()),
  plan: array(looseObject({ step: string2(), status: string2() }))
});
var warning = looseObject({ message: string2() });
var rerouted = looseObject({ fromModel: string2(), toModel: string2() });
var window = nullish(looseObject({ usedPercent: number2(), resetsAt: nullish(number2()) }));
var rateLimits = looseObject({ rateLimits: looseObject({ primary: window, secondary: window }) });
var itemHolder = looseObject({ item: looseObject({ type: string2(), id: string2() }) });
var base = { id: string2() };
var agentMessage = looseObject({
  ...base,
  type: literal("agentMessage"),
  text: string2(),
  phase: nullish(string2()),
  delivery: nullish(string2())
});
var reasoning = looseObject({ ...base, type: literal("reasoning"), summary: array(string2()) });
var commandExecution = looseObject({
  ...base,
  type: literal("commandExecution"),
  command: string2(),
  cwd: string2(),
  status: string2(),
  aggregatedOutput: nullish(string2()),
  exitCode: nullish(number2()),
  durationMs: nullish(number2())
});
var fileChange = looseObject({
  ...base,
  type: literal("fileChange"),
  status: string2(),
  changes: array(looseObject({ path: string2(), kind: looseObject({ type: string2() }), diff: string2() }))
});
var mcpToolCall = looseObject({
  ...base,
  type: literal("mcpToolCall"),
  server: string2(),
  tool: string2(),
  status: string2(),
  arguments: optional(unknown()),
  result: nullish(looseObject({ content: array(unknown()) })),
  error: nullish(looseObject({ message: string2() })),
  durationMs: nullish(number2())
});
var dynamicToolCall = looseObject({
  ...base,
  type: literal("dynamicToolCall"),
  tool: string2(),
  status: string2(),
  arguments: optional(unknown()),
  contentItems: nullish(array(unknown())),
  durationMs: nullish(number2())
});
var collabAgentToolCall = looseObject({
  ...base,
  type: literal("collabAgentToolCall"),
  tool: string2(),
  status: string2(),
  prompt: nullish(string2()),
  receiverThreadIds: array(string2()),
  agentsStates: optional(record(string2(), looseObject({ status: string2(), message: nullish(string2()) })))
});
var subAgentActivity = looseObject({
  ...base,
  type: literal("subAgentActivity"),
  kind: string2(),
  agentThreadId: string2(),
  agentPath: string2()
});
var webSearch = looseObject({ ...base, type: literal("webSearch"), query: string2() });
var imageView = looseObject({ ...base, type: literal("imageView"), path: string2() });
var userMessage = looseObject({ ...base, type: literal("userMessage") });
var ITEMS = {
  agentMessage,
  reasoning,
  commandExecution,
  fileChange,
  mcpToolCall,
  dynamicToolCall,
  collabAgentToolCall,
  subAgentActivity,
  webSearch,
  imageView,
  userMessage
};
function itemOf(params) {
  const { item } = read(itemHolder, params, "an item notification");
  if (Object.hasOwn(ITEMS, item.type)) {
    return read(
      ITEMS[item.type],
      item,
      `a ${item.type} item`
    );
  }
  return { type: "unknown", id: item.id, name: item.type };
}

// sidecar/src/harness/codex/account.ts
var Account = class {
  #file;
  /** @param home CODEX_HOME */
  constructor(home) {
    this.#file = join(home, "auth.json");
  }
  /**
   * `no` exactly where the provider needs an OpenAI sign-in and there is none. Codex does not look by itself: a
   * turn would fail with a 401 after six seconds (measured on codex 0.171.0).
   */
  async state(server) {
    const settled = await server.request("account/read", { refreshToken: false });
    if (settled.kind !== "result") return "unknown";
    try {
      const state = read(account, settled.result, "the answer to account/read");
      return state.requiresOpenaiAuth && (state.account ?? null) === null ? "no" : "yes";
    } catch (error) {
      if (error instanceof FrameFault) return "unknown";
      throw error;
    }
  }
  /** The failure of a turn that would run without a sign-in; null where it may run. */
  async check(server) {
    const state = await this.state(server);
    return state === "no" ? failure("sign_in", "Codex is not signed in.", SIGN_IN_HINT) : null;
  }
  /** Whether the sign-in was written, or removed, after `time` (milliseconds since the epoch). */
  hasChangedSince(time2) {
    try {
      return statSync(this.#file).mtimeMs > time2;
    } catch {
      return false;
    }
  }
};

// sidecar/src/harness/codex/models.ts
async function checkModel(server, model, cwd) {
  try {
    const config2 = await server.request("config/read", { cwd });
    if (config2.kind !== "result") return null;
    const { model: configured, model_provider } = read(configRead, config2.result, "the answer to config/read").config;
    if (configured === model || (model_provider ?? "openai") !== "openai") return null;
    const known = await modelsOf(server);
    if (known.length === 0 || known.includes(model)) return null;
    return failure("model", `Codex has no model ${model}.`, `It has ${known.join(", ")}.`);
  } catch (error) {
    if (error instanceof FrameFault) return null;
    throw error;
  }
}
async function modelsOf(server) {
  const ids = [];
  let cursor = null;
  do {
    const settled = await server.request("model/list", { includeHidden: true, ...cursor ? { cursor } : {} });
    if (settled.kind !== "result") return [];
    const page = read(
      modelList,
      settled.result,
      "the answer to model/list"
    );
    ids.push(...page.data.map((each) => each.id));
    cursor = page.nextCursor ?? null;
  } while (cursor !== null);
  return ids;
}

// sidecar/src/harness/codex/program.ts
import { existsSync, readdirSync as readdirSync2, realpathSync } from "node:fs";
import { dirname as dirname2, join as join3 } from "node:path";

// sidecar/src/process/resolve.ts
import { accessSync, constants, statSync as statSync2 } from "node:fs";
import { delimiter, isAbsolute as isAbsolute2, join as join2, resolve } from "node:path";
function resolveProgram(name2, options) {
  const { env, platform = process.platform, cwd = process.cwd() } = options;
  const isWindows = platform === "win32";
  const names = [...new Set(isWindows ? withExtensions(name2, env) : [name2])];
  if (isAbsolute2(name2) || name2.includes("/") || isWindows && name2.includes("\\")) {
    const found = names.map((candidate) => resolve(cwd, candidate)).find((path) => isProgram(path, isWindows));
    return found ? { kind: "found", path: found } : { kind: "missing", lookedFor: names.join(", ") };
  }
  const folders = (variable(env, "PATH", isWindows) ?? "").split(isWindows ? ";" : delimiter).filter(Boolean);
  for (const folder of folders) {
    if (!isAbsolute2(folder)) continue;
    for (const candidate of names) {
      const path = join2(folder, candidate);
      if (isProgram(path, isWindows)) return { kind: "found", path };
    }
  }
  const where = folders.length === 0 ? "PATH, which is empty" : `${folders.length} folders of PATH (${folders.join(", ")})`;
  return { kind: "missing", lookedFor: `${names.join(", ")} in ${where}` };
}
function withExtensions(name2, env) {
  const extensions = (variable(env, "PATHEXT", true) ?? ".COM;.EXE;.BAT;.CMD").split(";").filter(Boolean);
  const hasExtension = extensions.some((extension) => name2.toLowerCase().endsWith(extension.toLowerCase()));
  return hasExtension ? [name2] : extensions.map((extension) => name2 + extension.toLowerCase());
}
function variable(env, name2, isWindows) {
  if (!isWindows) return env[name2];
  return Object.entries(env).find(([key]) => key.toUpperCase() === name2)?.[1];
}
function isProgram(path, isWindows) {
  try {
    if (!statSync2(path).isFile()) return false;
    if (!isWindows) accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

// sidecar/src/harness/codex/program.ts
var PROGRAM_VARIABLE = "VERBATIM_CODEX";
function findCodex(env, program) {
  const name2 = program || env[PROGRAM_VARIABLE] || "codex";
  const resolution = resolveProgram(name2, { env });
  if (resolution.kind === "missing") return resolution;
  return { kind: "found", path: nativeOf(resolution.path) ?? resolution.path };
}
function nativeOf(path) {
  let real;
  try {
    real = realpathSync(path);
  } catch {
    return null;
  }
  const packages = /\.(?:cmd|ps1)$/i.test(real) ? [join3(dirname2(real), "node_modules", "@openai", "codex")] : /[\\/]@openai[\\/]codex[\\/]bin[\\/]codex\.js$/.test(real) ? [dirname2(dirname2(real))] : [];
  const platform = { linux: "linux", android: "linux", darwin: "darwin", win32: "win32" }[process.platform];
  const binary = process.platform === "win32" ? "codex.exe" : "codex";
  for (const root of packages) {
    const vendors = [
      // Hoisted beside it (npm, pnpm), nested below it (npm -g), or the vendor folder of older packages.
      join3(dirname2(root), `codex-${platform}-${process.arch}`, "vendor"),
      join3(root, "node_modules", "@openai", `codex-${platform}-${process.arch}`, "vendor"),
      join3(root, "vendor")
    ];
    for (const vendor of vendors.filter(existsSync)) {
      const found = readdirSync2(vendor).map((target) => join3(vendor, target, "bin", binary)).find(existsSync);
      if (found) return found;
    }
  }
  return null;
}

// sidecar/src/harness/codex/shell.ts
var SHELL = /^(?:\/(?:usr\/)?bin\/)?(?:bash|sh|zsh) -l?c (.*)$/s;
function unwrapped(command) {
  const word = SHELL.exec(command)?.[1];
  if (word === void 0) return command;
  return shellWord(word) ?? command;
}
function shellWord(word) {
  let value = "";
  let at = 0;
  while (at < word.length) {
    const char = word[at];
    if (char === "'") {
      const end = word.indexOf("'", at + 1);
      if (end === -1) return null;
      value += word.slice(at + 1, end);
      at = end + 1;
    } else if (char === '"') {
      at += 1;
      while (word[at] !== '"') {
        if (at >= word.length) return null;
        if (word[at] === "\\" && /["\\$`\n]/.test(word[at + 1] ?? "")) at += 1;
        value += word[at];
        at += 1;
      }
      at += 1;
    } else if (char === "\\") {
      if (at + 1 >= word.length) return null;
      value += word[at + 1];
      at += 2;
    } else if (/[\s;&|<>()$`]/.test(char)) {
      return null;
    } else {
      value += char;
      at += 1;
    }
  }
  return value;
}

// sidecar/src/harness/codex/worktree.ts
import { lstatSync, readFileSync as readFileSync2, realpathSync as realpathSync2, statSync as statSync3 } from "node:fs";
import { basename, dirname as dirname3, join as join4, resolve as resolve2 } from "node:path";
function worktreeRoots(cwd) {
  const pointer = gitPointer(cwd);
  if (pointer === null) return [];
  try {
    const gitFolder = realpathSync2(pointer.gitFolder);
    const worktrees = dirname3(gitFolder);
    if (basename(worktrees) !== "worktrees" || !isKnownAs(gitFolder, pointer.file)) return [];
    const common = dirname3(worktrees);
    return [gitFolder, ...["objects", "refs", "logs"].map((name2) => join4(common, name2))].filter(isRealFolder);
  } catch {
    return [];
  }
}
function isKnownAs(gitFolder, file) {
  const named = readFileSync2(join4(gitFolder, "gitdir"), "utf8").trim();
  return realpathSync2(resolve2(gitFolder, named)) === realpathSync2(file);
}
function gitPointer(cwd) {
  for (let folder = cwd; ; folder = dirname3(folder)) {
    const file = join4(folder, ".git");
    try {
      if (!statSync3(file).isFile()) return null;
      const named = /^gitdir: (.+)$/m.exec(readFileSync2(file, "utf8"))?.[1]?.trim();
      return named === void 0 ? null : { file, gitFolder: resolve2(folder, named) };
    } catch {
      if (dirname3(folder) === folder) return null;
    }
  }
}
function isRealFolder(path) {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

// sidecar/src/harness/codex/permissions.ts
var INSIDE_THE_SANDBOX = {
  granular: {
    sandbox_approval: false,
    rules: false,
    skill_approval: false,
    request_permissions: false,
    mcp_elicitations: true
  }
};
function boundsOf(access, cwd) {
  switch (access.level) {
    case "read_only":
      return {
        approvalPolicy: "on-request",
        approvalsReviewer: "user",
        sandboxPolicy: { type: "readOnly", networkAccess: false }
      };
    case "workspace_write":
      return {
        approvalPolicy: INSIDE_THE_SANDBOX,
        approvalsReviewer: "user",
        sandboxPolicy: {
          type: "workspaceWrite",
          writableRoots: worktreeRoots(cwd),
          networkAccess: false,
          // The system's temporary folder stays writable, as in Codex's own workspace-write: compilers, test
          // runners and here-documents need it.
          excludeTmpdirEnvVar: false,
          excludeSlashTmp: false
        }
      };
    case "full":
      return { approvalPolicy: "on-request", approvalsReviewer: "user", sandboxPolicy: { type: "dangerFullAccess" } };
  }
}
function answerTo(method, params, access) {
  const fields = isRecord(params) ? params : {};
  const isAllowed = access?.level === "full";
  const shown = (subject) => ({
    subject,
    decision: isAllowed ? "allowed" : "declined",
    reason: reasonOf(access)
  });
  const result2 = (value) => ({ kind: "result", result: value });
  switch (method) {
    case "item/commandExecution/requestApproval": {
      const subject = subjectOf(
        "run",
        unwrapped(text(fields.command) || text(fields.kind) || "a command"),
        fields.reason
      );
      if (access?.level === "workspace_write" && staysInside(fields)) {
        const reason = "It runs inside the sandbox of the working folder.";
        return { reply: result2({ decision: "accept" }), shown: { subject, decision: "allowed", reason } };
      }
      return { reply: result2({ decision: isAllowed ? "accept" : "decline" }), shown: shown(subject) };
    }
    case "item/fileChange/requestApproval":
      return {
        reply: result2({ decision: isAllowed ? "accept" : "decline" }),
        shown: shown(subjectOf("change files", fields.grantRoot, fields.reason))
      };
    case "item/permissions/requestApproval":
      return {
        reply: result2({ permissions: isAllowed ? fields.permissions ?? {} : {}, scope: "turn" }),
        shown: shown(subjectOf("more permissions", JSON.stringify(fields.permissions ?? {}), fields.reason))
      };
    case "mcpServer/elicitation/request": {
      const subject = subjectOf(`MCP server ${text(fields.serverName) || "unknown"}`, fields.message ?? fields.title);
      const isToolCall = isRecord(fields._meta) && fields._meta.codex_approval_kind === "mcp_tool_call";
      if (isAllowed && isToolCall) {
        return { reply: result2({ action: "accept", content: {}, _meta: null }), shown: shown(subject) };
      }
      return {
        reply: result2({ action: "decline", content: null, _meta: null }),
        shown: { subject, decision: "declined", reason: isToolCall ? reasonOf(access) : NOBODY }
      };
    }
    case "item/tool/requestUserInput": {
      const questions = Array.isArray(fields.questions) ? fields.questions.filter(isRecord) : [];
      const asked = questions.map((question) => text(question.question)).filter(Boolean);
      return {
        reply: result2({ answers: {} }),
        shown: { subject: subjectOf("a question", asked.join(" ")), decision: "declined", reason: NOBODY }
      };
    }
    case "item/tool/call":
      return {
        reply: result2({ contentItems: [{ type: "inputText", text: "This tool is not available." }], success: false }),
        shown: {
          subject: subjectOf("the tool", fields.tool),
          decision: "declined",
          reason: "No such tool is offered here."
        }
      };
    case "applyPatchApproval":
    case "execCommandApproval":
      return {
        reply: result2({ decision: isAllowed ? "approved" : "denied" }),
        shown: shown(
          subjectOf(method === "applyPatchApproval" ? "change files" : "run", commandOf(fields), fields.reason)
        )
      };
    default:
      return {
        reply: { kind: "error", code: -32601, message: `Verbatim does not answer ${method}.` },
        shown: { subject: method, decision: "declined", reason: "Verbatim does not know this request." }
      };
  }
}
function staysInside(fields) {
  const asksFor = [fields.reason, fields.additionalPermissions, fields.networkApprovalContext, fields.approvalId];
  return fields.kind === "command" && asksFor.every((each) => each === void 0 || each === null);
}
var NOBODY = "Nobody can be asked while an agent runs.";
function reasonOf(access) {
  switch (access?.level) {
    case "full":
      return "The permission mode allows everything.";
    case "workspace_write":
      return "The permission mode allows writing in the working folder, and no more.";
    case "read_only":
      return "The permission mode allows reading only.";
    case void 0:
      return "No turn of this session asks.";
  }
}
function subjectOf(what, subject, reason) {
  const details = [text(subject), text(reason)].filter(Boolean);
  return details.length === 0 ? what : `${what}: ${details.join(" — ")}`;
}
function commandOf(fields) {
  return Array.isArray(fields.command) ? fields.command.map(String).join(" ") : text(fields.command);
}
var text = (value) => typeof value === "string" ? value : "";
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// sidecar/src/harness/codex/server.ts
var SERVER_LIMITS = { requestMs: 3e4, openMs: 6e4, probeMs: 1e4 };
var OWED = /* @__PURE__ */ new Set(["initialize", "turn/start", "turn/steer"]);
var SAMPLE_MS = 500;
var OVERRIDES = [
  "features.unbounded_connection_retries=false",
  "shell_environment_policy.ignore_default_excludes=false"
];
var CodexServer = class _CodexServer {
  constructor(options) {
    this.options = options;
    this.limits = { ...SERVER_LIMITS, ...options.limits };
    this.#child = Child.start({
      program: options.program,
      args: ["app-server", ...OVERRIDES.flatMap((override) => ["-c", override])],
      cwd: options.cwd,
      env: options.env,
      onLine: (line) => this.#line(line)
    });
    void this.#child.exited.then((exit) => this.#exited(exit));
  }
  options;
  startedAt = Date.now();
  /** Codex's version, as it states it at `initialize`. */
  version = "unknown";
  /** The newest reset times that Codex reported, of the account. */
  rateLimits = null;
  limits;
  #child;
  #pending = /* @__PURE__ */ new Map();
  #listeners = /* @__PURE__ */ new Map();
  /** Sub-agent thread → the thread that started it. */
  #parents = /* @__PURE__ */ new Map();
  #jobs = /* @__PURE__ */ new Set();
  #nextId = 0;
  #fault = null;
  #gone = null;
  #swept = Promise.resolve([]);
  #isProbed = false;
  #commands = 0;
  #sampler = null;
  /** Starts it and shakes hands; rejects never: a server that did not start is `gone`. */
  static async start(options) {
    const server = new _CodexServer(options);
    const settled = await server.request("initialize", {
      clientInfo: { name: "verbatim", title: "Verbatim", version: options.clientVersion },
      // `thread/backgroundTerminals/clean` is experimental in 0.171.0.
      capabilities: { experimentalApi: true, requestAttestation: false }
    });
    if (settled.kind === "result") {
      try {
        const { userAgent } = read(initialized, settled.result, "the answer to initialize");
        server.version = /\/(\d+\.\d+\.\d+\S*)/.exec(userAgent)?.[1] ?? "unknown";
        server.#child.write(JSON.stringify({ method: "initialized" }));
        return server;
      } catch (error) {
        server.#distrust(error.message);
      }
    } else if (settled.kind === "refused") {
      server.#distrust(`a refusal of initialize: ${settled.error.message}`);
    }
    await server.#child.exited;
    await server.#swept;
    return server;
  }
  /** Why it can take no more requests; null while it can. */
  get gone() {
    return this.#gone ?? this.#fault;
  }
  /** Asks; resolves to how it went, and rejects never. */
  request(method, params, timeoutMs = this.limits.requestMs) {
    return new Promise((resolve4) => this.send(method, params, resolve4, timeoutMs));
  }
  /** Asks, and settles in the very moment the answer is read: before the notifications that follow it. */
  send(method, params, settle, timeoutMs = this.limits.requestMs) {
    if (this.gone) {
      settle({ kind: "gone", failure: this.gone });
      return;
    }
    const id = this.#nextId++;
    const timer = setTimeout(() => {
      const what = `did not answer ${method} within ${timeoutMs / 1e3} s.${this.#tail()}`;
      if (OWED.has(method)) {
        this.#giveUp(serverEnded(`Codex was ended, for it ${what}`));
        return;
      }
      this.#pending.delete(id);
      settle({ kind: "gone", failure: failure("protocol", `Codex ${what}`) });
      void this.#probe();
    }, timeoutMs);
    this.#pending.set(id, (settled) => {
      clearTimeout(timer);
      settle(settled);
    });
    this.#child.write(JSON.stringify({ id, method, params }));
  }
  /** One slow answer may be an MCP server's fault; a server that answers nothing at all would fail whatever comes next. */
  async #probe() {
    if (this.#isProbed) return;
    this.#isProbed = true;
    const settled = await this.request("account/read", { refreshToken: false }, this.limits.probeMs);
    this.#isProbed = false;
    if (settled.kind === "gone") this.#giveUp(serverEnded("Codex was ended, for it answered nothing any more."));
  }
  /** Hands a thread's notifications and requests to `listener` until it is called off. */
  listen(thread, job, listener) {
    this.#jobs.add(job);
    this.#listeners.set(thread, listener);
    return () => {
      if (this.#listeners.get(thread) === listener) this.#listeners.delete(thread);
    };
  }
  /** A sub-agent's thread belongs to the one that started it: what it says and asks goes there. */
  adopt(child, parent) {
    this.#parents.set(child, parent);
  }
  /** While a command runs, what it starts is recorded: call the result when it ended. */
  commandRuns() {
    this.#commands += 1;
    this.#sampler ??= setInterval(() => this.#child.tree?.sample(), SAMPLE_MS);
    this.#sampler.unref();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#commands -= 1;
      if (this.#commands === 0 && this.#sampler) {
        clearInterval(this.#sampler);
        this.#sampler = null;
      }
    };
  }
  /** Kills what commands of this job left behind. Resolves to the survivors. */
  killStrays(job) {
    return killAll(() => this.#strays([job]));
  }
  /** Ends it and everything it started; resolves to the survivors. */
  async close(reason = serverEnded("Codex was ended.")) {
    this.#fault ??= reason;
    const survivors = await this.#child.end(() => this.#strays([...this.#jobs]));
    await this.#child.exited;
    return [.../* @__PURE__ */ new Set([...survivors, ...await this.#swept])];
  }
  #strays(jobs2) {
    const since = this.#child.identity;
    return since ? carrying(JOB_VARIABLE, jobs2, since).filter((each) => each.pid !== since.pid) : [];
  }
  #line(line) {
    if (line.trim() === "" || this.#fault) return;
    try {
      const frame = parseFrame(line);
      switch (frame.kind) {
        case "result":
          this.#settle(frame.id, { kind: "result", result: frame.result });
          return;
        case "error":
          this.#settle(frame.id, { kind: "refused", error: frame.error });
          return;
        case "request":
          this.#answer(frame.id, frame.method, frame.params);
          return;
        case "notification":
          this.#notified(frame.method, frame.params);
          return;
      }
    } catch (error) {
      if (!(error instanceof FrameFault)) throw error;
      this.#distrust(error.message);
    }
  }
  #settle(id, settled) {
    const settle = this.#pending.get(id);
    if (!settle) return;
    this.#pending.delete(id);
    settle(settled);
  }
  #answer(id, method, params) {
    const { threadId } = addressOf(params);
    const listener = threadId === null ? void 0 : this.#listeners.get(this.#rootOf(threadId));
    const { reply: reply2 } = listener ? listener.asked(method, params) : answerTo(method, params, null);
    const body = reply2.kind === "result" ? { id, result: reply2.result } : { id, error: { code: reply2.code, message: reply2.message } };
    this.#child.write(JSON.stringify(body));
  }
  #notified(method, params) {
    if (method === "account/rateLimits/updated") {
      const { rateLimits: limits } = read(rateLimits, params, method);
      const { primary, secondary } = this.rateLimits ?? {};
      this.rateLimits = { ...limits, primary: limits.primary ?? primary, secondary: limits.secondary ?? secondary };
      return;
    }
    const address = addressOf(params);
    if (address.threadId === null) {
      for (const listener2 of this.#listeners.values()) listener2.notified(method, params, address);
      return;
    }
    const root = this.#rootOf(address.threadId);
    const listener = this.#listeners.get(root);
    if (root === address.threadId) listener?.notified(method, params, address);
    else listener?.descendant(method, params, address.threadId);
  }
  #rootOf(thread) {
    let root = thread;
    for (let parent = this.#parents.get(root); parent !== void 0; parent = this.#parents.get(root)) root = parent;
    return root;
  }
  /** It sent `what`, and cannot be relied on any more. */
  #distrust(what) {
    this.#giveUp(unreadable(what));
  }
  /** Every turn on it fails with `reason`, and it is ended. */
  #giveUp(reason) {
    if (this.#fault) return;
    this.#fault = reason;
    this.#fail(
      this.#fault,
      this.#child.end(() => this.#strays([...this.#jobs]))
    );
  }
  #exited(exit) {
    this.#gone = this.#fault ?? serverEnded(this.#endedText(exit));
    if (this.#sampler) clearInterval(this.#sampler);
    this.#sampler = null;
    this.#swept = this.#child.sweep(() => this.#strays([...this.#jobs]), GRACE);
    this.#fail(this.#gone, this.#swept);
  }
  /** Nobody hears of it before it is gone with all that it had started: until then its threads are held. */
  #fail(reason, survivors) {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    for (const listener of listeners) listener.ended(reason, survivors);
    void survivors.then(() => {
      for (const settle of pending) settle({ kind: "gone", failure: reason });
    });
  }
  #endedText(exit) {
    if (exit.fault) return `Codex (${this.options.program}) failed (${exit.fault.message}).`;
    if (exit.signal === "SIGKILL" || exit.signal === "SIGTERM") return `codex app-server was killed (${exit.signal}).`;
    const how = exit.signal ? `was ended by ${exit.signal}` : `ended with exit code ${exit.code}`;
    return `codex app-server ${how}.${this.#tail()}`;
  }
  #tail() {
    const tail2 = this.#child.stderr.lastLines(5, this.options.env);
    return tail2 === "" ? "" : ` Its last words: ${tail2}`;
  }
};

// sidecar/src/harness/codex/thread.ts
import { statSync as statSync4 } from "node:fs";

// sidecar/src/harness/codex/rules.ts
import { readdirSync as readdirSync3, readFileSync as readFileSync3 } from "node:fs";
import { join as join5 } from "node:path";
function rulesWarning(home) {
  const folder = join5(home, "rules");
  try {
    const files = readdirSync3(folder).filter((name2) => name2.endsWith(".rules"));
    const allowing = files.filter((name2) => allows(readFileSync3(join5(folder, name2), "utf8")));
    if (allowing.length === 0) return null;
    return `Commands that ${folder} allows run outside Codex's sandbox: ${allowing.join(", ")}.`;
  } catch {
    return null;
  }
}
function allows(text2) {
  const rules = text2.split("\n").filter((line) => !line.trimStart().startsWith("#")).join("\n").split("prefix_rule(").slice(1);
  return rules.some((rule) => !/decision\s*=\s*["'](?:prompt|forbidden)["']/.test(rule));
}

// sidecar/src/harness/codex/tokens.ts
function totalOf(params) {
  return read(tokenUsage, params, "thread/tokenUsage/updated").tokenUsage.total;
}
var NONE = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };
var TokenMeter = class {
  /** Newest total of the thread; null when it is not known, which it is not right after a resume. */
  #own;
  #descendants = /* @__PURE__ */ new Map();
  #start = null;
  #startDescendants = /* @__PURE__ */ new Map();
  #hasReport = false;
  /** @param isNew A new thread starts at 0; a resumed one at the total that Codex repeats for its last turn. */
  constructor(isNew) {
    this.#own = isNew ? NONE : null;
  }
  /** A total reported for the turn under way. */
  during(total) {
    this.#own = total;
    this.#hasReport = true;
  }
  /** A total reported for an earlier turn: what a resumed thread stands at. It may come after `begin`. */
  before(total) {
    this.#start ??= total;
    if (!this.#hasReport) this.#own = total;
  }
  descendant(thread, total) {
    this.#descendants.set(thread, total);
    this.#hasReport = true;
  }
  begin() {
    this.#start = this.#own;
    this.#startDescendants = new Map(this.#descendants);
    this.#hasReport = false;
  }
  /** The tokens since `begin`; null when nothing was reported, or nothing to subtract from is known. */
  end() {
    if (!this.#hasReport || !this.#start || !this.#own) return null;
    const sums = { input: 0, cached: 0, output: 0 };
    const add = (now, then) => {
      sums.input += now.inputTokens - then.inputTokens;
      sums.cached += now.cachedInputTokens - then.cachedInputTokens;
      sums.output += now.outputTokens - then.outputTokens;
    };
    add(this.#own, this.#start);
    for (const [thread, total] of this.#descendants) add(total, this.#startDescendants.get(thread) ?? NONE);
    return sums;
  }
};

// sidecar/src/harness/codex/answer.ts
var AnswerRule = class {
  /** Candidates, oldest first, one an item id. */
  #held = /* @__PURE__ */ new Map();
  #shown = /* @__PURE__ */ new Set();
  /** The last message without a phase that was shown because work went on after it. */
  #passed = null;
  #completed = /* @__PURE__ */ new Map();
  /** A message was completed; returns what is to be shown of it now. */
  complete(message2) {
    const { id, text: text2 } = message2;
    if (text2.trim() !== "") this.#completed.set(id, text2);
    const isFinal = message2.phase === "final_answer";
    const isAnswerable = message2.delivery !== "async" && (isFinal || (message2.phase ?? null) === null);
    if (!isAnswerable) return this.#show(id, text2);
    if (text2.trim() === "") return [];
    this.#held.delete(id);
    this.#held.set(id, { id, text: text2, phase: isFinal ? "final_answer" : null });
    return [];
  }
  /** Another item began: a message without a phase that came before it was commentary. */
  workGoesOn(item) {
    return [...this.#held.values()].filter((held) => held.phase === null && held.id !== item).flatMap((held) => {
      this.#held.delete(held.id);
      this.#passed = held;
      return this.#show(held.id, held.text);
    });
  }
  /** The turn ended: the answer, or null, and the messages that are not it and were not shown yet. */
  end() {
    const held = [...this.#held.values()];
    const chosen = held.findLast((each) => each.phase === "final_answer") ?? held.findLast((each) => each.phase === null) ?? this.#passed;
    const shown = held.filter((each) => each !== chosen).flatMap((each) => this.#show(each.id, each.text));
    return { answer: chosen?.text ?? null, shown };
  }
  /** Every completed message with text, oldest first: what a failed turn has to show for itself. */
  get partial() {
    return [...this.#completed.values()];
  }
  #show(id, text2) {
    if (text2.trim() === "" || this.#shown.has(id)) return [];
    this.#shown.add(id);
    return [text2];
  }
};

// sidecar/src/capped.ts
var HEAD = 2e4;
var TAIL = 1e4;
var OUTPUT_LIMIT = HEAD + TAIL;
function capped(text2, head2 = HEAD, tail2 = TAIL) {
  if (text2.length <= head2 + tail2) return { text: text2, omitted: 0 };
  const headEnd = isInsidePair(text2, head2) ? head2 - 1 : head2;
  const tailStart = text2.length - tail2 + (isInsidePair(text2, text2.length - tail2) ? 1 : 0);
  const omitted = tailStart - headEnd;
  const note = `[… ${omitted.toLocaleString("en-US")} characters left out …]`;
  const parts = [text2.slice(0, headEnd), note, ...tail2 > 0 ? [text2.slice(tailStart)] : []];
  return { text: parts.join("\n"), omitted };
}
function isInsidePair(text2, at) {
  return (text2.codePointAt(at - 1) ?? 0) > 65535;
}

// sidecar/src/harness/codex/events.ts
var NO_ACTION = /* @__PURE__ */ new Set(["hookPrompt", "functionCallOutput", "plan", "enteredReviewMode", "exitedReviewMode"]);
function actedOf(item) {
  switch (item.type) {
    case "commandExecution":
      return {
        action: { tool: "command", command: capped(unwrapped(item.command)).text, cwd: item.cwd },
        result: result(item.status, {
          output: item.aggregatedOutput ?? "",
          exitCode: item.exitCode ?? null,
          durationMs: item.durationMs ?? null
        })
      };
    case "fileChange":
      return { action: { tool: "edit", changes: item.changes.map(changeOf) }, result: result(item.status) };
    case "mcpToolCall":
      return {
        action: { tool: "other", name: `${item.server}.${item.tool}`, input: textOf(item.arguments) },
        result: result(item.status, {
          output: item.error?.message ?? (item.result?.content ?? []).map(contentText).join("\n"),
          durationMs: item.durationMs ?? null
        })
      };
    case "dynamicToolCall":
      return {
        action: { tool: "other", name: item.tool, input: textOf(item.arguments) },
        result: result(item.status, {
          output: (item.contentItems ?? []).map(contentText).join("\n"),
          durationMs: item.durationMs ?? null
        })
      };
    case "collabAgentToolCall":
      return {
        action: {
          tool: "other",
          name: item.tool,
          input: capped(item.prompt ?? item.receiverThreadIds.join(", ")).text
        },
        result: result(item.status, {
          output: Object.entries(item.agentsStates ?? {}).map(([agent, state]) => [`${agent}: ${state.status}`, state.message ?? ""].filter(Boolean).join("\n")).join("\n")
        })
      };
    case "subAgentActivity":
      return {
        action: { tool: "other", name: "sub-agent", input: `${item.agentPath}: ${item.kind}` },
        result: result("completed")
      };
    case "webSearch":
      return { action: { tool: "other", name: "web_search", input: item.query }, result: result("completed") };
    case "imageView":
      return { action: { tool: "other", name: "view_image", input: item.path }, result: result("completed") };
    case "unknown":
      if (NO_ACTION.has(item.name)) return null;
      return { action: { tool: "other", name: item.name, input: "" }, result: result("completed") };
    case "agentMessage":
    case "reasoning":
    case "userMessage":
      return null;
  }
}
var CUT_OFF = {
  status: "interrupted",
  exitCode: null,
  output: "",
  omitted: 0,
  durationMs: null
};
function planSteps(plan) {
  return plan.map(({ step, status }) => {
    switch (status) {
      case "completed":
        return { step, status: "completed" };
      case "inProgress":
        return { step, status: "in_progress" };
      default:
        return { step, status: "pending" };
    }
  });
}
function result(status, fields = {}) {
  const { text: text2, omitted } = capped(fields.output ?? "");
  return {
    status: statusOf(status),
    exitCode: fields.exitCode ?? null,
    output: text2,
    omitted,
    durationMs: fields.durationMs ?? null
  };
}
function statusOf(status) {
  switch (status) {
    case "completed":
      return "completed";
    case "declined":
      return "declined";
    case "failed":
      return "failed";
    default:
      return "interrupted";
  }
}
function changeOf(change) {
  const { text: text2, omitted } = capped(change.diff);
  const { type } = change.kind;
  return { path: change.path, change: type === "add" || type === "delete" ? type : "update", diff: text2, omitted };
}
function textOf(value) {
  if (value === void 0 || value === null) return "";
  return capped(typeof value === "string" ? value : JSON.stringify(value)).text;
}
function contentText(block) {
  if (typeof block !== "object" || block === null) return String(block);
  const { text: text2, type } = block;
  return typeof text2 === "string" ? text2 : `[${typeof type === "string" ? type : "content"}]`;
}

// sidecar/src/harness/codex/turn.ts
var INTERRUPT_MS = 5e3;
var LIMITED_MS = 12e4;
var DRAIN_MS = 1e3;
var CLEAN_MS = 5e3;
var CodexTurn = class {
  constructor(context, input, onEvent) {
    this.context = context;
    this.input = input;
    this.onEvent = onEvent;
    this.#model = context.model;
    this.end = new Promise((resolve4) => {
      this.#resolve = resolve4;
    });
    this.#whenStarted = new Promise((resolve4) => {
      this.#startedNow = resolve4;
    });
    context.meter.begin();
    this.#begin();
  }
  context;
  input;
  onEvent;
  end;
  #resolve;
  /** Notifications that came before the turn's id was known. */
  #early = [];
  #id = null;
  #isStarted = false;
  #isStopWanted = false;
  /** Set when we stop the turn ourselves: what it ends as, unless it completed meanwhile. */
  #verdictOnStop = null;
  #verdict = null;
  #isSettled = false;
  #model;
  #rule = new AnswerRule();
  /** Actions under way, by item id. */
  #open = /* @__PURE__ */ new Map();
  /** Ids of the items that have completed: a stream retry completes some again. */
  #seen = /* @__PURE__ */ new Set();
  /** Threads of sub-agents that worked in this turn → the turn each is in, null once it ended. */
  #agents = /* @__PURE__ */ new Map();
  #hasActed = false;
  #lastRetry = null;
  #watchdog = null;
  #stopBound = null;
  #drained = null;
  #survivors = [];
  #whenStarted;
  #startedNow;
  #begin() {
    const { messages, cwd, effort, access } = this.input;
    const { thread } = this.context;
    this.#rearm();
    this.context.server.send(
      "turn/start",
      {
        threadId: thread,
        clientUserMessageId: messages.at(-1)?.id,
        input: messages.map(({ text: text2 }) => ({ type: "text", text: text2, text_elements: [] })),
        cwd,
        ...effort === null ? {} : { effort },
        ...boundsOf(access, cwd)
      },
      (settled) => this.#begun(settled)
    );
  }
  #begun(settled) {
    switch (settled.kind) {
      case "gone":
        this.#decide({ kind: "failed", failure: settled.failure });
        return;
      case "refused":
        this.#decide({ kind: "failed", failure: rpcFailure(settled.error, this.#known) });
        return;
      case "result": {
        this.#guarded(() => {
          this.#id = read(turnBegun, settled.result, "the answer to turn/start").turn.id;
        });
        const early = this.#early;
        this.#early = [];
        for (const { method, params, address } of early) this.notified(method, params, address);
        return;
      }
    }
  }
  // --- what the server says ---
  notified(method, params, address) {
    if (this.#isSettled) return;
    if (this.#id === null) {
      this.#early.push({ method, params, address });
      return;
    }
    if (address.turnId !== null && address.turnId !== this.#id) {
      if (method === "thread/tokenUsage/updated") this.#guarded(() => this.context.meter.before(totalOf(params)));
      return;
    }
    this.#rearm();
    this.#guarded(() => this.#take(method, params));
  }
  descendant(method, params, thread) {
    if (this.#isSettled) return;
    this.#rearm();
    this.#guarded(() => {
      switch (method) {
        case "thread/tokenUsage/updated":
          this.context.meter.descendant(thread, totalOf(params));
          return;
        case "turn/started":
          this.#agents.set(thread, addressOf(params).turnId);
          return;
        case "turn/completed":
          this.#agents.set(thread, null);
          this.#drained?.();
          return;
        case "item/started": {
          const item = itemOf(params);
          if (item.type === "subAgentActivity") this.context.server.adopt(item.agentThreadId, thread);
          return;
        }
        default:
          return;
      }
    });
  }
  asked(method, params) {
    const answered = answerTo(method, params, this.#isSettled ? null : this.input.access);
    if (answered.shown) this.#emit({ kind: "approval", ...answered.shown });
    return answered;
  }
  ended(reason, survivors) {
    void survivors.then((left) => {
      this.#survivors = left;
      const onStop2 = this.#verdictOnStop ?? { kind: "interrupted" };
      this.#decide(this.#isStopWanted ? onStop2 : { kind: "failed", failure: reason });
    });
  }
  #take(method, params) {
    switch (method) {
      case "turn/started":
        this.#isStarted = true;
        this.#startedNow();
        if (this.#isStopWanted) this.#sendInterrupt();
        return;
      case "item/started":
        this.#itemStarted(params);
        return;
      case "item/completed":
        this.#itemCompleted(params);
        return;
      case "turn/plan/updated": {
        const { plan, explanation } = read(planUpdated, params, method);
        this.#emit({ kind: "plan", steps: planSteps(plan), explanation: explanation ?? "" });
        return;
      }
      case "thread/tokenUsage/updated":
        this.context.meter.during(totalOf(params));
        return;
      case "error": {
        const { error, willRetry } = read(errorNotice, params, method);
        if (!willRetry) return;
        this.#lastRetry = error;
        this.#emit(retryOf(error));
        this.#rearm();
        return;
      }
      case "warning":
        this.#emit({ kind: "warning", text: read(warning, params, method).message });
        return;
      case "model/rerouted": {
        const { fromModel, toModel } = read(rerouted, params, method);
        this.#model = toModel;
        this.#emit({ kind: "warning", text: `Codex answers with ${toModel} instead of ${fromModel}.` });
        return;
      }
      case "turn/completed":
        this.#completed(params);
        return;
      default:
        return;
    }
  }
  #itemStarted(params) {
    const item = itemOf(params);
    if (item.type === "userMessage") return;
    if (item.type === "subAgentActivity") this.context.server.adopt(item.agentThreadId, this.context.thread);
    this.#lastRetry = null;
    this.#show(this.#rule.workGoesOn(item.id));
    const acted = actedOf(item);
    if (!acted || this.#open.has(item.id) || this.#seen.has(item.id)) return;
    this.#hasActed = true;
    const event = { kind: "action_started", item: item.id, action: acted.action };
    const over = acted.action.tool === "command" ? this.context.server.commandRuns() : () => {
    };
    this.#open.set(item.id, { event, over, isOfModel: isOfModel(item) });
    this.#emit(event);
    this.#rearm();
  }
  #itemCompleted(params) {
    const item = itemOf(params);
    switch (item.type) {
      case "userMessage":
        return;
      case "agentMessage":
        this.#show(this.#rule.complete(item));
        return;
      case "reasoning": {
        const text2 = item.summary.filter((part) => part.trim() !== "").join("\n\n");
        if (text2 !== "" && !this.#seen.has(item.id)) this.#emit({ kind: "reasoning", text: text2 });
        this.#seen.add(item.id);
        return;
      }
      default: {
        const acted = actedOf(item);
        if (!acted || this.#seen.has(item.id)) return;
        if (!this.#open.has(item.id)) this.#itemStarted(params);
        this.#seen.add(item.id);
        this.#open.get(item.id)?.over();
        this.#open.delete(item.id);
        this.#emit({ kind: "action_completed", item: item.id, ...acted });
        this.#rearm();
        this.#drained?.();
      }
    }
  }
  #completed(params) {
    const { turn } = read(turnCompleted, params, "turn/completed");
    switch (turn.status) {
      case "completed":
        this.#decide(turn.error ? this.#failed(turn.error) : { kind: "completed" }, true);
        return;
      case "interrupted":
        this.#decide(
          this.#verdictOnStop ?? (turn.error && !this.#isStopWanted ? this.#failed(turn.error) : { kind: "interrupted" })
        );
        return;
      case "failed":
        this.#decide(this.#verdictOnStop ?? this.#failed(turn.error));
        return;
      default:
        throw new FrameFault(`turn/completed with the status ${turn.status}`);
    }
  }
  #failed(error) {
    return { kind: "failed", failure: turnFailure(error, this.#known) };
  }
  // --- what we do ---
  /** Hands a message to the turn while it runs. */
  async steer(message2) {
    await Promise.race([this.#whenStarted, this.end]);
    if (this.#verdict || this.#id === null) return { kind: "no_turn" };
    const settled = await this.context.server.request("turn/steer", {
      threadId: this.context.thread,
      expectedTurnId: this.#id,
      clientUserMessageId: message2.id,
      input: [{ type: "text", text: message2.text, text_elements: [] }]
    });
    return settled.kind === "result" ? { kind: "joined" } : { kind: "no_turn" };
  }
  /** Asks the turn to end, and resolves once it has: as interrupted, or as what it had become. */
  async interrupt() {
    this.#stop();
    await this.end;
  }
  #stop() {
    if (this.#verdict || this.#isStopWanted) return;
    this.#isStopWanted = true;
    if (this.#isStarted) this.#sendInterrupt();
    this.#stopBound = setTimeout(() => {
      const reason = serverEnded("Codex was ended, for it did not stop a turn when told to.");
      void this.context.server.close(reason).then((left) => {
        this.#survivors = left;
        this.#decide(this.#verdictOnStop ?? { kind: "interrupted" });
      });
    }, INTERRUPT_MS);
  }
  #sendInterrupt() {
    this.context.server.send("turn/interrupt", { threadId: this.context.thread, turnId: this.#id }, () => {
    });
  }
  // --- silence ---
  /** Something happened: silence counts from now, and only while nothing but the model can be working. */
  #rearm() {
    if (this.#watchdog) clearTimeout(this.#watchdog);
    this.#watchdog = null;
    const isToolBusy = [...this.#open.values()].some((action) => !action.isOfModel);
    if (this.#verdict || this.#isStopWanted || isToolBusy) return;
    const ms = this.#isLimited ? Math.min(LIMITED_MS, this.input.stallMs) : this.input.stallMs;
    this.#watchdog = setTimeout(() => this.#stalled(ms), ms);
  }
  /**
   * A 429 with a long `Retry-After` shows as one retry notice that carries the status, and then as silence for
   * as long as the header says (measured on codex 0.171.0).
   */
  get #isLimited() {
    return this.#lastRetry !== null && httpStatusOf(this.#lastRetry) === 429;
  }
  #stalled(ms) {
    const kind = this.#isLimited ? "rate_limit" : "stalled";
    const last = this.#lastRetry ? ` Codex last said: ${retryText(this.#lastRetry)}` : "";
    const message2 = this.#isLimited ? `The provider refused the request (429) and asks for more than ${seconds(ms)} of waiting.` : `The model was silent for ${seconds(ms)}.${last}`;
    this.#verdictOnStop = { kind: "failed", failure: failure(kind, message2, hintFor(kind, this.#known)) };
    this.#stop();
  }
  // --- the end ---
  #decide(verdict, hasAnswer = false) {
    if (this.#verdict) return;
    this.#verdict = verdict;
    if (this.#watchdog) clearTimeout(this.#watchdog);
    if (this.#stopBound) clearTimeout(this.#stopBound);
    this.#startedNow();
    void this.#finish(verdict, hasAnswer);
  }
  async #finish(verdict, hasAnswer) {
    const { server, thread, job } = this.context;
    const mayHaveLeft = this.#hasActed || this.#agents.size > 0 || verdict.kind !== "completed";
    if (mayHaveLeft && !server.gone) {
      for (const [agent, turnId] of this.#agents) {
        if (turnId !== null) server.send("turn/interrupt", { threadId: agent, turnId }, () => {
        });
      }
      const clean = (threadId) => server.request("thread/backgroundTerminals/clean", { threadId }, CLEAN_MS);
      await Promise.all([thread, ...this.#agents.keys()].map(clean));
      await this.#drain();
    }
    if (mayHaveLeft) this.#survivors = [.../* @__PURE__ */ new Set([...this.#survivors, ...await server.killStrays(job)])];
    for (const { event, over } of this.#open.values()) {
      over();
      this.#emit({ kind: "action_completed", item: event.item, action: event.action, result: CUT_OFF });
    }
    this.#open.clear();
    const ending = this.#ending(verdict, hasAnswer);
    this.#isSettled = true;
    this.#resolve({ ending, tokens: this.context.meter.end(), model: this.#model, survivors: this.#survivors });
  }
  /** Items complete after `turn/completed` too (a command that was just cleaned away): they are waited for a moment. */
  async #drain() {
    const isDrained = () => this.#open.size === 0 && !this.#areAgentsBusy;
    if (isDrained()) return;
    await new Promise((resolve4) => {
      const timer = setTimeout(resolve4, DRAIN_MS);
      this.#drained = () => {
        if (!isDrained()) return;
        clearTimeout(timer);
        resolve4();
      };
    });
  }
  get #areAgentsBusy() {
    return [...this.#agents.values()].some((turnId) => turnId !== null);
  }
  #ending(verdict, hasAnswer) {
    const { answer: answer6, shown } = this.#rule.end();
    if (verdict.kind === "completed" && hasAnswer) {
      this.#show(shown);
      return answer6 === null ? { kind: "empty" } : { kind: "completed", answer: answer6 };
    }
    this.#show(verdict.kind === "failed" ? [] : [...shown, ...answer6 === null ? [] : [answer6]]);
    return verdict.kind === "failed" ? { kind: "failed", failure: verdict.failure, partial: this.#rule.partial } : { kind: "interrupted" };
  }
  get #known() {
    return { rateLimits: this.context.server.rateLimits, model: this.#model };
  }
  /** A frame of this turn that cannot be read ends this turn, and no other. */
  #guarded(take) {
    try {
      take();
    } catch (error) {
      if (!(error instanceof FrameFault)) throw error;
      this.#verdictOnStop ??= {
        kind: "failed",
        failure: unreadable(error.message)
      };
      this.#stop();
    }
  }
  #show(texts) {
    for (const text2 of texts) this.#emit({ kind: "message", text: text2 });
  }
  #emit(event) {
    if (!this.#isSettled) this.onEvent(event);
  }
};
function isOfModel(item) {
  return item.type === "unknown" && item.name === "contextCompaction";
}
function retryOf(error) {
  const count2 = /(\d+)\/(\d+)/.exec(error.message);
  return {
    kind: "retry",
    attempt: count2 ? Number(count2[1]) : null,
    of: count2 ? Number(count2[2]) : null,
    reason: retryText(error)
  };
}
var retryText = (error) => error.additionalDetails ?? error.message;
var seconds = (ms) => `${ms < 1e3 ? ms / 1e3 : Math.round(ms / 1e3)} s`;

// sidecar/src/harness/codex/thread.ts
var CodexThread = class _CodexThread {
  constructor(servers, request, server) {
    this.servers = servers;
    this.request = request;
    this.#server = server;
    this.#id = request.thread ?? "";
    this.#model = request.model ?? "";
    this.#meter = new TokenMeter(request.thread === null);
    this.#hasTurns = request.thread !== null;
  }
  servers;
  request;
  #server;
  #id;
  #model;
  #turn = null;
  #isRunning = false;
  #isStopWanted = false;
  #hasTurns;
  #isWarned = false;
  #meter;
  #hangUp = () => {
  };
  /** @throws HarnessError */
  static async open(servers, request) {
    checkFolder(request.cwd);
    const thread = new _CodexThread(servers, request, await servers.current());
    await thread.#load(request.thread);
    return thread;
  }
  get id() {
    return this.#id;
  }
  get model() {
    return this.#model;
  }
  get harnessVersion() {
    return this.#server.version;
  }
  async run(input, onEvent) {
    if (this.#isRunning) {
      const busy = failure("thread_busy", "A turn of this thread is under way.", "Wait for it to end.");
      return this.#unbegun({ kind: "failed", failure: busy, partial: [] });
    }
    this.#isRunning = true;
    this.#isStopWanted = false;
    try {
      const end = await this.#attempt(input, onEvent);
      const { ending } = end;
      if (ending.kind !== "failed" || ending.failure.kind !== "sign_in") return end;
      if (!await this.#renewSignIn()) return end;
      return await this.#attempt(input, onEvent);
    } catch (error) {
      if (error instanceof HarnessError) return this.#unbegun({ kind: "failed", failure: error.failure, partial: [] });
      throw error;
    } finally {
      this.#isRunning = false;
      this.#turn = null;
    }
  }
  async #attempt(input, onEvent) {
    checkInput(input);
    checkFolder(input.cwd);
    await this.#ready();
    await this.#renewSignIn();
    const notSignedIn = await this.servers.account.check(this.#server);
    if (notSignedIn) throw new HarnessError(notSignedIn);
    if (this.#isStopWanted) return this.#unbegun({ kind: "interrupted" });
    if (input.access.level !== "full" && !this.#isWarned) {
      this.#isWarned = true;
      const text2 = rulesWarning(this.servers.home);
      if (text2 !== null) onEvent({ kind: "warning", text: text2 });
    }
    const over = this.servers.turnBegan(this.#server);
    try {
      this.#hasTurns = true;
      this.#turn = new CodexTurn(
        { server: this.#server, thread: this.#id, job: this.request.job, model: this.#model, meter: this.#meter },
        input,
        onEvent
      );
      const end = await this.#turn.end;
      this.#model = end.model;
      return end;
    } finally {
      over();
    }
  }
  /** Loads the thread into the server that is up, where the one it was in is gone. */
  async #ready() {
    if (!this.#server.gone) return;
    this.#server = await this.servers.current();
    const thread = this.#hasTurns ? this.#id : null;
    if (thread === null) this.#meter = new TokenMeter(true);
    await this.#load(thread);
  }
  /** Starts (`thread` null) or resumes the thread on the server. @throws HarnessError */
  async #load(thread) {
    const { request, servers } = this;
    const variables = { ...servers.variables, [JOB_VARIABLE]: request.job };
    const params = {
      cwd: request.cwd,
      approvalPolicy: "on-request",
      approvalsReviewer: "user",
      // Anything more would mark the folder as trusted in the user's config.toml and load the folder's own
      // .codex/config.toml (measured on codex 0.171.0). Each turn carries its own sandbox policy.
      sandbox: "read-only",
      // Each sets one variable and keeps those that the user's own `set` names (measured).
      config: Object.fromEntries(
        Object.entries(variables).map(([name2, value]) => [`shell_environment_policy.set.${name2}`, value])
      ),
      ...request.model === null ? {} : { model: request.model }
    };
    this.#hangUp();
    if (thread !== null) this.#hangUp = this.#server.listen(thread, request.job, this);
    const { openMs } = this.#server.limits;
    const settled = thread === null ? await this.#server.request("thread/start", params, openMs) : await this.#server.request("thread/resume", { ...params, threadId: thread, excludeTurns: true }, openMs);
    try {
      const opened2 = read(threadOpened, resultOf(settled, this.#server, request), "the answer to opening a thread");
      this.#id = opened2.thread.id;
      this.#model = opened2.model;
      if (thread === null) this.#hangUp = this.#server.listen(this.#id, request.job, this);
    } catch (error) {
      this.#hangUp();
      if (error instanceof FrameFault) throw new HarnessError(unreadable(error.message));
      throw error;
    }
  }
  // --- what the server says: to the turn under way, if one is ---
  notified(method, params, address) {
    if (this.#turn) this.#turn.notified(method, params, address);
    else if (method === "thread/tokenUsage/updated") this.#meter.before(totalOf(params));
  }
  descendant(method, params, thread) {
    this.#turn?.descendant(method, params, thread);
  }
  asked(method, params) {
    return this.#turn ? this.#turn.asked(method, params) : answerTo(method, params, null);
  }
  ended(reason, survivors) {
    this.#turn?.ended(reason, survivors);
  }
  /** Restarts the server when the sign-in changed since it started and nobody else uses it. */
  async #renewSignIn() {
    const { account: account2 } = this.servers;
    if (!account2.hasChangedSince(this.#server.startedAt) || this.servers.turnsOn(this.#server) > 0) return false;
    await this.servers.retire(this.#server);
    await this.#ready();
    return true;
  }
  async steer(message2) {
    if (message2.text.trim() === "" || charactersOf([message2.text]) > INPUT_LIMIT) return { kind: "no_turn" };
    const turn = this.#turn;
    if (!turn) return { kind: "no_turn" };
    const steering = await turn.steer(message2);
    const next2 = this.#turn;
    return steering.kind === "no_turn" && next2 && next2 !== turn ? await next2.steer(message2) : steering;
  }
  async interrupt() {
    this.#isStopWanted = true;
    await this.#turn?.interrupt();
  }
  async close() {
    await this.interrupt();
    const server = this.#server;
    if (!server.gone) {
      await server.request("thread/backgroundTerminals/clean", { threadId: this.#id }, 5e3);
      await server.request("thread/unsubscribe", { threadId: this.#id }, 5e3);
    }
    this.#hangUp();
    return await server.killStrays(this.request.job);
  }
  /** The end of a turn that Codex never began. */
  #unbegun(ending) {
    return { ending, tokens: null, model: this.#model, survivors: [] };
  }
};
function resultOf(settled, server, request) {
  switch (settled.kind) {
    case "result":
      return settled.result;
    case "gone":
      throw new HarnessError(settled.failure);
    case "refused":
      throw new HarnessError(
        rpcFailure(settled.error, { rateLimits: server.rateLimits, model: request.model ?? "the default model" })
      );
  }
}
function checkFolder(cwd) {
  let isFolder2 = false;
  try {
    isFolder2 = statSync4(cwd).isDirectory();
  } catch {
  }
  if (!isFolder2) throw new HarnessError(failure("invalid_request", `The working folder ${cwd} does not exist.`));
}
function checkInput(input) {
  const texts = input.messages.map((message2) => message2.text);
  if (texts.every((text2) => text2.trim() === "")) {
    throw new HarnessError(failure("invalid_request", "The message is empty."));
  }
  const length = charactersOf(texts);
  if (length > INPUT_LIMIT) {
    throw new HarnessError(
      failure(
        "invalid_request",
        `The message has ${length} characters; Codex takes at most ${INPUT_LIMIT}.`,
        "Put the text into a file of the working folder and name the file."
      )
    );
  }
}
function charactersOf(texts) {
  let count2 = 0;
  for (const text2 of texts) {
    count2 += text2.length;
    if (text2.length > INPUT_LIMIT) for (const _ of text2.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) count2 -= 1;
  }
  return count2;
}

// sidecar/src/harness/codex/harness.ts
function codex(options) {
  return new Codex(options);
}
var Codex = class {
  constructor(options) {
    this.options = options;
    this.#env = childEnvironment({ parent: options.env, keys: ["openai"], sidecar: options.sidecar });
    this.home = this.#env.CODEX_HOME || join6(homeFolder(this.#env) ?? "/", ".codex");
    this.account = new Account(this.home);
    this.variables = {
      [SIDECAR_VARIABLE]: options.sidecar,
      [DEPTH_VARIABLE]: this.#env[DEPTH_VARIABLE] ?? "1"
    };
  }
  options;
  name = "codex";
  account;
  home;
  variables;
  #env;
  #starting = null;
  #servers = /* @__PURE__ */ new Set();
  #turns = /* @__PURE__ */ new Map();
  async detect() {
    const program = findCodex(this.options.env, this.options.program);
    if (program.kind === "missing") return { kind: "missing", lookedFor: program.lookedFor, install: INSTALL };
    const answer6 = await askVersion(program.path, this.#env);
    if (answer6.kind === "failed" || answer6.version === null) {
      return { kind: "missing", lookedFor: `${program.path}, which does not answer --version`, install: INSTALL };
    }
    const up = await this.#starting;
    const server = up && !up.gone ? up : await this.#start(program.path);
    const signedIn = server.gone ? "unknown" : await this.account.state(server);
    if (server !== up) await this.retire(server);
    return { kind: "found", version: answer6.version, program: program.path, signedIn };
  }
  async warm() {
    try {
      await this.current();
    } catch (error) {
      if (!(error instanceof HarnessError)) throw error;
    }
  }
  async open(request) {
    if (request.model !== null && request.thread === null) {
      const unknown3 = await checkModel(await this.current(), request.model, request.cwd);
      if (unknown3) throw new HarnessError(unknown3);
    }
    return await CodexThread.open(this, request);
  }
  async current() {
    for (let starting = this.#starting; starting !== null; starting = this.#starting) {
      const server2 = await starting;
      if (!server2.gone) return server2;
      if (this.#starting === starting) this.#starting = null;
    }
    const program = findCodex(this.options.env, this.options.program);
    if (program.kind === "missing") {
      throw new HarnessError(
        failure("not_installed", `Codex was not found: looked for ${program.lookedFor}.`, `Run \`${INSTALL}\`.`)
      );
    }
    this.#starting = this.#start(program.path);
    const server = await this.#starting;
    if (server.gone) throw new HarnessError(server.gone);
    return server;
  }
  async #start(program) {
    const server = await CodexServer.start({
      program,
      env: this.#env,
      cwd: homeFolder(this.#env) ?? "/",
      clientVersion: this.options.version,
      limits: this.options.limits
    });
    this.#servers.add(server);
    return server;
  }
  async retire(server) {
    const survivors = await server.close();
    this.#servers.delete(server);
    return survivors;
  }
  turnsOn(server) {
    return this.#turns.get(server) ?? 0;
  }
  turnBegan(server) {
    this.#turns.set(server, this.turnsOn(server) + 1);
    return () => {
      const left = this.turnsOn(server) - 1;
      if (left > 0) this.#turns.set(server, left);
      else this.#turns.delete(server);
    };
  }
  async close() {
    const survivors = await Promise.all([...this.#servers].map((server) => this.retire(server)));
    return [...new Set(survivors.flat())];
  }
};

// sidecar/src/harness/registry.ts
var MAKERS = {
  codex: ({ env, sidecar }) => codex({ env, sidecar, version: VERSION })
};
var Harnesses = class {
  constructor(context, makers = MAKERS) {
    this.context = context;
    this.makers = makers;
  }
  context;
  makers;
  #made = /* @__PURE__ */ new Map();
  of(name2) {
    const made = this.#made.get(name2) ?? this.makers[name2](this.context);
    this.#made.set(name2, made);
    return made;
  }
  /** Ends every harness that was made. Resolves to the processes that would not end. */
  async close() {
    const ended = await Promise.all([...this.#made.values()].map((harness) => harness.close()));
    return ended.flat();
  }
};

// sidecar/src/job/access.ts
var ACCESS_LEVELS = ["read_only", "workspace_write", "full"];
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
  return isStricter(b, a) ? b : a;
}
function isStricter(a, b) {
  return ACCESS_LEVELS.indexOf(a) < ACCESS_LEVELS.indexOf(b);
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

// plugin/hooks/protocol/tested.ts
var TESTED = {
  codex: { from: "0.171.0", to: "0.171.0" },
  claude_code: { from: "2.1.332", to: "2.1.332" }
};
function compareToTested(version2, { from, to }) {
  const parts = partsOf(version2);
  if (parts === null) return "unknown";
  if (order(parts, partsOf(from) ?? []) < 0) return "older";
  if (order(parts, partsOf(to) ?? []) > 0) return "newer";
  return "tested";
}
function partsOf(version2) {
  const found = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version2.trim());
  return found === null ? null : found.slice(1).map(Number);
}
function order(a, b) {
  for (let index = 0; index < 3; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

// plugin/hooks/notes/drift.ts
function driftNotice(program, version2, range) {
  const verdict = compareToTested(version2, range);
  const tested = rangeText(range);
  switch (verdict) {
    case "tested":
      return void 0;
    case "older":
    case "newer":
      return `${program} ${foreign(version2)} is ${verdict} than what Verbatim was tested with (${tested}). If something looks wrong, run \`verbatim doctor\`.`;
    case "unknown":
      return `Verbatim cannot tell the version of ${program} (${foreign(version2) || "none"}); it was tested with ${tested}.`;
  }
}
function rangeText({ from, to }) {
  return from === to ? from : `${from} to ${to}`;
}

// sidecar/src/errors.ts
function messageOf2(error) {
  return error instanceof Error ? error.message : String(error);
}
function codeOf(error) {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

// sidecar/src/job/journal.ts
import { join as join12 } from "node:path";

// sidecar/src/state/private-files.ts
import {
  chmodSync,
  closeSync,
  constants as constants2,
  fstatSync,
  lstatSync as lstatSync2,
  mkdirSync,
  openSync,
  readdirSync as readdirSync4,
  readFileSync as readFileSync4,
  readSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { basename as basename2, dirname as dirname4, join as join7 } from "node:path";
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
var NO_FOLLOW = constants2.O_NOFOLLOW ?? 0;
var NO_WAIT = constants2.O_NONBLOCK ?? 0;
function ensurePrivateFolder(path) {
  mkdirSync(path, { recursive: true, mode: 448 });
  checkPrivateFolder(path);
}
function checkPrivateFolder(path) {
  const stat2 = lstatSync2(path);
  if (stat2.isSymbolicLink()) throw new UnsafePathError(path, "is a link; Verbatim does not follow links here");
  if (!stat2.isDirectory()) throw new UnsafePathError(path, "is not a folder");
  checkOwner(path, stat2.uid);
  if (process.platform !== "win32" && (stat2.mode & 63) !== 0) chmodSync(path, 448);
}
function openPrivate(path, flags) {
  let descriptor;
  try {
    descriptor = openSync(path, flags | NO_FOLLOW | NO_WAIT, 384);
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
  const descriptor = openPrivate(path, constants2.O_RDONLY);
  try {
    return readFileSync4(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
function readIfThere(path) {
  try {
    return readPrivate(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}
var BEGINNING = 400;
function beginningOf(path) {
  let descriptor;
  try {
    descriptor = openPrivate(path, constants2.O_RDONLY);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw error;
  }
  try {
    const bytes = Buffer.alloc(BEGINNING);
    const count2 = readSync(descriptor, bytes, 0, BEGINNING, 0);
    return new TextDecoder().decode(bytes.subarray(0, count2), { stream: true });
  } finally {
    closeSync(descriptor);
  }
}
function isThere(path) {
  return lstatSync2(path, { throwIfNoEntry: false }) !== void 0;
}
function namesIn(folder) {
  try {
    return readdirSync4(folder);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
function writeAtomic(path, bytes) {
  const draft = draftOf(path);
  rmSync(draft, { force: true });
  const descriptor = openPrivate(draft, constants2.O_WRONLY | constants2.O_CREAT | constants2.O_EXCL);
  try {
    try {
      writeFileSync(descriptor, bytes);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
async function writeAtomicLarge(path, bytes) {
  const draft = draftOf(path);
  await rm(draft, { force: true });
  const flags = constants2.O_WRONLY | constants2.O_CREAT | constants2.O_EXCL | NO_FOLLOW;
  const handle = await open(draft, flags, 384);
  try {
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  if (process.platform === "win32") return;
  const folder = await open(dirname4(path), constants2.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
function draftOf(path) {
  return join7(dirname4(path), `.${basename2(path)}.${process.pid}.draft`);
}
function checkOwner(path, uid) {
  const own2 = process.getuid?.();
  if (own2 !== void 0 && uid !== own2) {
    throw new UnsafePathError(path, `belongs to another user (uid ${uid}, not ${own2})`);
  }
}

// sidecar/src/state/state-folder.ts
import { isAbsolute as isAbsolute3, join as join8 } from "node:path";
var NoStateFolderError = class extends Error {
  constructor() {
    super("there is no home folder to keep jobs in; set HOME or XDG_STATE_HOME to an absolute path");
    this.name = "NoStateFolderError";
  }
};
function stateFolder(env) {
  const base2 = env.XDG_STATE_HOME;
  if (base2 !== void 0 && isAbsolute3(base2)) return join8(base2, "verbatim");
  const home = homeFolder(env);
  if (home === null) throw new NoStateFolderError();
  return join8(home, ".local", "state", "verbatim");
}
function jobsFolder(state) {
  return join8(state, "jobs");
}
function jobFolder(state, id) {
  return join8(jobsFolder(state), id);
}
function logsFolder(state) {
  return join8(state, "logs");
}
function sidecarsFolder(state) {
  return join8(state, "sidecars");
}
function errandsFolder(state) {
  return join8(state, "errands");
}

// sidecar/src/job/answers.ts
import { createHash } from "node:crypto";
import { join as join9 } from "node:path";
var LONE_SURROGATE = new RegExp("\\p{Surrogate}", "u");
function answerFile(folder, turn) {
  return join9(folder, "answers", String(turn));
}
function answeredTurns(folder) {
  const turns = namesIn(join9(folder, "answers")).filter((name2) => /^[1-9]\d{0,8}$/.test(name2));
  return turns.map(Number).sort((a, b) => b - a);
}
async function storeAnswer(folder, turn, text2) {
  const bytes = Buffer.from(text2, "utf8");
  if (LONE_SURROGATE.test(text2)) {
    await writeAtomicLarge(jsonFile(folder, turn), Buffer.from(JSON.stringify(text2), "utf8"));
  }
  await writeAtomicLarge(answerFile(folder, turn), bytes);
  return recordOf(folder, turn, bytes);
}
function readAnswerBytes(folder, turn) {
  return readIfThere(answerFile(folder, turn));
}
function readWholeAnswer(folder, turn) {
  const bytes = readAnswerBytes(folder, turn);
  if (bytes === null) return null;
  const json = readIfThere(jsonFile(folder, turn));
  const text2 = json === null ? bytes.toString("utf8") : JSON.parse(json.toString("utf8"));
  return { text: text2, ...recordOf(folder, turn, bytes) };
}
function readAnswer(folder, turn, from = 0) {
  const whole = readWholeAnswer(folder, turn);
  if (whole === null) return null;
  const { text: text2, bytes, sha256 } = whole;
  const end = from + ANSWER_PAGE;
  return { turn, text: text2.slice(from, end), next: end < text2.length ? end : null, bytes, sha256 };
}
function answerRecord(folder, turn) {
  const bytes = readAnswerBytes(folder, turn);
  return bytes === null ? null : recordOf(folder, turn, bytes);
}
function jsonFile(folder, turn) {
  return `${answerFile(folder, turn)}.json`;
}
function recordOf(folder, turn, bytes) {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { bytes: bytes.length, sha256, file: answerFile(folder, turn) };
}

// sidecar/src/job/bounded-event.ts
var EVENT_LIMIT = 2e5;
var LIST_LIMIT = 500;
var NAME_LIMIT = 400;
function boundedEvent(body) {
  switch (body.kind) {
    case "message":
    case "reasoning":
    case "warning":
      return { ...body, text: bounded(body.text, EVENT_LIMIT) };
    case "retry":
      return { ...body, reason: bounded(body.reason, EVENT_LIMIT) };
    case "approval":
      return {
        ...body,
        subject: bounded(body.subject, EVENT_LIMIT / 2),
        reason: bounded(body.reason, EVENT_LIMIT / 2)
      };
    case "plan": {
      const { kept, share, omitted } = boundedList(body.steps, EVENT_LIMIT / 2);
      const steps = kept.map((one) => ({ ...one, step: bounded(one.step, share) }));
      if (omitted > 0) steps.push({ step: leftOut(omitted, "steps"), status: "pending" });
      return { ...body, explanation: bounded(body.explanation, EVENT_LIMIT / 2), steps };
    }
    case "action_started":
      return { ...body, item: name(body.item), action: boundedAction(body.action) };
    case "action_completed":
      return {
        ...body,
        item: name(body.item),
        action: boundedAction(body.action),
        result: { ...body.result, output: bounded(body.result.output, EVENT_LIMIT) }
      };
    case "turn_ended":
      return { ...body, ...boundedEnd(body) };
    case "turn_started":
    case "steered":
      return body;
  }
}
function boundedAction(action) {
  switch (action.tool) {
    case "command":
      return { ...action, command: bounded(action.command, EVENT_LIMIT), cwd: name(action.cwd) };
    case "edit": {
      const { kept, share, omitted } = boundedList(action.changes, EVENT_LIMIT);
      const changes = kept.map((change) => boundedChange(change, share));
      return { ...action, changes, ...omitted > 0 ? { moreFiles: omitted } : {} };
    }
    case "other":
      return { ...action, name: name(action.name), input: bounded(action.input, EVENT_LIMIT) };
  }
}
function boundedChange(change, limit) {
  const { text: text2, omitted } = capped(change.diff, limit, 0);
  return { ...change, path: name(change.path), diff: text2, omitted: change.omitted + omitted };
}
function boundedEnd(body) {
  const files = boundedList(body.filesChanged, EVENT_LIMIT);
  const ended = {
    model: name(body.model),
    filesChanged: files.kept.map(name),
    ...files.omitted > 0 ? { moreFiles: files.omitted } : {},
    survivors: boundedList(body.survivors, EVENT_LIMIT).kept.map(name)
  };
  if (body.outcome.kind !== "failed") return ended;
  const { failure: failure3 } = body.outcome;
  const { kept, share, omitted } = boundedList(body.outcome.partial, EVENT_LIMIT);
  const partial2 = [
    ...omitted > 0 ? [leftOut(omitted, "messages")] : [],
    ...body.outcome.partial.slice(-kept.length).map((text2) => bounded(text2, share))
  ];
  const message2 = bounded(failure3.message, EVENT_LIMIT / 4);
  return { ...ended, outcome: { ...body.outcome, failure: { ...failure3, message: message2 }, partial: partial2 } };
}
function boundedList(all, limit) {
  const kept = all.slice(0, LIST_LIMIT);
  return { kept, share: Math.floor(limit / Math.max(1, kept.length)), omitted: all.length - kept.length };
}
function leftOut(count2, what) {
  return `[… ${count2.toLocaleString("en-US")} ${what} left out …]`;
}
function name(text2) {
  return bounded(text2, NAME_LIMIT);
}
function bounded(text2, limit) {
  return capped(text2, limit, 0).text;
}

// sidecar/src/job/event-log.ts
import { closeSync as closeSync2, constants as constants3, fstatSync as fstatSync2, ftruncateSync, readSync as readSync2, writeSync } from "node:fs";
import { dirname as dirname5, join as join10 } from "node:path";
var KEPT_EVENTS = 32;
var KEPT_CHARACTERS = 512 * 1024;
var PAGE_BYTES = 1024 * 1024;
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
    const descriptor = openPrivate(path, constants3.O_RDWR | constants3.O_CREAT | constants3.O_APPEND);
    try {
      const { size: size2 } = fstatSync2(descriptor);
      const offsets = [0];
      readLines(descriptor, size2, (line, end) => {
        const event = eventIn(line, offsets.length);
        if (event === null) return false;
        offsets.push(end);
        onEvent(event);
        return true;
      });
      const good = offsets[offsets.length - 1] ?? 0;
      if (good < size2) {
        setAside(descriptor, good, size2, join10(dirname5(path), "events.damaged"));
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
function readLines(descriptor, size2, onLine) {
  const piece = Buffer.alloc(256 * 1024);
  let parts = [];
  let position = 0;
  while (position < size2) {
    const count2 = readSync2(descriptor, piece, 0, piece.length, position);
    if (count2 === 0) return;
    let from = 0;
    for (; ; ) {
      const at = piece.subarray(0, count2).indexOf(10, from);
      if (at === -1) break;
      const line = Buffer.concat([...parts, piece.subarray(from, at)]);
      parts = [];
      from = at + 1;
      if (!onLine(line, position + from)) return;
    }
    parts.push(Buffer.from(piece.subarray(from, count2)));
    position += count2;
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
  const target = openPrivate(path, constants3.O_WRONLY | constants3.O_CREAT | constants3.O_APPEND);
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
  let read3 = 0;
  while (read3 < bytes.length) {
    const count2 = readSync2(descriptor, bytes, read3, bytes.length - read3, position + read3);
    if (count2 === 0) throw new Error("the event log is shorter than it was: something else changed it");
    read3 += count2;
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
import { closeSync as closeSync3, constants as constants4, linkSync, renameSync as renameSync2, rmSync as rmSync2, writeFileSync as writeFileSync2 } from "node:fs";
import { join as join11 } from "node:path";

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
  for (const name2 of Object.keys(fields)) {
    if (!known.includes(name2)) {
      throw new ShapeError(`${parent}${name2.slice(0, 60)}`, `is not a field here; known: ${known.join(", ")}`);
    }
  }
}
function textOf2(fields, name2, rule, parent = "") {
  const value = fields[name2];
  const field = `${parent}${name2}`;
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
function optionalTextOf(fields, name2, rule, parent = "") {
  return fields[name2] === void 0 ? void 0 : textOf2(fields, name2, rule, parent);
}
function choiceOf(fields, name2, choices, parent = "") {
  const value = textOf2(fields, name2, { max: 200 }, parent);
  const found = choices.find((choice) => choice === value);
  if (found === void 0) {
    throw new ShapeError(`${parent}${name2}`, `must be one of ${choices.join(", ")}; it is ${JSON.stringify(value)}`);
  }
  return found;
}
function countOf(fields, name2, min, max, parent = "") {
  const value = fields[name2];
  const field = `${parent}${name2}`;
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
function sidecarId({ pid, startTime }) {
  return `${pid}-${startTime.replace(/[^A-Za-z0-9]+/g, "_")}`;
}
function takeJob(folder, job, self) {
  const path = join11(folder, "owner");
  for (let attempt = 0; attempt < 20; attempt++) {
    if (claim2(path, self)) return;
    const owner = readOwner(path);
    if (owner === null) continue;
    if (owner.pid === self.pid && owner.startTime === self.startTime) return;
    if (isOwnerAlive(owner)) throw new JobTakenError(job, owner);
    removeDead(path, owner, self);
  }
  throw new Error(`cannot take job ${job}: ${path} changes hands again and again`);
}
function letJobGo(folder, self) {
  const path = join11(folder, "owner");
  const owner = readOwner(path);
  if (owner?.pid === self.pid && owner.startTime === self.startTime) rmSync2(path, { force: true });
}
function livingOwner(folder) {
  const owner = readOwner(join11(folder, "owner"));
  return owner !== null && isOwnerAlive(owner) ? owner : null;
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
function claim2(path, self) {
  const draft = `${path}.${self.pid}`;
  rmSync2(draft, { force: true });
  const descriptor = openPrivate(draft, constants4.O_WRONLY | constants4.O_CREAT | constants4.O_EXCL);
  try {
    try {
      writeFileSync2(descriptor, JSON.stringify({ pid: self.pid, startTime: self.startTime }));
    } finally {
      closeSync3(descriptor);
    }
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
  const bytes = readIfThere(path);
  if (bytes === null) return null;
  try {
    const fields = objectOf(JSON.parse(bytes.toString("utf8")), "owner");
    return { pid: Number(fields.pid), startTime: String(fields.startTime) };
  } catch {
    return { pid: 0, startTime: "damaged" };
  }
}

// sidecar/src/state/state-file.ts
var LAST_DATE = 864e13;
function stateFieldsOf(text2, id, readable) {
  const fields = objectOf(JSON.parse(text2), "state.json");
  const version2 = countOf(fields, "version", 1, 1e6);
  if (version2 !== readable) {
    throw new ShapeError("version", `is ${version2}; this Verbatim reads ${readable}. Update Verbatim`);
  }
  if (fields.id !== id) throw new ShapeError("id", `must be ${id}, the name of its folder`);
  return fields;
}

// sidecar/src/job/record.ts
var WORD = { max: 4096 };
var RECORD_VERSION = 1;
function recordOf2(text2, id) {
  const fields = stateFieldsOf(text2, id, RECORD_VERSION);
  return {
    version: RECORD_VERSION,
    id,
    harness: choiceOf(fields, "harness", HARNESS_NAMES),
    harnessVersion: possiblyEmpty(fields.harnessVersion, "harnessVersion"),
    agent: textOf2(fields, "agent", WORD),
    session: textOf2(fields, "session", WORD),
    cwd: textOf2(fields, "cwd", WORD),
    requestedModel: nullableTextOf(fields, "requestedModel"),
    model: possiblyEmpty(fields.model, "model"),
    effort: nullableTextOf(fields, "effort"),
    stallMs: countOf(fields, "stallMs", 1, Number.MAX_SAFE_INTEGER),
    thread: nullableTextOf(fields, "thread"),
    access: choiceOf(fields, "access", ACCESS_LEVELS),
    turns: countOf(fields, "turns", 0, Number.MAX_SAFE_INTEGER),
    createdAt: countOf(fields, "createdAt", 0, LAST_DATE),
    updatedAt: countOf(fields, "updatedAt", 0, LAST_DATE),
    messages: listOf(fields.messages, "messages", messageOf3),
    deliveries: listOf(fields.deliveries, "deliveries", deliveryOf)
  };
}
function messageOf3(value, field) {
  const fields = objectOf(value, field);
  return {
    id: textOf2(fields, "id", { max: 128 }, `${field}.`),
    mode: choiceOf(fields, "mode", [...PERMISSION_MODES, "unknown"], `${field}.`),
    turn: fields.turn === null ? null : countOf(fields, "turn", 1, Number.MAX_SAFE_INTEGER, `${field}.`)
  };
}
function deliveryOf(value, field) {
  const fields = objectOf(value, field);
  return {
    turn: countOf(fields, "turn", 1, Number.MAX_SAFE_INTEGER, `${field}.`),
    run: textOf2(fields, "run", { max: 512 }, `${field}.`),
    how: choiceOf(fields, "how", DELIVERY_WAYS, `${field}.`),
    at: countOf(fields, "at", 0, Number.MAX_SAFE_INTEGER, `${field}.`)
  };
}
function listOf(value, field, read3) {
  if (!Array.isArray(value)) throw new ShapeError(field, "must be a list");
  return value.map((item, index) => read3(item, `${field}[${index}]`));
}
function nullableTextOf(fields, name2) {
  return fields[name2] === null ? null : textOf2(fields, name2, WORD);
}
function possiblyEmpty(value, field) {
  if (typeof value !== "string") throw new ShapeError(field, "must be a string");
  return value;
}

// sidecar/src/job/journal.ts
var DeliveryConflict = class extends Error {
};
var Journal = class _Journal {
  constructor(place, folder, record2, log) {
    this.place = place;
    this.folder = folder;
    this.#record = record2;
    this.#log = log;
    this.#ids = new Set(record2.messages.map((message2) => message2.id));
  }
  place;
  folder;
  #record;
  #log;
  #ids;
  /** Makes the folder of a new job and takes it. */
  static create(place, record2) {
    ensurePrivateFolder(place.state);
    ensurePrivateFolder(jobsFolder(place.state));
    const folder = jobFolder(place.state, record2.id);
    ensurePrivateFolder(folder);
    ensurePrivateFolder(join12(folder, "prompts"));
    ensurePrivateFolder(join12(folder, "answers"));
    takeJob(folder, record2.id, place.self);
    writeAtomic(join12(folder, "state.json"), JSON.stringify(record2));
    return new _Journal(
      place,
      folder,
      record2,
      EventLog.open(join12(folder, "events.jsonl"), () => {
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
    for (const name2 of ["prompts", "answers"]) ensurePrivateFolder(join12(folder, name2));
    if (!isThere(join12(folder, "state.json"))) return null;
    takeJob(folder, id, place.self);
    try {
      const record2 = recordOf2(readPrivate(join12(folder, "state.json")).toString("utf8"), id);
      let open2 = null;
      let turns = 0;
      const log = EventLog.open(join12(folder, "events.jsonl"), (event) => {
        open2 = openTurnAfter(open2, event);
        turns = event.turn;
      });
      const journal = new _Journal(place, folder, record2, log);
      if (record2.turns > turns) journal.#takeBack(turns);
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
    return this.#record.messages.filter((message2) => message2.turn === null).map((message2) => message2.id);
  }
  hasMessage(id) {
    return this.#ids.has(id);
  }
  /** Keeps a message: once this returns it cannot be lost. What the job may do becomes as strict as its mode. */
  accept(message2, mode) {
    const { messages, access } = this.#record;
    writeAtomic(this.#promptFile(messages.length + 1), message2.text);
    this.update({
      messages: [...messages, { id: message2.id, mode, turn: null }],
      access: rememberedAfter(access, mode)
    });
    this.#ids.add(message2.id);
  }
  message(id) {
    const index = this.#record.messages.findIndex((message3) => message3.id === id);
    const message2 = this.#record.messages[index];
    if (message2 === void 0) throw new Error(`job ${this.#record.id} has no message ${id}`);
    return { ...message2, text: readPrivate(this.#promptFile(index + 1)).toString("utf8") };
  }
  /** Says that these messages are handed to `turn`: from now on they are never handed over again. */
  handOver(ids, turn, changes = {}) {
    const messages = this.#record.messages.map(
      (message2) => ids.includes(message2.id) && message2.turn === null ? { ...message2, turn } : message2
    );
    this.update({ ...changes, messages });
  }
  update(changes) {
    const record2 = { ...this.#record, ...changes, updatedAt: this.place.now() };
    writeAtomic(join12(this.folder, "state.json"), JSON.stringify(record2));
    this.#record = record2;
  }
  /** Appends an event, masked, under the next number. */
  append(turn, body) {
    const event = {
      ...maskEvent(boundedEvent(body), this.place.mask),
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
  async storeAnswer(turn, text2) {
    return await storeAnswer(this.folder, turn, text2);
  }
  readAnswer(turn, from = 0) {
    return readAnswer(this.folder, turn, from);
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
  /**
   * The sidecar died between noting that messages go to a turn and beginning it: the harness has not seen
   * them (a turn is handed over only once its begin is in the events), so they wait again.
   */
  #takeBack(turns) {
    const messages = this.#record.messages.map(
      (message2) => message2.turn !== null && message2.turn > turns ? { ...message2, turn: null } : message2
    );
    this.update({ turns, messages });
  }
  #endAbandoned(open2) {
    const answer6 = answerRecord(this.folder, open2.turn);
    const outcome = answer6 !== null ? { kind: "completed", answer: answer6 } : {
      kind: "failed",
      failure: {
        kind: "crashed",
        status: "failed",
        message: "The sidecar that ran this turn ended before the turn did.",
        hint: "Send a message to go on: the thread is kept."
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
  #promptFile(number3) {
    return join12(this.folder, "prompts", String(number3));
  }
};
function openTurnAfter(open2, event) {
  if (event.kind === "turn_started") {
    return { turn: event.turn, startedAt: event.at, messages: [], files: /* @__PURE__ */ new Set() };
  }
  if (event.kind === "turn_ended") return null;
  if (open2 === null) return null;
  if (event.kind === "message") open2.messages.push(event.text);
  for (const path of changedPaths(event)) open2.files.add(path);
  return open2;
}
function changedPaths(event) {
  const isEdit = event.kind === "action_completed" && event.action.tool === "edit";
  return isEdit && event.result.status === "completed" ? event.action.changes.map((change) => change.path) : [];
}

// sidecar/src/job/outcome.ts
async function outcomeOf(ending, store) {
  switch (ending.kind) {
    case "completed":
      if (ending.answer.trim() === "") return { kind: "empty" };
      try {
        return { kind: "completed", answer: await store(ending.answer) };
      } catch (error) {
        const message2 = `The answer could not be stored (${messageOf2(error)}).`;
        return { kind: "failed", failure: { kind: "unknown", status: "failed", message: message2 }, partial: [ending.answer] };
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
  return { kind: "unknown", status: "failed", message: messageOf2(error) };
}

// sidecar/src/job/turn-state.ts
function restingState(turn, waiting) {
  return { phase: "idle", turn, waiting, steering: [], isWanted: false, isStopping: false };
}
function isBusy(state) {
  return state.phase !== "idle";
}
function next(state, happening) {
  switch (happening.kind) {
    case "message":
      return onMessage(state, happening.id, happening.isSteerable);
    case "opened": {
      if (state.phase !== "starting" || happening.turn !== state.turn) return unchanged(state);
      const messages = state.waiting;
      return {
        state: { ...state, phase: "running", waiting: [], isWanted: false },
        effects: [{ kind: "run", turn: state.turn, messages }]
      };
    }
    case "open_failed":
      if (state.phase !== "starting" || happening.turn !== state.turn) return unchanged(state);
      return endUnstarted(state, "open_failed");
    case "steered":
      return onSteered(state, happening.id, happening.hasJoined);
    case "settled":
      if (state.phase !== "running" || happening.turn !== state.turn) return unchanged(state);
      return onSettled(state);
    case "recorded": {
      if (state.phase !== "ending" || happening.turn !== state.turn) return unchanged(state);
      const rested = { ...state, phase: "idle", isStopping: false };
      return rested.isWanted ? start(rested) : { state: rested, effects: [] };
    }
    case "stop":
      return onStop(state);
    default:
      return happening;
  }
}
function onMessage(state, id, isSteerable) {
  const queued = { ...state, waiting: [...state.waiting, id], isWanted: true };
  switch (state.phase) {
    case "idle":
      return start(queued);
    case "starting":
    case "ending":
      return { state: queued, effects: [] };
    case "running": {
      if (state.isStopping || !isSteerable || state.waiting.length > 0) return { state: queued, effects: [] };
      const steering = [...state.steering, id];
      return { state: { ...state, steering }, effects: steering.length === 1 ? [{ kind: "steer", id }] : [] };
    }
    default:
      return state.phase;
  }
}
function onSteered(state, id, hasJoined) {
  const [first, ...rest] = state.steering;
  if (first !== id) return unchanged(state);
  if (hasJoined) {
    const after = { ...state, steering: rest };
    const following = rest[0];
    if (following !== void 0) return { state: after, effects: [{ kind: "steer", id: following }] };
    return afterSteers(after);
  }
  const waiting = [first, ...rest, ...state.waiting];
  return afterSteers({ ...state, steering: [], waiting, isWanted: state.isStopping ? state.isWanted : true });
}
function onSettled(state) {
  const [first, ...rest] = state.steering;
  if (first === void 0) return afterSteers({ ...state, phase: "ending" });
  const waiting = [...rest, ...state.waiting];
  const isWanted = state.isWanted || rest.length > 0 && !state.isStopping;
  return { state: { ...state, phase: "ending", steering: [first], waiting, isWanted }, effects: [] };
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
      if (state.isStopping) return { state: { ...state, isWanted: false }, effects: [] };
      const [first, ...rest] = state.steering;
      const stopped = {
        ...state,
        isStopping: true,
        isWanted: false,
        steering: first === void 0 ? [] : [first],
        waiting: [...rest, ...state.waiting]
      };
      return { state: stopped, effects: [{ kind: "interrupt" }] };
    }
    case "ending":
      return { state: { ...state, isStopping: true, isWanted: false }, effects: [] };
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
    state: { ...state, phase: "ending", isWanted: false },
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
    const { record: record2 } = this.#journal;
    return {
      id: record2.id,
      harness: record2.harness,
      harnessVersion: record2.harnessVersion,
      agent: record2.agent,
      model: record2.model,
      thread: this.#thread?.id ?? record2.thread,
      cwd: record2.cwd,
      status: this.isBusy ? "running" : "idle",
      turns: this.#state.turn,
      lastSeq: this.#journal.lastSeq,
      createdAt: record2.createdAt
    };
  }
  /**
   * Takes a message: it is on disk before this does anything else, and handed to the harness exactly once.
   * Resolves to what became of it, which for a running turn waits for the harness's word; throws where the
   * message could not be kept.
   */
  send(message2, mode) {
    if (this.#journal.hasMessage(message2.id)) return Promise.resolve("duplicate");
    this.#journal.accept(message2, mode);
    this.#fault = null;
    const isSteerable = this.#current === null || mayJoin(mode, this.#current.access.level);
    if (this.#state.phase === "idle") {
      this.#apply({ kind: "message", id: message2.id, isSteerable });
      return Promise.resolve("started");
    }
    const disposition = new Promise((resolve4) => this.#steers.set(message2.id, resolve4));
    this.#apply({ kind: "message", id: message2.id, isSteerable });
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
  async events(after, waitMs, signal2) {
    const isReady = () => this.#journal.lastSeq > after || !this.isBusy || this.#isClosed || this.#fault !== null;
    if (!isReady() && waitMs > 0) await this.#until(isReady, waitMs, signal2);
    if (this.#fault !== null && this.#journal.lastSeq <= after) throw this.#fault;
    return { events: this.#isClosed ? [] : this.#journal.eventsAfter(after), job: this.view() };
  }
  /** The page of a turn's answer that begins at UTF-16 unit `from`. */
  answer(turn, from = 0) {
    return this.#journal.readAnswer(turn, from);
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
    const { record: record2 } = this.#journal;
    if (!await isFolder(record2.cwd)) throw new HarnessError(goneFolder(record2.cwd));
    if (this.#thread !== null) return;
    this.#opening ??= this.#harness.open({ job: record2.id, thread: record2.thread, cwd: record2.cwd, model: record2.requestedModel }).finally(() => {
      this.#opening = null;
    });
    this.#thread = await this.#opening;
  }
  async #runTurn(turn, ids) {
    const thread = this.#thread;
    if (thread === null) throw new Error("a turn began without a thread");
    const { record: record2 } = this.#journal;
    const messages = ids.map((id) => this.#journal.message(id));
    const current = {
      turn,
      startedAt: this.#startedAt,
      access: accessOfTurn(
        record2.access,
        messages.map((message2) => message2.mode)
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
      this.#sayDrift(turn, thread.harnessVersion);
      const end = await thread.run(
        {
          messages: messages.map(({ id, text: text2 }) => ({ id, text: text2 })),
          access: current.access,
          cwd: record2.cwd,
          effort: record2.effort,
          stallMs: record2.stallMs
        },
        (event) => this.#onEvent(current, event)
      );
      settle(end);
    } catch (error) {
      this.#log("error", `job ${this.id}: turn ${turn} broke off`, { error });
      settle(endOf({ kind: "failed", failure: failureOf(error), partial: [] }, thread.model));
    }
  }
  /** Once a job: that its harness is not one that Verbatim was tested with. */
  #sayDrift(turn, version2) {
    if (turn > 1) return;
    const { harness } = this.#journal.record;
    const text2 = driftNotice(harness, version2, TESTED[harness]);
    if (text2 !== void 0) this.#append(turn, { kind: "warning", text: text2 });
  }
  #onEvent(current, event) {
    if (current.end !== null) {
      this.#log("warning", `job ${this.id}: an event came after turn ${current.turn} had ended`, { kind: event.kind });
      return;
    }
    for (const path of changedPaths(event)) current.files.add(path);
    this.#append(current.turn, event);
    this.#changed();
  }
  async #steer(id) {
    const thread = this.#thread;
    const current = this.#current;
    let hasJoined = false;
    try {
      if (thread !== null && current !== null) {
        const { text: text2 } = this.#journal.message(id);
        hasJoined = (await thread.steer({ id, text: text2 })).kind === "joined";
      }
    } catch (error) {
      this.#log("warning", `job ${this.id}: message ${id} could not join the turn; it gets the next one`, { error });
    }
    this.#onSteered(id, hasJoined, current);
  }
  #onSteered(id, hasJoined, current) {
    if (this.#state.steering[0] !== id) return;
    if (hasJoined && current !== null) {
      this.#keep(() => this.#journal.handOver([id], current.turn));
      this.#append(current.turn, { kind: "steered", message: id });
      this.#settleSteer(id, "steered");
    }
    this.#apply({ kind: "steered", id, hasJoined });
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
    const given2 = new Promise((resolve4) => {
      timer = setTimeout(() => {
        this.#log("error", `job ${this.id}: the harness's thread ${thread.id} did not close in time`);
        resolve4([]);
      }, this.#limits.closeMs);
    });
    try {
      return await Promise.race([thread.close(), given2]);
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
    const outcome = await outcomeOf(end.ending, (answer6) => this.#journal.storeAnswer(turn, answer6));
    const model = end.model || this.#journal.record.model;
    if (model !== this.#journal.record.model) this.#keep(() => this.#journal.update({ model }));
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
    const failure3 = this.#openFailure ?? { kind: "unknown", status: "failed", message: "The turn did not start." };
    this.#openFailure = null;
    const model = this.#journal.record.model;
    this.#keep(() => this.#journal.update({ turns: turn }));
    this.#append(turn, { kind: "turn_started", messages });
    this.#append(turn, {
      kind: "turn_ended",
      outcome: why === "stopped" ? { kind: "interrupted" } : { kind: "failed", failure: failure3, partial: [] },
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
  #keep(write) {
    try {
      write();
    } catch (error) {
      this.#fault = new JournalFault(
        `job ${this.id}: its journal ${this.#journal.folder} cannot be written: ${messageOf2(error)}`
      );
      this.#log("error", `job ${this.id}: its journal cannot be written`, { error });
    }
  }
  #settleSteer(id, disposition) {
    const resolve4 = this.#steers.get(id);
    if (resolve4 === void 0) return;
    this.#steers.delete(id);
    resolve4(disposition);
  }
  #later(current, ms, work) {
    const timer = setTimeout(work, ms);
    timer.unref();
    current.timers.add(timer);
  }
  #changed() {
    for (const watcher of [...this.#watchers]) watcher();
  }
  async #until(isSo, ms, signal2) {
    if (isSo() || signal2?.aborted) return;
    await new Promise((resolve4) => {
      let timer;
      const done = () => {
        clearTimeout(timer);
        signal2?.removeEventListener("abort", done);
        this.#watchers.delete(look);
        resolve4();
      };
      const look = () => {
        if (isSo()) done();
      };
      if (ms !== void 0) timer = setTimeout(done, ms);
      signal2?.addEventListener("abort", done, { once: true });
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
    message: `The working folder ${cwd} is gone.`,
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
import { createHash as createHash2 } from "node:crypto";
var ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
function jobIdOf(state, session, agent) {
  const digest2 = createHash2("sha256").update(`${state}\0${session}\0${agent}`, "utf8").digest();
  let id = "j";
  for (const byte of digest2.subarray(0, 20)) id += ALPHABET[byte & 31];
  return id;
}
function isJobId(text2) {
  return JOB_ID.test(text2);
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
    const id = jobIdOf(this.ports.place.state, body.session, body.agent);
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
    const jobs2 = [...this.#jobs.values()];
    const ended = await Promise.allSettled(jobs2.map((job) => job.close()));
    return ended.flatMap((result2, index) => {
      if (result2.status === "fulfilled") return result2.value;
      this.ports.log("error", `job ${jobs2[index]?.id}: could not be ended`, { error: result2.reason });
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

// sidecar/src/job/reaper.ts
import { readFileSync as readFileSync5, readlinkSync, rmSync as rmSync3 } from "node:fs";
import { join as join13 } from "node:path";
var RECORD_MS = 1e3;
function recordSidecar(state, self, isActive, log) {
  ensurePrivateFolder(sidecarsFolder(state));
  const path = join13(sidecarsFolder(state), `${sidecarId(self)}.json`);
  const tree = new ProcessTree(self);
  let written = "";
  const record2 = () => {
    try {
      tree.sample(processTable());
      const processes = tree.living().filter((each) => each.pid !== self.pid);
      const text2 = JSON.stringify({ sidecar: self, world: world(), processes });
      if (text2 !== written) writeAtomic(path, text2);
      written = text2;
    } catch (error) {
      log("warning", "the processes of this sidecar could not be recorded", { error });
    }
  };
  record2();
  const timer = setInterval(() => {
    if (isActive()) record2();
  }, RECORD_MS);
  timer.unref();
  return {
    record: record2,
    close(survived) {
      clearInterval(timer);
      if (survived) record2();
      else rmSync3(path, { force: true });
    }
  };
}
async function reap(state, log) {
  const reaped = [];
  for (const name2 of namesIn(sidecarsFolder(state)).filter((each) => /^\d+-\w+\.json$/.test(each))) {
    const path = join13(sidecarsFolder(state), name2);
    const file = readFile(path, log);
    if (file === null || file.world !== world() || isAlive(file.sidecar)) continue;
    const sidecar = sidecarId(file.sidecar);
    const found = () => [
      ...file.processes.filter(isAlive),
      ...carrying(SIDECAR_VARIABLE, [sidecar]).map(({ pid, startTime }) => ({ pid, startTime }))
    ];
    const left = new Set(found().map(({ pid }) => pid)).size;
    const survivors = await killAll(found);
    if (left > 0) reaped.push({ sidecar, ended: left - survivors.length, survivors });
    if (survivors.length === 0) rmSync3(path, { force: true });
  }
  return reaped;
}
function readFile(path, log) {
  try {
    const fields = objectOf(JSON.parse(readPrivate(path).toString("utf8")), "the file");
    if (!Array.isArray(fields.processes)) throw new ShapeError("processes", "must be a list");
    return {
      sidecar: identityOf(fields.sidecar, "sidecar"),
      world: typeof fields.world === "string" ? fields.world : "",
      processes: fields.processes.map((value, index) => identityOf(value, `processes[${index}]`))
    };
  } catch (error) {
    if (codeOf(error) !== "ENOENT") log("warning", `${path} cannot be read; what it names is not ended`, { error });
    return null;
  }
}
function identityOf(value, field) {
  const fields = objectOf(value, field);
  return {
    pid: countOf(fields, "pid", 2, Number.MAX_SAFE_INTEGER, `${field}.`),
    startTime: textOf2(fields, "startTime", { max: 64 }, `${field}.`)
  };
}
function world() {
  if (process.platform !== "linux") return "";
  try {
    const boot = readFileSync5("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return "";
  }
}

// sidecar/src/log.ts
import { closeSync as closeSync4, constants as constants5, writeSync as writeSync2 } from "node:fs";
import { dirname as dirname6 } from "node:path";
var LOG_LIMIT = 4 * 1024 * 1024;
function openLog(path, mask2, now) {
  ensurePrivateFolder(dirname6(path));
  const descriptor = openPrivate(path, constants5.O_WRONLY | constants5.O_CREAT | constants5.O_APPEND);
  let left = LOG_LIMIT;
  let isClosed = false;
  const write = (line) => {
    const bytes = Buffer.from(`${line}
`, "utf8");
    left -= bytes.length;
    writeSync2(descriptor, bytes);
  };
  return {
    log(level, what, details = {}) {
      if (isClosed || left <= 0) return;
      try {
        write(mask2(JSON.stringify({ at: new Date(now()).toISOString(), level, what, ...plain(details) })));
        if (left <= 0) write(JSON.stringify({ level: "warning", what: "the log is full; the rest is left out" }));
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

// sidecar/src/server/address.ts
import { chmodSync as chmodSync2, mkdtempSync, rmSync as rmSync4 } from "node:fs";
import { tmpdir } from "node:os";
import { dirname as dirname7, isAbsolute as isAbsolute4, join as join14 } from "node:path";
var LONGEST_SOCKET = 100;
async function listen(server, env, platform = process.platform) {
  const socket = platform === "win32" ? null : privateSocket(env);
  if (socket === null) {
    await begin(server, { host: "127.0.0.1", port: 0 });
    const bound = server.address();
    if (bound === null || typeof bound === "string") throw new Error("the local API has no port");
    return { address: { port: bound.port }, remove: () => {
    } };
  }
  const remove2 = () => rmSync4(dirname7(socket), { recursive: true, force: true });
  try {
    await begin(server, { path: socket });
  } catch (error) {
    remove2();
    throw error;
  }
  return { address: { socket }, remove: remove2 };
}
function privateSocket(env) {
  for (const base2 of [env.XDG_RUNTIME_DIR, tmpdir(), "/tmp"]) {
    if (base2 === void 0 || !isAbsolute4(base2)) continue;
    if (Buffer.byteLength(join14(base2, "verbatim-XXXXXX", "s")) > LONGEST_SOCKET) continue;
    try {
      const folder = mkdtempSync(join14(base2, "verbatim-"));
      chmodSync2(folder, 448);
      return join14(folder, "s");
    } catch {
    }
  }
  return null;
}
async function begin(server, options) {
  await new Promise((resolve4, reject) => {
    server.once("error", reject);
    server.listen(options, () => {
      server.off("error", reject);
      resolve4();
    });
  });
}

// sidecar/src/server/heap.ts
import { setFlagsFromString } from "node:v8";
function keepHeapSmall() {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--optimize-for-size");
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
  rate: 429,
  conflict: 409,
  closing: 503,
  internal: 500
};
var Refusal = class extends Error {
  constructor(code, message2, headers = {}) {
    super(message2);
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
async function readJson(request, limit = BODY_LIMIT) {
  const bytes = await readBody(request, limit);
  if (bytes.length === 0) throw new Refusal("invalid", "the body is empty; it must be a JSON object");
  let text2;
  try {
    text2 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refusal("invalid", "the body is not UTF-8");
  }
  try {
    return JSON.parse(text2);
  } catch (error) {
    const place = /position \d+/.exec(messageOf2(error))?.[0];
    throw new Refusal("invalid", `the body is not JSON${place === void 0 ? "" : ` (at ${place})`}`);
  }
}
async function readBody(request, limit) {
  const tooLarge = () => new Refusal("too_large", `the body is larger than ${limit} bytes`);
  if (Number(request.headers["content-length"] ?? 0) > limit) throw tooLarge();
  const parts = [];
  let size2 = 0;
  return await new Promise((resolve4, reject) => {
    request.on("data", (part) => {
      size2 += part.length;
      if (size2 > limit) {
        parts.length = 0;
        reject(tooLarge());
        return;
      }
      parts.push(part);
    });
    request.on("end", () => resolve4(Buffer.concat(parts)));
    request.on("error", reject);
    request.on("aborted", () => reject(new Refusal("invalid", "the request broke off before its end")));
  });
}

// sidecar/src/server/reply.ts
var LINGER_MS = 1e3;
function reply(response, status, body) {
  if (response.destroyed) return;
  if (body === void 0) {
    response.writeHead(status).end();
    return;
  }
  response.end(head(response, status, body));
}
async function refuse(request, response, refusal) {
  for (const [name2, value] of Object.entries(refusal.headers)) response.setHeader(name2, value);
  if (!hasUnreadBody(request)) return reply(response, refusal.status, refusal.body);
  response.setHeader("connection", "close");
  if (response.destroyed) return;
  response.write(head(response, refusal.status, refusal.body));
  await drained(request);
  response.end();
}
function head(response, status, body) {
  const bytes = Buffer.from(JSON.stringify(body), "utf8");
  response.writeHead(status, { "content-type": "application/json", "content-length": bytes.length });
  return bytes;
}
function hasUnreadBody({ complete, headers }) {
  const length = headers["content-length"];
  return !complete && (headers["transfer-encoding"] !== void 0 || length !== void 0 && length !== "0");
}
function drained(request) {
  return new Promise((resolve4) => {
    const timer = setTimeout(resolve4, LINGER_MS);
    const done = () => {
      clearTimeout(timer);
      resolve4();
    };
    request.once("close", done);
    request.once("end", done);
    request.resume();
  });
}

// sidecar/src/server/bodies.ts
import { isAbsolute as isAbsolute5 } from "node:path";
var ID = { max: 512 };
var LONGEST_STALL_MS = 7 * 24 * 36e5;
function createJobOf(value) {
  const body = objectOf(value, "the body");
  onlyFields(body, ["harness", "agent", "session", "cwd", "mode", "message", "model", "effort", "options"]);
  const cwd = textOf2(body, "cwd", { max: 4096, pattern: /^[^\0]*$/, patternRule: "must not hold a NUL character" });
  if (!isAbsolute5(cwd)) throw new ShapeError("cwd", `must be an absolute path, it is ${JSON.stringify(cwd)}`);
  return {
    harness: choiceOf(body, "harness", HARNESS_NAMES),
    agent: textOf2(body, "agent", ID),
    session: textOf2(body, "session", ID),
    cwd,
    mode: modeOf(body),
    message: messageOf4(body),
    model: optionalTextOf(body, "model", { max: 200 }),
    effort: optionalTextOf(body, "effort", { max: 200 }),
    options: body.options === void 0 ? void 0 : optionsOf(body.options)
  };
}
function sendMessageOf(value) {
  const body = objectOf(value, "the body");
  onlyFields(body, ["message", "mode"]);
  return { message: messageOf4(body), mode: modeOf(body) };
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
    run: textOf2(body, "run", ID),
    how: choiceOf(body, "how", DELIVERY_WAYS)
  };
}
function warmHarnessOf(value) {
  const body = objectOf(value, "the body");
  onlyFields(body, ["harness"]);
  return { harness: choiceOf(body, "harness", HARNESS_NAMES) };
}
function queryCount(query, name2, max, fallback) {
  const text2 = query.get(name2);
  if (text2 === null) return fallback;
  if (!/^\d{1,16}$/.test(text2) || Number(text2) > max) {
    throw new ShapeError(name2, `must be a whole number from 0 to ${max}, it is ${JSON.stringify(text2.slice(0, 60))}`);
  }
  return Number(text2);
}
function onlyQuery(query, known) {
  onlyFields(Object.fromEntries(query), known, "?");
}
function messageOf4(body) {
  const message2 = objectOf(body.message, "message");
  onlyFields(message2, ["id", "text"], "message.");
  return {
    id: textOf2(
      message2,
      "id",
      { max: 128, pattern: MESSAGE_ID, patternRule: 'must hold only letters, digits, "_" and "-"' },
      "message."
    ),
    // The body's own limit bounds it.
    text: textOf2(message2, "text", { max: Number.MAX_SAFE_INTEGER }, "message.")
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
  const [version2, kind, id, part, turn, ...rest] = parts;
  if (version2 !== "v1" || rest.length > 0) throw noPath(path);
  if (id === void 0) {
    switch (kind) {
      case "health":
        return { GET: async () => ({ status: 200, body: health(context) }) };
      case "lease":
        return { POST: async () => ({ status: 200, body: health(context) }) };
      case "adopt":
        return {
          POST: async () => {
            context.onAdopted();
            return { status: 200, body: health(context) };
          }
        };
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
      return { POST: stop(jobAt(id, context), context.log) };
    case "events":
      return { GET: events(jobAt(id, context)) };
    case "deliveries":
      return { POST: deliver(jobAt(id, context)) };
    default:
      throw noPath(path);
  }
}
function health({ jobs: jobs2, leaseMs }) {
  return { verbatim: VERSION, protocol: PROTOCOL, pid: process.pid, leaseMs, running: jobs2.running };
}
function warm({ harnessOf, log }) {
  return async ({ json }) => {
    const { harness } = warmHarnessOf(await json());
    const warming = harnessOf(harness).warm?.() ?? Promise.resolve();
    warming.catch((error) => log("warning", `${harness} could not be started ahead`, { error }));
    return { status: 202, body: {} };
  };
}
function create({ jobs: jobs2 }) {
  return async ({ json }) => {
    const { job, isNew } = jobs2.create(createJobOf(await json()));
    return { status: isNew ? 201 : 200, body: { job } };
  };
}
function send(job) {
  return async ({ json }) => {
    const { message: message2, mode } = sendMessageOf(await json());
    const disposition = await job.send(message2, mode);
    return { status: 200, body: { disposition, job: job.view() } };
  };
}
function stop(job, log) {
  return async ({ json }) => {
    const { reason } = stopJobOf(await json());
    if (job.isBusy) log("info", `job ${job.id} is told to stop`, { reason });
    await job.stop();
    return { status: 200, body: { job: job.view() } };
  };
}
function events(job) {
  return async ({ query, signal: signal2 }) => {
    onlyQuery(query, ["after", "wait"]);
    const after = queryCount(query, "after", Number.MAX_SAFE_INTEGER, 0);
    const wait = queryCount(query, "wait", POLL_LIMIT_MS, 0);
    return { status: 200, body: await job.events(after, wait, signal2) };
  };
}
function answer(job, turn) {
  return async ({ query }) => {
    onlyQuery(query, ["from"]);
    const from = queryCount(query, "from", Number.MAX_SAFE_INTEGER, 0);
    const page = /^[1-9]\d{0,8}$/.test(turn) ? job.answer(Number(turn), from) : null;
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
function jobAt(id, { jobs: jobs2 }) {
  const job = jobs2.find(id);
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
  return isToken(/^Bearer ([\x21-\x7e]{1,256})$/i.exec(header ?? "")?.[1] ?? "", token);
}
function isToken(given2, token) {
  return timingSafeEqual(digest(given2), digest(token));
}
function digest(text2) {
  return createHash3("sha256").update(text2).digest();
}

// sidecar/src/server/http.ts
function createApi(ports) {
  const open2 = /* @__PURE__ */ new Set();
  ports.closing.addEventListener("abort", () => {
    for (const each of open2) each.abort();
  });
  const server = createServer({ keepAlive: true }, (request, response) => {
    const gone = new AbortController();
    open2.add(gone);
    response.on("close", () => {
      open2.delete(gone);
      gone.abort();
    });
    answer2(ports, request, response, gone.signal).catch((error) => {
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
async function answer2(ports, request, response, signal2) {
  try {
    const { status, body } = await route(ports, request, signal2);
    reply(response, status, body);
  } catch (error) {
    let refusal = refusalOf(error);
    if (refusal === null) {
      ports.log("error", `${request.method} ${pathOf(request)} failed`, { error });
      refusal = new Refusal("internal", `Verbatim's sidecar failed: ${messageOf2(error)}; its log says where`);
    }
    await refuse(request, response, refusal);
  }
}
async function route(ports, request, signal2) {
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
  return await handler({ query, json: () => readJson(request), signal: signal2 });
}
function pathOf(request) {
  return (request.url ?? "/").split("?")[0] ?? "/";
}

// sidecar/src/server/lifeline.ts
var SESSION_POLL_MS = 200;
function openLifeline({ leaseMs, session, now, end }) {
  const isThere2 = session === void 0 ? watchParent() : watch(session);
  let renewedAt = now();
  const timer = setInterval(
    () => {
      if (!isThere2()) end("session_gone");
      else if (now() - renewedAt > leaseMs) end("lease_over");
    },
    Math.min(SESSION_POLL_MS, leaseMs)
  );
  let isAdopted = false;
  const onSignal = (name2) => {
    if (!(isAdopted && name2 === "SIGTERM")) end(name2);
  };
  for (const name2 of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(name2, onSignal);
  return {
    renew() {
      renewedAt = now();
    },
    adopt() {
      isAdopted = true;
    },
    cut() {
      clearInterval(timer);
    }
  };
}
function watchParent() {
  const parent = process.ppid;
  return () => process.ppid === parent;
}
function watch(pid) {
  if (process.platform !== "linux") return () => isPid(pid);
  const session = entryOf(pid);
  return () => isAlive(session);
}
function isPid(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

// sidecar/src/server/tidy.ts
import { lstatSync as lstatSync6, rmSync as rmSync8 } from "node:fs";
import { join as join17 } from "node:path";

// sidecar/src/desk/errands.ts
import { randomBytes as randomBytes2 } from "node:crypto";
import { lstatSync as lstatSync3, rmSync as rmSync5 } from "node:fs";
import { join as join15 } from "node:path";

// plugin/hooks/protocol/errand.ts
var ERRAND_VARIABLE = "VERBATIM_ERRAND";
var ERRAND_ID = /^e[a-z2-7]{20}$/;
var TASK_LIMIT = 6e5;
var TASK_PATH = "/verbatim/task";
var WAITS = ["permission", "question", "task_refused", "turn_failed"];
var WAITING_PATH = "/verbatim/waiting";
var WAITING_LIMIT = 300;

// plugin/hooks/protocol/mod-answer.ts
var ANSWER_PATH = "/mod/answer";
var REPORT_LIMIT = 65536;
var TEXT_LIMIT = 16e3;
var TRUNCATED = "\n[truncated]";
var UNANSWERED = ["blank", "error", "refusal"];
function isBlank(text2) {
  return /^[\s\u0085]*$/.test(text2);
}
function isCut({ session_id, text: text2 = "" }) {
  if (!text2.endsWith(TRUNCATED)) return false;
  const kept = text2.length - TRUNCATED.length;
  return kept >= TEXT_LIMIT - 1 || bytesOf(JSON.stringify({ session_id, text: text2 })) >= REPORT_LIMIT - 12;
}
function bytesOf(text2) {
  let bytes = text2.length;
  for (let at = 0; at < text2.length; at += 1) {
    const unit = text2.charCodeAt(at);
    if (unit >= 128) bytes += unit >= 2048 && !isBetween(unit, 55296, 57343) ? 2 : 1;
  }
  return bytes;
}
function isBetween(unit, from, to) {
  return unit >= from && unit <= to;
}

// sidecar/src/desk/errand.ts
var ENDS = ["answered", "unanswered", "worker_ended", "timed_out", "needs_person", "interrupted", "failed"];
var START_WAITS = [
  "trust",
  "api_key",
  "sign_in",
  "onboarding",
  "mcp_servers",
  "imports",
  "warning",
  "start"
];
var RECORD_VERSION2 = 1;
var WORD2 = { max: 8192 };
function recordOf3(text2, id) {
  const fields = stateFieldsOf(text2, id, RECORD_VERSION2);
  return {
    version: RECORD_VERSION2,
    id,
    session: textOf2(fields, "session", WORD2),
    parent: nullable2(fields, "parent", wordOf),
    cwd: textOf2(fields, "cwd", WORD2),
    model: nullable2(fields, "model", wordOf),
    mode: nullable2(fields, "mode", wordOf),
    depth: countOf(fields, "depth", 1, 1e6),
    timeoutMs: countOf(fields, "timeoutMs", 1, Number.MAX_SAFE_INTEGER),
    isKept: fields.isKept === true,
    isUnattended: fields.isUnattended === true,
    createdAt: countOf(fields, "createdAt", 0, LAST_DATE),
    take: nullable2(fields, "take", wordOf),
    claudeSession: nullable2(fields, "claudeSession", wordOf),
    wait: nullable2(fields, "wait", waitOf),
    end: nullable2(fields, "end", endOf2),
    endedAt: nullable2(fields, "endedAt", (all, name2) => countOf(all, name2, 0, LAST_DATE)),
    asker: nullable2(fields, "asker", identityOf2),
    host: nullable2(fields, "host", identityOf2),
    desk: nullable2(fields, "desk", deskOf),
    tmux: nullable2(fields, "tmux", wordOf),
    worker: nullable2(fields, "worker", identityOf2)
  };
}
function endOf2(all, name2) {
  const fields = objectOf(all[name2], name2);
  const kind = choiceOf(fields, "kind", ENDS, `${name2}.`);
  switch (kind) {
    case "answered":
      return {
        kind,
        bytes: countOf(fields, "bytes", 1, Number.MAX_SAFE_INTEGER, `${name2}.`),
        sha256: textOf2(fields, "sha256", WORD2, `${name2}.`),
        isTruncated: fields.isTruncated === true
      };
    case "unanswered":
      return { kind, how: choiceOf(fields, "how", UNANSWERED, `${name2}.`) };
    case "timed_out":
      return {
        kind,
        ...typeof fields.isTaken === "boolean" ? { isTaken: fields.isTaken } : {},
        ...fields.wait === void 0 ? {} : { wait: waitOf(fields, "wait") }
      };
    case "needs_person":
      return { kind, wait: waitOf(fields, "wait") };
    case "worker_ended":
    case "interrupted":
    case "failed":
      return { kind, detail: saidIn(fields, "detail") };
    default:
      return kind;
  }
}
function waitOf(all, name2) {
  const fields = objectOf(all[name2], name2);
  return {
    for: choiceOf(fields, "for", [...WAITS, ...START_WAITS], `${name2}.`),
    what: saidIn(fields, "what")
  };
}
function saidIn(fields, name2) {
  const said = fields[name2];
  return typeof said === "string" ? said : "";
}
function deskOf(all, name2) {
  const fields = objectOf(all[name2], name2);
  return { port: countOf(fields, "port", 1, 65535, `${name2}.`), token: textOf2(fields, "token", WORD2, `${name2}.`) };
}
function identityOf2(all, name2) {
  const fields = objectOf(all[name2], name2);
  return {
    pid: countOf(fields, "pid", 1, Number.MAX_SAFE_INTEGER, `${name2}.`),
    startTime: typeof fields.startTime === "string" ? fields.startTime : ""
  };
}
function wordOf(fields, name2) {
  return textOf2(fields, name2, WORD2);
}
function nullable2(fields, name2, read3) {
  return fields[name2] === null ? null : read3(fields, name2);
}

// sidecar/src/desk/errands.ts
var STATE = "state.json";
var ALPHABET2 = "abcdefghijklmnopqrstuvwxyz234567";
var Errands = class {
  /** @param state Verbatim's state folder. */
  constructor(state) {
    this.state = state;
  }
  state;
  open(task, errand, now) {
    const record2 = {
      version: RECORD_VERSION2,
      id: `e${letters()}`,
      session: `w${letters()}`,
      ...errand,
      createdAt: now,
      take: null,
      claudeSession: null,
      wait: null,
      end: null,
      endedAt: null,
      host: null,
      desk: null,
      tmux: null,
      worker: null
    };
    ensurePrivateFolder(this.state);
    ensurePrivateFolder(errandsFolder(this.state));
    ensurePrivateFolder(this.folderOf(record2.id));
    this.#write(record2.id, "task", task);
    this.save(record2);
    return record2;
  }
  save(record2) {
    this.#write(record2.id, STATE, JSON.stringify(record2));
  }
  /** The errand; null where there is none. Throws where its folder or its record is not of our form. */
  read(id) {
    if (!ERRAND_ID.test(id) || !isThere(this.folderOf(id))) return null;
    this.#check(id);
    const bytes = readIfThere(join15(this.folderOf(id), STATE));
    return bytes === null ? null : recordOf3(bytes.toString("utf8"), id);
  }
  taskOf(id) {
    return readPrivate(join15(this.folderOf(id), "task")).toString("utf8");
  }
  keepAnswer(id, text2) {
    this.#write(id, "answer", text2);
  }
  answerOf(id) {
    return readIfThere(join15(this.folderOf(id), "answer"));
  }
  /** Every errand, the newest first, then the folders that cannot be read. One that is being made or removed is none. */
  list() {
    const entries = this.ids().flatMap((id) => this.#look(id) ?? []);
    return entries.sort((a, b) => madeAt(b) - madeAt(a));
  }
  /** The folders that became no errand, or are none any more: whoever made or removed them was killed at it. */
  remains(before) {
    return this.ids().filter((id) => {
      const folder = lstatSync3(this.folderOf(id), { throwIfNoEntry: false });
      return folder?.isDirectory() && folder.mtimeMs < before && !isThere(join15(this.folderOf(id), STATE));
    });
  }
  /** Removes an errand, and the log of its host. */
  remove(id) {
    this.#check(id);
    rmSync5(join15(this.folderOf(id), STATE), { force: true });
    rmSync5(this.folderOf(id), { recursive: true, force: true });
    rmSync5(join15(logsFolder(this.state), `errand-${id}.jsonl`), { force: true });
  }
  folderOf(id) {
    return join15(errandsFolder(this.state), id);
  }
  ids() {
    const folder = errandsFolder(this.state);
    if (!isThere(folder)) return [];
    checkPrivateFolder(folder);
    return namesIn(folder).filter((name2) => ERRAND_ID.test(name2));
  }
  #look(id) {
    const folder = this.folderOf(id);
    try {
      const record2 = this.read(id);
      return record2 === null ? null : { kind: "errand", record: record2, task: beginningOf(join15(folder, "task")) };
    } catch (error) {
      if (codeOf(error) === "ENOENT" && !isThere(join15(folder, STATE))) return null;
      const message2 = messageOf2(error);
      return { kind: "problem", id, problem: message2.includes(folder) ? message2 : `${folder}: ${message2}` };
    }
  }
  #write(id, name2, text2) {
    this.#check(id);
    writeAtomic(join15(this.folderOf(id), name2), text2);
  }
  /** No link is followed, to whatever it points. */
  #check(id) {
    checkPrivateFolder(errandsFolder(this.state));
    checkPrivateFolder(this.folderOf(id));
  }
};
function madeAt(entry) {
  return entry.kind === "errand" ? entry.record.createdAt : Number.NEGATIVE_INFINITY;
}
function letters() {
  return [...randomBytes2(20)].map((byte) => ALPHABET2[byte & 31]).join("");
}

// sidecar/src/desk/retention.ts
import { lstatSync as lstatSync4, rmdirSync, rmSync as rmSync6 } from "node:fs";
import { dirname as dirname8 } from "node:path";
var FOLDER_MS = 6e4;
function removeOldErrands(errands, before) {
  const removed = [];
  const kept = [];
  const problems = [];
  for (const entry of errands.list()) {
    if (entry.kind === "problem") {
      problems.push({ id: entry.id, problem: entry.problem });
      continue;
    }
    const { record: record2 } = entry;
    if ((record2.endedAt ?? record2.createdAt) > before) continue;
    const why = inUse(record2) ?? failed(() => removeErrand(errands, record2));
    if (why === null) removed.push(record2.id);
    else kept.push({ id: record2.id, why });
  }
  for (const id of errands.remains(Math.min(before, Date.now() - FOLDER_MS))) {
    const why = failed(() => errands.remove(id));
    if (why !== null) kept.push({ id, why });
  }
  return { removed, kept, problems };
}
function inUse({ id, end, asker, host: host2, tmux, worker: worker2 }) {
  if (end === null && (isAlive(asker) || isAlive(host2))) return "its worker is at work";
  if (isAlive(worker2) || tmux !== null && carrying(ERRAND_VARIABLE, [id]).length > 0) {
    return `its worker is open; \`verbatim worker stop ${id}\` closes it`;
  }
  if (isAlive(asker) || isAlive(host2)) return "its end is being told";
  return null;
}
function removeErrand(errands, { id, tmux }) {
  errands.remove(id);
  if (tmux !== null) removeSocket(tmux);
}
function removeSocket(path) {
  if (!lstatSync4(path, { throwIfNoEntry: false })?.isSocket()) return;
  rmSync6(path, { force: true });
  try {
    rmdirSync(dirname8(path));
  } catch (error) {
    if (codeOf(error) !== "ENOTEMPTY") throw error;
  }
}
function failed(act) {
  try {
    act();
    return null;
  } catch (error) {
    return messageOf2(error);
  }
}

// sidecar/src/job/retention.ts
import { rmSync as rmSync7 } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";

// sidecar/src/job/catalog.ts
import { closeSync as closeSync5, constants as constants6, fstatSync as fstatSync3, lstatSync as lstatSync5, readdirSync as readdirSync5, readSync as readSync3 } from "node:fs";
import { join as join16 } from "node:path";
function listJobs(state) {
  const entries = jobIds(state).flatMap((id) => lookAt(state, id) ?? []);
  return entries.sort((a, b) => changedAt(b) - changedAt(a) || (a.id < b.id ? -1 : 1));
}
function jobIds(state) {
  const folder = jobsFolder(state);
  if (!isThere(folder)) return [];
  checkPrivateFolder(folder);
  return namesIn(folder).filter(isJobId);
}
function lookAt(state, id) {
  const folder = jobFolder(state, id);
  try {
    checkPrivateFolder(folder);
    const record2 = recordOf2(readPrivate(join16(folder, "state.json")).toString("utf8"), id);
    const last = lastEvent(join16(folder, "events.jsonl"));
    const isHeld = livingOwner(folder) !== null;
    const isOpen = last !== null && last.kind !== "turn_ended";
    return {
      kind: "job",
      id,
      folder,
      record: record2,
      status: isHeld && (isOpen || last === null) ? "running" : isOpen ? "broken_off" : "idle",
      lastOutcome: last?.kind === "turn_ended" ? last.outcome : null,
      lastEvent: last,
      task: beginningOf(join16(folder, "prompts", "1")),
      isHeld,
      bytes: bytesBelow(folder)
    };
  } catch (error) {
    if (codeOf(error) === "ENOENT" && !isThere(folder)) return null;
    const problem = codeOf(error) === "ENOENT" ? `${folder} has no state.json` : problemOf(error, folder);
    return { kind: "problem", id, folder, problem };
  }
}
function lastEvent(path) {
  let descriptor;
  try {
    descriptor = openPrivate(path, constants6.O_RDONLY);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
  try {
    const { size: size2 } = fstatSync3(descriptor);
    for (let length = Math.min(size2, 64 * 1024); length > 0; length = Math.min(size2, length * 8)) {
      const bytes = Buffer.alloc(length);
      const count2 = readSync3(descriptor, bytes, 0, length, size2 - length);
      const event = lastEventIn(bytes.subarray(0, count2), length === size2);
      if (event !== null || length === size2) return event;
    }
    return null;
  } finally {
    closeSync5(descriptor);
  }
}
function lastEventIn(bytes, isWhole) {
  let end = bytes.lastIndexOf(10);
  while (end > 0) {
    const before = bytes.lastIndexOf(10, end - 1);
    if (before === -1 && !isWhole) return null;
    try {
      return shownEventOf(JSON.parse(bytes.subarray(before + 1, end).toString("utf8")));
    } catch {
      end = before;
    }
  }
  return null;
}
var KINDS = {
  turn_started: true,
  message: true,
  reasoning: true,
  plan: true,
  action_started: true,
  action_completed: true,
  retry: true,
  approval: true,
  warning: true,
  steered: true,
  turn_ended: true
};
var OUTCOMES = ["completed", "empty", "interrupted", "failed"];
var WORD3 = { max: Number.MAX_SAFE_INTEGER };
function shownEventOf(value) {
  const fields = objectOf(value, "the event");
  const kind = choiceOf(fields, "kind", Object.keys(KINDS));
  if (kind === "action_started" || kind === "action_completed") {
    const action = objectOf(fields.action, "action");
    textOf2(action, "tool", WORD3);
    if (action.tool === "other") textOf2(action, "name", WORD3);
  }
  if (kind === "turn_ended") {
    if (fields.tokens !== null) objectOf(fields.tokens, "tokens");
    const outcome = objectOf(fields.outcome, "outcome");
    if (choiceOf(outcome, "kind", OUTCOMES) === "failed") {
      const failure3 = objectOf(outcome.failure, "failure");
      for (const name2 of ["kind", "status", "message"]) textOf2(failure3, name2, WORD3);
    }
  }
  return value;
}
function bytesBelow(path) {
  let stat2;
  try {
    stat2 = lstatSync5(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return 0;
    throw error;
  }
  if (!stat2.isDirectory()) return stat2.size;
  return readdirSync5(path).reduce((sum, name2) => sum + bytesBelow(join16(path, name2)), 0);
}
function changedAt(entry) {
  return entry.kind === "job" ? entry.record.updatedAt : Number.NEGATIVE_INFINITY;
}
function problemOf(error, folder) {
  const message2 = messageOf2(error);
  return message2.includes(folder) ? message2 : `${folder}: ${message2}`;
}

// sidecar/src/job/retention.ts
function expired(jobs2, { maxAgeMs, maxBytes }, now) {
  const oldestFirst = [...jobs2].sort((a, b) => a.record.updatedAt - b.record.updatedAt);
  let total = jobs2.reduce((sum, job) => sum + job.bytes, 0);
  return oldestFirst.filter((job) => {
    if (job.isHeld) return false;
    if (now - job.record.updatedAt <= maxAgeMs && total <= maxBytes) return false;
    total -= job.bytes;
    return true;
  });
}
function remove(job, self) {
  try {
    takeJob(job.folder, job.id, self);
    rmSync7(job.folder, { recursive: true, force: true });
    return { kind: "removed", job };
  } catch (error) {
    return { kind: "kept", job, why: messageOf2(error) };
  }
}
async function removeOldJobs(state, self, retention, now) {
  const jobs2 = [];
  for (const id of jobIds(state)) {
    const entry = lookAt(state, id);
    if (entry?.kind === "job") jobs2.push(entry);
    await nextTurn();
  }
  const removals = [];
  for (const job of expired(jobs2, retention, now)) {
    removals.push(remove(job, self));
    await nextTurn();
  }
  return removals;
}

// sidecar/src/server/tidy.ts
var RETENTION = { maxAgeMs: 30 * 24 * 36e5, maxBytes: 1024 ** 3 };
async function tidy(state, self, log) {
  try {
    for (const { sidecar, ended, survivors } of await reap(state, log)) {
      log("warning", `sidecar ${sidecar} had left processes running; they were ended`, { ended, survivors });
    }
    for (const removal of await applyRetention(state, self, RETENTION, Date.now())) {
      if (removal.kind === "removed") log("info", `job ${removal.job.id} was removed: it was kept long enough`);
      else log("warning", `job ${removal.job.id} could not be removed`, { why: removal.why });
    }
  } catch (error) {
    log("error", "what earlier sidecars left could not be tidied", { error });
  }
}
async function applyRetention(state, self, retention, now) {
  const removals = await removeOldJobs(state, self, retention, now);
  removeOldErrands(new Errands(state), now - retention.maxAgeMs);
  removeOldLogs(state, now - retention.maxAgeMs);
  return removals;
}
function removeOldLogs(state, before) {
  for (const name2 of namesIn(logsFolder(state)).filter((each) => /^(?:sidecar|errand)-[\w-]+\.jsonl$/.test(each))) {
    const path = join17(logsFolder(state), name2);
    const stat2 = lstatSync6(path, { throwIfNoEntry: false });
    if (stat2 !== void 0 && stat2.mtimeMs < before) rmSync8(path, { force: true });
  }
}

// sidecar/src/server/serve.ts
var DEFAULT_LEASE_MS = 6e5;
var END_LIMIT_MS = 25e3;
async function serve(options = {}) {
  keepHeapSmall();
  const { env } = process;
  const leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS;
  const self = ownIdentity();
  const sidecar = sidecarId(self);
  const state = stateFolder(env);
  const hide2 = (text2) => mask(text2, env);
  const logFile = openLog(join18(logsFolder(state), `sidecar-${sidecar}.jsonl`), hide2, Date.now);
  const { log } = logFile;
  process.on("uncaughtException", (error) => log("error", "an unexpected error", { error }));
  process.on("unhandledRejection", (error) => log("error", "an unexpected rejection", { error }));
  process.stdout.on("error", () => {
  });
  process.stderr.on("error", () => {
  });
  let lifeline;
  const ended = new Promise((resolve4) => {
    lifeline = openLifeline({ leaseMs, session: options.session, now: () => performance.now(), end: resolve4 });
  });
  const closing = new AbortController();
  const harnesses = new Harnesses({ env, sidecar }, options.makers);
  const harnessOf = (name2) => harnesses.of(name2);
  const jobs2 = new Jobs({ place: { state, self, mask: hide2, now: Date.now }, harnessOf, log });
  const token = mintToken();
  const server = createApi({
    routes: { jobs: jobs2, harnessOf, leaseMs, log, onAdopted: () => lifeline?.adopt() },
    token,
    log,
    onRequest: () => lifeline?.renew(),
    closing: closing.signal
  });
  const { address, remove: remove2 } = await listen(server, env);
  const handshake = { verbatim: VERSION, protocol: PROTOCOL, pid: process.pid, ...address, token };
  writeSync3(1, `${JSON.stringify(handshake)}
`);
  process.send?.("up", () => process.disconnect());
  const recorder = recordSidecar(state, self, () => jobs2.running > 0, log);
  setImmediate(() => void tidy(state, self, log));
  log("info", "the sidecar is up", { version: VERSION, pid: process.pid, parent: process.ppid, node: process.version });
  const reason = await ended;
  log("info", "the sidecar is ending", { reason });
  const sweep = () => killAll(() => carrying(SIDECAR_VARIABLE, [sidecar]));
  setTimeout(() => {
    log("error", "ending took too long; what is left is killed");
    void sweep().finally(() => process.exit(1));
  }, END_LIMIT_MS).unref();
  closing.abort();
  remove2();
  server.close();
  const survivors = [.../* @__PURE__ */ new Set([...await jobs2.close(), ...await harnesses.close(), ...await sweep()])];
  server.closeAllConnections();
  lifeline?.cut();
  if (survivors.length > 0) log("error", "processes outlived the sidecar", { survivors });
  log("info", "the sidecar has ended");
  recorder.close(survivors.length > 0);
  logFile.close();
  return survivors.length > 0 ? 1 : 0;
}

// sidecar/src/cli/options.ts
import { parseArgs } from "node:util";

// sidecar/src/cli/terminal.ts
var TERMINAL = {
  isTerminal: process.stdout.isTTY,
  print: (what) => new Promise((resolve4, reject) => {
    hearErrors(process.stdout);
    process.stdout.write(what, (error) => {
      if (error == null || codeOf(error) === "EPIPE") resolve4();
      else reject(new CommandError(`verbatim: the output could not be written: ${error.message}`));
    });
  }),
  complain: (line) => {
    hearErrors(process.stderr);
    process.stderr.write(`${line}
`);
  }
};
function hearErrors(stream) {
  if (!stream.listeners("error").includes(ignore)) stream.on("error", ignore);
}
function ignore() {
}
var CommandError = class extends Error {
  /** @param exitCode 1: it could not be done; 2: it was asked for wrongly. */
  constructor(message2, exitCode = 1) {
    super(message2);
    this.exitCode = exitCode;
    this.name = "CommandError";
  }
  exitCode;
};
function oneLine(text2, limit = 200) {
  const plain2 = text2.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return cut(plain2, limit);
}
function jsonOf(value) {
  const escaped = (found) => Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
    ""
  );
  return `${JSON.stringify(value, null, 2).replace(/[\u007f-\u009f\p{Cf}]/gu, escaped)}
`;
}
function table(rows) {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row2) => row2[column]?.length ?? 0)));
  return rows.map((row2) => {
    const cells2 = row2.map((cell, column) => column === row2.length - 1 ? cell : cell.padEnd(widths[column] ?? 0));
    return `${cells2.join("  ")}
`;
  }).join("");
}
function size(bytes) {
  if (bytes < 1e3) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes / 1e3;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1e3;
    unit += 1;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}
function ago(ms) {
  const minutes = Math.floor(Math.max(0, ms) / 6e4);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / 1440)} days ago`;
}

// sidecar/src/cli/options.ts
function read2(command, args, types, positionals = []) {
  const hint = `see \`verbatim ${command} --help\``;
  const options = Object.fromEntries(
    Object.entries(types).map(([name2, type]) => [name2, { type }])
  );
  const { tokens: tokens2 } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
  const values = {};
  const found = [];
  for (const token of tokens2) {
    if (token.kind === "positional") found.push(token.value);
    if (token.kind !== "option") continue;
    const type = Object.hasOwn(types, token.name) ? types[token.name] : void 0;
    if (type === void 0) throw wrong(`there is no option ${token.rawName} here; ${hint}`);
    if (Object.hasOwn(values, token.name)) throw wrong(`${token.rawName} is given twice`);
    if (type === "boolean" && token.value !== void 0) {
      throw wrong(`${token.rawName} takes no value, it was given ${JSON.stringify(token.value)}`);
    }
    if (type === "string" && (token.value === void 0 || token.value === "")) {
      throw wrong(`${token.rawName} needs a value; ${hint}`);
    }
    values[token.name] = token.value ?? true;
  }
  const surplus = found[positionals.length];
  if (surplus !== void 0) throw wrong(`${JSON.stringify(surplus)} is one argument too many; ${hint}`);
  const missing = positionals[found.length];
  if (missing !== void 0 && !missing.startsWith("[")) throw wrong(`${missing} is missing; ${hint}`);
  return { values, positionals: found };
  function wrong(message2) {
    return new CommandError(`verbatim ${command}: ${message2}`, 2);
  }
}

// sidecar/src/cli/jobs.ts
async function jobs(args, terminal) {
  const { values } = read2("jobs", args, { json: "boolean" });
  const entries = listJobs(stateFolder(process.env));
  const found = entries.filter((entry) => entry.kind === "job");
  const problems = entries.filter((entry) => entry.kind === "problem");
  if (values.json) {
    const list2 = { jobs: found.map(facts), problems: problems.map(({ id, problem }) => ({ id, problem })) };
    await terminal.print(jsonOf(list2));
  } else if (found.length === 0) {
    await terminal.print("No jobs are kept. Each agent that you spawn in Claude Code makes one.\n");
  } else {
    const head2 = ["JOB", "MODEL", "STATUS", "TURNS", "LAST STEP", "TOKENS", "CHANGED", "TASK"];
    await terminal.print(table([head2, ...found.map((job) => row(job, Date.now()))]));
  }
  for (const { problem } of problems) terminal.complain(`verbatim jobs: ${oneLine(problem, 600)}`);
  return problems.length > 0 ? 1 : 0;
}
var TASK_WIDTH = 48;
function row(job, now) {
  const { record: record2, status, lastEvent: lastEvent2, task } = job;
  return [
    job.id,
    record2.model === "" ? record2.harness : `${record2.harness}/${oneLine(record2.model, 40)}`,
    statusWord(status),
    String(record2.turns),
    lastEvent2 === null ? "-" : stepWord(lastEvent2),
    lastEvent2?.kind === "turn_ended" ? tokensWord(lastEvent2.tokens) : "-",
    ago(now - record2.updatedAt),
    oneLine(task, TASK_WIDTH)
  ];
}
function facts(job) {
  const { record: record2 } = job;
  return {
    id: job.id,
    harness: record2.harness,
    harnessVersion: record2.harnessVersion,
    model: record2.model,
    status: job.status,
    turns: record2.turns,
    waitingMessages: record2.messages.filter((message2) => message2.turn === null).length,
    task: job.task,
    lastOutcome: job.lastOutcome,
    lastTokens: job.lastEvent?.kind === "turn_ended" ? job.lastEvent.tokens : null,
    access: record2.access,
    agent: record2.agent,
    session: record2.session,
    thread: record2.thread,
    cwd: record2.cwd,
    createdAt: new Date(record2.createdAt).toISOString(),
    updatedAt: new Date(record2.updatedAt).toISOString(),
    deliveries: record2.deliveries,
    bytes: job.bytes,
    folder: job.folder
  };
}
function statusWord(status) {
  switch (status) {
    case "running":
    case "idle":
      return status;
    case "broken_off":
      return "broken off";
    default:
      return status;
  }
}
function stepWord(event) {
  switch (event.kind) {
    case "turn_ended":
      return outcomeWord(event.outcome);
    case "action_started":
    case "action_completed":
      return event.action.tool === "other" ? oneLine(event.action.name, 24) : event.action.tool;
    case "turn_started":
      return "begun";
    case "message":
    case "reasoning":
    case "plan":
    case "retry":
    case "approval":
    case "warning":
    case "steered":
      return event.kind;
    default:
      return event;
  }
}
function tokensWord(tokens2) {
  return tokens2 === null ? "?" : `${tokens2.input ?? "?"} in, ${tokens2.output ?? "?"} out`;
}
function outcomeWord(outcome) {
  switch (outcome.kind) {
    case "completed":
    case "empty":
    case "interrupted":
      return outcome.kind;
    case "failed":
      return `${outcome.failure.status} (${outcome.failure.kind})`;
    default:
      return outcome;
  }
}

// sidecar/src/cli/answer.ts
async function answer3(args, terminal) {
  const { values, positionals } = read2("answer", args, { turn: "string", json: "boolean" }, ["<job>"]);
  const job = jobOf(positionals[0] ?? "");
  const turn = values.turn === void 0 ? newestAnswered(job) : turnOf(values.turn, job);
  const bytes = readAnswerBytes(job.folder, turn);
  if (bytes === null) throw new CommandError(noAnswer(job, turn));
  if (values.json) {
    const whole = { job: job.id, turn, ...readWholeAnswer(job.folder, turn) };
    await terminal.print(jsonOf(whole));
  } else {
    await terminal.print(bytes);
  }
  return 0;
}
function jobOf(id) {
  if (!isJobId(id)) {
    throw new CommandError(
      `verbatim answer: ${JSON.stringify(oneLine(id, 60))} is no job id: "j" and 20 letters or digits, as \`verbatim jobs\` lists them`,
      2
    );
  }
  const entry = lookAt(stateFolder(process.env), id);
  if (entry === null) throw new CommandError(`verbatim answer: there is no job ${id}; \`verbatim jobs\` lists them`);
  if (entry.kind === "problem") throw new CommandError(`verbatim answer: ${oneLine(entry.problem, 600)}`);
  return entry;
}
function turnOf(text2, job) {
  if (!/^[1-9]\d{0,8}$/.test(text2)) {
    throw new CommandError(`verbatim answer: --turn must be a whole number from 1, it is ${JSON.stringify(text2)}`, 2);
  }
  const turn = Number(text2);
  if (turn > job.record.turns) {
    const turns = job.record.turns === 1 ? "1 turn" : `${job.record.turns} turns`;
    throw new CommandError(`verbatim answer: job ${job.id} has ${turns}, there is no turn ${turn}`);
  }
  return turn;
}
function newestAnswered(job) {
  const newest = answeredTurns(job.folder).find((turn) => turn <= job.record.turns);
  if (newest !== void 0) return newest;
  throw new CommandError(noAnswer(job, job.record.turns));
}
function noAnswer(job, turn) {
  const what = turn === 0 ? `job ${job.id} has no turn yet` : `turn ${turn} of job ${job.id} has no answer`;
  if (turn !== job.record.turns || turn === 0) return `verbatim answer: ${what}`;
  const { lastOutcome } = job;
  if (lastOutcome === null) return `verbatim answer: ${what}: it has not ended`;
  const why = lastOutcome.kind === "failed" ? `: ${oneLine(lastOutcome.failure.message, 600)}` : "";
  return `verbatim answer: ${what}: it ended as ${outcomeWord(lastOutcome)}${why}`;
}

// sidecar/src/cli/doctor.ts
import { execFile } from "node:child_process";
import { promisify } from "node:util";

// sidecar/src/worker-host/programs.ts
var MissingProgramError = class extends Error {
};
var INSTALL2 = {
  tmux: "a worker is an interactive Claude Code in a terminal of its own. Install the package tmux (apt-get install tmux, brew install tmux)",
  claude: "install Claude Code: npm install -g @anthropic-ai/claude-code"
};
function programsOf(env) {
  return { tmux: programOf("tmux", env), claude: programOf("claude", env) };
}
function programOf(name2, env) {
  const found = resolveProgram(name2, { env });
  if (found.kind === "found") return found.path;
  throw new MissingProgramError(`${name2} is missing: ${INSTALL2[name2]}. Looked for ${found.lookedFor}`);
}

// sidecar/src/cli/doctor.ts
var run = promisify(execFile);
var TMUX_MS = 1e4;
var SIGN_IN = { codex: "Run `codex login`." };
var TITLE = { codex: "Codex" };
async function doctor(args, terminal) {
  const { values } = read2("doctor", args, { json: "boolean" });
  const harnesses = new Harnesses({ env: process.env, sidecar: sidecarId(ownIdentity()) });
  const [claude, tmux, ...found] = await Promise.all([
    claudeCode(),
    tmuxHere(),
    ...HARNESS_NAMES.map(async (name2) => findingOf(name2, harnesses))
  ]);
  await harnesses.close();
  const isUsable = found.some((finding) => finding.state === "ready");
  const isWorkerUsable = claude.state === "ready" && tmux.state === "ready";
  if (values.json) {
    const report = {
      verbatim: VERSION,
      node: process.versions.node,
      stateFolder: stateFolder(process.env),
      claudeCode: claude,
      harnesses: found,
      tmux,
      usable: isUsable,
      workerUsable: isWorkerUsable
    };
    await terminal.print(jsonOf(report));
  } else {
    const parts = [
      `Verbatim ${VERSION} on Node ${process.versions.node}; jobs are kept in ${stateFolder(process.env)}
`,
      ...[claude, ...found].map(asText),
      tmuxText(tmux),
      summary(isUsable, claude.state === "ready", isWorkerUsable)
    ];
    await terminal.print(parts.join("\n"));
  }
  return isUsable ? 0 : 1;
}
function summary(isUsable, hasClaude, isWorkerUsable) {
  const again = "do what is said above, then run `verbatim doctor` again.";
  const agents = isUsable && hasClaude ? "Agents: ready." : `Agents: ${isUsable ? "a harness is ready, Claude Code is not" : "no harness can be used yet"}: ${again}`;
  return `${agents}
Workers: ${isWorkerUsable ? "ready." : `not yet: ${again}`}
`;
}
async function findingOf(name2, harnesses) {
  const base2 = { name: name2, title: TITLE[name2], tested: TESTED[name2] };
  let detection;
  try {
    detection = await harnesses.of(name2).detect();
  } catch (error) {
    const advice2 = [`Looking for it failed: ${messageOf2(error)}`];
    return { ...base2, state: "broken", version: null, program: null, advice: advice2 };
  }
  if (detection.kind === "missing") {
    const advice2 = [`Looked for ${detection.lookedFor}.`, `Install it: \`${detection.install}\``];
    return { ...base2, state: "missing", version: null, program: null, advice: advice2 };
  }
  const { version: version2, program, signedIn } = detection;
  const advice = [...drift(TITLE[name2], version2, TESTED[name2])];
  if (signedIn === "no") advice.push(`You are not signed in. ${SIGN_IN[name2]}`);
  if (signedIn === "unknown")
    advice.push(`It does not say whether you are signed in. If a turn fails: ${SIGN_IN[name2]}`);
  return { ...base2, state: signedIn === "no" ? "signed_out" : "ready", version: version2, program, advice };
}
var SIGNED_IN = "Whether you are signed in is not checked: run `claude` once to see.";
async function claudeCode() {
  const base2 = { name: "claude_code", title: "Claude Code", tested: TESTED.claude_code };
  const resolution = resolveProgram("claude", { env: process.env });
  if (resolution.kind === "missing") {
    const advice2 = [`Looked for ${resolution.lookedFor}.`, "Install it: `npm install -g @anthropic-ai/claude-code`"];
    return { ...base2, state: "missing", version: null, program: null, advice: advice2 };
  }
  const program = resolution.path;
  const answer6 = await askVersion(program, process.env);
  if (answer6.kind === "failed") {
    const advice2 = [`\`claude --version\` failed: ${answer6.why}.`];
    return { ...base2, state: "broken", version: null, program, advice: advice2 };
  }
  const version2 = answer6.version ?? "unknown";
  const advice = [...drift("Claude Code", version2, TESTED.claude_code), SIGNED_IN];
  return { ...base2, state: "ready", version: version2, program, advice };
}
async function tmuxHere() {
  let program;
  try {
    program = programOf("tmux", process.env);
  } catch (error) {
    if (!(error instanceof MissingProgramError)) throw error;
    return { state: "missing", version: null, program: null, advice: [`${error.message}.`] };
  }
  try {
    const { stdout } = await run(program, ["-V"], { timeout: TMUX_MS });
    return { state: "ready", version: stdout.trim().replace(/^tmux /, ""), program, advice: [] };
  } catch (error) {
    return { state: "broken", version: null, program, advice: [`\`tmux -V\` failed: ${messageOf2(error)}`] };
  }
}
function drift(title, version2, tested) {
  const verdict = compareToTested(version2, tested);
  const range = rangeText(tested);
  switch (verdict) {
    case "tested":
      return [];
    case "older":
      return [`It is older than what was tested (${range}). Update ${title}.`];
    case "newer":
      return [`It is newer than what was tested (${range}). It will probably work; look for a newer Verbatim.`];
    case "unknown":
      return [`Its version cannot be read; ${range} was tested.`];
    default:
      return verdict;
  }
}
var WORD4 = { ready: "ready", signed_out: "not signed in", missing: "not found", broken: "does not work" };
function asText({ title, tested, ...finding }) {
  return lines(title, `(tested with ${rangeText(tested)})`, finding);
}
function tmuxText(finding) {
  return lines("tmux", "(for `verbatim worker` alone)", finding);
}
function lines(title, remark, { state, version: version2, program, advice }) {
  const found = version2 === null ? "" : ` ${oneLine(version2, 40)}`;
  const all = [`${state === "ready" ? "✓" : "✗"} ${title}${found}: ${WORD4[state]} ${remark}`];
  if (program !== null) all.push(`    ${oneLine(program, 400)}`);
  for (const sentence of advice) all.push(`    ${oneLine(sentence, 1e3)}`);
  return `${all.join("\n")}
`;
}

// sidecar/src/worker-host/launch.ts
import { fileURLToPath } from "node:url";
var PLUGIN = fileURLToPath(new URL("..", import.meta.url));
var DEPTH_LIMIT = 3;
var DEPTH_VARIABLE2 = "LICH_SUBAGENT_DEPTH";
function depthOf(env) {
  return depthIn(env, DEPTH_VARIABLE2);
}
function argumentsOf({ model, mode }) {
  return [
    "--plugin-dir",
    PLUGIN,
    ...model === null ? [] : ["--model", model],
    ...mode === null ? [] : ["--permission-mode", mode]
  ];
}
function environmentOf2({ id, session, depth, desk }, parent) {
  return {
    ...withoutProxyHere(ownEnvironment(parent)),
    LICH_PORT: String(desk?.port),
    LICH_TOKEN: desk?.token ?? "",
    LICH_SESSION_ID: session,
    [DEPTH_VARIABLE2]: String(depth),
    // An orchestrator's own plugin, where the user has one, must not take this session for its own.
    LICH_SUBAGENT_CARDS: "off",
    [ERRAND_VARIABLE]: id
  };
}
function ownEnvironment(parent) {
  const isInside = INSIDE.some((name2) => parent[name2] !== void 0);
  return Object.fromEntries(
    Object.entries(parent).filter((entry) => {
      const [name2, value] = entry;
      if (value === void 0 || /^(?:TMUX|TMUX_PANE|LICH_.*)$/.test(name2)) return false;
      return !(isInside && SESSION_VARIABLES.test(name2));
    })
  );
}
var INSIDE = ["CLAUDECODE", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS"];
var SESSION_VARIABLES = /^(?:CLAUDECODE|AI_AGENT|CLAUDE_(?:PID|EFFORT|ENV_FILE|PROJECT_DIR|PLUGIN_.*|CODE_(?:ENTRYPOINT|EXECPATH|SESSION_.*|CHILD_.*|LAUNCHED_BY_.*|MESSAGING_.*|SSE_PORT)))$/;
var HERE = "127.0.0.1";
function withoutProxyHere(env) {
  if (!Object.keys(env).some((name2) => /^https?_proxy$/i.test(name2))) return env;
  const set = ["NO_PROXY", "no_proxy"].filter((name2) => env[name2] !== void 0);
  const exceptions = (set.length === 0 ? ["NO_PROXY"] : set).map((name2) => [name2, withHere(env[name2] ?? "")]);
  return { ...env, ...Object.fromEntries(exceptions) };
}
function withHere(exceptions) {
  const all = exceptions.split(/[\s,]+/).filter(Boolean);
  return all.includes(HERE) || all.includes("*") ? exceptions : [...all, HERE].join(",");
}

// sidecar/src/cli/help.ts
var HELP = `Verbatim runs other coding agents, such as Codex, as agents of Claude Code, and keeps each answer exactly.

Usage: verbatim <command> [options]

  doctor          Is everything here that Verbatim needs? Says what to do where it is not.
  jobs            Lists the jobs that Verbatim keeps: one for each agent that you spawned.
  answer <job>    Prints the answer of a job: exactly its bytes, nothing else.
  purge           Removes jobs and errands that you no longer need.
  worker …        Hands a task to a Claude Code of its own, and prints exactly its answer.

  --help          This page; after a command, that command's page.
  --version       The version of Verbatim.

Jobs and errands are kept for 30 days below ~/.local/state/verbatim (XDG_STATE_HOME is respected).
Exit code: 0 done, 1 not done, 2 asked for wrongly.
`;
var COMMAND_HELP = {
  doctor: `Usage: verbatim doctor [--json]

Looks for Claude Code and for each harness (the program behind an agent): whether it is installed, which
version, whether that version was tested with this Verbatim, whether you are signed in, and what to do. Looks for
tmux too, which only \`verbatim worker\` needs; without it the exit code is the same.

  --json          The same as JSON.

Exit code: 0 where at least one harness can be used, else 1.
`,
  jobs: `Usage: verbatim jobs [--json]

Lists the jobs, the one that changed last first. Status:
  running         A turn is under way.
  idle            No turn is under way; a message to the agent starts one.
  broken off      Verbatim was killed during a turn. Send the agent a message to go on.

  --json          All that is known of each job, as JSON.
`,
  answer: `Usage: verbatim answer <job> [--turn <n>] [--json]

Prints the answer of a job's last turn that has one: exactly its bytes, nothing else.
\`verbatim jobs\` lists the jobs.

  --turn <n>      The answer of turn n, counted from 1.
  --json          The answer with its turn, length, SHA-256 and file, as JSON.
`,
  purge: `Usage: verbatim purge (--older-than <age> | --all) [--json]

Removes jobs with their prompts, events and answers, and errands with their tasks and answers. A job whose session
is open stays, and so does an errand whose worker is open.

  --older-than <age>   Jobs that have not changed, and errands that ended, for this long: 30m, 12h, 7d.
  --all                All of them.
  --json               What was removed and what stays, as JSON.
`,
  worker: `Usage: verbatim worker <command>

A worker is an interactive Claude Code in a terminal of its own (tmux), opened for one task. What it says last is
the answer. An errand is that task with its answer; it has an id.

  run [<task>]       Opens a worker, waits, prints exactly its answer, and closes it.
  list               Lists the errands: which work, which wait for you, which have ended.
  attach <errand>    Shows the worker's terminal in this one; Ctrl-b d leaves it.
  answer <errand>    Prints the answer again.
  stop <errand>      Takes the task back, and closes the worker.

For an errand its id will do, or a beginning of it that no other has.
\`verbatim worker <command> --help\` says more.
`,
  serve: `Usage: verbatim serve [--session <pid>]

The sidecar that the plugin starts; it is of no use in a terminal. It prints one line of JSON that says where
its API listens, and ends when its parent does.

  --session <pid>      The process to end with, instead of its parent.
`
};
var WORKER_HELP = {
  run: `Usage: verbatim worker run [<task> | --file <path> | -] [options]

Opens an interactive Claude Code in a terminal of its own, hands it the task as your own words, waits until it has
nothing left to do, prints its last message (exactly, and nothing else) to stdout, and closes it. A message over
16,000 characters is cut, and says so. The task comes from the command line, a file, or stdin (which is not read
beside another); it is just text, whatever it begins with. Other options of Claude Code belong into its settings.

  --file <path>             The task is what stands in this file.
  --cwd <folder>            Where the worker works; this folder unless said.
  --model <model>           Claude Code's --model.
  --permission-mode <mode>  Claude Code's --permission-mode; your own default unless said.
  --timeout <time>          Give up this long after the start: 90s, 60m, 2h. 60m unless said.
  --unattended              Nobody is there: give up as soon as it waits for a person.
  --keep                    Leave the worker open when the task has ended; \`worker stop\` closes it.
  --depth <n>               How deep this worker stands among workers. One deeper than this session unless said,
                            at most ${DEPTH_LIMIT}; a worker that deep opens no other.
  --json                    The answer with the errand and how it ended, as JSON.

What waits for you (trust, sign-in, permission, a question, a failed turn) is said on stderr, with how to get to it;
until somebody comes it waits. In a script, say --unattended.

Exit code: 0 answered, 3 ended without an answer, 4 the worker ended first, 5 unattended and waits for a person,
124 timed out, 130 interrupted, 1 could not be done, 2 asked for wrongly.
`,
  list: `Usage: verbatim worker list [--json]

Lists the errands, the newest first. Status:
  starting, working   The worker is being opened; it has the task.
  waits: …            It waits for you: \`verbatim worker attach <errand>\`.
  answered, unanswered, worker ended, timed out, needs person, interrupted, failed
                      How it ended; "kept open": the worker is still there.
  abandoned           Who asked was killed, and so was the desk; \`worker stop\` closes the worker.

  --json              All that is known of each errand, as JSON.
`,
  attach: `Usage: verbatim worker attach <errand>

Shows the worker's terminal in this one. What you do there, the worker gets. Ctrl-b d leaves it; inside a tmux of
your own, which takes the first Ctrl-b, Ctrl-b Ctrl-b d.
`,
  answer: `Usage: verbatim worker answer <errand> [--json]

Prints the answer of an errand as \`worker run\` did, with the same exit codes.

  --json          The answer with how the errand ended, as JSON.
`,
  stop: `Usage: verbatim worker stop <errand>

Takes the task back where the errand is open, and closes the worker, one that was kept open too.
`,
  host: `Usage: verbatim worker host <errand>

The process behind an errand, which \`worker run\` starts; it is of no use in a terminal.
`
};
function isCommand(name2) {
  return Object.hasOwn(COMMAND_HELP, name2);
}
function isWorkerCommand(name2) {
  return Object.hasOwn(WORKER_HELP, name2);
}
function helpOf(name2, rest) {
  const [sub = ""] = rest;
  return name2 === "worker" && isWorkerCommand(sub) ? WORKER_HELP[sub] : COMMAND_HELP[name2];
}

// sidecar/src/cli/purge.ts
async function purge(args, terminal) {
  const { values } = read2("purge", args, { "older-than": "string", all: "boolean", json: "boolean" });
  const age = values["older-than"];
  if (age === void 0 === !values.all) {
    throw new CommandError(
      "verbatim purge: say what is to go: either --older-than <age> (30m, 12h, 7d) or --all; see `verbatim purge --help`",
      2
    );
  }
  const before = age === void 0 ? Number.POSITIVE_INFINITY : Date.now() - ageOf(age);
  const state = stateFolder(process.env);
  const entries = listJobs(state);
  const removed = [];
  const kept = [];
  for (const entry of entries) {
    if (entry.kind === "problem" || entry.record.updatedAt > before) continue;
    if (entry.isHeld) {
      kept.push({ job: entry, why: "its Claude Code session is open" });
      continue;
    }
    const removal = remove(entry, ownIdentity());
    if (removal.kind === "removed") removed.push(entry);
    else kept.push(removal);
  }
  const errands = removeOldErrands(new Errands(state), before);
  const problems = [...entries.filter((entry) => entry.kind === "problem"), ...errands.problems];
  await terminal.print(values.json ? asJson(removed, kept, errands, problems) : asText2(removed, kept, errands));
  for (const { problem } of problems) terminal.complain(`verbatim purge: not removed: ${oneLine(problem, 600)}`);
  return problems.length > 0 ? 1 : 0;
}
function asText2(removed, kept, errands) {
  const bytes = removed.reduce((sum, job) => sum + job.bytes, 0);
  const jobs2 = `${count(removed.length, "job")}${removed.length === 0 ? "" : `, ${size(bytes)}`}`;
  const lines2 = [
    `Removed ${jobs2}${errands.removed.length === 0 ? "" : `, and ${count(errands.removed.length, "errand")}`}.`
  ];
  for (const { job, why } of kept) lines2.push(`Kept ${job.id}: ${oneLine(why)}`);
  for (const { id, why } of errands.kept) lines2.push(`Kept ${id}: ${oneLine(why)}`);
  return `${lines2.join("\n")}
`;
}
function count(many, what) {
  return many === 1 ? `1 ${what}` : `${many} ${what}s`;
}
function asJson(removed, kept, errands, problems) {
  const list2 = {
    removed: removed.map(({ id, bytes }) => ({ id, bytes })),
    kept: kept.map(({ job, why }) => ({ id: job.id, why })),
    errands: { removed: errands.removed, kept: errands.kept },
    problems: problems.map(({ id, problem }) => ({ id, problem }))
  };
  return jsonOf(list2);
}
var UNIT_MS = { m: 6e4, h: 36e5, d: 864e5 };
function ageOf(text2) {
  const found = /^(\d{1,6})([mhd])$/.exec(text2);
  if (found === null) {
    throw new CommandError(
      `verbatim purge: --older-than must be a number with m, h or d (30m, 12h, 7d), it is ${JSON.stringify(text2)}`,
      2
    );
  }
  return Number(found[1]) * UNIT_MS[found[2]];
}

// sidecar/src/worker-host/tmux.ts
import { execFile as execFile2 } from "node:child_process";
import { rmSync as rmSync9 } from "node:fs";
import { dirname as dirname9 } from "node:path";
import { setTimeout as sleep2 } from "node:timers/promises";
import { promisify as promisify2 } from "node:util";
var run2 = promisify2(execFile2);
var COLUMNS = 200;
var ROWS = 50;
var HISTORY = 2e4;
var TIMEOUT_MS = 1e4;
var REAP_MS = 3e3;
var LOOK_MS = 50;
var SESSION = "worker";
var TmuxError = class extends Error {
};
var Tmux = class {
  constructor(program, socket) {
    this.program = program;
    this.socket = socket;
  }
  program;
  socket;
  /**
   * Starts the server and, in its only window, `argv` without a shell. Resolves to that program's process; where it was
   * started before, by somebody who was killed before it could be noted, to that one's.
   */
  async start(argv, cwd, env) {
    const started = this.#tmux(
      [
        ...["set-option", "-g", "default-terminal", "tmux-256color", ";"],
        ...["set-option", "-g", "history-limit", String(HISTORY), ";"],
        ...["set-option", "-g", "window-size", "latest", ";"],
        // Escape is a key of Claude Code's, not the beginning of one.
        ...["set-option", "-s", "escape-time", "0", ";"],
        ...["set-option", "-g", "mouse", "on", ";"],
        ...["set-option", "-g", "focus-events", "on", ";"],
        ...["set-option", "-g", "status", "off", ";"],
        // Says how the program ended, and what it said last.
        ...["set-option", "-g", "remain-on-exit", "on", ";"],
        // A line of tmux's own would push the first line of the screen out; one older than 3.3 has no say in it.
        ...["set-option", "-gq", "remain-on-exit-format", "", ";"],
        ...["new-session", "-d", "-s", SESSION, "-x", String(COLUMNS), "-y", String(ROWS), "--", ...argv.map(literal2)]
      ],
      // The window begins where the client stands: tmux would expand what looks like a format in `-c`.
      { cwd, env }
    );
    await started.catch((error) => {
      if (!messageOf2(error).includes("duplicate session")) throw error;
    });
    const pid = Number(await this.#tmux(["display-message", "-p", "#{pane_pid}"]));
    return { pid, startTime: entryOf(pid)?.startTime ?? "" };
  }
  /**
   * What the window shows; '' where the server is gone.
   *
   * @param above How many lines that have scrolled off come first.
   */
  async screen(above = 0) {
    return await this.#tmux(["capture-pane", "-p", "-S", String(-above)]).catch(() => "");
  }
  /** How the program ended, for a reader; undefined where the server is gone, or cannot say. */
  async ending() {
    const format = "#{pid} #{pane_dead} #{pane_dead_status} #{pane_dead_signal}";
    const end = performance.now() + REAP_MS;
    try {
      while (performance.now() < end) {
        const said = await this.#tmux(["display-message", "-p", format]);
        const [pid, isDead, status, signal2] = said.trimEnd().split(" ");
        if (isDead === "1" && signal2) return `signal ${signal2}`;
        if (isDead === "1" && status) return `exit code ${status}`;
        process.kill(Number(pid), "SIGCHLD");
        await sleep2(LOOK_MS);
      }
    } catch {
    }
    return void 0;
  }
  /** From now on the window closes with its program, as a person who goes on in it expects. */
  async letGo() {
    await this.#tmux(["set-option", "-g", "remain-on-exit", "off"]).catch(() => "");
  }
  /** Ends the server and with it what runs in it, and removes its folder. */
  async close() {
    await this.#tmux(["kill-server"]).catch(() => "");
    rmSync9(dirname9(this.socket), { recursive: true, force: true });
  }
  /** What a terminal is to run to show the window. */
  get attachCommand() {
    return { program: this.program, args: ["-u", "-S", this.socket, "attach-session"] };
  }
  async #tmux(args, place = {}) {
    try {
      const { stdout } = await run2(this.program, ["-u", "-S", this.socket, "-f", "/dev/null", ...args], {
        ...place,
        timeout: TIMEOUT_MS,
        maxBuffer: 16 * 1024 * 1024
      });
      return stdout;
    } catch (error) {
      const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
      throw new TmuxError(said || messageOf2(error));
    }
  }
};
function literal2(word) {
  return word.endsWith(";") ? `${word.slice(0, -1)}\\;` : word;
}

// sidecar/src/worker-host/close.ts
var HANG_UP_MS = 3e3;
var HOST_MS = 8e3;
async function closeWorker(errands, { id, tmux, worker: worker2 }, tree = worker2 === null ? null : new ProcessTree(worker2)) {
  tree?.sample();
  const inTerminal = worker2 === null ? [] : below(worker2);
  if (tmux !== null) await closeTerminal(tmux);
  const left = await untilGone(inTerminal, HANG_UP_MS);
  for (const each of left) signal(each, "SIGTERM");
  await untilGone(left, GRACE.termMs);
  const survivors = await killAll(() => [...tree?.living() ?? [], ...carrying(ERRAND_VARIABLE, [id])]);
  for (const entry of errands.list()) {
    if (entry.kind !== "errand" || entry.record.parent !== id || entry.record.tmux === null) continue;
    const end = { kind: "interrupted", detail: `the worker that asked, ${id}, was closed` };
    survivors.push(...await closeErrand(errands, entry.record.id, end));
  }
  return survivors;
}
async function closeErrand(errands, id, end) {
  const before = errands.read(id);
  if (before !== null && before.end === null) errands.save({ ...before, end, endedAt: Date.now(), wait: null });
  const host2 = before?.host ?? null;
  if (host2 !== null && isAlive(host2)) {
    signal(host2, "SIGTERM");
    await untilGone([host2], HOST_MS);
    signal(host2, "SIGKILL");
  }
  const record2 = errands.read(id);
  if (record2 === null) return await killAll(() => carrying(ERRAND_VARIABLE, [id]));
  const survivors = await closeWorker(errands, record2);
  errands.save({
    ...record2,
    ...record2.end === null ? { end, endedAt: Date.now() } : {},
    ...{ wait: null, host: null, desk: null, tmux: null, worker: null }
  });
  return survivors;
}
function below(root) {
  const tree = new ProcessTree(root);
  tree.sample();
  return tree.living();
}
async function closeTerminal(socket) {
  try {
    await new Tmux(programOf("tmux", process.env), socket).close();
  } catch (error) {
    if (!(error instanceof MissingProgramError)) throw error;
  }
}

// sidecar/src/worker-host/leftovers.ts
var END = { kind: "interrupted", detail: "who asked was killed, and so was its desk" };
function isAbandoned(errand) {
  return errand.end === null && isAlone(errand);
}
async function closeLeftovers(errands) {
  const left = errands.list().flatMap((entry) => entry.kind === "errand" && isLeft(entry.record) ? entry.record : []);
  await Promise.all(left.map(({ id }) => closeErrand(errands, id, END)));
  return left.map(({ id }) => id);
}
function isLeft(errand) {
  const { end, isKept, tmux, worker: worker2 } = errand;
  const isWanted = isKept && isAlive(worker2);
  return isAlone(errand) && !isWanted && (end === null || tmux !== null);
}
function isAlone({ asker, host: host2 }) {
  return !isAlive(asker) && !isAlive(host2);
}

// sidecar/src/cli/worker/words.ts
function sayWait(wait, id, terminal) {
  if (wait === null) terminal.complain("verbatim worker: it goes on");
  else terminal.complain(`verbatim worker: ${waitSentence(wait)}: verbatim worker attach ${id}`);
}
function waitSentence({ for: what, what: detail }) {
  const said = detail === "" ? "" : ` (${oneLine(detail, 300)})`;
  switch (what) {
    case "trust":
      return "it asks whether you trust its folder";
    case "api_key":
      return "it asks whether to use the API key in ANTHROPIC_API_KEY";
    case "sign_in":
      return "it asks you to sign in";
    case "onboarding":
      return "it is at the questions of a first start";
    case "mcp_servers":
      return "it asks about the project's MCP servers";
    case "imports":
      return "it asks about files that CLAUDE.md imports";
    case "warning":
      return "it asks you to accept the risk of its permission mode";
    case "start":
      return `it has not taken its task${said}`;
    case "permission":
      return `it asks for permission${said}`;
    case "question":
      return `it asks a question${said}`;
    case "task_refused":
      return `Claude Code did not take the task${said}`;
    case "turn_failed":
      return `its turn failed${said}; it waits for a message`;
    default:
      return what;
  }
}
function endSentence(id, end) {
  switch (end.kind) {
    case "answered":
      return `errand ${id} was answered`;
    case "unanswered":
      return `errand ${id} has no answer: ${UNANSWERED_WORDS[end.how]}`;
    case "worker_ended":
      return `the worker of errand ${id} ended before it answered: ${end.detail}`;
    case "timed_out":
      return `errand ${id} was not answered in time${timeOutWords(end)}`;
    case "needs_person":
      return `the worker of errand ${id} needs somebody, and is unattended: ${waitSentence(end.wait)}`;
    case "interrupted":
      return `errand ${id} was interrupted: ${end.detail}`;
    case "failed":
      return `errand ${id} failed: ${end.detail}`;
    default:
      return end;
  }
}
function timeOutWords({ isTaken, wait }) {
  if (wait !== void 0) return `: ${waitSentence(wait)}`;
  return isTaken === false ? ": its worker had not started yet" : "";
}
var UNANSWERED_WORDS = {
  blank: "the worker ended its turn with a blank message",
  error: "the worker's turn failed",
  refusal: "the worker's model refused"
};
function statusOf2(errand) {
  const { end, wait, take } = errand;
  if (end !== null) return end.kind;
  if (isAbandoned(errand)) return "abandoned";
  if (wait !== null) return "waiting";
  return take === null ? "starting" : "working";
}
function isKeptOpen({ end, isKept, worker: worker2 }) {
  return end !== null && isKept && isAlive(worker2);
}
function statusWord2(errand) {
  const { wait } = errand;
  const status = statusOf2(errand);
  if (status === "waiting" && wait !== null) return `waits: ${wait.for.replaceAll("_", " ")}`;
  return `${status.replaceAll("_", " ")}${isKeptOpen(errand) ? ", kept open" : ""}`;
}

// sidecar/src/cli/worker/end.ts
async function printEnd(errands, { id, end, claudeSession }, isJson2, terminal) {
  const answer6 = end.kind === "answered" ? errands.answerOf(id) : null;
  if (end.kind === "answered" && answer6 === null) {
    throw new CommandError(`verbatim worker: the answer of errand ${id} is not on disk any more`);
  }
  if (isJson2) {
    const { kind, ...facts3 } = end;
    const whole = {
      errand: id,
      status: kind,
      ...facts3,
      claudeSession,
      ...answer6 === null ? {} : { answer: answer6.toString("utf8") }
    };
    await terminal.print(jsonOf(whole));
  } else if (answer6 !== null) {
    await terminal.print(answer6);
    if (terminal.isTerminal && answer6.at(-1) !== 10) await terminal.print("\n");
  }
  if (end.kind !== "answered") {
    terminal.complain(`verbatim worker: ${oneLine(endSentence(id, end), 800)}`);
    if (claudeSession !== null)
      terminal.complain(`verbatim worker: to go on: claude --resume ${oneLine(claudeSession, 60)}`);
  }
  if (end.kind === "answered" && end.isTruncated) {
    terminal.complain(
      `verbatim worker: the answer was longer than a report may be (${TEXT_LIMIT} characters, 64 KiB): it is cut, and says so at its end`
    );
  }
  return exitCodeOf(end);
}
function exitCodeOf(end) {
  switch (end.kind) {
    case "answered":
      return 0;
    case "failed":
      return 1;
    case "unanswered":
      return 3;
    case "worker_ended":
      return 4;
    case "needs_person":
      return 5;
    // As coreutils' timeout has it, and as a shell says of a command that Ctrl-C ended.
    case "timed_out":
      return 124;
    case "interrupted":
      return 130;
    default:
      return end;
  }
}

// sidecar/src/cli/worker/errand-at.ts
function errandAt(errands, given2) {
  const id = ERRAND_ID.test(given2) ? given2 : idBeginning(errands, given2);
  let record2;
  try {
    record2 = errands.read(id);
  } catch (error) {
    if (!(error instanceof ShapeError || error instanceof SyntaxError)) throw error;
    throw new CommandError(`verbatim worker: ${errands.folderOf(id)} is damaged: ${oneLine(error.message, 300)}`);
  }
  if (record2 === null) {
    throw new CommandError(`verbatim worker: there is no errand ${id}; \`verbatim worker list\` lists them`);
  }
  return record2;
}
function idBeginning(errands, given2) {
  const shown = JSON.stringify(oneLine(given2, 60));
  if (!/^e[a-z2-7]{1,19}$/.test(given2)) {
    const what2 = 'is no errand id: "e" and 20 letters or digits, as `verbatim worker list` lists them';
    throw new CommandError(`verbatim worker: ${shown} ${what2}`, 2);
  }
  const [id, second] = errands.ids().filter((each) => each.startsWith(given2));
  if (id !== void 0 && second === void 0) return id;
  const what = id === void 0 ? "no errand begins with" : "more than one errand begins with";
  throw new CommandError(`verbatim worker: ${what} ${shown}; \`verbatim worker list\` lists them`);
}

// sidecar/src/cli/worker/answer.ts
async function answer4(args, terminal) {
  const { values, positionals } = read2("worker answer", args, { json: "boolean" }, ["<errand>"]);
  const errands = new Errands(stateFolder(process.env));
  const errand = errandAt(errands, positionals[0] ?? "");
  const { id, end, claudeSession } = errand;
  if (end === null) throw new CommandError(`verbatim worker: ${whyOpen(errand)}`);
  return await printEnd(errands, { id, end, claudeSession }, values.json ?? false, terminal);
}
function whyOpen(errand) {
  const { id, wait } = errand;
  if (statusOf2(errand) === "abandoned") {
    return `errand ${id} is abandoned: who asked and its desk were killed, so no answer will come; to close its worker: verbatim worker stop ${id}`;
  }
  const state = wait === null ? "its worker is at work" : waitSentence(wait);
  return `errand ${id} has no answer yet: ${state}`;
}

// sidecar/src/cli/worker/attach.ts
import { spawn as spawn2 } from "node:child_process";
async function attach(args, terminal) {
  const { positionals } = read2("worker attach", args, {}, ["<errand>"]);
  const errands = new Errands(stateFolder(process.env));
  const { id, tmux, worker: worker2 } = errandAt(errands, positionals[0] ?? "");
  if (tmux === null || !isAlive(worker2)) {
    throw new CommandError(
      `verbatim worker attach: the worker of errand ${id} has ended; see \`verbatim worker list\``
    );
  }
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new CommandError("verbatim worker attach: a worker is shown in a terminal, and stdin or stdout is none", 2);
  }
  const keys = process.env.TMUX === void 0 ? "Ctrl-b d" : "Ctrl-b Ctrl-b d (this is a tmux of your own)";
  terminal.complain(`verbatim worker: ${keys} leaves the worker, which goes on`);
  const { program, args: words } = new Tmux(programOf("tmux", process.env), tmux).attachCommand;
  const { TMUX: _, ...env } = process.env;
  const code = await new Promise((settle, fail) => {
    const child = spawn2(program, words, { env, stdio: "inherit" });
    child.once("error", fail);
    child.once("exit", (code2) => settle(code2 ?? 1));
  });
  const { end } = errandAt(errands, id);
  if (end !== null) terminal.complain(`verbatim worker: ${oneLine(endSentence(id, end), 800)}`);
  return code;
}

// sidecar/src/worker-host/host.ts
import { existsSync as existsSync2, rmSync as rmSync10 } from "node:fs";
import { dirname as dirname10, join as join19 } from "node:path";
import { setTimeout as sleep3 } from "node:timers/promises";

// sidecar/src/desk/desk.ts
import { createHash as createHash4 } from "node:crypto";
var Desk = class {
  constructor(errands, now, onWait = () => {
  }, onUnwritten = () => {
  }) {
    this.errands = errands;
    this.now = now;
    this.onWait = onWait;
    this.onUnwritten = onUnwritten;
  }
  errands;
  now;
  onWait;
  onUnwritten;
  #held = /* @__PURE__ */ new Map();
  /** Takes an errand up that is on disk, a new one or one of a desk that is gone. Throws where there is none. */
  takeUp(id) {
    const record2 = this.errands.read(id);
    if (record2 === null) throw new Error(`there is no errand ${id}`);
    let settle = () => {
    };
    const ended = new Promise((resolve4) => {
      settle = resolve4;
    });
    if (record2.end !== null) settle(record2.end);
    this.#held.set(id, { record: record2, ended, settle });
    return record2;
  }
  errand(id) {
    return this.#at(id).record;
  }
  /** Whether an errand of this desk, open or not, is that session's. */
  knows(session) {
    return [...this.#held.values()].some(({ record: record2 }) => record2.session === session);
  }
  /** Resolves to how the errand ended. */
  ended(id) {
    return this.#at(id).ended;
  }
  /** Keeps what is known of the errand's desk, worker and host. */
  note(id, facts3) {
    this.#change(this.#at(id), facts3);
  }
  /**
   * The task that a session is to take; null where it has none, or took it by another request.
   *
   * @param claudeSession Claude Code's own id of the session, '' where it is not known.
   */
  take(session, take, claudeSession = "") {
    const errand = this.#only(({ record: record2 }) => record2.session === session && [null, take].includes(record2.take));
    if (errand === null) return null;
    try {
      if (errand.record.take === null) this.#change(errand, { take, claudeSession: claudeSession || null });
    } catch (error) {
      this.end(errand.record.id, { kind: "failed", detail: `its state could not be written: ${messageOf2(error)}` });
      throw error;
    }
    if (errand.record.end !== null) return null;
    this.#wait(errand, null);
    return this.errands.taskOf(errand.record.id);
  }
  /** Throws where it could not be written: the errand has failed then. A report that was answered is not sent again. */
  report(report) {
    const errand = this.#only(({ record: record2 }) => record2.session === report.session_id);
    if (errand === null || errand.record.take === null) return;
    try {
      if (this.errands.read(errand.record.id)?.end) this.#change(errand, {});
      else this.#end(errand, this.#endBy(report, errand.record.id));
    } catch (error) {
      this.end(errand.record.id, { kind: "failed", detail: `its answer could not be written: ${messageOf2(error)}` });
      throw error;
    }
  }
  /** What the worker of a session waits for a person to do; null: it goes on. */
  sessionWaits(session, wait) {
    const errand = this.#only(({ record: record2 }) => record2.session === session);
    if (errand !== null) this.#wait(errand, wait);
  }
  waits(id, wait) {
    const errand = this.#at(id);
    if (errand.record.end === null) this.#wait(errand, wait);
  }
  /**
   * Ends the errand; false where it had ended already. It ends even where that cannot be written: whoever waits for the
   * end takes the worker away, and nobody else would.
   */
  end(id, end) {
    const errand = this.#at(id);
    try {
      return this.#end(errand, end);
    } catch (error) {
      errand.record = { ...errand.record, end, endedAt: this.now(), wait: null };
      errand.settle(end);
      this.onUnwritten(error);
      return true;
    }
  }
  #endBy(report, id) {
    if (report.text === void 0) return { kind: "unanswered", how: report.unanswered };
    const bytes = Buffer.from(report.text, "utf8");
    this.errands.keepAnswer(id, report.text);
    const sha256 = createHash4("sha256").update(bytes).digest("hex");
    return { kind: "answered", bytes: bytes.length, sha256, isTruncated: isCut(report) };
  }
  #wait(errand, wait) {
    const before = errand.record.wait;
    if (before?.for === wait?.for && before?.what === wait?.what) return;
    try {
      this.#change(errand, { wait });
    } catch (error) {
      errand.record = { ...errand.record, wait };
      this.onUnwritten(error);
    }
    if (errand.record.end !== null) return;
    this.onWait(errand.record);
    if (wait !== null && wait.for !== "start" && errand.record.isUnattended) {
      this.end(errand.record.id, { kind: "needs_person", wait });
    }
  }
  #end(errand, end) {
    if (errand.record.end !== null) return false;
    this.#change(errand, { end, endedAt: this.now(), wait: null });
    return errand.record.end === end;
  }
  /**
   * Written first: what is not on disk has not happened. An end that stands there by now was written by somebody who
   * closes the errand from outside, and stands.
   */
  #change(errand, facts3) {
    const now = this.errands.read(errand.record.id);
    const ended = now?.end ? { end: now.end, endedAt: now.endedAt, wait: null } : {};
    const record2 = { ...errand.record, ...facts3, ...ended };
    this.errands.save(record2);
    errand.record = record2;
    if (record2.end !== null) errand.settle(record2.end);
  }
  /** The open errand that fits, where it is the only one. */
  #only(fits) {
    const [first, second] = [...this.#held.values()].filter((each) => each.record.end === null && fits(each));
    return first !== void 0 && second === void 0 ? first : null;
  }
  #at(id) {
    const errand = this.#held.get(id);
    if (errand === void 0) throw new Error(`errand ${id} is not at this desk`);
    return errand;
  }
};

// sidecar/src/desk/http.ts
import { createServer as createServer2 } from "node:http";

// sidecar/src/desk/bodies.ts
var ANY = { max: REPORT_LIMIT };
function reportOf(value) {
  const body = objectOf(value, "the body");
  const session_id = sessionOf(body);
  if (body.text === void 0) {
    if (body.unanswered === void 0) throw new ShapeError("text", "is missing, and so is unanswered");
    return { session_id, unanswered: choiceOf(body, "unanswered", UNANSWERED) };
  }
  if (body.unanswered !== void 0) throw new ShapeError("unanswered", "must not stand beside text");
  const text2 = textOf2(body, "text", ANY);
  if (isBlank(text2)) throw new ShapeError("text", "must not be blank");
  return { session_id, text: text2 };
}
function takeTaskOf(value) {
  const body = objectOf(value, "the body");
  return {
    session_id: sessionOf(body),
    take: textOf2(body, "take", { max: 128 }),
    claude_session: optionalTextOf(body, "claude_session", { max: 128 }) ?? ""
  };
}
function sayWaitingOf(value) {
  const body = objectOf(value, "the body");
  return { session_id: sessionOf(body), waiting: waitingOf(body) };
}
function waitingOf(body) {
  if (body.waiting === null) return null;
  const waiting = objectOf(body.waiting, "waiting");
  if (typeof waiting.what !== "string" || waiting.what.length > WAITING_LIMIT) {
    throw new ShapeError("waiting.what", `must be a string of at most ${WAITING_LIMIT} characters`);
  }
  return { for: choiceOf(waiting, "for", WAITS, "waiting."), what: waiting.what };
}
function sessionOf(body) {
  return textOf2(body, "session_id", ANY);
}

// sidecar/src/desk/rate.ts
var BURST = 40;
var PER_SECOND = 20;
var Rate = class {
  /** @param now In milliseconds. */
  constructor(now) {
    this.now = now;
  }
  now;
  #left = /* @__PURE__ */ new Map();
  /** Whether one more request of this name is taken now. Every name is kept: the caller bounds how many there are. */
  allows(name2) {
    const now = this.now();
    const { requests, at } = this.#left.get(name2) ?? { requests: BURST, at: now };
    const left = Math.min(BURST, requests + (now - at) / 1e3 * PER_SECOND);
    this.#left.set(name2, { requests: left >= 1 ? left - 1 : left, at: now });
    return left >= 1;
  }
};

// sidecar/src/desk/http.ts
var REQUEST_MS = 1e4;
var CONNECTIONS = 100;
var STRANGERS = "";
function createDeskServer(ports) {
  const rate = new Rate(ports.now);
  const limit = ports.requestMs ?? REQUEST_MS;
  const limits = { requestTimeout: limit, headersTimeout: limit, connectionsCheckingInterval: limit / 10 };
  const strangers = /* @__PURE__ */ new Set();
  const server = createServer2(limits, (request, response) => {
    response.shouldKeepAlive = false;
    const onToken = () => strangers.delete(request.socket);
    answer5(ports, rate, request, response, onToken).catch((error) => {
      ports.log("warning", "an answer could not be written", { error });
      response.destroy();
    });
  });
  server.on("connection", (socket) => {
    strangers.add(socket);
    socket.once("close", () => strangers.delete(socket));
    const [oldest] = strangers;
    if (strangers.size > CONNECTIONS) oldest?.destroy();
  });
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.write("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    socket.destroySoon();
  });
  return server;
}
async function answer5({ desk, token, log }, rate, request, response, onToken) {
  const [path = "/", query = ""] = (request.url ?? "/").split("?");
  try {
    const read3 = readerOf(path, desk);
    if (read3 === null) throw new Refusal("not_found", `there is nothing at ${path.slice(0, 120)}`);
    if (request.method !== "POST") {
      throw new Refusal("method", `${request.method} is not for ${path}; it takes POST`, { allow: "POST" });
    }
    if (!isToken(new URLSearchParams(query).get("token") ?? "", token)) {
      throw new Refusal("unauthorized", "the token is missing or is another one");
    }
    onToken();
    const { session, act } = read3(await readJson(request, REPORT_LIMIT));
    if (!rate.allows(desk.knows(session) ? session : STRANGERS)) {
      throw new Refusal("rate", "too many requests for this session; wait a second", { "retry-after": "1" });
    }
    const { status, body } = act();
    reply(response, status, body);
  } catch (error) {
    const isOurs = !(error instanceof Refusal || error instanceof ShapeError);
    if (isOurs) log("error", `${request.method} ${path} failed`, { error });
    await refuse(request, response, refusalOf2(error));
  }
}
function readerOf(path, desk) {
  switch (path) {
    case ANSWER_PATH:
      return (body) => {
        const report = reportOf(body);
        return taken(report.session_id, () => desk.report(report));
      };
    case TASK_PATH:
      return (body) => {
        const { session_id, take, claude_session } = takeTaskOf(body);
        return {
          session: session_id,
          act: () => {
            const task = desk.take(session_id, take, claude_session);
            return task === null ? { status: 204 } : { status: 200, body: { task } };
          }
        };
      };
    case WAITING_PATH:
      return (body) => {
        const { session_id, waiting } = sayWaitingOf(body);
        const wait = waiting && { ...waiting, what: mask(waiting.what) };
        return taken(session_id, () => desk.sessionWaits(session_id, wait));
      };
    default:
      return null;
  }
}
function taken(session, act) {
  return {
    session,
    act: () => {
      act();
      return { status: 204 };
    }
  };
}
function refusalOf2(error) {
  if (error instanceof Refusal) return error;
  if (error instanceof ShapeError) return new Refusal("invalid", error.message);
  return new Refusal("internal", `the errand desk failed: ${messageOf2(error)}`);
}

// sidecar/src/worker-host/screen.ts
var SHOWN = [
  [/Accessing workspace:/, "trust"],
  [/Detected a custom API key in your environment/, "api_key"],
  [/Select login method|Paste code here if prompted|Press Enter to retry/, "sign_in"],
  [/Choose the text style|Press Enter to continue/, "onboarding"],
  [/new MCP servers? found in this project/i, "mcp_servers"],
  [/Allow external CLAUDE\.md file imports\?/, "imports"],
  [/running in Bypass Permissions mode/, "warning"]
];
function startWaitOf(screen) {
  const text2 = screen.replace(/\s+/g, " ");
  const found = SHOWN.find(([shown]) => shown.test(text2));
  return found === void 0 ? null : { for: found[1], what: "" };
}
var FURNITURE = /^(?:❯$|⏵⏵|◐|[✻✢✳✶✽·*] \S+…|Pane is dead\b|\? for shortcuts)/;
function lastWordsOf(screen) {
  const lines2 = screen.split("\n").map((line) => line.replace(/[─━╌▔▁]+/g, "").trim());
  return lines2.filter((line) => line !== "" && !FURNITURE.test(line)).slice(-3).join(" | ");
}

// sidecar/src/worker-host/host.ts
var WATCH_MS = 200;
var SCREEN_MS = 500;
var STAY_MS = 1e3;
var START_MS = 2e4;
var LAST_REPORT_MS = 300;
async function hostErrand(id) {
  keepHeapSmall();
  const state = stateFolder(process.env);
  const hide2 = (text2) => mask(text2, process.env);
  const { log, close: closeLog } = openLog(join19(logsFolder(state), `errand-${id}.jsonl`), hide2, Date.now);
  process.on("uncaughtException", (error) => log("error", "an unexpected error", { error }));
  process.on("unhandledRejection", (error) => log("error", "an unexpected rejection", { error }));
  const say = (message2) => {
    if (process.connected) process.send?.(message2);
  };
  const errands = new Errands(state);
  const desk = new Desk(
    errands,
    Date.now,
    ({ wait }) => say({ kind: "waits", wait }),
    (error) => log("error", "the end could not be written", { error })
  );
  desk.takeUp(id);
  const interrupt = (detail) => desk.end(id, { kind: "interrupted", detail });
  process.on("message", ({ detail }) => interrupt(detail));
  const orphaned = () => interrupt("the command that asked was killed");
  process.on("disconnect", orphaned);
  if (!process.connected) orphaned();
  const stopped = new Promise((resolve4) => {
    for (const name2 of ["SIGTERM", "SIGINT", "SIGHUP"]) {
      process.on(name2, () => {
        interrupt("it was stopped");
        resolve4();
      });
    }
  });
  const worker2 = new Worker(id, errands, desk, log);
  const end = await worker2.run(say);
  const isKept = await worker2.isToStay(end);
  let survivors = isKept ? [] : await worker2.close();
  log("info", "the errand has ended", { end: end.kind, isKept, survivors });
  say({ kind: "ended", end, claudeSession: desk.errand(id).claudeSession, survivors, isKept });
  if (process.connected) process.disconnect();
  if (isKept) {
    await Promise.race([stopped, worker2.gone()]);
    survivors = await worker2.close();
  }
  closeLog();
  return survivors.length > 0 ? 1 : 0;
}
var Worker = class {
  constructor(id, errands, desk, log) {
    this.id = id;
    this.errands = errands;
    this.desk = desk;
    this.log = log;
  }
  id;
  errands;
  desk;
  log;
  #server;
  #tmux;
  #tree;
  #isOver = false;
  /** Opens the worker, and waits for the errand's end. Resolves to that. */
  async run(say) {
    try {
      this.desk.note(this.id, { host: ownIdentity() });
      if (this.#errand.end === null) {
        await this.#openDesk();
        await this.#openWorker();
        say({ kind: "opened" });
      }
    } catch (error) {
      this.log("error", "the worker could not be opened", { error });
      this.desk.end(this.id, { kind: "failed", detail: messageOf2(error) });
    }
    const end = await this.#end();
    this.#isOver = true;
    return end;
  }
  /**
   * Whether the worker stays, as was asked. Its desk then stays too, and takes what it still reports: at a port that was
   * given up, whoever listens there next would hear it.
   */
  async isToStay(end) {
    const { isKept, tmux, worker: worker2 } = this.#errand;
    if (!isKept || tmux === null || !isAlive(worker2) || end.kind === "failed") return false;
    await new Tmux(programOf("tmux", process.env), tmux).letGo();
    return true;
  }
  /** Resolves when the worker has ended by itself. */
  async gone() {
    while (isAlive(this.#errand.worker)) await sleep3(STAY_MS);
  }
  /** Ends the worker and the desk. Resolves to the processes that outlived it. */
  async close() {
    const survivors = await closeWorker(this.errands, this.#errand, this.#tree);
    this.#server?.close();
    this.#server?.closeAllConnections();
    try {
      this.desk.note(this.id, { host: null, desk: null, tmux: null, worker: null });
    } catch (error) {
      this.log("error", "that the worker is closed could not be written", { error });
    }
    return survivors;
  }
  get #errand() {
    return this.desk.errand(this.id);
  }
  /** Where a desk of this errand listened before, it must again: the worker knows no other address. */
  async #openDesk() {
    const token = this.#errand.desk?.token ?? mintToken();
    const server = createDeskServer({ desk: this.desk, token, log: this.log, now: () => performance.now() });
    await new Promise((resolve4, reject) => {
      server.once("error", reject);
      server.listen({ host: "127.0.0.1", port: this.#errand.desk?.port ?? 0 }, resolve4);
    });
    this.#server = server;
    this.desk.note(this.id, { desk: { port: server.address().port, token } });
  }
  async #openWorker() {
    const programs = programsOf(process.env);
    const { tmux, worker: worker2 } = this.#errand;
    const socket = tmux ?? privateSocket(process.env);
    if (socket === null) throw new Error("no temporary folder has a path short enough for a socket; set TMPDIR to one");
    this.#tmux = new Tmux(programs.tmux, socket);
    if (worker2 === null) {
      try {
        this.desk.note(this.id, { tmux: socket });
      } catch (error) {
        rmSync10(dirname10(socket), { recursive: true, force: true });
        throw error;
      }
      if (!existsSync2(this.#errand.cwd)) throw new Error(`its folder ${this.#errand.cwd} is gone`);
      const argv = [programs.claude, ...argumentsOf(this.#errand)];
      const opened2 = await this.#tmux.start(argv, this.#errand.cwd, environmentOf2(this.#errand, process.env));
      this.desk.note(this.id, { worker: opened2 });
    }
    this.#tree = new ProcessTree(this.#errand.worker);
    void this.#watchProcess();
    void this.#watchStart();
  }
  #end() {
    const left = this.#errand.createdAt + this.#errand.timeoutMs - Date.now();
    const timeOut = () => {
      const { take, wait } = this.#errand;
      this.desk.end(this.id, { kind: "timed_out", isTaken: take !== null, ...wait === null ? {} : { wait } });
    };
    const timer = setTimeout(timeOut, Math.max(0, left));
    return this.desk.ended(this.id).finally(() => clearTimeout(timer));
  }
  async #watchProcess() {
    const worker2 = this.#errand.worker;
    while (isAlive(worker2)) {
      await sleep3(WATCH_MS);
      if (this.#isOver) return;
      this.#tree?.sample();
    }
    const screen = await this.#tmux?.screen(1) ?? "";
    const how = await this.#tmux?.ending() ?? "its terminal was closed";
    await sleep3(LAST_REPORT_MS);
    const words = mask(lastWordsOf(screen));
    this.desk.end(this.id, { kind: "worker_ended", detail: words === "" ? how : `${how}; its screen says: ${words}` });
  }
  /** A dialog before the worker is up can be seen on its screen alone. */
  async #watchStart() {
    const begun = performance.now();
    while (!this.#isOver && this.#errand.take === null) {
      await sleep3(SCREEN_MS);
      const screen = await this.#tmux?.screen() ?? "";
      if (this.#isOver || this.#errand.take !== null) return;
      const isLate = performance.now() - begun > START_MS;
      const start2 = isLate ? { for: "start", what: mask(lastWordsOf(screen)) } : null;
      this.desk.waits(this.id, startWaitOf(screen) ?? start2);
    }
  }
};

// sidecar/src/cli/worker/host.ts
async function host(args) {
  const { positionals } = read2("worker host", args, {}, ["<errand>"]);
  const { id, host: other } = errandAt(new Errands(stateFolder(process.env)), positionals[0] ?? "");
  if (isAlive(other)) throw new CommandError(`verbatim worker host: errand ${id} has a host, process ${other?.pid}`);
  return await hostErrand(id);
}

// sidecar/src/cli/worker/list.ts
var FOLDER_WIDTH = 28;
var TASK_WIDTH2 = 40;
async function list(args, terminal) {
  const { values } = read2("worker list", args, { json: "boolean" });
  const entries = new Errands(stateFolder(process.env)).list();
  const rows = entries.filter((entry) => entry.kind === "errand");
  const problems = entries.filter((entry) => entry.kind === "problem");
  if (values.json) {
    const whole = { errands: rows.map(facts2), problems: problems.map(({ id, problem }) => ({ id, problem })) };
    await terminal.print(jsonOf(whole));
  } else if (rows.length === 0) {
    await terminal.print('No errands are kept. `verbatim worker run "<task>"` makes one.\n');
  } else {
    const head2 = ["ERRAND", "STATUS", "DEPTH", "BEGUN", "FOLDER", "TASK"];
    const open2 = rows.filter(({ record: record2 }) => record2.end === null);
    const ended = rows.filter(({ record: record2 }) => record2.end !== null);
    await terminal.print(table([head2, ...[...open2, ...ended].map((row2) => cells(row2, Date.now()))]));
  }
  for (const { problem } of problems) terminal.complain(`verbatim worker list: ${oneLine(problem, 600)}`);
  return problems.length > 0 ? 1 : 0;
}
function cells({ record: record2, task }, now) {
  return [
    record2.id,
    statusWord2(record2),
    String(record2.depth),
    ago(now - record2.createdAt),
    tail(oneLine(record2.cwd, 400), FOLDER_WIDTH),
    oneLine(task, TASK_WIDTH2)
  ];
}
function facts2({ record: record2, task }) {
  const { id, parent, claudeSession, cwd, model, mode, depth, timeoutMs, isKept, isUnattended } = record2;
  const { wait, end, worker: worker2 } = record2;
  return {
    id,
    status: statusOf2(record2),
    ...{ parent, claudeSession, cwd, model, mode, depth, timeoutMs, isKept, isUnattended },
    isKeptOpen: isKeptOpen(record2),
    task,
    wait: wait === null ? null : { ...wait, sentence: waitSentence(wait) },
    end: end === null ? null : { ...end, sentence: endSentence(id, end) },
    workerPid: isAlive(worker2) ? worker2?.pid : null,
    createdAt: new Date(record2.createdAt).toISOString(),
    endedAt: record2.endedAt === null ? null : new Date(record2.endedAt).toISOString()
  };
}
function tail(path, limit) {
  return path.length <= limit ? path : `…${path.slice(1 - limit)}`;
}

// sidecar/src/cli/worker/run.ts
import { statSync as statSync5 } from "node:fs";
import { resolve as resolve3 } from "node:path";

// sidecar/src/cli/worker/hosted.ts
import { spawn as spawn3 } from "node:child_process";
var HOSTS = 5;
var SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
async function hosted(errands, id, terminal) {
  let host2;
  let interruption;
  const onSignal = (name2) => {
    interruption = { kind: "interrupt", detail: name2 };
    if (host2 !== void 0) tell(host2, interruption);
    for (const each of SIGNALS) process.removeListener(each, onSignal);
  };
  for (const name2 of SIGNALS) process.on(name2, onSignal);
  try {
    let isOpened = false;
    for (let tries = 0; tries < HOSTS; tries += 1) {
      const { cwd } = errandAt(errands, id);
      if (tries > 0) terminal.complain("verbatim worker: the errand desk was killed; it is started again");
      host2 = startHost(id);
      if (interruption !== void 0) tell(host2, interruption);
      const ended = await heard(host2, (message2) => {
        if (message2.kind === "waits") sayWait(message2.wait, id, terminal);
        if (message2.kind !== "opened" || isOpened) return;
        isOpened = true;
        terminal.complain(`verbatim worker: ${id} works in ${oneLine(cwd)}; to watch it: verbatim worker attach ${id}`);
      });
      if (ended !== null) {
        if (ended.isKept) host2.unref();
        return ended;
      }
    }
    const end = { kind: "failed", detail: `the errand desk was killed ${HOSTS} times` };
    const survivors = await closeErrand(errands, id, end);
    const errand = errandAt(errands, id);
    return { end: errand.end ?? end, claudeSession: errand.claudeSession, survivors };
  } finally {
    for (const name2 of SIGNALS) process.removeListener(name2, onSignal);
  }
}
function startHost(id) {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name2]) => !/^(?:LICH_.*|VERBATIM_ERRAND)$/.test(name2))
  );
  return spawn3(process.execPath, [process.argv[1] ?? "", "worker", "host", id], {
    detached: true,
    // Not ours: Node does not start in a folder that was removed meanwhile.
    cwd: "/",
    env,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    windowsHide: true
  });
}
function tell(host2, message2) {
  if (host2.connected) host2.send(message2, () => {
  });
}
function heard(host2, onMessage2) {
  return new Promise((settle, fail) => {
    host2.on("message", (message2) => {
      if (message2.kind === "ended") settle(message2);
      else onMessage2(message2);
    });
    host2.once("error", fail);
    host2.once("close", () => settle(null));
  });
}

// sidecar/src/cli/worker/task.ts
import { createReadStream } from "node:fs";
var MOST_BYTES = 3 * TASK_LIMIT;
async function readTask(word, file) {
  const task = await given(word, file);
  if (isBlank(task)) {
    const where = word === void 0 && file === void 0 ? ": nothing stood on stdin; see `verbatim worker run --help`" : "";
    throw refused(`the task is blank${where}`);
  }
  if (task.length > TASK_LIMIT) throw tooLong();
  return task;
}
async function given(word, file) {
  if (file !== void 0 && word !== void 0) throw refused("give the task or --file, not both");
  if (file !== void 0) {
    return textOf3(
      await bytesOf2(createReadStream(file)).catch((error) => {
        if (error instanceof CommandError) throw error;
        throw new CommandError(`verbatim worker run: the task cannot be read: ${messageOf2(error)}`);
      })
    );
  }
  if (word !== void 0 && word !== "-") return word;
  if (word === void 0 && process.stdin.isTTY) throw refused("<task> is missing; see `verbatim worker run --help`");
  return textOf3(await bytesOf2(process.stdin));
}
async function bytesOf2(stream) {
  const pieces = [];
  let size2 = 0;
  for await (const piece of stream) {
    pieces.push(piece);
    size2 += piece.length;
    if (size2 > MOST_BYTES) throw tooLong();
  }
  return Buffer.concat(pieces);
}
function textOf3(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused("the task is not UTF-8");
  }
}
function tooLong() {
  return refused(
    `the task has more than ${TASK_LIMIT} characters; put it in a file in the worker's folder, and name that`
  );
}
function refused(why) {
  return new CommandError(`verbatim worker run: ${why}`, 2);
}

// sidecar/src/cli/worker/run.ts
var DEFAULT_TIMEOUT_MS = 36e5;
async function run3(args, terminal) {
  const { values, positionals } = read2(
    "worker run",
    args,
    {
      file: "string",
      cwd: "string",
      model: "string",
      "permission-mode": "string",
      depth: "string",
      timeout: "string",
      keep: "boolean",
      unattended: "boolean",
      json: "boolean"
    },
    ["[<task>]"]
  );
  const task = await readTask(positionals[0], values.file);
  for (const name2 of ["model", "permission-mode"]) checkWord(name2, values[name2]);
  const cwd = folderOf(values.cwd);
  const errands = new Errands(stateFolder(process.env));
  const parent = parentOf(process.env);
  const depth = depthOfWorker(values.depth, parent === null ? 0 : depthAt(errands, parent));
  const timeoutMs = values.timeout === void 0 ? DEFAULT_TIMEOUT_MS : timeoutOf(values.timeout);
  checkPrograms();
  const errand = {
    parent,
    cwd,
    model: values.model ?? null,
    mode: values["permission-mode"] ?? null,
    depth,
    timeoutMs,
    isKept: values.keep ?? false,
    isUnattended: values.unattended ?? false,
    asker: ownIdentity()
  };
  const id = opened(errands, task, errand);
  if (parent === null) await tidyUp(errands, terminal);
  const { survivors, ...ended } = await hosted(errands, id, terminal);
  for (const survivor of survivors) terminal.complain(`verbatim worker: still running: ${oneLine(survivor)}`);
  return await printEnd(errands, { id, ...ended }, values.json ?? false, terminal);
}
function parentOf({ [ERRAND_VARIABLE]: id }) {
  return id !== void 0 && ERRAND_ID.test(id) ? id : null;
}
function depthAt(errands, id) {
  try {
    return errands.read(id)?.depth ?? 0;
  } catch {
    return 0;
  }
}
async function tidyUp(errands, terminal) {
  try {
    for (const id of await closeLeftovers(errands)) {
      terminal.complain(
        `verbatim worker: errand ${id} was left behind by commands that were killed; its worker is closed`
      );
    }
  } catch (error) {
    terminal.complain(
      `verbatim worker: a worker that was left behind is not closed: ${oneLine(messageOf2(error), 300)}`
    );
  }
}
function opened(errands, task, errand) {
  try {
    return errands.open(task, errand, Date.now()).id;
  } catch (error) {
    if (codeOf(error) === "") throw error;
    throw new CommandError(`verbatim worker run: the errand cannot be kept: ${messageOf2(error)}`);
  }
}
var LONGEST_WORD = 200;
function checkWord(name2, word = "") {
  if (word.length <= LONGEST_WORD) return;
  throw new CommandError(`verbatim worker run: --${name2} must have at most ${LONGEST_WORD} characters`, 2);
}
function folderOf(given2 = ".") {
  let cwd;
  try {
    cwd = resolve3(given2);
  } catch {
    throw new CommandError("verbatim worker run: the folder that this runs in was removed; name one with --cwd", 1);
  }
  if (statSync5(cwd, { throwIfNoEntry: false })?.isDirectory()) return cwd;
  throw new CommandError(`verbatim worker run: --cwd ${JSON.stringify(oneLine(cwd))} is not a folder`, 2);
}
function depthOfWorker(given2, around) {
  const least = Math.max(depthOf(process.env), around) + 1;
  if (least > DEPTH_LIMIT) {
    throw new CommandError(
      `verbatim worker run: this session is a worker ${least - 1} levels down, and workers may stand at most ${DEPTH_LIMIT} deep; do the task here`
    );
  }
  if (given2 === void 0) return least;
  const depth = /^\d{1,9}$/.test(given2) ? Number(given2) : Number.NaN;
  if (depth >= least && depth <= DEPTH_LIMIT) return depth;
  throw new CommandError(
    `verbatim worker run: --depth must be a whole number from ${least} to ${DEPTH_LIMIT}, it is ${JSON.stringify(given2)}`,
    2
  );
}
var UNIT_MS2 = { s: 1e3, m: 6e4, h: 36e5 };
var LONGEST_MS = 2147483647;
function timeoutOf(given2) {
  const [, count2, unit] = /^(\d{1,7})([smh])$/.exec(given2) ?? [];
  const ms = Number(count2) * UNIT_MS2[unit];
  if (ms > 0 && ms <= LONGEST_MS) return ms;
  throw new CommandError(
    `verbatim worker run: --timeout must be a number with s, m or h (90s, 60m, 2h), at most 576h, it is ${JSON.stringify(given2)}`,
    2
  );
}
function checkPrograms() {
  if (process.platform === "win32") {
    throw new CommandError("verbatim worker: workers need tmux, which Windows does not have; use it inside WSL");
  }
  try {
    programsOf(process.env);
  } catch (error) {
    if (error instanceof MissingProgramError) throw new CommandError(`verbatim worker: ${error.message}`);
    throw error;
  }
}

// sidecar/src/cli/worker/stop.ts
async function stop2(args, terminal) {
  const { positionals } = read2("worker stop", args, {}, ["<errand>"]);
  const errands = new Errands(stateFolder(process.env));
  const { id, end, tmux } = errandAt(errands, positionals[0] ?? "");
  if (end !== null && tmux === null) {
    throw new CommandError(`verbatim worker stop: errand ${id} has ended, and its worker is closed`);
  }
  const survivors = await closeErrand(errands, id, { kind: "interrupted", detail: "verbatim worker stop" });
  for (const survivor of survivors) terminal.complain(`verbatim worker stop: still running: ${oneLine(survivor)}`);
  if (survivors.length === 0) terminal.complain(`verbatim worker stop: the worker of errand ${id} is closed`);
  return survivors.length > 0 ? 1 : 0;
}

// sidecar/src/cli/worker/worker.ts
async function worker(args, terminal) {
  const [name2, ...rest] = args;
  if (name2 === void 0) {
    terminal.complain(COMMAND_HELP.worker.trimEnd());
    return 2;
  }
  if (!isWorkerCommand(name2)) {
    throw new CommandError(
      `verbatim worker: there is no command ${JSON.stringify(oneLine(name2, 60))}; see \`verbatim worker --help\``,
      2
    );
  }
  return await perform(name2, rest, terminal);
}
async function perform(name2, args, terminal) {
  switch (name2) {
    case "run":
      return await run3(args, terminal);
    case "list":
      return await list(args, terminal);
    case "attach":
      return await attach(args, terminal);
    case "answer":
      return await answer4(args, terminal);
    case "stop":
      return await stop2(args, terminal);
    case "host":
      return await host(args);
    default:
      return name2;
  }
}

// sidecar/src/cli/run.ts
async function run4(args, terminal) {
  try {
    return await dispatch(args, terminal);
  } catch (error) {
    if (error instanceof CommandError) {
      terminal.complain(oneLine(error.message, 4e3));
      return error.exitCode;
    }
    if (error instanceof UnsafePathError || error instanceof NoStateFolderError) {
      terminal.complain(`verbatim: ${oneLine(error.message, 600)}`);
      return 1;
    }
    terminal.complain(`verbatim: an unexpected error: ${error instanceof Error ? error.stack : String(error)}`);
    return 1;
  }
}
async function dispatch(args, terminal) {
  const [name2, ...rest] = args;
  if (name2 === void 0) {
    terminal.complain(HELP.trimEnd());
    return 2;
  }
  if (name2 === "--version" || name2 === "-V") {
    await terminal.print(`${VERSION}
`);
    return 0;
  }
  if (name2 === "--help" || name2 === "-h" || name2 === "help") {
    const [topic, ...further] = rest;
    if (topic !== void 0 && !isCommand(topic)) throw unknown2(topic);
    await terminal.print(topic === void 0 ? HELP : helpOf(topic, further));
    return 0;
  }
  if (!isCommand(name2)) throw unknown2(name2);
  const options = rest.slice(0, rest.includes("--") ? rest.indexOf("--") : void 0);
  if (options.includes("--help") || options.includes("-h")) {
    await terminal.print(helpOf(name2, rest));
    return 0;
  }
  return await perform2(name2, rest, terminal);
}
function unknown2(name2) {
  const what = name2.startsWith("-") ? "option" : "command";
  return new CommandError(
    `verbatim: there is no ${what} ${JSON.stringify(oneLine(name2, 60))}; see \`verbatim --help\``,
    2
  );
}
async function perform2(name2, args, terminal) {
  switch (name2) {
    case "doctor":
      return await doctor(args, terminal);
    case "jobs":
      return await jobs(args, terminal);
    case "answer":
      return await answer3(args, terminal);
    case "purge":
      return await purge(args, terminal);
    case "worker":
      return await worker(args, terminal);
    case "serve":
      return await serve({ session: sessionOf2(read2("serve", args, { session: "string" }).values.session) });
    default:
      return name2;
  }
}
function sessionOf2(value) {
  if (value === void 0) return void 0;
  if (/^[1-9]\d{0,9}$/.test(value)) return Number(value);
  throw new CommandError(`verbatim serve: --session needs a process id, it was given ${JSON.stringify(value)}`, 2);
}

// sidecar/src/cli/main.ts
var complaint = checkNode(process.versions.node);
if (complaint !== null) {
  process.stderr.write(`${complaint}
`);
  process.exitCode = 1;
} else {
  process.exitCode = await run4(process.argv.slice(2), TERMINAL);
  if (process.argv[2] === "serve") process.exit();
}
