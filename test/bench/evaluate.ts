import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { COURSES } from './evaluate-courses.ts';

const CHILD = join(import.meta.dirname, 'evaluate-child.ts');

/**
 * 10,000 groups with all windows, states and time to exhaustion in one tick, over a history of one and of 35 days:
 * milliseconds of the first, the median and the slowest later tick, and bytes per group. Each case in a process of its
 * own, so that memory is that of the case.
 */
export async function run(): Promise<void> {
  for (const course of COURSES) {
    for (const days of [1, 35]) {
      const child = fork(CHILD, [course.name, String(days)], {
        execArgv: ['--expose-gc', '--max-old-space-size=6000', '--import', 'tsx'],
        stdio: 'inherit',
      });
      const [code] = await once(child, 'exit');
      if (code !== 0) throw new Error(`the case ${course.name}, ${days} days, ended with ${code}`);
    }
  }
}
