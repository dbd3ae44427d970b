/** Where the local API listens: a Unix domain socket in a folder of its own, else 127.0.0.1. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, its closing NUL among them. */
const LONGEST_SOCKET = 100;

export type Address = { readonly socket?: string; readonly port?: number };

/** Begins to listen. Resolves to the address and how to take it away. */
export async function listen(
  server: Server,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): Promise<{ readonly address: Address; readonly remove: () => void }> {
  const socket = platform === 'win32' ? null : privateSocket(env);
  if (socket === null) {
    await begin(server, { host: '127.0.0.1', port: 0 });
    const bound = server.address();
    if (bound === null || typeof bound === 'string') throw new Error('the local API has no port');
    return { address: { port: bound.port }, remove: () => {} };
  }
  const remove = () => rmSync(dirname(socket), { recursive: true, force: true });
  try {
    await begin(server, { path: socket });
  } catch (error) {
    remove();
    throw error;
  }
  return { address: { socket }, remove };
}

/** The path of a socket in a new folder (0700) of its own; null where no folder is short enough. */
export function privateSocket(env: NodeJS.ProcessEnv): string | null {
  for (const base of [env.XDG_RUNTIME_DIR, tmpdir(), '/tmp']) {
    if (base === undefined || !isAbsolute(base)) continue;
    // mkdtemp adds six characters.
    if (Buffer.byteLength(join(base, 'verbatim-XXXXXX', 's')) > LONGEST_SOCKET) continue;
    try {
      const folder = mkdtempSync(join(base, 'verbatim-'));
      chmodSync(folder, 0o700);
      return join(folder, 's');
    } catch {
      // Not there or not writable (a container without a runtime folder): the next one.
    }
  }
  return null;
}

async function begin(server: Server, options: { path: string } | { host: string; port: number }): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
