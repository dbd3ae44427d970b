/** What each permission mode lets the harness do: the real Claude Code's mode, the real Codex's sandbox, real files. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Mode } from '../../testing/claude.js';
import { sendMessage } from '../../testing/fake-messages.js';
import { addFile, type ModelRequest, say, shell, turn } from '../../testing/fake-responses.js';
import { until } from '../../testing/wait.js';
import { type AgentRun, lastWords, openWorld, type World } from '../../testing/world.js';

type Row = {
  readonly mode: Mode;
  /** As Codex states it with each request. */
  readonly sandbox: 'read-only' | 'workspace-write' | 'danger-full-access';
};

const ROWS: readonly Row[] = [
  { mode: 'plan', sandbox: 'read-only' },
  { mode: 'dontAsk', sandbox: 'read-only' },
  { mode: 'default', sandbox: 'read-only' },
  { mode: 'acceptEdits', sandbox: 'workspace-write' },
  { mode: 'auto', sandbox: 'workspace-write' },
  { mode: 'bypassPermissions', sandbox: 'danger-full-access' },
];

let world: World;
/** The user's configuration of Codex, as it was before anything ran. */
let config: string;

beforeAll(async () => {
  // Only a session that was started in bypassPermissions can be put back into it.
  world = await openWorld({ mode: 'bypassPermissions' });
  config = world.home.config();
  // What a project would like to grant itself.
  mkdirSync(join(world.home.work, '.codex'));
  writeFileSync(
    join(world.home.work, '.codex', 'config.toml'),
    'developer_instructions = "THE PROJECT SPEAKS"\nsandbox_mode = "danger-full-access"\napproval_policy = "never"\n',
  );
});
beforeEach(() => {
  world.codex.reset();
  for (const path of [inside(), outside(), edited()]) rmSync(path, { force: true });
});
afterAll(() => world.close());

const inside = () => join(world.home.work, 'inside.txt');
/** Beside the work folder: no temporary folder, which workspace-write leaves writable. */
const outside = () => join(dirname(world.home.work), 'outside.txt');
const edited = () => join(world.home.work, 'edited.txt');
/** Writes inside and outside, and connects to a port of this machine. */
const probe = () =>
  `touch ${inside()}; touch ${outside()}; (exec 3<>/dev/tcp/127.0.0.1/${world.codex.port}) && echo reached; true`;

describe.each(ROWS)('in $mode mode', ({ mode, sandbox }) => {
  const mayWrite = sandbox !== 'read-only';
  const mayAll = sandbox === 'danger-full-access';

  test(`the harness is bound to ${sandbox}, whatever the project's own configuration grants`, async () => {
    await world.session.setMode(mode);
    world.codex.next(turn(shell(probe())), turn(addFile('edited.txt', 'x')), turn(say('done')));
    const run = await world.runAgent('write where you can');
    expect(run.last).toBe('done');
    expect({ inside: existsSync(inside()), outside: existsSync(outside()), edited: existsSync(edited()) }).toEqual({
      inside: mayWrite,
      outside: mayAll,
      edited: mayWrite,
    });
    expect(run.transcript.calls('mcp__verbatim__command')[0]?.result?.text.includes('reached')).toBe(mayAll);
    expect(shown(run, 'permission')).toEqual(
      mayWrite ? [] : ['declined: change files (The permission mode allows reading only.)'],
    );
    for (const request of world.codex.requests) {
      expect(sandboxOf(request)).toBe(sandbox);
      expect(JSON.stringify(request.body)).not.toContain('THE PROJECT SPEAKS');
    }
    expect(world.home.config()).toBe(config);
  });
});

describe('across turns and modes', () => {
  test('a request for more than the mode allows is declined, shown as a step, and the turn goes on', async () => {
    await world.session.setMode('default');
    world.codex.next(turn(shell(`touch ${outside()}`, { escalate: 'I need it' })), turn(say('then without')));
    const run = await world.runAgent('escalate');
    expect(run.last).toBe('then without');
    expect(existsSync(outside())).toBe(false);
    expect(shown(run, 'permission')).toEqual([
      `declined: run: touch ${outside()} — I need it (The permission mode allows reading only.)`,
    ]);
  });

  test('a job that was in plan mode stays read-only, also when bypassPermissions is back', async () => {
    await world.session.setMode('bypassPermissions');
    world.codex.next(turn(shell(`touch ${inside()}`)), turn(say('one')));
    const { agentId } = await world.runAgent('first');
    expect(existsSync(inside())).toBe(true);
    for (const [mode, text, n] of [
      ['plan', 'second', 2],
      ['bypassPermissions', 'third', 3],
    ] as const) {
      rmSync(inside(), { force: true });
      await world.session.setMode(mode);
      world.codex.next(turn(shell(`touch ${inside()}`)), turn(say(`${text} done`)));
      await world.callTool(sendMessage(agentId, text));
      await world.ended(agentId, n);
      await until('the answer', () => lastWords(world.transcript(agentId)) === `${text} done`);
      expect(existsSync(inside())).toBe(false);
    }
    expect(world.codex.requests.map(sandboxOf)).toEqual([
      'danger-full-access',
      'danger-full-access',
      'read-only',
      'read-only',
      'read-only',
      'read-only',
    ]);
  });
});

describe('in a worktree', () => {
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: world.home.work, encoding: 'utf8', stdio: 'pipe' });

  test.each([
    { mode: 'acceptEdits', isCommitted: true },
    { mode: 'bypassPermissions', isCommitted: true },
    { mode: 'default', isCommitted: false },
  ] as const)(
    'an isolated agent works in its copy alone, and in $mode mode git commit works: $isCommitted',
    async (row) => {
      await world.session.setMode(row.mode);
      const subject = `From ${row.mode}`;
      world.codex.next(
        turn(shell(`pwd; echo x > new.txt && git add new.txt && git commit -qm '${subject}'; echo y >> README.md`)),
        turn(say('done')),
      );
      const before = git('rev-parse', 'HEAD');
      const run = await world.runAgent('commit', { isolation: 'worktree' });
      expect(run.last).toBe('done');
      // As the model was told: of a command that its sandbox refused at once Codex 0.171.0 reports no item.
      const output = world.codex.requests.at(-1)?.toolOutputs.at(-1) ?? '';
      expect(output).toContain(`\n${join(world.home.work, '.claude', 'worktrees', `agent-${run.agentId}`)}\n`);
      expect(git('log', '--all', '--format=%s').includes(subject)).toBe(row.isCommitted);
      // The main checkout is as it was.
      expect(git('rev-parse', 'HEAD')).toBe(before);
      expect(existsSync(join(world.home.work, 'new.txt'))).toBe(false);
      expect(git('diff', '--stat')).toBe('');
      expect(world.home.config()).toBe(config);
    },
  );
});

/** The sandbox that Codex states in a request to its model. */
function sandboxOf(request: ModelRequest): unknown {
  const metadata = JSON.parse(String(request.headers['x-codex-turn-metadata'])) as { sandbox_mode?: unknown };
  return metadata.sandbox_mode;
}

/** Texts of the steps about one thing. */
function shown(run: AgentRun, about: string): unknown[] {
  return run.transcript
    .calls('mcp__verbatim__progress')
    .filter(({ input }) => input.about === about)
    .map(({ input }) => input.text);
}
