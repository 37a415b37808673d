import { type History, isHeard, MINUTES, type Source, startedAt } from './history.ts';

/** One counter as a balancer shows it: a value at the end of each minute, NaN where it shows nothing. */
export interface Counter {
  readonly group: string;
  readonly balancer: number;
  readonly isBad: boolean;
  readonly values: Float64Array;
  /** Start of the process that showed the value, in minutes. */
  readonly starts: Int32Array;
}

/** The counters of a history, as they are pushed or scraped. */
export const countersOf = (history: History): readonly Counter[] =>
  history.sources.flatMap((source) => [counterOf(history, source, false), counterOf(history, source, true)]);

function counterOf(history: History, source: Source, isBad: boolean): Counter {
  const { group, balancer } = source;
  const counts = isBad ? source.bad : source.good;
  const values = new Float64Array(MINUTES + 1).fill(Number.NaN);
  const starts = new Int32Array(MINUTES + 1);
  let value = 0;
  let isBorn = !(isBad && history.lateErrors);
  for (let minute = 0; minute <= MINUTES; minute += 1) {
    const start = startedAt(history, balancer, minute);
    if (minute > 0 && start === minute - 1) value = 0;
    value += counts[minute] as number;
    if (value > 0) isBorn = true;
    starts[minute] = start;
    if (isBorn && isHeard(history, balancer, minute)) values[minute] = value;
  }
  return { group, balancer, isBad, values, starts };
}
