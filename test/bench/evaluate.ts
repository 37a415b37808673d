import { once } from 'node:events';
import { join } from 'node:path';
import { forkBuilt } from './built.ts';
import { COURSES } from './evaluate-courses.ts';
import { benchPrometheus } from './evaluate-prometheus.ts';

const CHILD = join(import.meta.dirname, 'evaluate-child.ts');

/**
 * 10,000 groups with all windows, states and time to exhaustion in one tick, over a history of one and of 35 days:
 * milliseconds of the first, the median and the slowest later tick, and bytes per group. Each case in a process of its
 * own, so that memory is that of the case. `prometheus` evaluates the generated rules in a real Prometheus beside it.
 * `npm run bench -- evaluate [engine] [prometheus]`, both by default.
 */
export async function run(args: readonly string[] = []): Promise<void> {
  if (args.length === 0 || args.includes('engine')) await benchEngine();
  if (args.length === 0 || args.includes('prometheus')) await benchPrometheus();
}

async function benchEngine(): Promise<void> {
  for (const course of COURSES) {
    for (const days of [1, 35]) {
      const child = await forkBuilt(CHILD, [course.name, String(days)], ['--expose-gc', '--max-old-space-size=6000']);
      const [code] = await once(child, 'exit');
      if (code !== 0) throw new Error(`the case ${course.name}, ${days} days, ended with ${code}`);
    }
  }
}
