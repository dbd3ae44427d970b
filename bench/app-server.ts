/** A bare `codex app-server` and the smallest client that runs a turn on it: what Verbatim is measured against. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export type AppServer = {
  /** A new thread and one turn on it; resolves to the turn's final text. */
  turn(prompt: string, cwd: string): Promise<string>;
  close(): Promise<void>;
};

type Frame = { id?: number; method?: string; result?: unknown; params?: Record<string, unknown> };

/** The native Codex of the pinned package. */
function codexProgram(): string {
  const vendor = join(
    dirname(createRequire(import.meta.url).resolve('@openai/codex/package.json')),
    '..',
    `codex-${process.platform}-${process.arch}`,
    'vendor',
  );
  const target = readdirSync(vendor)[0] ?? '';
  return join(vendor, target, 'bin', 'codex');
}

export async function openAppServer(env: NodeJS.ProcessEnv): Promise<AppServer> {
  const child = spawn(codexProgram(), ['app-server'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const client = clientOf(child);
  await client.ask('initialize', { clientInfo: { name: 'bench', title: 'bench', version: '0' } });
  client.tell('initialized');
  return {
    async turn(prompt, cwd) {
      const { thread } = (await client.ask('thread/start', { cwd, approvalPolicy: 'never', sandbox: 'read-only' })) as {
        thread: { id: string };
      };
      const done = client.completed(thread.id);
      await client.ask('turn/start', {
        threadId: thread.id,
        input: [{ type: 'text', text: prompt, text_elements: [] }],
      });
      return done;
    },
    async close() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin?.end();
      await ended;
    },
  };
}

function clientOf(child: ChildProcess) {
  const answers = new Map<number, (result: unknown) => void>();
  const ends = new Map<string, (text: string) => void>();
  let next = 0;
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    rest += piece;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      const frame = JSON.parse(rest.slice(0, end)) as Frame;
      rest = rest.slice(end + 1);
      if (frame.id !== undefined && frame.method === undefined) answers.get(frame.id)?.(frame.result);
      if (frame.method === 'turn/completed') {
        const turn = frame.params?.turn as { items: { text?: string }[] };
        ends.get(String(frame.params?.threadId))?.(turn.items[0]?.text ?? '');
      }
    }
  });
  const write = (frame: object) => child.stdin?.write(`${JSON.stringify(frame)}\n`);
  return {
    ask: (method: string, params: object) =>
      new Promise<unknown>((resolve) => {
        const id = next++;
        answers.set(id, resolve);
        write({ id, method, params });
      }),
    tell: (method: string) => write({ method }),
    completed: (thread: string) => new Promise<string>((resolve) => ends.set(thread, resolve)),
  };
}
