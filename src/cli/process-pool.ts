import { type ChildProcess, fork } from 'node:child_process';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Every core has its process: one that collects garbage on another's core gains nothing; fewer, larger rounds do. */
const BUSY_PROCESS = ['--single-threaded-gc', '--max-semi-space-size=64'];

export interface PoolOptions<Task, Answer> {
  /** Module that answers each message, a task, by one message. */
  readonly entry: URL;
  readonly args: readonly string[];
  /** Started in this order; answers come in it too, whichever is done first. */
  readonly tasks: readonly Task[];
  readonly jobs: number;
  /** What a task is called where its process ends before it. */
  readonly nameOf: (task: Task) => string;
  /** Told after each task. */
  readonly onDone: (task: Task, answer: Answer, done: number) => void;
}

/** Has tasks done in so many processes at a time. Rejects when one of them ends before its work is done. */
export async function runInProcesses<Task extends object, Answer>(
  options: PoolOptions<Task, Answer>,
): Promise<readonly Answer[]> {
  const { entry, args, tasks, jobs, nameOf, onDone } = options;
  const waiting = [...tasks.entries()];
  const answers: Answer[] = [];
  let done = 0;
  const children = Array.from({ length: Math.min(jobs, tasks.length) }, () =>
    fork(entry, args, { serialization: 'advanced', execArgv: [...process.execArgv, ...BUSY_PROCESS] }),
  );
  // Work goes on without looking up: one that is told to end by a signal takes them along.
  const onSignal = (signal: NodeJS.Signals): void => {
    for (const child of children) child.kill('SIGKILL');
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.once(signal, onSignal);
  const work = async (child: ChildProcess): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, task] = next;
      const answer = await ask<Answer>(child, task, nameOf(task));
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

function ask<Answer>(child: ChildProcess, task: object, name: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      child.off('message', onMessage);
      child.off('error', onError);
      child.off('exit', onExit);
    };
    const onMessage = (answer: unknown): void => {
      settle();
      resolve(answer as Answer);
    };
    const onError = (error: Error): void => {
      settle();
      reject(error);
    };
    const onExit = (code: number | null, signal: string | null): void =>
      onError(new Error(`${name}: its process ended (${signal ?? `exit ${code}`})`));
    child.on('message', onMessage);
    child.on('error', onError);
    child.on('exit', onExit);
    child.send(task);
  });
}
