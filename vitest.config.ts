import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: { name: 'unit', include: ['tests/unit/**/*.test.ts'], testTimeout: 20_000, sequence: { groupOrder: 0 } },
      },
      {
        test: {
          name: 'real',
          include: ['tests/conformance/**/*.test.ts', 'tests/e2e/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Each test has two real programs at work: no more of them at once, and after the others.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
