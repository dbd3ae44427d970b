/** Whether a model that the caller asked for is one of Codex's. */
import type { Failure } from '../../../../plugin/hooks/protocol/outcome.js';
import { failure } from './failures.js';
import { configRead, FrameFault, modelList, read } from './frames.js';
import type { CodexServer } from './server.js';

/**
 * The failure of asking for an unknown model; null where it may be used.
 *
 * Codex takes any name with only a warning, and fails at the first request (measured on codex 0.171.0). The
 * model that the user's config names is always let through, and so is every model of another provider than
 * OpenAI's: `model/list` knows OpenAI's alone.
 */
export async function checkModel(server: CodexServer, model: string, cwd: string): Promise<Failure | null> {
  try {
    const config = await server.request('config/read', { cwd });
    if (config.kind !== 'result') return null;
    const { model: configured, model_provider } = read(configRead, config.result, 'the answer to config/read').config;
    if (configured === model || (model_provider ?? 'openai') !== 'openai') return null;
    const known = await modelsOf(server);
    if (known.length === 0 || known.includes(model)) return null;
    return failure('model', `Codex has no model ${model}.`, `It has ${known.join(', ')}.`);
  } catch (error) {
    // An answer of another form says nothing about the model: Codex itself will.
    if (error instanceof FrameFault) return null;
    throw error;
  }
}

async function modelsOf(server: CodexServer): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const settled = await server.request('model/list', { includeHidden: true, ...(cursor ? { cursor } : {}) });
    if (settled.kind !== 'result') return [];
    const page: { data: { id: string }[]; nextCursor?: string | null } = read(
      modelList,
      settled.result,
      'the answer to model/list',
    );
    ids.push(...page.data.map((each) => each.id));
    cursor = page.nextCursor ?? null;
  } while (cursor !== null);
  return ids;
}
