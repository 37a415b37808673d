/** Several pieces of work in turns, so that what else the machine does falls on all alike. */

export interface Work {
  readonly name: string;
  /** Done once; returns nothing. */
  readonly once: () => void;
}

const ROUND_MS = 250;

/**
 * Per work the times per second that it can be done: one figure per round. Seconds are those of the processor, all
 * threads of the process together, so that other processes on the machine count little.
 */
export function interleaved(works: readonly Work[], rounds: number): Map<string, number[]> {
  const rates = new Map<string, number[]>(works.map(({ name }) => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const { name, once } of works) {
      const usedBefore = process.cpuUsage();
      let done = 0;
      for (const until = performance.now() + ROUND_MS; performance.now() < until; done += 1) once();
      const { user, system } = process.cpuUsage(usedBefore);
      // The first round warms up.
      if (round >= 0) rates.get(name)?.push((done * 1e6) / (user + system));
    }
  }
  return rates;
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] as number;
}

export const print = (figures: Readonly<Record<string, unknown>>): void =>
  void process.stdout.write(`${JSON.stringify(figures)}\n`);
