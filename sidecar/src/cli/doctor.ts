/** `verbatim doctor`: is everything here, and what to do where it is not. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { rangeText } from '../../../plugin/hooks/notes/drift.js';
import { HARNESS_NAMES, type HarnessName } from '../../../plugin/hooks/protocol/api.js';
import { compareToTested, TESTED, type TestedRange } from '../../../plugin/hooks/protocol/tested.js';
import { VERSION } from '../../../plugin/hooks/protocol/version.js';
import { messageOf } from '../errors.js';
import type { Detection } from '../harness/contract.js';
import { Harnesses } from '../harness/registry.js';
import { sidecarId } from '../job/owner.js';
import { resolveProgram } from '../process/resolve.js';
import { ownIdentity } from '../process/table.js';
import { askVersion } from '../process/version.js';
import { stateFolder } from '../state/state-folder.js';
import { MissingProgramError, programOf } from '../worker-host/programs.js';
import { read } from './options.js';
import { jsonOf, oneLine, type Terminal } from './terminal.js';

const run = promisify(execFile);
/** tmux answers within milliseconds. */
const TMUX_MS = 10_000;

type Finding = {
  readonly name: string;
  readonly title: string;
  readonly state: 'ready' | 'signed_out' | 'missing' | 'broken';
  readonly version: string | null;
  readonly tested: TestedRange;
  readonly program: string | null;
  /** What is to be known or done, in sentences. */
  readonly advice: readonly string[];
};

/** tmux: `verbatim worker` alone needs it, so that nothing else is worse off without. */
type TmuxFinding = Pick<Finding, 'version' | 'program' | 'advice'> & {
  readonly state: 'ready' | 'missing' | 'broken';
};

/** How to sign in to a harness, for a reader. */
const SIGN_IN: Readonly<Record<HarnessName, string>> = { codex: 'Run `codex login`.' };
const TITLE: Readonly<Record<HarnessName, string>> = { codex: 'Codex' };

export async function doctor(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values } = read('doctor', args, { json: 'boolean' });
  const harnesses = new Harnesses({ env: process.env, sidecar: sidecarId(ownIdentity()) });
  const [claude, tmux, ...found] = await Promise.all([
    claudeCode(),
    tmuxHere(),
    ...HARNESS_NAMES.map(async (name) => findingOf(name, harnesses)),
  ]);
  await harnesses.close();
  const isUsable = found.some((finding) => finding.state === 'ready');
  const isWorkerUsable = claude.state === 'ready' && tmux.state === 'ready';
  if (values.json) {
    const report = {
      verbatim: VERSION,
      node: process.versions.node,
      stateFolder: stateFolder(process.env),
      claudeCode: claude,
      harnesses: found,
      tmux,
      usable: isUsable,
      workerUsable: isWorkerUsable,
    };
    await terminal.print(jsonOf(report));
  } else {
    const parts = [
      `Verbatim ${VERSION} on Node ${process.versions.node}; jobs are kept in ${stateFolder(process.env)}\n`,
      ...[claude, ...found].map(asText),
      tmuxText(tmux),
      summary(isUsable, claude.state === 'ready', isWorkerUsable),
    ];
    await terminal.print(parts.join('\n'));
  }
  return isUsable ? 0 : 1;
}

function summary(isUsable: boolean, hasClaude: boolean, isWorkerUsable: boolean): string {
  const again = 'do what is said above, then run `verbatim doctor` again.';
  const agents =
    isUsable && hasClaude
      ? 'Agents: ready.'
      : `Agents: ${isUsable ? 'a harness is ready, Claude Code is not' : 'no harness can be used yet'}: ${again}`;
  return `${agents}\nWorkers: ${isWorkerUsable ? 'ready.' : `not yet: ${again}`}\n`;
}

async function findingOf(name: HarnessName, harnesses: Harnesses): Promise<Finding> {
  const base = { name, title: TITLE[name], tested: TESTED[name] };
  let detection: Detection;
  try {
    detection = await harnesses.of(name).detect();
  } catch (error) {
    const advice = [`Looking for it failed: ${messageOf(error)}`];
    return { ...base, state: 'broken', version: null, program: null, advice };
  }
  if (detection.kind === 'missing') {
    const advice = [`Looked for ${detection.lookedFor}.`, `Install it: \`${detection.install}\``];
    return { ...base, state: 'missing', version: null, program: null, advice };
  }
  const { version, program, signedIn } = detection;
  const advice = [...drift(TITLE[name], version, TESTED[name])];
  if (signedIn === 'no') advice.push(`You are not signed in. ${SIGN_IN[name]}`);
  if (signedIn === 'unknown')
    advice.push(`It does not say whether you are signed in. If a turn fails: ${SIGN_IN[name]}`);
  return { ...base, state: signedIn === 'no' ? 'signed_out' : 'ready', version, program, advice };
}

/** Claude Code tells nobody but its own user. */
const SIGNED_IN = 'Whether you are signed in is not checked: run `claude` once to see.';

/** Claude Code itself: without it there is nobody to spawn an agent, but what is kept can be read. */
async function claudeCode(): Promise<Finding> {
  const base = { name: 'claude_code', title: 'Claude Code', tested: TESTED.claude_code };
  const resolution = resolveProgram('claude', { env: process.env });
  if (resolution.kind === 'missing') {
    const advice = [`Looked for ${resolution.lookedFor}.`, 'Install it: `npm install -g @anthropic-ai/claude-code`'];
    return { ...base, state: 'missing', version: null, program: null, advice };
  }
  const program = resolution.path;
  const answer = await askVersion(program, process.env);
  if (answer.kind === 'failed') {
    const advice = [`\`claude --version\` failed: ${answer.why}.`];
    return { ...base, state: 'broken', version: null, program, advice };
  }
  const version = answer.version ?? 'unknown';
  const advice = [...drift('Claude Code', version, TESTED.claude_code), SIGNED_IN];
  return { ...base, state: 'ready', version, program, advice };
}

async function tmuxHere(): Promise<TmuxFinding> {
  let program: string;
  try {
    program = programOf('tmux', process.env);
  } catch (error) {
    if (!(error instanceof MissingProgramError)) throw error;
    return { state: 'missing', version: null, program: null, advice: [`${error.message}.`] };
  }
  try {
    const { stdout } = await run(program, ['-V'], { timeout: TMUX_MS });
    return { state: 'ready', version: stdout.trim().replace(/^tmux /, ''), program, advice: [] };
  } catch (error) {
    return { state: 'broken', version: null, program, advice: [`\`tmux -V\` failed: ${messageOf(error)}`] };
  }
}

function drift(title: string, version: string, tested: TestedRange): string[] {
  const verdict = compareToTested(version, tested);
  const range = rangeText(tested);
  switch (verdict) {
    case 'tested':
      return [];
    case 'older':
      return [`It is older than what was tested (${range}). Update ${title}.`];
    case 'newer':
      return [`It is newer than what was tested (${range}). It will probably work; look for a newer Verbatim.`];
    case 'unknown':
      return [`Its version cannot be read; ${range} was tested.`];
    default:
      return verdict satisfies never;
  }
}

const WORD = { ready: 'ready', signed_out: 'not signed in', missing: 'not found', broken: 'does not work' } as const;

function asText({ title, tested, ...finding }: Finding): string {
  return lines(title, `(tested with ${rangeText(tested)})`, finding);
}

function tmuxText(finding: TmuxFinding): string {
  return lines('tmux', '(for `verbatim worker` alone)', finding);
}

function lines(
  title: string,
  remark: string,
  { state, version, program, advice }: Pick<Finding, 'state' | 'version' | 'program' | 'advice'>,
): string {
  const found = version === null ? '' : ` ${oneLine(version, 40)}`;
  const all = [`${state === 'ready' ? '✓' : '✗'} ${title}${found}: ${WORD[state]} ${remark}`];
  if (program !== null) all.push(`    ${oneLine(program, 400)}`);
  for (const sentence of advice) all.push(`    ${oneLine(sentence, 1000)}`);
  return `${all.join('\n')}\n`;
}
