/**
 * Every rule has a test, and every test that names a rule names one that exists: `npm run rules:check`.
 *
 * docs/rules.md is the register: a heading `## rule.<name>` (or `## question.<name>`), what the rule says, and below
 * `Tests:` the files that exercise it. A test exercises a rule whose name stands in its title or in a describe around it.
 * `npm run rules:write` brings the lists of files up to date.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../testing/root.js';

const REGISTER = 'docs/rules.md';
const TEST_FOLDERS = ['tests', 'plugin/tests'];

const NAME = /\b(?:rule|question)\.[A-Za-z][A-Za-z0-9]*/g;
const TITLE = /\b(?:describe|test|it)(?:\.\w+(?:\([^()]*\))?)*\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g;
const UNRUN = /\b(?:describe|test|it)\.(?:skip|skipIf|runIf|todo|only|fails)\b/;

export type Findings = { readonly complaints: readonly string[]; readonly register: string };

/** Holds the register against the tests' sources, by path. */
export function checkRules(register: string, sources: ReadonlyMap<string, string>): Findings {
  const complaints: string[] = [];
  const files = new Map<string, string[]>();
  for (const name of headingsOf(register)) {
    if (files.has(name)) complaints.push(`${REGISTER}: ${name} has two headings`);
    files.set(name, []);
  }
  if (files.size === 0) complaints.push(`${REGISTER} has no rule`);

  for (const [path, source] of [...sources].sort(([a], [b]) => a.localeCompare(b))) {
    if (UNRUN.test(source)) complaints.push(`${path}: a test is skipped, marked, or runs alone`);
    const named = new Set([...source.matchAll(TITLE)].flatMap(([, , title = '']) => title.match(NAME) ?? []));
    for (const name of named) {
      const list = files.get(name);
      if (list === undefined) complaints.push(`${path}: a test names ${name}, which ${REGISTER} does not have`);
      else list.push(path);
    }
  }
  for (const [name, list] of files) if (list.length === 0) complaints.push(`${name} has no test`);

  const written = withLists(register, files);
  if (written !== register) complaints.push(`${REGISTER} lists other tests than there are: npm run rules:write`);
  return { complaints, register: written };
}

const headingsOf = (register: string): readonly string[] =>
  [...register.matchAll(/^## ((?:rule|question)\.[A-Za-z][A-Za-z0-9]*)$/gm)].map(([, name = '']) => name);

/** The register with every list of tests as it should be: the lines that follow `Tests:` in a rule's section. */
function withLists(register: string, files: ReadonlyMap<string, readonly string[]>): string {
  return register.replace(
    /^## ((?:rule|question)\.[A-Za-z][A-Za-z0-9]*)\n([\s\S]*?)\nTests:\n(?:\n?- .*\n)*/gm,
    (_, name: string, statement: string) => {
      const list = (files.get(name) ?? []).map((path) => `- \`${path}\`\n`).join('');
      return `## ${name}\n${statement}\nTests:\n${list === '' ? '' : `\n${list}`}`;
    },
  );
}

function testSources(): ReadonlyMap<string, string> {
  const paths = TEST_FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
}

function main(): void {
  const path = join(ROOT, REGISTER);
  const sources = testSources();
  if (process.argv.includes('--write')) {
    writeFileSync(path, checkRules(readFileSync(path, 'utf8'), sources).register);
  }
  const { complaints } = checkRules(readFileSync(path, 'utf8'), sources);
  for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
  if (complaints.length === 0) process.stdout.write('every rule has a test, and every named rule exists\n');
  process.exitCode = complaints.length > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
