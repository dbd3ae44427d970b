/**
 * `npm run soak`: what may go wrong once in a hundred times, a thousand times. Exits 1 when something did.
 *
 *     npm run soak                      1,000 late messages, then 100 errands in a row, 10 at once, 40 killed workers
 *     npm run soak -- late [races]      the late messages alone
 *     npm run soak -- errands [n]       the errands alone, n of them in a row
 */
import { soakErrands } from './errands.js';
import { soakLateMessages } from './late-messages.js';

const [part = 'all', count] = process.argv.slice(2);
const total = count === undefined ? undefined : Number(count);
if (!['all', 'late', 'errands'].includes(part) || (total !== undefined && !(Number.isInteger(total) && total > 0))) {
  throw new Error('usage: npm run soak -- [late [races] | errands [n]]');
}
const parts = [
  ...(part === 'errands' ? [] : [() => soakLateMessages(total ?? 1_000)]),
  ...(part === 'late' ? [] : [() => soakErrands(total ?? 100)]),
];
let isRight = true;
for (const soak of parts) isRight = (await soak()) && isRight;
process.exitCode = isRight ? 0 : 1;
