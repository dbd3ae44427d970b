/** What a worker waits for a person to do is said by `worker run` and `worker list`; once it is done the answer comes. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gitFolder } from '../../testing/codex-home.js';
import {
  bash,
  calls,
  type FakeMessages,
  fakeMessages,
  type MessagesRequest,
  says,
} from '../../testing/fake-messages.js';
import { until } from '../../testing/wait.js';
import { type Command, type Errand, openWorkers, WAIT_MS, type Workers } from '../../testing/workers.js';

const LONG_MS = 120_000;

let claude: FakeMessages;
let workers: Workers;
beforeAll(async () => {
  claude = await fakeMessages();
  workers = await openWorkers({ claude });
});
afterAll(async () => {
  await workers.close();
  await claude.close();
});

const question = {
  name: 'AskUserQuestion',
  input: {
    questions: [
      {
        question: 'Which colour shall it be?',
        header: 'Colour',
        multiSelect: false,
        options: [
          { label: 'Red', description: 'the first' },
          { label: 'Blue', description: 'the second' },
        ],
      },
    ],
  },
};

/** Says which tools the task's words made it use. */
function model(request: MessagesRequest) {
  const [result] = request.results;
  if (result !== undefined) return says(`${result.tool}: ${result.isError ? 'refused' : 'done'}`);
  if (request.text.includes('touch a file')) return calls(bash('touch touched.txt'));
  if (request.text.includes('ask me')) return calls(question);
  return says('no dialog is left');
}

/** A repository that Claude Code does not know yet: trust is given to a whole one. */
function newFolder(name: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = join(workers.place.root, name);
  gitFolder(folder);
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
  return folder;
}

async function started(
  place: Workers,
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
) {
  const command = place.start(['run', ...words], { env });
  return { command, errand: await command.errand() };
}

/** Waits until the command says it, as `list` does then. */
async function waits(
  place: Workers,
  { command, errand }: { command: Command; errand: Errand },
  status: string,
  said: string,
) {
  await command.says(`verbatim worker: ${said}: verbatim worker attach ${errand.id}`);
  const listed = await place.listed(errand.id);
  expect(listed).toMatchObject({ status: 'waiting', wait: { for: status, sentence: said } });
}

async function answered({ command }: { command: Command }, answer = 'no dialog is left') {
  const { code, stdout, stderr } = await command.ended;
  expect([code, stdout.toString()], stderr).toEqual([0, answer]);
  return stderr;
}

describe('rule.onlyTheAnswerOnStdout: dialogs go to stderr', () => {
  test(
    'of a start: a folder to trust, its MCP server, the files that its CLAUDE.md imports',
    async () => {
      claude.main(model);
      const mcp = { mcpServers: { one: { command: 'true', args: [] } } };
      const cwd = newFolder('strange', { '.mcp.json': JSON.stringify(mcp), 'CLAUDE.md': '@../imported.md\n' });
      writeFileSync(join(workers.place.root, 'imported.md'), 'Be kind.\n');
      const one = await started(workers, ['go', '--cwd', cwd]);
      await waits(workers, one, 'trust', 'it asks whether you trust its folder');
      one.errand.press('Down');
      await one.errand.sees('❯ Yes, I trust this folder');
      one.errand.press('Enter');
      await waits(workers, one, 'mcp_servers', "it asks about the project's MCP servers");
      one.errand.press('Enter');
      await waits(workers, one, 'imports', 'it asks about files that CLAUDE.md imports');
      one.errand.press('Enter');
      expect((await answered(one)).trimEnd()).toMatch(/\nverbatim worker: it goes on$/);
    },
    LONG_MS,
  );

  test(
    'of a start: an API key, the risk of a mode; a start that is left there ends the errand',
    async () => {
      claude.main(model);
      const [key, warning, left] = await Promise.all([
        started(workers, ['go'], { ANTHROPIC_API_KEY: 'sk-ant-test-111111111111111111111111' }),
        started(workers, ['go', '--permission-mode', 'bypassPermissions']),
        started(workers, ['go', '--permission-mode', 'bypassPermissions']),
      ]);
      const risk = 'it asks you to accept the risk of its permission mode';
      await waits(workers, key, 'api_key', 'it asks whether to use the API key in ANTHROPIC_API_KEY');
      await waits(workers, warning, 'warning', risk);
      await waits(workers, left, 'warning', risk);
      key.errand.press('Up');
      await key.errand.sees(/❯ (\d\. )?Yes/);
      key.errand.press('Enter');
      warning.errand.press('Down');
      await warning.errand.sees(/❯ (\d\. )?Yes, I accept/);
      warning.errand.press('Enter');
      // What the dialog proposes is to leave.
      left.errand.press('Enter');
      await answered(key);
      await answered(warning);
      expect((await left.command.ended).code).toBe(4);
    },
    LONG_MS,
  );

  test(
    'a first start, and a Claude Code that nobody has signed in to',
    async () => {
      claude.main(model);
      const fresh = await openWorkers({ claude, config: { hasCompletedOnboarding: false } });
      try {
        const [first, signedOut] = await Promise.all([
          started(fresh, ['go']),
          started(workers, ['go'], { ANTHROPIC_API_KEY: undefined }),
        ]);
        await waits(fresh, first, 'onboarding', 'it is at the questions of a first start');
        first.errand.press('Enter');
        await first.errand.sees('Press Enter to continue');
        first.errand.press('Enter');
        await answered(first);
        await signedOut.command.says(
          /its turn failed \([^\n]*\/login\); it waits for a message: verbatim worker attach/,
        );
        expect(await workers.listed(signedOut.errand.id)).toMatchObject({ wait: { for: 'turn_failed' } });
        expect((await workers.run(['stop', signedOut.errand.id])).code).toBe(0);
        const { code, stdout, stderr } = await signedOut.command.ended;
        expect([code, stdout.length], stderr).toEqual([130, 0]);
      } finally {
        await fresh.close();
      }
    },
    LONG_MS,
  );

  test(
    'of a turn: a command to permit, a question to answer',
    async () => {
      claude.main(model);
      const [permission, asked] = await Promise.all([
        started(workers, ['touch a file', '--permission-mode', 'manual']),
        started(workers, ['ask me']),
      ]);
      await waits(workers, permission, 'permission', 'it asks for permission (Bash: touch touched.txt)');
      await waits(workers, asked, 'question', 'it asks a question (Which colour shall it be?)');
      permission.errand.press('Enter');
      asked.errand.press('Enter');
      expect(await answered(permission, 'Bash: done')).toContain('verbatim worker: it goes on\n');
      expect(await answered(asked, 'AskUserQuestion: done')).toContain('verbatim worker: it goes on\n');
    },
    LONG_MS,
  );

  test(
    'a hook of the user’s own that blocks the task',
    async () => {
      claude.main(model);
      const blocking = 'echo "no tasks on Mondays" >&2; exit 2';
      const settings = { hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: blocking }] }] } };
      const strict = await openWorkers({ claude, settings });
      try {
        const refused = await started(strict, ['go']);
        await refused.command.says(/Claude Code did not take the task \([^\n]*no tasks on Mondays/);
        expect(await strict.listed(refused.errand.id)).toMatchObject({ wait: { for: 'task_refused' } });
        refused.command.child.kill('SIGINT');
        expect((await refused.command.ended).code).toBe(130);
      } finally {
        await strict.close();
      }
    },
    LONG_MS,
  );
});

let folders = 0;

/** A folder to trust, a command to permit, a model that nobody has signed in to: each waits for a person. */
const WAITING: readonly (readonly [said: string, words: () => readonly string[], env?: Record<string, undefined>])[] = [
  ['it asks whether you trust its folder', () => ['go', '--cwd', newFolder(`strange ${++folders}`)]],
  ['it asks for permission (Bash: touch touched.txt)', () => ['touch a file', '--permission-mode', 'manual']],
  ['its turn failed (', () => ['go'], { ANTHROPIC_API_KEY: undefined }],
];

test(
  'rule.noWorkerIsLeft: unattended, a worker that waits for a person ends its errand (5), and stderr says for what',
  async () => {
    claude.main(model);
    await Promise.all(
      WAITING.map(async ([said, words, env]) => {
        const { command, errand } = await started(workers, [...words(), '--unattended'], env);
        const { code, stdout, stderr } = await command.ended;
        expect([code, stdout.length], stderr).toEqual([5, 0]);
        expect(stderr).toContain(`the worker of errand ${errand.id} needs somebody, and is unattended: ${said}`);
        expect(errand.processes()).toEqual([]);
        const again = await workers.run(['answer', errand.id, '--json']);
        expect([again.code, JSON.parse(again.stdout.toString())]).toEqual([
          5,
          expect.objectContaining({ errand: errand.id, status: 'needs_person' }),
        ]);
      }),
    );
    workers.nothingIsLeft();
  },
  LONG_MS,
);

test(
  'an errand whose time is up says what its worker waited for, or that it had not started',
  async () => {
    claude.main(model);
    const bin = join(workers.place.root, 'slow');
    mkdirSync(bin);
    writeFileSync(join(bin, 'claude'), '#!/bin/sh\nsleep 4712.5\n', { mode: 0o755 });
    const env = { PATH: `${bin}:${workers.place.env.PATH}` };
    const late = (words: readonly string[], over: Readonly<Record<string, string | undefined>> = {}) =>
      workers.run(['run', ...words], { env: over });
    const [slow, ...waiting] = await Promise.all([
      late(['go', '--timeout', '2s'], env),
      ...WAITING.map(([, words, over]) => late([...words(), '--timeout', '9s'], over)),
    ]);
    expect([slow.code, slow.stderr]).toEqual([
      124,
      expect.stringMatching(/in time: its worker had not started yet\n$/),
    ]);
    for (const [index, [said]] of WAITING.entries()) {
      expect(waiting[index]?.code).toBe(124);
      expect(waiting[index]?.stderr).toContain(`was not answered in time: ${said}`);
    }
    workers.nothingIsLeft();
  },
  LONG_MS,
);

test(
  '`worker attach` shows the worker inside a tmux of the person’s own: what they do there it gets, it outlives their leaving, and its errand’s end is said',
  async () => {
    claude.main(model);
    const one = await started(workers, ['go', '--cwd', newFolder('attached')]);
    await waits(workers, one, 'trust', 'it asks whether you trust its folder');
    const folder = mkdtempSync(join(tmpdir(), 'vb-person-'));
    const tmux = (...words: readonly string[]) =>
      execFileSync('tmux', ['-u', '-S', join(folder, 's'), '-f', '/dev/null', ...words], {
        env: { ...workers.place.env, LANG: 'C' },
        encoding: 'utf8',
      });
    const sees = (what: string) =>
      until(`the person to see ${what}`, () => tmux('capture-pane', '-p').includes(what), {
        within: WAIT_MS,
        detail: () => tmux('capture-pane', '-p'),
      });
    try {
      tmux('new-session', '-d', '-x', '110', '-y', '40', '/bin/sh');
      const attach = `${process.execPath} ${workers.program} worker attach ${one.errand.id}; echo left with $?`;
      tmux('send-keys', '-l', attach);
      tmux('send-keys', 'Enter');
      await sees('Accessing workspace:');
      tmux('send-keys', 'C-b', 'd');
      await sees('Ctrl-b Ctrl-b d (this is a tmux of your own) leaves the worker');
      await sees('left with 0');
      tmux('send-keys', 'Up', 'C-u');
      tmux('send-keys', '-l', attach);
      tmux('send-keys', 'Enter');
      await sees('❯ No, exit');
      tmux('send-keys', 'Down');
      await sees('❯ Yes, I trust this folder');
      tmux('send-keys', 'Enter');
      await answered(one);
      await sees(`verbatim worker: errand ${one.errand.id} was answered`);
      await sees('left with 0');
    } finally {
      tmux('kill-server');
      rmSync(folder, { recursive: true, force: true });
    }
    const gone = await workers.run(['attach', one.errand.id]);
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('has ended')]);
  },
  LONG_MS,
);
