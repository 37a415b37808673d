const ROUND_MS = 400;

/**
 * How often a piece of work can be done per second of the processor, all threads of the process together, so that
 * other processes on the machine count little.
 */
export function ratePerCpuSecond(once: () => void): number {
  const usedBefore = process.cpuUsage();
  let done = 0;
  for (const until = performance.now() + ROUND_MS; performance.now() < until; done += 1) once();
  const { user, system } = process.cpuUsage(usedBefore);
  return (done * 1e6) / (user + system);
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] as number;
}

export const print = (figures: Readonly<Record<string, unknown>>): void =>
  void process.stdout.write(`${JSON.stringify(figures)}\n`);
