import type { Verdict } from '../sim/drill/verdict.ts';
import type { DrillTask } from './drill-worker.ts';
import type { CommandIo } from './io.ts';

/** Into a file or a log, a line at most so often. */
const LINE_EVERY_MS = 60_000;
const CLEAR = '\r\u001b[K';

/** How far many runs are, on stderr: on a terminal a line that changes, else one a minute. A miss is told at once. */
export class DrillProgress {
  readonly #total: number;
  readonly #io: Pick<CommandIo, 'stderr' | 'interactive'>;
  readonly #nowMs: () => number;
  readonly #startedMs: number;
  #saidMs: number;
  #missed = 0;

  constructor(total: number, io: Pick<CommandIo, 'stderr' | 'interactive'>, nowMs: () => number) {
    this.#total = total;
    this.#io = io;
    this.#nowMs = nowMs;
    this.#startedMs = nowMs();
    this.#saidMs = this.#startedMs;
  }

  /** `done` runs are over, this one last. */
  tell({ scenario, seed }: DrillTask, { misses }: Pick<Verdict, 'misses'>, done: number): void {
    const { stderr, interactive } = this.#io;
    if (misses.length > 0) {
      this.#missed += 1;
      stderr(`${interactive ? CLEAR : ''}missed: ${scenario}, seed ${seed}: ${misses.join('; ')}\n`);
    }
    const last = `${scenario}, seed ${seed}`;
    const text = `${done} of ${this.#total} runs, ${this.#missed} missed; last ${last}`;
    const now = this.#nowMs();
    if (interactive) stderr(`${CLEAR}${text}`);
    else if (now - this.#saidMs >= LINE_EVERY_MS && done < this.#total) {
      this.#saidMs = now;
      stderr(`after ${Math.round((now - this.#startedMs) / 60_000)} min: ${text}\n`);
    }
  }

  /** Leaves the terminal as it was. */
  end(): void {
    if (this.#io.interactive) this.#io.stderr(CLEAR);
  }
}
