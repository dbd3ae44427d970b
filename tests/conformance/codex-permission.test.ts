/** What each access level lets the real Codex do, and that nothing of the user's or the project's widens it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import type { Access } from '../../sidecar/src/harness/contract.js';
import { gitFolder } from '../../testing/codex-home.js';
import { type CodexKit, codexKit, FULL, READ, type RunTurn, WRITE } from '../../testing/codex-kit.js';
import { addFile, call, type Part, say, shell, turn } from '../../testing/fake-responses.js';

let kit: CodexKit;
afterEach(() => kit?.close());

const LEVELS: readonly Access[] = [READ, WRITE, FULL];

/** Runs one turn in which the model makes this call, then says `done`. */
async function turnOf(access: Access, ...parts: readonly Part[]): Promise<RunTurn> {
  const thread = await kit.open();
  kit.model.next(turn(...parts), turn(say('done')));
  const run = await kit.run(thread, 'go', { access });
  expect(run.end.ending).toEqual({ kind: 'completed', answer: 'done' });
  return run;
}

const inside = () => join(kit.home.work, 'inside.txt');
/** Beside the work folder: no temporary folder, which workspace_write leaves writable. */
const outside = () => join(dirname(kit.home.work), 'outside.txt');
const approvals = (run: RunTurn) => run.events.filter((event) => event.kind === 'approval');

describe('a command', () => {
  test.each([
    { access: READ, canWriteInside: false, canWriteOutside: false, hasNetwork: false },
    { access: WRITE, canWriteInside: true, canWriteOutside: false, hasNetwork: false },
    { access: FULL, canWriteInside: true, canWriteOutside: true, hasNetwork: true },
  ])('with $access.level may do what the level says and no more', async (row) => {
    kit = await codexKit();
    const probe = `exec 3<>/dev/tcp/127.0.0.1/${kit.model.port} && touch net`;
    await turnOf(row.access, shell(`touch ${inside()}; touch ${outside()}; (${probe}); true`));
    expect(existsSync(inside())).toBe(row.canWriteInside);
    expect(existsSync(outside())).toBe(row.canWriteOutside);
    expect(existsSync(join(kit.home.work, 'net'))).toBe(row.hasNetwork && row.canWriteInside);
  });

  test.each([
    { access: READ, escalate: 'please' },
    { access: WRITE, escalate: 'please' },
    { access: READ, escalate: undefined },
    { access: WRITE, escalate: undefined },
  ])('that asks for more than $access.level does not get it (reason: $escalate)', async ({ access, escalate }) => {
    kit = await codexKit();
    const args = { cmd: `touch ${outside()}`, sandbox_permissions: 'require_escalated', justification: escalate };
    await turnOf(access, call('exec_command', args));
    expect(existsSync(outside())).toBe(false);
  });

  test('that asks to leave the sandbox in read_only is declined, and that is shown', async () => {
    kit = await codexKit();
    const run = await turnOf(READ, shell(`touch ${outside()}`, { escalate: 'I need it' }));
    expect(approvals(run)).toEqual([
      {
        kind: 'approval',
        subject: `run: touch ${outside()} — I need it`,
        decision: 'declined',
        reason: 'The permission mode allows reading only.',
      },
    ]);
  });

  test('that Codex finds dangerous runs in workspace_write, inside the sandbox, and is shown as allowed', async () => {
    kit = await codexKit();
    writeFileSync(inside(), 'x');
    writeFileSync(outside(), 'x');
    const run = await turnOf(WRITE, shell(`rm -f ${inside()}; rm -f ${outside()}`));
    expect(existsSync(inside())).toBe(false);
    expect(existsSync(outside())).toBe(true);
    expect(approvals(run)).toMatchObject([{ decision: 'allowed' }]);
  });

  test('that Codex finds dangerous runs with full access', async () => {
    kit = await codexKit();
    writeFileSync(outside(), 'x');
    const run = await turnOf(FULL, shell(`rm -f ${outside()}`));
    expect(existsSync(outside())).toBe(false);
    expect(approvals(run)).toMatchObject([{ decision: 'allowed' }]);
  });
});

test('rules of the user’s Codex that reach out of the sandbox are named in a warning, once', async () => {
  kit = await codexKit();
  mkdirSync(join(kit.home.home, 'rules'));
  writeFileSync(join(kit.home.home, 'rules', 'default.rules'), 'prefix_rule(pattern=["touch"], decision="allow")\n');
  const thread = await kit.open();
  const first = await kit.run(thread, 'one');
  expect(first.events).toEqual([{ kind: 'warning', text: expect.stringContaining('default.rules') }]);
  expect((await kit.run(thread, 'two')).events).toEqual([]);
});

describe('an edit', () => {
  test.each([
    { access: READ, isMade: false },
    { access: WRITE, isMade: true },
    { access: FULL, isMade: true },
  ])('inside the folder with $access.level is made: $isMade', async ({ access, isMade }) => {
    kit = await codexKit();
    const run = await turnOf(access, addFile('inside.txt', 'x'));
    expect(existsSync(inside())).toBe(isMade);
    expect(approvals(run).map(({ decision }) => decision)).toEqual(isMade ? [] : ['declined']);
  });

  test.each([
    { access: READ, isMade: false },
    { access: WRITE, isMade: false },
    { access: FULL, isMade: true },
  ])('outside the folder with $access.level is made: $isMade', async ({ access, isMade }) => {
    kit = await codexKit();
    await turnOf(access, addFile(outside(), 'x'));
    expect(existsSync(outside())).toBe(isMade);
  });
});

test.each([
  { access: READ, isCalled: false },
  { access: WRITE, isCalled: false },
  { access: FULL, isCalled: true },
])(
  'a tool of an MCP server, which no sandbox holds, runs with $access.level: $isCalled',
  async ({ access, isCalled }) => {
    const server = fileURLToPath(new URL('../../testing/fixtures/mcp-server.mjs', import.meta.url));
    kit = await codexKit({
      tables: `[mcp_servers.probe]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(server)}]\n`,
    });
    const run = await turnOf(access, call('touch', { path: outside() }, 'mcp__probe'));
    expect(existsSync(outside())).toBe(isCalled);
    expect(approvals(run)).toMatchObject([
      {
        subject: 'MCP server probe: Allow the probe MCP server to run tool "touch"?',
        decision: isCalled ? 'allowed' : 'declined',
      },
    ]);
    expect(run.events).toContainEqual(
      expect.objectContaining({
        kind: 'action_completed',
        action: { tool: 'other', name: 'probe.touch', input: JSON.stringify({ path: outside() }) },
      }),
    );
  },
);

test.each(LEVELS)('a question to the user is answered with nothing at $level, and shown', async (access) => {
  kit = await codexKit({ features: { default_mode_request_user_input: true } });
  const questions = [
    {
      id: 'q',
      header: 'Q',
      question: 'Which one?',
      options: [
        { label: 'a', description: 'x' },
        { label: 'b', description: 'y' },
      ],
    },
  ];
  const run = await turnOf(access, call('request_user_input', { questions }));
  expect(approvals(run)).toMatchObject([{ subject: 'a question: Which one?', decision: 'declined' }]);
});

test.each(LEVELS)('a bound of an earlier turn does not outlive it: after $level comes read_only', async (access) => {
  kit = await codexKit();
  const thread = await kit.open();
  kit.model.next(turn(say('one')), turn(shell(`touch ${inside()}`)), turn(say('two')));
  await kit.run(thread, 'a', { access });
  await kit.run(thread, 'b', { access: READ });
  expect(existsSync(inside())).toBe(false);
});

describe.each(['workspace-write', 'danger-full-access'])('with sandbox_mode %s in the user’s config', (mode) => {
  test.each(LEVELS)('$level stays what it is; no folder is trusted, no project config is loaded', async (access) => {
    kit = await codexKit({ top: `sandbox_mode = "${mode}"\napproval_policy = "never"\n` });
    const project = join(kit.home.work, '.codex');
    mkdirSync(project);
    writeFileSync(
      join(project, 'config.toml'),
      'developer_instructions = "THE PROJECT SPEAKS"\nsandbox_mode = "danger-full-access"\n',
    );
    const before = kit.home.config();
    await turnOf(access, shell(`touch ${outside()}`));
    expect(existsSync(outside())).toBe(access.level === 'full');
    expect(kit.home.config()).toBe(before);
    for (const request of kit.model.requests) expect(JSON.stringify(request.body)).not.toContain('THE PROJECT SPEAKS');
  });
});

describe('in a linked worktree', () => {
  async function commitIn(access: Access): Promise<{ worktree: string; log: string; main: string }> {
    kit = await codexKit();
    const main = join(dirname(kit.home.work), 'main');
    const worktree = join(dirname(kit.home.work), 'linked');
    gitFolder(main);
    execFileSync('git', ['worktree', 'add', '--quiet', '-b', 'topic', worktree], { cwd: main, stdio: 'pipe' });
    const thread = await kit.open({ cwd: worktree });
    const hook = join(main, '.git', 'hooks', 'post-commit');
    rmSync(hook, { force: true });
    const command = `echo x > new && git add new && git commit -qm Topic; echo touch > ${hook}; echo '[x]' >> ${main}/.git/config`;
    kit.model.next(turn(shell(command)), turn(say('done')));
    const { end } = await kit.run(thread, 'go', { access, cwd: worktree });
    expect(end.ending).toEqual({ kind: 'completed', answer: 'done' });
    return {
      worktree,
      main,
      log: execFileSync('git', ['log', '--format=%s', 'topic'], { cwd: main, encoding: 'utf8' }),
    };
  }

  test('git commit works with workspace_write, and hooks and config of the repository stay out of reach', async () => {
    const { log, main } = await commitIn(WRITE);
    expect(log).toBe('Topic\nStart\n');
    expect(existsSync(join(main, '.git', 'hooks', 'post-commit'))).toBe(false);
    expect(readFileSync(join(main, '.git', 'config'), 'utf8')).not.toContain('[x]');
  });

  test('git commit does not work with read_only', async () => {
    expect((await commitIn(READ)).log).toBe('Start\n');
  });
});
