import { dirname } from 'node:path';

/** Absolute path of this repository. */
export const ROOT = dirname(import.meta.dirname);
