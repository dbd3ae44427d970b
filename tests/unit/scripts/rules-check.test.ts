import { expect, test } from 'vitest';
import { checkRules } from '../../../scripts/rules-check.js';

const REGISTER = `# Rules

## rule.one

What it says.

Tests:

- \`tests/a.test.ts\`

## question.two

What it asks.

Tests:

- \`tests/a.test.ts\`
- \`tests/b.test.ts\`
`;

const title = (name: string) => ['describe', `('${name}', () => {});`].join('');
const SOURCES = new Map([
  ['tests/a.test.ts', `${title('rule.one: exact')}\n${title('question.two')}`],
  ['tests/b.test.ts', title('the notes of question.two')],
]);

test('a register whose rules all have their tests is in order', () => {
  expect(checkRules(REGISTER, SOURCES)).toEqual({ complaints: [], register: REGISTER });
});

test('a rule without a test is named', () => {
  const { complaints } = checkRules(REGISTER, new Map([['tests/b.test.ts', title('question.two')]]));
  expect(complaints).toContain('rule.one has no test');
});

test('a test that names an unknown rule is named with it', () => {
  const { complaints } = checkRules(REGISTER, new Map([...SOURCES, ['tests/c.test.ts', title('rule.three')]]));
  expect(complaints).toEqual(['tests/c.test.ts: a test names rule.three, which docs/rules.md does not have']);
});

test('a name outside a title does not count as a test', () => {
  const { complaints } = checkRules(REGISTER, new Map([['tests/a.test.ts', '// rule.one and question.two']]));
  expect(complaints).toContain('rule.one has no test');
});

test('a skipped test is a complaint', () => {
  const skipped = ['test', ".skip('later', () => {});"].join('');
  const { complaints } = checkRules(REGISTER, new Map([...SOURCES, ['tests/d.test.ts', skipped]]));
  expect(complaints).toEqual(['tests/d.test.ts: a test is skipped, marked, or runs alone']);
});

test('lists that are out of date are written anew, and then stay as they are', () => {
  const stale = REGISTER.replace('- `tests/a.test.ts`\n- `tests/b.test.ts`\n', '').replace(
    '- `tests/a.test.ts`',
    '- `old`',
  );
  const { complaints, register } = checkRules(stale, SOURCES);
  expect(complaints).toEqual(['docs/rules.md lists other tests than there are: npm run rules:write']);
  expect(checkRules(register, SOURCES).complaints).toEqual([]);
});
