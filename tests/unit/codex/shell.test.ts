import { describe, expect, test } from 'vitest';
import { unwrapped } from '../../../sidecar/src/harness/codex/shell.js';

describe('a command', () => {
  test.each([
    [`/bin/bash -lc 'echo hi; ls'`, 'echo hi; ls'],
    [`/bin/bash -lc 'echo '"'"'quoted'"'"''`, `echo 'quoted'`],
    [`bash -lc "echo \\"x\\" \\$HOME"`, 'echo "x" $HOME'],
    ['/usr/bin/zsh -lc ls', 'ls'],
    [`/bin/sh -c 'a\nb'`, 'a\nb'],
    ['/bin/bash -lc ls -l', '/bin/bash -lc ls -l'],
    [`/bin/bash -lc 'open`, `/bin/bash -lc 'open`],
    ['python3 -c pass', 'python3 -c pass'],
    ['', ''],
  ])('%j is shown as %j', (command, shown) => {
    expect(unwrapped(command)).toBe(shown);
  });
});
