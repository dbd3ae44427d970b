/** The command that the model asked for, out of the shell that Codex runs it in. */

const SHELL = /^(?:\/(?:usr\/)?bin\/)?(?:bash|sh|zsh) -l?c (.*)$/s;

/**
 * What the model asked to run: Codex reports it inside its shell (`/bin/bash -lc '…'`), quoted for a shell.
 *
 * A command that is not exactly one shell word after `-lc` is returned as it is.
 */
export function unwrapped(command: string): string {
  const word = SHELL.exec(command)?.[1];
  if (word === undefined) return command;
  return shellWord(word) ?? command;
}

/** The value of one shell word (bare, single- or double-quoted parts), or null where it is not exactly one. */
function shellWord(word: string): string | null {
  let value = '';
  let at = 0;
  while (at < word.length) {
    const char = word[at] as string;
    if (char === "'") {
      const end = word.indexOf("'", at + 1);
      if (end === -1) return null;
      value += word.slice(at + 1, end);
      at = end + 1;
    } else if (char === '"') {
      at += 1;
      while (word[at] !== '"') {
        if (at >= word.length) return null;
        if (word[at] === '\\' && /["\\$`\n]/.test(word[at + 1] ?? '')) at += 1;
        value += word[at];
        at += 1;
      }
      at += 1;
    } else if (char === '\\') {
      if (at + 1 >= word.length) return null;
      value += word[at + 1];
      at += 2;
    } else if (/[\s;&|<>()$`]/.test(char)) {
      return null;
    } else {
      value += char;
      at += 1;
    }
  }
  return value;
}
