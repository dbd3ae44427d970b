import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolveProgram } from '../../../sidecar/src/process/resolve.js';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'resolve-'));
  for (const folder of ['a', 'b', 'a/codex']) mkdirSync(join(root, folder));
  writeFileSync(join(root, 'b', 'codex'), '');
  chmodSync(join(root, 'b', 'codex'), 0o755);
  writeFileSync(join(root, 'a', 'plain'), '');
  chmodSync(join(root, 'a', 'plain'), 0o644);
  writeFileSync(join(root, 'b', 'tool.cmd'), '');
});
afterAll(() => rmSync(root, { recursive: true }));

test('a name is found in the first folder of PATH that holds a program of it: no folder, no plain file', () => {
  const env = { PATH: `${root}/a::${root}/b` };
  expect(resolveProgram('codex', { env })).toEqual({ kind: 'found', path: join(root, 'b', 'codex') });
  expect(resolveProgram('plain', { env })).toMatchObject({ kind: 'missing' });
});

test('what is not found is named, with the folders that were looked in', () => {
  expect(resolveProgram('nope', { env: { PATH: `${root}/a:${root}/b` } })).toEqual({
    kind: 'missing',
    lookedFor: `nope in 2 folders of PATH (${root}/a, ${root}/b)`,
  });
  expect(resolveProgram('nope', { env: {} })).toEqual({ kind: 'missing', lookedFor: 'nope in PATH, which is empty' });
  expect(resolveProgram('/no/such/codex', { env: {} })).toEqual({ kind: 'missing', lookedFor: '/no/such/codex' });
});

test('a relative folder of PATH is not followed', () => {
  expect(resolveProgram('codex', { env: { PATH: 'b' }, cwd: root })).toMatchObject({ kind: 'missing' });
});

test('a path is taken as it is, a relative one from the given folder', () => {
  expect(resolveProgram('./b/codex', { env: {}, cwd: root })).toEqual({
    kind: 'found',
    path: join(root, 'b', 'codex'),
  });
});

test('on Windows the extensions of PATHEXT are tried', () => {
  const env = { PATHEXT: '.EXE;.CMD' };
  expect(resolveProgram(join(root, 'b', 'tool'), { env, platform: 'win32' })).toEqual({
    kind: 'found',
    path: join(root, 'b', 'tool.cmd'),
  });
  expect(resolveProgram('codex', { env: { ...env, Path: '' }, platform: 'win32' })).toEqual({
    kind: 'missing',
    lookedFor: 'codex.exe, codex.cmd in PATH, which is empty',
  });
});
