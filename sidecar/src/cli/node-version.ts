/** The oldest Node that Verbatim runs on. */
const OLDEST = [20, 19] as const;

/** What is wrong with the running Node's `version`, for a reader; null where it will do. */
export function checkNode(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return null;
  return `Verbatim needs Node ${OLDEST.join('.')} or newer, and this is Node ${version}. Install a newer Node (https://nodejs.org) and try again.`;
}
