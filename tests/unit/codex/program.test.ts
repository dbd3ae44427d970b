import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findCodex } from '../../../sidecar/src/harness/codex/program.js';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'codex-program-')));
});
afterEach(() => rmSync(root, { recursive: true }));

function program(...parts: readonly string[]): string {
  const path = join(root, ...parts);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  chmodSync(path, 0o755);
  return path;
}

const PLATFORM = `codex-${process.platform}-${process.arch}`;
const NATIVE = ['vendor', 'some-target', 'bin', 'codex'];

test('npm’s shim on PATH leads to the native binary beside its package', () => {
  const shim = program('lib', 'node_modules', '@openai', 'codex', 'bin', 'codex.js');
  const native = program('lib', 'node_modules', '@openai', PLATFORM, ...NATIVE);
  mkdirSync(join(root, 'bin'));
  symlinkSync(shim, join(root, 'bin', 'codex'));
  expect(findCodex({ PATH: join(root, 'bin') })).toEqual({ kind: 'found', path: native });
});

test('the native binary may also be nested below the package, as `npm install -g` puts it', () => {
  const shim = program('node_modules', '@openai', 'codex', 'bin', 'codex.js');
  const native = program('node_modules', '@openai', 'codex', 'node_modules', '@openai', PLATFORM, ...NATIVE);
  expect(findCodex({}, shim)).toEqual({ kind: 'found', path: native });
});

test('a native codex on PATH is taken as it is', () => {
  const native = program('bin', 'codex');
  expect(findCodex({ PATH: dirname(native) })).toEqual({ kind: 'found', path: native });
});

test('an explicit program comes before the variable, the variable before PATH', () => {
  const [explicit, variable, onPath] = ['a', 'b', 'c'].map((folder) => program(folder, 'codex')) as [
    string,
    string,
    string,
  ];
  const env = { PATH: dirname(onPath), VERBATIM_CODEX: variable };
  expect(findCodex(env, explicit)).toEqual({ kind: 'found', path: explicit });
  expect(findCodex(env)).toEqual({ kind: 'found', path: variable });
  expect(findCodex({ PATH: env.PATH })).toEqual({ kind: 'found', path: onPath });
});

test('a shim whose platform package is absent is run itself: it says what is missing', () => {
  const shim = program('node_modules', '@openai', 'codex', 'bin', 'codex.js');
  expect(findCodex({}, shim)).toEqual({ kind: 'found', path: shim });
});
