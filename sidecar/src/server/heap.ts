/** How much memory the sidecar takes between jobs. */
import { setFlagsFromString } from 'node:v8';

/**
 * Tells V8 to collect early rather than to grow. Left to itself the process went from 69 MB after one answer of 2 MB to
 * 123 MB after ten; so from 57 to 70 MB, with 12 MB of heap in use throughout, and a turn takes 2 ms more at most
 * (measured on Node 20.20.2).
 */
export function keepHeapSmall(): void {
  // The young generation stays at 1 MB: what a job makes is either short-lived or on disk.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--optimize-for-size');
}
