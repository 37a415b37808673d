import type { DrillAnswer, DrillTask, WorkerStart } from './drill-worker.ts';
import { runInProcesses } from './process-pool.ts';

const ENTRY = new URL(`./drill-worker.${import.meta.url.endsWith('.js') ? 'js' : 'ts'}`, import.meta.url);

export interface JobsOptions extends WorkerStart {
  /** Started in this order; answers come in it too, whichever is done first. */
  readonly tasks: readonly DrillTask[];
  readonly jobs: number;
  /** Told after each run. */
  readonly onDone: (task: DrillTask, answer: DrillAnswer, done: number) => void;
}

/** Runs drills in so many processes at a time. Rejects when one of them ends before its work is done. */
export function runJobs({ tasks, jobs, onDone, source, flavor }: JobsOptions): Promise<readonly DrillAnswer[]> {
  const start: WorkerStart = { source, flavor };
  const nameOf = ({ scenario, seed }: DrillTask): string => `${scenario}, seed ${seed}`;
  return runInProcesses({ entry: ENTRY, args: [JSON.stringify(start)], tasks, jobs, nameOf, onDone });
}
