import { type ChildProcess, fork } from 'node:child_process';
import type { DrillAnswer, DrillTask, WorkerStart } from './drill-worker.ts';

const ENTRY = new URL(`./drill-worker.${import.meta.url.endsWith('.js') ? 'js' : 'ts'}`, import.meta.url);

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface JobsOptions extends WorkerStart {
  /** Started in this order; answers come in it too, whichever is done first. */
  readonly tasks: readonly DrillTask[];
  readonly jobs: number;
  /** Told after each run. */
  readonly onDone: (task: DrillTask, answer: DrillAnswer, done: number) => void;
}

/** Runs drills in so many processes at a time. Rejects when one of them ends before its work is done. */
export async function runJobs({ tasks, jobs, onDone, source, flavor }: JobsOptions): Promise<readonly DrillAnswer[]> {
  const start: WorkerStart = { source, flavor };
  const waiting = [...tasks.entries()];
  const answers: DrillAnswer[] = [];
  let done = 0;
  const children = Array.from({ length: Math.min(jobs, tasks.length) }, () =>
    fork(ENTRY, [JSON.stringify(start)], { serialization: 'advanced' }),
  );
  // A drill goes on without looking up: one that is told to end by a signal takes them along.
  const onSignal = (signal: NodeJS.Signals): void => {
    for (const child of children) child.kill('SIGKILL');
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.once(signal, onSignal);
  const work = async (child: ChildProcess): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, task] = next;
      const answer = await ask(child, task);
      answers[index] = answer;
      done += 1;
      onDone(task, answer, done);
    }
  };
  try {
    await Promise.all(children.map(work));
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    for (const child of children) child.kill();
  }
  return answers;
}

function ask(child: ChildProcess, task: DrillTask): Promise<DrillAnswer> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      child.off('message', onMessage);
      child.off('error', onError);
      child.off('exit', onExit);
    };
    const onMessage = (answer: unknown): void => {
      settle();
      resolve(answer as DrillAnswer);
    };
    const onError = (error: Error): void => {
      settle();
      reject(error);
    };
    const onExit = (code: number | null, signal: string | null): void =>
      onError(new Error(`${task.scenario}, seed ${task.seed}: its process ended (${signal ?? `exit ${code}`})`));
    child.on('message', onMessage);
    child.on('error', onError);
    child.on('exit', onExit);
    child.send(task);
  });
}
