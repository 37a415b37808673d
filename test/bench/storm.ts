import { once } from 'node:events';
import { join } from 'node:path';
import { forkBuilt } from './built.ts';

const CHILD = join(import.meta.dirname, 'storm-child.ts');

/** How the alerts lie: in 50 clusters of which 50 or 10,000 are known, of one host, of a kind that nothing explains. */
export const STORMS = ['fleet', 'clusters', 'strangers'] as const;

/**
 * 10,000 alerts that begin within a minute, go on for another and end, through correlation and a real SQLite store:
 * milliseconds of the median and the slowest tick, incidents, pages, megabytes held. `npm run bench -- storm`
 */
export async function run(): Promise<void> {
  for (const storm of STORMS) {
    const child = await forkBuilt(CHILD, [storm], ['--expose-gc']);
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`the storm ${storm} ended with ${code}`);
  }
}
