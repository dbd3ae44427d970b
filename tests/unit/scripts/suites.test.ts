import { describe, expect, test } from 'vitest';
import { countPluginKit, countVitest, type VitestReport } from '../../../scripts/suites.js';

const report = (changes: Partial<VitestReport> = {}): VitestReport => ({
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [{ name: 'a.test.ts', status: 'passed', assertionResults: [{ status: 'passed' }] }],
  ...changes,
});

describe('counting a vitest report', () => {
  test('passed tests are passed', () => {
    expect(countVitest(report(), 0)).toEqual({ passed: 3, failed: 0 });
  });

  test('a file that could not be loaded is a failure', () => {
    const broken = { name: 'b.test.ts', status: 'failed', assertionResults: [] };
    expect(countVitest(report({ testResults: [broken] }), 1)).toEqual({
      passed: 3,
      failed: 1,
      why: 'could not run: b.test.ts',
    });
  });

  test('a skipped test is a failure', () => {
    expect(countVitest(report({ numPendingTests: 1, numTodoTests: 1 }), 0)).toMatchObject({ failed: 2 });
  });

  test('a test that was not chosen by its name is not counted', () => {
    expect(countVitest(report({ numPendingTests: 9 }), 0, true)).toEqual({ passed: 3, failed: 0 });
  });

  test('an exit code without a failed test is a failure', () => {
    expect(countVitest(report(), 1)).toEqual({ passed: 3, failed: 1, why: 'vitest: exit code 1' });
  });
});

describe("counting the plugin kit's output", () => {
  test('its summary is read', () => {
    expect(countPluginKit('(pass) a\n\n 69 pass\n 2 fail\nRan 71 tests', 1)).toEqual({ passed: 69, failed: 2 });
  });

  test('no summary is a failure', () => {
    expect(countPluginKit('it fell over', 1)).toMatchObject({ passed: 0, failed: 1 });
  });

  test('an exit code without a failed test is a failure', () => {
    expect(countPluginKit(' 3 pass\n 0 fail', 1)).toMatchObject({ passed: 3, failed: 1 });
  });
});
