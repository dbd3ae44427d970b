/** The plugin as a user has it: from a marketplace, in a fresh HOME, updated while a job runs, and taken away again. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modelsOf, reported, start, turnsEnded } from '../../testing/agents.js';
import { claudeBinary, copyPlugin, PLUGIN } from '../../testing/claude-place.js';
import { sendMessage } from '../../testing/fake-messages.js';
import { hold, say, turn } from '../../testing/fake-responses.js';
import { type GitServer, git, gitServer } from '../../testing/git-server.js';
import { jobOf } from '../../testing/jobs.js';
import { mainLoop } from '../../testing/main-loop.js';
import { reportsOf } from '../../testing/races.js';
import { gate, until } from '../../testing/wait.js';
import { openWorld, type World } from '../../testing/world.js';

const ROOT = dirname(PLUGIN);

describe('installing from a marketplace', () => {
  let world: World;
  let server: GitServer;
  let source: string;
  /** One `claude plugin …` command of the user's; resolves with what it printed. */
  const plugin = async (...args: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await promisify(execFile)(claudeBinary(), ['plugin', ...args], {
      cwd: world.place.cwd,
      env: world.place.env,
    });
    return stdout + stderr;
  };
  const manifest = () => join(source, 'plugin', '.claude-plugin', 'plugin.json');
  const cache = () => join(world.place.home, '.claude', 'plugins', 'cache', 'verbatim', 'verbatim');
  const publish = (message: string) => {
    git(source, 'add', '.');
    git(source, 'commit', '--quiet', '-m', message);
    git(source, 'push', '--quiet', 'origin', 'main');
  };

  beforeAll(async () => {
    world = await openWorld({ mode: 'auto', plugins: [] });
    await world.session.end();
    source = join(world.place.root, 'source');
    const bare = join(world.place.root, 'verbatim.git');
    mkdirSync(source);
    git(world.place.root, 'init', '--quiet', '--bare', '--initial-branch=main', bare);
    for (const name of ['plugin', '.claude-plugin']) {
      cpSync(join(ROOT, name), join(source, name), {
        recursive: true,
        filter: (path) => !path.endsWith('/.claude-plugin/types'),
      });
    }
    git(source, 'init', '--quiet', '--initial-branch=main');
    git(source, 'config', 'user.name', 'Test');
    git(source, 'config', 'user.email', 'test@example.invalid');
    git(source, 'remote', 'add', 'origin', bare);
    publish('The first version');
    server = await gitServer(bare);
  });
  afterAll(async () => {
    await world.close();
    await server.close();
  });

  test('two commands install it, and it works without --plugin-dir', async () => {
    expect(await plugin('marketplace', 'add', server.url)).toContain('Successfully added marketplace: verbatim');
    expect(await plugin('install', 'verbatim@verbatim')).toContain('Successfully installed plugin: verbatim@verbatim');
    const version = (JSON.parse(readFileSync(manifest(), 'utf8')) as { version: string }).version;
    expect(readdirSync(cache())).toEqual([version]);
    world.reopen();
    world.codex.script(() => turn(say(' exactly this \n')));
    const { last } = await world.runAgent('task');
    expect(last).toBe(' exactly this \n');
    expect(world.claude.bill().ofAgents).toBe(0);
    await world.session.end();
    // A run writes nothing into the plugin's folder.
    expect(contentOf(join(cache(), version))).toEqual(contentOf(join(source, 'plugin')));
  });

  test('an update while a job runs leaves the running session on its copy; the next session has the new one', async () => {
    world.reopen();
    const main = mainLoop(world.claude, () => world.session);
    const models = modelsOf(world);
    const thinking = gate();
    models.set('running', ({ userTexts }) =>
      userTexts.includes('and now') ? turn(say('new')) : turn(hold(thinking.promise), say('old')),
    );
    const [id = ''] = await start(world, main, 'running');
    const text = readFileSync(manifest(), 'utf8');
    writeFileSync(manifest(), text.replace(/"version": "[^"]+"/, '"version": "99.0.0"'));
    publish('The second version');
    expect(await plugin('marketplace', 'update', 'verbatim')).toContain('Successfully updated');
    expect(await plugin('update', 'verbatim@verbatim')).toContain('99.0.0');
    expect(readdirSync(cache())).toContain('99.0.0');
    const sidecar = () =>
      world.place.processes().find(({ command }) => command.includes('verbatim.mjs serve'))?.command;
    expect(sidecar()).not.toContain('99.0.0');
    thinking.open();
    await reported(world, id, ['old']);
    expect(sidecar()).not.toContain('99.0.0');
    const session = world.session.session();
    await world.session.end();

    world.reopen({ args: ['--resume', session] });
    await main.call(sendMessage(id, 'and now'));
    await until('the new version’s report', () => reportsOf(world, id).at(-1) === 'new', { within: 30_000 });
    expect(sidecar()).toContain('99.0.0');
    await turnsEnded(world, id, 2);
    expect(jobOf(world.jobs, id).record.turns).toBe(2);
    await world.session.end();
  });

  test('uninstalling it takes the agent away; the jobs stay until they are purged', async () => {
    const jobs = world.jobIds();
    expect(await plugin('uninstall', 'verbatim@verbatim')).toContain('Successfully uninstalled');
    expect(await plugin('marketplace', 'remove', 'verbatim')).toContain('Successfully removed');
    world.reopen();
    const main = mainLoop(world.claude, () => world.session);
    const [result] = await main.call({
      name: 'Agent',
      input: { subagent_type: 'verbatim:codex', description: 'a task', prompt: 'task' },
    });
    expect(result?.isError).toBe(true);
    expect(result?.text).toContain("Agent type 'verbatim:codex' not found");
    await world.session.end();

    expect(world.jobIds()).toEqual(jobs);
    const claude = join(world.place.home, '.claude');
    const settings = readFileSync(join(claude, 'settings.json'), 'utf8');
    expect(settings).not.toContain('verbatim');
    // Claude Code's own leftovers: the copies, and what the plugin had it keep (an agent's id and its job's).
    expect(readdirSync(cache()).length).toBe(2);
    const kept = readdirSync(join(claude, 'plugins', 'store')).filter((name) => name.startsWith('verbatim'));
    expect(kept).toEqual([expect.stringMatching(/^verbatim_verbatim-\w+\.json$/)]);
    expect(existsSync(join(claude, 'plugins', 'marketplaces', 'verbatim'))).toBe(false);
  });
});

describe('a plugin folder given with --plugin-dir', () => {
  test('is read, and never written to by a run', async () => {
    const world = await openWorld({ mode: 'default' });
    try {
      await world.session.end();
      const plugin = copyPlugin(world.place);
      const before = contentOf(plugin);
      world.reopen({ plugins: [plugin] });
      expect((await world.runAgent('task')).last).toBe('ok');
      await world.session.end();
      expect(contentOf(plugin)).toEqual(before);
    } finally {
      await world.close();
    }
  });
});

/** Every file below a folder, by its path. */
function contentOf(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    names.flatMap((name) => {
      const path = join(folder, name);
      return statSync(path).isFile() ? [[name, readFileSync(path, 'base64')]] : [];
    }),
  );
}
