/** The demo's story: a small repository with a bug, and what the embedded model has Codex do about it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { comment, type ModelRequest, patch, type Reply, say, shell, turn, usage } from '../fake-responses.js';

export const TASK = 'The test of median.js fails. Find out why, fix it, and tell me what it was.';

/** Bytes that tools in between like to change: indentation, a tab, CRLF, tags, quotes, emoji, trailing white space. */
export const ANSWER = [
  '  Fixed: `median.js` sorted numbers as text, so 10 came before 9.\r\n',
  '\n',
  '```js\n',
  'const sorted = [...numbers].sort((a, b) => a - b);\t// not .sort()\n',
  '```\n',
  '\n',
  '<result status="ok">1 file changed & 1 test passed 👩‍💻</result>\n',
  '   \n',
].join('');

const BROKEN = `export function median(numbers) {
  const sorted = [...numbers].sort();
  return sorted[Math.floor(sorted.length / 2)];
}
`;

const TEST = `import assert from 'node:assert';
import { median } from './median.js';

assert.equal(median([9, 10, 1]), 9);
console.log('median.test.js: ok');
`;

const FIX = `*** Begin Patch
*** Update File: median.js
@@
-  const sorted = [...numbers].sort();
+  const sorted = [...numbers].sort((a, b) => a - b);
*** End Patch
`;

export function writeRepository(folder: string): void {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  writeFileSync(join(folder, 'median.js'), BROKEN);
  writeFileSync(join(folder, 'median.test.js'), TEST);
}

/** The model behind Codex: it answers one request after the other; what it asks for, Codex really does. */
export function codexModel(): (request: ModelRequest) => Reply {
  const replies: Reply[] = [
    turn(comment('I run the test first.'), shell('node median.test.js 2>&1 | grep Assert'), usage(4_120, 96, 3_840)),
    turn(comment('9 was expected and 10 came: the numbers are sorted as text.'), patch(FIX), usage(4_480, 142, 4_096)),
    turn(comment('Now again.'), shell('node median.test.js'), usage(4_700, 61, 4_352)),
    turn(say(ANSWER), usage(4_910, 118, 4_608)),
  ];
  return () => replies.shift() ?? turn(say('The story is over.'));
}

export const ERRAND = '/median.js is new here.\n  How many lines has it, and what does it return for an even count?';

/** What the worker's model says last: Claude Code trims it, so that no white space stands around it. */
export const ERRAND_ANSWER = [
  '`median.js` has **4** lines.\r\n',
  '\n',
  '\tFor an even count it returns the *upper* middle: <code>sorted[n / 2]</code> & no mean 👩‍💻.\n',
  '\n',
  '!/@ are just text here, too.',
].join('');
