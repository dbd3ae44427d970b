/** Medians of interleaved rounds, and the table that shows them. */

export type Figure = {
  readonly name: string;
  readonly unit: string;
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly rounds: number;
};

/** Median and the 10th and 90th percentile of the samples. */
export function figure(name: string, unit: string, samples: readonly number[]): Figure {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { name, unit, median: round(at(0.5)), low: round(at(0.1)), high: round(at(0.9)), rounds: samples.length };
}

export function table(figures: readonly Figure[]): string {
  const rows = [
    ['what', 'median', '10 %', '90 %', 'rounds'],
    ...figures.map((one) => [
      one.name,
      `${one.median} ${one.unit}`,
      String(one.low),
      String(one.high),
      String(one.rounds),
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  return lines.join('\n');
}

const round = (value: number) => Math.round(value * 10) / 10;

/** Runs every contender once a round, in a rotating order, so that a busy moment of the machine hits all alike. */
export async function interleaved<K extends string>(
  rounds: number,
  contenders: Readonly<Record<K, () => Promise<number>>>,
  onRound: (done: number) => void,
): Promise<Record<K, number[]>> {
  const names = Object.keys(contenders) as K[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  for (let one = 0; one < rounds; one += 1) {
    const shift = one % names.length;
    for (const name of [...names.slice(shift), ...names.slice(0, shift)]) samples[name].push(await contenders[name]());
    onRound(one + 1);
  }
  return samples;
}

/** Wall-clock time of one call, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Differences pair by pair: what one took over the other in the same round. */
export function over(samples: readonly number[], base: readonly number[]): number[] {
  return samples.map((sample, index) => sample - (base[index] ?? 0));
}
