import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listen } from '../../../sidecar/src/server/address.js';

let server: Server;
let folder: string;
beforeEach(() => {
  server = createServer();
  folder = mkdtempSync(join(tmpdir(), 'verbatim-address-'));
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('where the local API listens', () => {
  it('is a socket below XDG_RUNTIME_DIR, in a folder of its own that is taken away again', async () => {
    const { address, remove } = await listen(server, { XDG_RUNTIME_DIR: folder });
    const own = dirname(address.socket ?? '');
    expect(dirname(own)).toBe(folder);
    expect(lstatSync(own).mode & 0o777).toBe(0o700);
    remove();
    expect(existsSync(own)).toBe(false);
  });

  it.each([
    ['too long for a socket', () => join(folder, 'x'.repeat(90))],
    ['not there', () => join(folder, 'gone')],
    ['relative', () => 'run'],
  ])('is the temporary folder where XDG_RUNTIME_DIR is %s', async (kind, runtime) => {
    if (kind === 'too long for a socket') mkdirSync(runtime());
    const { address, remove } = await listen(server, { XDG_RUNTIME_DIR: runtime() });
    expect((address.socket ?? '').startsWith(join(tmpdir(), 'verbatim-'))).toBe(true);
    remove();
  });

  it('is 127.0.0.1, and no other address, where sockets cannot be', async () => {
    const { address } = await listen(server, {}, 'win32');
    expect(address.socket).toBeUndefined();
    expect(server.address()).toMatchObject({ address: '127.0.0.1', port: address.port });
  });
});
