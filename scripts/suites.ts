/** The test suites that `npm test` runs, and how their reports are counted. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { claudeBinary } from '../testing/claude-place.js';
import { ROOT } from '../testing/root.js';

export const REPORTS = join(ROOT, 'build', 'reports');

export type Count = { readonly passed: number; readonly failed: number; readonly why?: string };

/** Everything that vitest runs: unit, conformance and e2e. `filters` narrow it, as vitest's own arguments do. */
export async function runVitest(filters: readonly string[] = []): Promise<Count> {
  const report = join(REPORTS, 'vitest.json');
  mkdirSync(REPORTS, { recursive: true });
  rmSync(report, { force: true });
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { code } = await run(process.execPath, [vitest, 'run', ...reporters, ...filters]);
  if (!existsSync(report)) return { passed: 0, failed: 1, why: `vitest wrote no report (exit code ${code})` };
  const isByName = filters.some((filter) => /^(-t|--testNamePattern)/.test(filter));
  return countVitest(JSON.parse(readFileSync(report, 'utf8')) as VitestReport, code, isByName);
}

/** The plugin's own tests, in the engine's kit: `claude plugin test plugin`, in a HOME of its own, for it writes there. */
export async function runPluginKit(): Promise<Count> {
  mkdirSync(join(ROOT, 'build', 'tmp'), { recursive: true });
  const home = mkdtempSync(join(ROOT, 'build', 'tmp', 'kit-'));
  try {
    const env = { ...process.env, HOME: home, CLAUDE_CONFIG_DIR: undefined };
    const { code, output } = await run(claudeBinary(), ['plugin', 'test', 'plugin'], env);
    return countPluginKit(output, code);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

export type VitestReport = {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
};

/**
 * A file that could not be loaded, and a test that was skipped, count as failed: neither showed anything. `isByName`:
 * tests were chosen by name, the others are none of this run's.
 */
export function countVitest(report: VitestReport, code: number | null, isByName = false): Count {
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  const skipped = isByName ? 0 : report.numPendingTests + report.numTodoTests;
  const failed = report.numFailedTests + broken.length + skipped;
  const why = [
    ...broken.map((file) => `could not run: ${file.name}`),
    ...(skipped > 0 ? [`${skipped} skipped, which no test may be`] : []),
  ];
  if (failed === 0 && code !== 0) return { passed: report.numPassedTests, failed: 1, why: `vitest: exit code ${code}` };
  return { passed: report.numPassedTests, failed, ...(why.length > 0 ? { why: why.join('; ') } : {}) };
}

/** The kit has no machine-readable report: its summary is ` <n> pass` and ` <n> fail`. */
export function countPluginKit(output: string, code: number | null): Count {
  const passed = /^ (\d+) pass$/m.exec(output)?.[1];
  const failed = /^ (\d+) fail$/m.exec(output)?.[1];
  if (passed === undefined || failed === undefined) {
    return { passed: 0, failed: 1, why: `claude plugin test gave no summary (exit code ${code})` };
  }
  const count = { passed: Number(passed), failed: Number(failed) };
  if (count.failed === 0 && code !== 0) {
    return { ...count, failed: 1, why: `claude plugin test: exit code ${code}` };
  }
  return count;
}

export function sum(counts: readonly Count[]): Count {
  const add = (of: 'passed' | 'failed') => counts.reduce((total, count) => total + count[of], 0);
  return { passed: add('passed'), failed: add('failed') };
}

/** Runs a program in the repository's root, its output shown as it comes and kept. */
export function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (to: NodeJS.WriteStream) => (chunk: Buffer) => {
      output += chunk.toString('utf8');
      to.write(chunk);
    };
    child.stdout.on('data', keep(process.stdout));
    child.stderr.on('data', keep(process.stderr));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
