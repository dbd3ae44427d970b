/** `verbatim worker` where not everything is as it should be: odd paths and variables, wrappers, what is missing or gone. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claudeBinary, copyPlugin } from '../../testing/claude-place.js';
import { bash, calls, holds, says } from '../../testing/fake-messages.js';
import { descendants, environmentOf, isAlive, running, signal, untilGone } from '../../testing/processes.js';
import { never, until } from '../../testing/wait.js';
import { kill, openWorkers, WAIT_MS, type Workers } from '../../testing/workers.js';

const LONG_MS = 120_000;
/** What tmux, a shell or a template could take for something else. */
const ODD = 'a b;#{pid} $HOME\'"%s ü';

let workers: Workers;
beforeAll(async () => {
  workers = await openWorkers();
});
afterAll(() => workers.close());

function folder(...path: readonly string[]): string {
  const made = join(workers.place.root, ...path);
  mkdirSync(made, { recursive: true });
  return made;
}

/** A `claude` that is a script of the user's, as version managers make them: Claude Code is its child. */
function wrapper(): string {
  const bin = folder('wrapped');
  writeFileSync(join(bin, 'claude'), `#!/bin/sh\n'${claudeBinary()}' "$@"\nexit $?\n`);
  chmodSync(join(bin, 'claude'), 0o755);
  return `${bin}:${workers.place.env.PATH}`;
}

describe('odd places', () => {
  test(
    'folders, plugin, model and state with any characters in their names, a temporary folder too long for a socket',
    async () => {
      workers.claude.main((request) => says(`model ${request.model}`));
      const cwd = folder('work', ODD);
      const state = folder(`state ${ODD}`);
      const long = folder('t'.repeat(120));
      const odd = copyPlugin({ ...workers.place, root: folder(`plugins ${ODD};`) });
      const command = workers.start(['run', 'where am I', '--keep', '--cwd', cwd, '--model', 'claude-#{pid};'], {
        env: { XDG_STATE_HOME: state, TMPDIR: long, XDG_RUNTIME_DIR: join(long, 'run'), LANG: 'C', TERM: undefined },
        command: [process.execPath, join(odd, 'sidecar', 'verbatim.mjs'), 'worker'],
      });
      const errand = await command.errand();
      const { code, stdout, stderr } = await command.ended;
      expect([code, stdout.toString()], stderr).toEqual([0, 'model claude-#{pid};']);
      const { pid } = await errand.worker();
      expect(readlinkSync(`/proc/${pid}/cwd`)).toBe(cwd);
      expect((await workers.run(['stop', errand.id], { env: { XDG_STATE_HOME: state } })).code).toBe(0);
      workers.nothingIsLeft();
    },
    LONG_MS,
  );

  test(
    'inside a session of Claude Code, inside tmux, behind a proxy: the worker is a session of its own, and reaches its desk',
    async () => {
      workers.claude.main(() => says('alone'));
      const around = {
        CLAUDECODE: '1',
        CLAUDE_CODE_ENTRYPOINT: 'sdk-cli',
        CLAUDE_CODE_SESSION_ID: 'around',
        CLAUDE_CODE_MESSAGING_SOCKET: '/nowhere/socket',
        TMUX: '/nowhere/tmux,1,0',
        TMUX_PANE: '%77',
        LICH_PORT: '1',
        LICH_TOKEN: 'of the session around',
        LICH_SESSION_ID: 'around',
      };
      const proxies = [
        { HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: undefined },
        { http_proxy: 'http://127.0.0.1:9', no_proxy: 'example.org', NO_PROXY: undefined },
        { http_proxy: 'http://127.0.0.1:9', NO_PROXY: '*' },
      ];
      const seen = await Promise.all(
        proxies.map(async (proxy) => {
          const command = workers.start(['run', 'be alone', '--keep'], { env: { ...around, ...proxy } });
          const errand = await command.errand();
          const { code, stdout, stderr } = await command.ended;
          expect([code, stdout.toString()], stderr).toEqual([0, 'alone']);
          const found = environmentOf((await errand.worker()).pid);
          expect((await workers.run(['stop', errand.id])).code).toBe(0);
          return found;
        }),
      );
      for (const { TMUX, TMUX_PANE, LICH_SESSION_ID, ...all } of seen) {
        for (const name of [
          'CLAUDECODE',
          'CLAUDE_CODE_ENTRYPOINT',
          'CLAUDE_CODE_SESSION_ID',
          'CLAUDE_CODE_MESSAGING_SOCKET',
        ]) {
          expect(all).not.toHaveProperty(name);
        }
        expect([TMUX?.includes('/nowhere'), TMUX_PANE, LICH_SESSION_ID === 'around']).toEqual([false, '%0', false]);
      }
      expect(seen.map(({ NO_PROXY, no_proxy }) => [NO_PROXY, no_proxy])).toEqual([
        ['127.0.0.1', undefined],
        [undefined, 'example.org,127.0.0.1'],
        ['*', undefined],
      ]);
    },
    LONG_MS,
  );

  test(
    'descriptors that the shell had open are not kept open by a worker that stays',
    async () => {
      workers.claude.main(() => says('kept'));
      const line = `exec 9>&1 8>&2; ${process.execPath} ${workers.program} worker run --keep "stay" 9>&1 8>&2`;
      // It ends only when nobody holds its pipes any more.
      const { code, stdout, stderr } = await workers.run([], { command: ['/bin/sh', '-c', line] });
      expect([code, stdout.toString()], stderr).toEqual([0, 'kept']);
      const [id = ''] = /e[a-z2-7]{20}/.exec(stderr) ?? [];
      expect((await workers.run(['stop', id])).code).toBe(0);
      workers.nothingIsLeft();
    },
    LONG_MS,
  );
});

describe('a claude that is a script around Claude Code', () => {
  test(
    'rule.noWorkerIsLeft: Claude Code below it has the time to write its transcript, and is gone',
    async () => {
      workers.claude.main(() => calls(bash('echo begun > begun; sleep 4711.5')));
      const command = workers.start(['run', 'be wrapped'], { env: { PATH: wrapper() } });
      const errand = await command.errand();
      await until('its command', () => existsSync(join(workers.place.cwd, 'begun')), { within: WAIT_MS });
      const all = descendants((await errand.worker()).pid);
      expect(all.some(({ command: line }) => line.startsWith(claudeBinary()))).toBe(true);
      command.child.kill('SIGINT');
      expect((await command.ended).code).toBe(130);
      expect(all.filter(isAlive)).toEqual([]);
      workers.nothingIsLeft();
      const projects = join(workers.place.home, '.claude', 'projects');
      const transcripts = readdirSync(projects, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.jsonl'))
        .map((name) => readFileSync(join(projects, name), 'utf8'));
      const own = transcripts.find((one) => one.includes('be wrapped'));
      expect(own).toContain('sleep 4711.5');
      expect(own).toContain('"tool_result"');
    },
    LONG_MS,
  );

  test(
    'rule.workerEndEndsTheErrand: the script is killed, or what it runs: the errand ends, and neither is left',
    async () => {
      workers.claude.main(() => holds(never));
      const env = { PATH: wrapper() };
      const both = [workers.start(['run', 'one'], { env }), workers.start(['run', 'two'], { env })];
      const errands = await Promise.all(both.map((one) => one.errand()));
      for (const errand of errands) await errand.taken();
      const [script, below] = await Promise.all(errands.map((errand) => errand.worker()));
      if (script === undefined || below === undefined) throw new Error('two were started');
      kill(script, ...descendants(below.pid));
      for (const { ended } of both) {
        const { code, stderr } = await ended;
        expect([code, /signal 9|exit code 137/.test(stderr)], stderr).toEqual([4, true]);
      }
      workers.nothingIsLeft();
    },
    LONG_MS,
  );
});

describe('what is missing or gone', () => {
  test(
    'errands that cannot be read are said one a line, however many, and nothing else is',
    async () => {
      const state = folder('damaged');
      for (const letter of 'abcdefghijklmnop') {
        const errand = folder('damaged', 'verbatim', 'errands', `e${letter.repeat(20)}`);
        writeFileSync(join(errand, 'state.json'), '{"version": 1}');
      }
      const { code, stdout, stderr } = await workers.run(['list'], { env: { XDG_STATE_HOME: state } });
      expect([code, stdout.toString()]).toEqual([1, expect.stringContaining('No errands are kept')]);
      const lines = stderr.trimEnd().split('\n');
      expect(lines).toHaveLength(16);
      for (const line of lines) expect(line).toMatch(/^verbatim worker list: .*\/e([a-p])\1{19}/);
    },
    LONG_MS,
  );

  test(
    'tmux, Claude Code, a folder to keep errands in, the folder that it runs in: said in one line, nothing is opened',
    async () => {
      const bin = folder('bare');
      const only = (...programs: readonly string[]) => [bin, ...programs.map((program) => dirname(program))].join(':');
      const gone = folder('gone');
      const inGone = [
        '/bin/sh',
        '-c',
        `rmdir "${gone}"; exec ${process.execPath} ${workers.program} worker run this`,
      ] as const;
      const all = await Promise.all([
        workers.run(['run', 'this'], { env: { PATH: only(claudeBinary()) } }),
        workers.run(['run', 'this'], { env: { PATH: '/usr/bin:/bin' } }),
        workers.run(['run', 'this'], { env: { XDG_STATE_HOME: '/dev/null' } }),
        workers.run([], { command: [...inGone], cwd: gone }),
      ]);
      const said = ['tmux is missing', 'claude is missing', 'the errand cannot be kept', 'was removed'];
      for (const [index, { code, stdout, stderr }] of all.entries()) {
        expect([code, stdout.length, stderr.trim().split('\n').length], stderr).toEqual([1, 0, 1]);
        expect(stderr).toContain(said[index]);
      }
      workers.nothingIsLeft();
    },
    LONG_MS,
  );

  test(
    'a worker’s folder that is removed while it works does not keep its answer',
    async () => {
      const cwd = folder('work', 'removed');
      workers.claude.main(() => {
        rmSync(cwd, { recursive: true });
        return says('removed');
      });
      const { code, stdout, stderr } = await workers.run(['run', 'lose your folder', '--cwd', cwd]);
      expect([code, stdout.toString()], stderr).toEqual([0, 'removed']);
      expect(existsSync(cwd)).toBe(false);
      workers.nothingIsLeft();
    },
    LONG_MS,
  );

  test(
    'rule.noWorkerIsLeft: a terminal whose socket was cleaned away, and a Claude Code that is stopped, are closed all the same',
    async () => {
      const nap = 'sleep 8765.25';
      workers.claude.main((request) => (request.results.length > 0 ? holds(never) : calls(bash(`true; ${nap}`))));
      const both = [workers.start(['run', 'without a socket']), workers.start(['run', 'stopped'])];
      const [cleaned, stopped] = await Promise.all(both.map((one) => one.errand()));
      if (cleaned === undefined || stopped === undefined) throw new Error('two were started');
      const asleep = () => running(nap);
      await until('both commands', () => asleep().length === 2, { within: WAIT_MS });
      const servers = [await cleaned.server(), await stopped.server()];
      rmSync(dirname(cleaned.state().tmux ?? ''), { recursive: true });
      signal(await stopped.worker(), 'SIGSTOP');
      for (const { child } of both) child.kill('SIGTERM');
      for (const { ended } of both) expect((await ended).code).toBe(130);
      await untilGone(servers);
      expect(asleep()).toEqual([]);
      workers.nothingIsLeft();
    },
    LONG_MS,
  );

  test(
    'rule.noWorkerIsLeft: a host that is killed again and again is given up, and its worker with it',
    async () => {
      workers.claude.main(() => holds(never));
      const command = workers.start(['run', 'be hosted']);
      const errand = await command.errand();
      const worker = await errand.worker();
      let isOver = false;
      const ended = command.ended.finally(() => {
        isOver = true;
      });
      await until(
        'it to give up',
        () => {
          kill(...workers.place.processes().filter(({ command: line }) => line.includes(`worker host ${errand.id}`)));
          return isOver;
        },
        { within: WAIT_MS },
      );
      const { code, stderr } = await ended;
      expect([code, isAlive(worker)], stderr).toEqual([1, false]);
      expect(stderr).toContain('the errand desk was killed 5 times');
      workers.nothingIsLeft();
    },
    LONG_MS,
  );
});
