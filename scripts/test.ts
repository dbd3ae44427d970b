/**
 * `npm test`: everything. Unit, conformance and e2e tests, then the plugin's own in the engine's kit. Arguments narrow
 * vitest's part and leave the kit out: `npm test -- tests/unit`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Count, REPORTS, runPluginKit, runVitest, sum } from './suites.js';

const filters = process.argv.slice(2);
const counts: Count[] = [await runVitest(filters)];
if (filters.length === 0) counts.push(await runPluginKit());

const total = sum(counts);
mkdirSync(REPORTS, { recursive: true });
writeFileSync(join(REPORTS, 'tests.json'), JSON.stringify(total));
for (const { why } of counts) if (why !== undefined) process.stderr.write(`${why}\n`);
process.stdout.write(`\nTests: ${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
