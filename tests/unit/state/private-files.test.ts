/** Files that are replaced whole. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeAtomic, writeAtomicLarge } from '../../../sidecar/src/state/private-files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vb-files-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.each([
  ['writeAtomic', async (path: string, bytes: Buffer) => writeAtomic(path, bytes)],
  ['writeAtomicLarge', writeAtomicLarge],
])('%s', (_, write) => {
  it('replaces what was there, and leaves nothing beside it', async () => {
    const path = join(folder, 'file');
    await write(path, Buffer.from('old'));
    await write(path, Buffer.from('new'));
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('leaves no draft where it failed: on a full disk it would hold the room that is left', async () => {
    mkdirSync(join(folder, 'file', 'below'), { recursive: true });
    await expect(write(join(folder, 'file'), Buffer.from('x'))).rejects.toThrow();
    expect(readdirSync(folder)).toEqual(['file']);
  });
});
