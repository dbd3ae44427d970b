/** Sign-in and models, with Codex's own provider pointed at the fake. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type CodexKit, codexKit } from '../../testing/codex-kit.js';
import { httpError, say, turn } from '../../testing/fake-responses.js';

let kit: CodexKit;
afterEach(() => kit?.close());

/** Codex with the built-in provider, as a user who ran nothing but `codex login` has it. */
async function openAiKit(top = ''): Promise<CodexKit> {
  const made = await codexKit();
  writeFileSync(
    join(made.home.home, 'config.toml'),
    `openai_base_url = ${JSON.stringify(made.model.url)}
check_for_update_on_startup = false
${top}
[features]
plugins = false
[analytics]
enabled = false
`,
  );
  return made;
}

test('a Codex that is not signed in fails a turn as sign_in before any request is made', async () => {
  kit = await codexKit({ needsSignIn: true });
  const { end } = await kit.run(await kit.open(), 'go');
  expect(end.ending).toEqual({
    kind: 'failed',
    failure: { kind: 'sign_in', status: 'failed', message: 'Codex is not signed in.', hint: 'Run `codex login`.' },
    partial: [],
  });
  expect(kit.model.requests).toHaveLength(0);
  expect(await kit.harness.detect()).toMatchObject({ kind: 'found', version: '0.171.0', signedIn: 'no' });
});

test('a sign-in that came while the server was up is found at the next turn of the same thread', async () => {
  kit = await codexKit({ needsSignIn: true, retries: 0 });
  const thread = await kit.open();
  expect((await kit.run(thread, 'go')).end.ending).toMatchObject({ kind: 'failed', failure: { kind: 'sign_in' } });
  kit.home.signIn('sk-first-key-000000');
  kit.model.script(() => turn(say('hello')));
  expect((await kit.run(thread, 'again')).end.ending).toEqual({ kind: 'completed', answer: 'hello' });
  expect(await kit.harness.detect()).toMatchObject({ signedIn: 'yes' });
});

test('a sign-in that was renewed while the server was up is used by the next turn', async () => {
  kit = await codexKit({ needsSignIn: true, retries: 0 });
  kit.home.signIn('sk-stale-key-000000');
  kit.model.script(({ headers }) =>
    headers.authorization === 'Bearer sk-fresh-key-000000'
      ? turn(say('fresh'))
      : httpError(401, { message: 'Expired' }),
  );
  const thread = await kit.open();
  expect((await kit.run(thread, 'one')).end.ending).toMatchObject({ kind: 'failed', failure: { kind: 'sign_in' } });
  kit.home.signIn('sk-fresh-key-000000');
  expect((await kit.run(thread, 'two')).end.ending).toEqual({ kind: 'completed', answer: 'fresh' });
  expect(kit.model.seen('two')).toEqual({ requests: 1, inLast: 1 });
});

test('a sign-in that is renewed during a turn is tried once before its 401 is reported', async () => {
  kit = await codexKit({ needsSignIn: true, retries: 0 });
  kit.home.signIn('sk-stale-key-000000');
  const thread = await kit.open();
  kit.model.script(({ headers }) => {
    if (headers.authorization === 'Bearer sk-fresh-key-000000') return turn(say('fresh'));
    kit.home.signIn('sk-fresh-key-000000');
    return httpError(401, { message: 'Expired' });
  });
  expect((await kit.run(thread, 'go')).end.ending).toEqual({ kind: 'completed', answer: 'fresh' });
});

test('a model that Codex does not have is refused when asked for, and the ones it has are named', async () => {
  kit = await openAiKit();
  await expect(kit.open({ model: 'gpt-nonsense' })).rejects.toMatchObject({
    failure: { kind: 'model', message: 'Codex has no model gpt-nonsense.', hint: expect.stringContaining('gpt-5.5') },
  });
  expect((await kit.open({ model: 'gpt-5.5' })).model).toBe('gpt-5.5');
});

test('a model that the user configured, or one of another provider, is not second-guessed', async () => {
  kit = await openAiKit('model = "my-own-model"');
  expect((await kit.open({ model: 'my-own-model' })).model).toBe('my-own-model');
  await kit.close();
  kit = await codexKit();
  expect((await kit.open({ model: 'some-local-model' })).model).toBe('some-local-model');
});
