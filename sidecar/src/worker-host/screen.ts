/**
 * The dialogs that can hold Claude Code's start before its mods are up, known by what the screen shows (measured on
 * 2.1.332). Nothing of a model or a task stands there yet, so that no text of theirs can look like one.
 */
import type { StartWait } from '../desk/errand.js';

const SHOWN: readonly (readonly [RegExp, StartWait['for']])[] = [
  [/Accessing workspace:/, 'trust'],
  [/Detected a custom API key in your environment/, 'api_key'],
  [/Select login method|Paste code here if prompted|Press Enter to retry/, 'sign_in'],
  [/Choose the text style|Press Enter to continue/, 'onboarding'],
  [/new MCP servers? found in this project/i, 'mcp_servers'],
  [/Allow external CLAUDE\.md file imports\?/, 'imports'],
  [/running in Bypass Permissions mode/, 'warning'],
];

/** What a worker that is not up yet waits for; null where its screen shows none of them. */
export function startWaitOf(screen: string): StartWait | null {
  // A narrow window breaks a sentence anywhere.
  const text = screen.replace(/\s+/g, ' ');
  const found = SHOWN.find(([shown]) => shown.test(text));
  return found === undefined ? null : { for: found[1], what: '' };
}

/** What stands there whatever happens: the empty prompt, the footer, the spinner (2.1.332), and tmux's own line. */
const FURNITURE = /^(?:❯$|⏵⏵|◐|[✻✢✳✶✽·*] \S+…|Pane is dead\b|\? for shortcuts)/;

/** The last lines of a screen on which a program said something, as one line. */
export function lastWordsOf(screen: string): string {
  const lines = screen.split('\n').map((line) => line.replace(/[─━╌▔▁]+/g, '').trim());
  return lines
    .filter((line) => line !== '' && !FURNITURE.test(line))
    .slice(-3)
    .join(' | ');
}
