/**
 * What `.ci/run` runs once the dependencies are there: the tests and every check, all of them even where one fails. A
 * check counts as one. The last line is `<n> passed, <n> failed`.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { claudeBinary } from '../testing/claude-place.js';
import { type Count, REPORTS, run, sum } from './suites.js';

type Check = { readonly name: string; readonly program: string; readonly args: readonly string[] };

const npm = (script: string): Check => ({ name: script, program: 'npm', args: ['run', '--silent', script] });

const CHECKS: readonly Check[] = [
  npm('typecheck'),
  npm('lint'),
  npm('format:check'),
  npm('bundle:check'),
  npm('rules:check'),
  {
    name: 'plugin validation',
    program: claudeBinary(),
    args: ['plugin', 'validate', '--strict', '--profile', 'directory', 'plugin'],
  },
  { name: 'marketplace validation', program: claudeBinary(), args: ['plugin', 'validate', '--strict', '.'] },
];

const counts: Count[] = [];
const broken: string[] = [];
for (const { name, program, args } of CHECKS) {
  process.stdout.write(`\n== ${name}\n`);
  const { code } = await run(program, args);
  counts.push(code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });
  if (code !== 0) broken.push(name);
}

process.stdout.write('\n== npm test\n');
const report = join(REPORTS, 'tests.json');
rmSync(report, { force: true });
await run('npm', ['test', '--silent']);
const tests: Count = existsSync(report)
  ? (JSON.parse(readFileSync(report, 'utf8')) as Count)
  : { passed: 0, failed: 1, why: 'npm test wrote no report' };
if (tests.failed > 0 || tests.passed === 0) broken.push('npm test');
counts.push(tests);

const total = sum(counts);
if (broken.length > 0) process.stdout.write(`\nfailed: ${broken.join(', ')}\n`);
process.exitCode = total.failed > 0 || tests.passed === 0 ? 1 : 0;
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed\n`);
