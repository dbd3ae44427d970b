/** The one table of what Verbatim was tested with: `verbatim doctor`, the mod's notice and the sidecar's compare against it. */

export type TestedRange = {
  /** The oldest and the newest version that the tests ran with, both inclusive. */
  readonly from: string;
  readonly to: string;
};

export const TESTED = {
  codex: { from: '0.171.0', to: '0.171.0' },
  claude_code: { from: '2.1.332', to: '2.1.332' },
} as const satisfies Record<string, TestedRange>;

export type VersionVerdict = 'tested' | 'older' | 'newer' | 'unknown';

/** How `version` stands to what was tested; `unknown` where it is no version number. */
export function compareToTested(version: string, { from, to }: TestedRange): VersionVerdict {
  const parts = partsOf(version);
  if (parts === null) return 'unknown';
  if (order(parts, partsOf(from) ?? []) < 0) return 'older';
  if (order(parts, partsOf(to) ?? []) > 0) return 'newer';
  return 'tested';
}

function partsOf(version: string): number[] | null {
  const found = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version.trim());
  return found === null ? null : found.slice(1).map(Number);
}

function order(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < 3; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
