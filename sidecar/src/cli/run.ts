/** Which command was asked for. */
import { serve } from '../server/serve.js';

export async function run(args: readonly string[]): Promise<number> {
  const [command] = args;
  if (command === 'serve') return await serve();
  process.stderr.write(`verbatim: there is no command ${command}\n`);
  return 2;
}
