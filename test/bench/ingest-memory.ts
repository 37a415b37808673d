import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const CHILD = join(import.meta.dirname, 'ingest-memory-child.ts');
const WHAT = [
  ['sum', 1_000_000],
  ['histogram', 1_000_000],
  ['sloGroup', 100],
] as const;

/** Bytes per series and per SLO group, each kind in a process of its own. */
export function benchMemory(): void {
  for (const [what, count] of WHAT) {
    const flags = ['--expose-gc', '--max-old-space-size=4096', '--import', 'tsx'];
    const { status } = spawnSync(process.execPath, [...flags, CHILD, what, String(count)], { stdio: 'inherit' });
    if (status !== 0) throw new Error(`the child for ${what} ended with ${status}`);
  }
}
