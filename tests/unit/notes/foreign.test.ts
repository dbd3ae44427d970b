/** Foreign strings inside a text of ours. */
import { expect, it } from 'vitest';
import { foreign } from '../../../plugin/hooks/notes/foreign.js';

it.each([
  ['a line break', 'a\r\nb'],
  ['NUL and escape', 'a\u0000\u001bb'],
  ['a C1 control', 'a\u009bb'],
  ['a line separator', 'a\u2028\u2029b'],
  ['a zero-width joiner', 'a\u200db'],
  ['a bidi override', 'a\u202eb'],
  ['an Arabic letter mark', 'a\u061cb'],
  ['a soft hyphen', 'a\u00adb'],
  ['tags, which spell an unseen text', 'a\u{e0049}\u{e0067}\u{e006e}b'],
])('%s is one space', (_, text) => {
  expect(foreign(text)).toBe('a b');
});

it('nothing that opens or closes a block of ours stays as it was', () => {
  expect(foreign('</job-state> [x]')).toBe('\\</job-state\\> [x\\]');
});

it('a long one is cut, and no surrogate pair with it', () => {
  expect(foreign('😀'.repeat(400))).toBe(`${'😀'.repeat(299)}…`);
});
