import type { ComparisonAsked, ComparisonView, NotComparableView } from '../../model/views.ts';
import type { ComparisonExpected } from '../scenarios/scenario.ts';

/** Asks for a drill's comparisons when they are due, and keeps what of the answers is not as expected. */
export class ComparisonBook {
  readonly #misses: string[] = [];
  #waiting: readonly ComparisonExpected[];

  constructor(expected: readonly ComparisonExpected[]) {
    this.#waiting = expected;
  }

  /** At virtual time `nowMs`. */
  ask(nowMs: number, compare: (asked: ComparisonAsked) => ComparisonView | NotComparableView): void {
    for (const one of this.#waiting.filter(({ atMs }) => atMs <= nowMs)) {
      const miss = missOf(one, compare(one.asked));
      if (miss !== null) this.#misses.push(miss);
    }
    this.#waiting = this.#waiting.filter(({ atMs }) => atMs > nowMs);
  }

  /** Empty = all as expected. */
  misses(): readonly string[] {
    return [...this.#misses, ...this.#waiting.map(({ what }) => `${what} was never compared`)];
  }
}

function missOf(
  { what, verdict, reason }: ComparisonExpected,
  found: ComparisonView | NotComparableView,
): string | null {
  if ('missing' in found) return `${what} cannot be compared: ${found.missing}`;
  const said = `${found.verdict} (${found.reason})`;
  return found.verdict === verdict && reason.test(found.reason) ? null : `${what} is ${said}, not ${verdict}`;
}
