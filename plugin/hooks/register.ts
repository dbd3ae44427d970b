/** What Claude Code loads: the two halves, neither of which knows the other. */
import type { Register } from 'claude-code';
import { registerRunner } from './runner/register.js';
import { registerWorker } from './worker/register.js';

export const register: Register = (on, options) => {
  registerRunner(on, options.stallMinutes);
  registerWorker(on);
};
