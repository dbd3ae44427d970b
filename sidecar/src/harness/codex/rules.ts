/** The user's own rules for commands, which Codex lets out of its sandbox at every access level. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A warning where `<CODEX_HOME>/rules` holds rules that allow commands; null where it does not.
 *
 * Codex adds one there whenever its user answers "always allow". A command that such a rule fits runs outside
 * the sandbox also when it is read-only, and app-server has no setting against it (measured on codex 0.171.0).
 */
export function rulesWarning(home: string): string | null {
  const folder = join(home, 'rules');
  try {
    const files = readdirSync(folder).filter((name) => name.endsWith('.rules'));
    const allowing = files.filter((name) => allows(readFileSync(join(folder, name), 'utf8')));
    if (allowing.length === 0) return null;
    return `Commands that ${folder} allows run outside Codex's sandbox: ${allowing.join(', ')}.`;
  } catch {
    // No such folder: no rules. One that we cannot read, Codex cannot either.
    return null;
  }
}

/** `prefix_rule(…)` allows unless it says otherwise. */
function allows(text: string): boolean {
  const rules = text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .split('prefix_rule(')
    .slice(1);
  return rules.some((rule) => !/decision\s*=\s*["'](?:prompt|forbidden)["']/.test(rule));
}
