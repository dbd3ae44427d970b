import { lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LOG_LIMIT, openLog } from '../../../sidecar/src/log.js';
import { mask } from '../../../sidecar/src/process/secrets.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'verbatim-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the log', () => {
  it('is one JSON object a line, for its user alone, with secrets masked and errors as text', () => {
    const path = join(folder, 'logs', 'a.jsonl');
    const { log, close } = openLog(
      path,
      (text) => mask(text, { SOME_TOKEN: 'correct-horse' }),
      () => 0,
    );
    log('warning', 'it said correct-horse', { error: new Error('with correct-horse') });
    close();
    const line = JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
    expect(line).toMatchObject({ at: '1970-01-01T00:00:00.000Z', level: 'warning', what: 'it said [masked]' });
    expect(line.error).toContain('Error: with [masked]');
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    expect(lstatSync(join(folder, 'logs')).mode & 0o777).toBe(0o700);
  });

  it('stops at its limit, and its last line says so', () => {
    const path = join(folder, 'a.jsonl');
    const { log, close } = openLog(
      path,
      (text) => text,
      () => 0,
    );
    for (let line = 0; line < 600; line++) log('info', 'x'.repeat(10_000));
    close();
    expect(lstatSync(path).size).toBeLessThan(LOG_LIMIT + 20_000);
    expect(readFileSync(path, 'utf8').trimEnd().split('\n').at(-1)).toContain('the log is full');
  });
});
