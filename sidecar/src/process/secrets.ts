/**
 * Masks secrets in texts that we keep or show: stderr tails, notes, journal lines, logs.
 *
 * Two ways in: shapes of well-known tokens, and the values of environment variables whose name says that
 * they hold a secret. A harness's answer is never masked: it is delivered as it is.
 */

const MASK = '[masked]';

/** A variable whose value is a secret, by its name. */
const SECRET_NAME = /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH)(?:_|$)/i;

/** Values shorter than this are too common to mask: `1`, `true`, `fake`. */
const SHORTEST_VALUE = 8;

// Each looks only so far ahead from any place: a model's text of dots and dashes must not hold the sidecar for seconds.
const SHAPES: readonly RegExp[] = [
  /\bsk-[A-Za-z0-9_-]{8,}/g,
  /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})/g,
  /\bglpat-[A-Za-z0-9_-]{16,}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{8,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bnpm_[A-Za-z0-9]{30,}/g,
  /\bhf_[A-Za-z0-9]{20,}/g,
  /\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
];

/** `Bearer abc…` and `https://user:password@host`: the words around the secret stay. */
const FRAMED: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)(\s+)[A-Za-z0-9+/._~=-]{8,}/gi, `$1$2${MASK}`],
  [/(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s:/@]+:)[^\s/@]+@/gi, `$1${MASK}@`],
];

/**
 * Returns `text` with every known secret replaced by `[masked]`.
 *
 * @param env Variables whose values are secrets when their names say so (default: this process's).
 */
export function mask(text: string, env: Readonly<Record<string, string | undefined>> = process.env): string {
  let masked = text;
  for (const value of secretValues(env)) masked = masked.replaceAll(value, MASK);
  for (const [shape, replacement] of FRAMED) masked = masked.replace(shape, replacement);
  for (const shape of SHAPES) masked = masked.replace(shape, MASK);
  return masked;
}

/** The longest values come first, so that one that contains another is masked whole. */
function secretValues(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env)
    .filter(([name, value]) => value !== undefined && value.length >= SHORTEST_VALUE && SECRET_NAME.test(name))
    .map(([, value]) => value as string)
    .filter((value) => !value.startsWith('/'))
    .sort((a, b) => b.length - a.length);
}
