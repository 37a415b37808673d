import { CLEAN_MINUTES, type History, MINUTES } from './history.ts';
import type { Counter } from './samples.ts';
import { emptyTruth, TIERS, type Truth } from './truth.ts';

/** Brute force over raw counters: two models of who learns what when, and the same sums over both. */

/** Events of one group by minute; NaN where nothing at all is known of a minute. */
interface Minutes {
  readonly bad: Float64Array;
  readonly total: Float64Array;
}

const STEPS_PER_MINUTE = 6;
/** A sample is looked back at for so many minutes. */
const LOOKBACK_MINUTES = 5;

/** What Prometheus records: the difference to a minute ago, of what it then still sees. */
function recordedBy(counters: readonly Counter[]): Minutes {
  const minutes = { bad: emptyMinutes(), total: emptyMinutes() };
  for (const { values, isBad } of counters) {
    let seenAt = Number.NEGATIVE_INFINITY;
    let now = Number.NaN;
    let before = Number.NaN;
    for (let minute = 0; minute <= MINUTES; minute += 1) {
      if (!Number.isNaN(values[minute])) {
        now = values[minute] as number;
        seenAt = minute;
      } else if (minute - seenAt > LOOKBACK_MINUTES) now = Number.NaN;
      if (!Number.isNaN(now) && !Number.isNaN(before)) {
        add(minutes.total, minute, now >= before ? now - before : now);
        if (isBad) add(minutes.bad, minute, now >= before ? now - before : now);
      }
      before = now;
    }
  }
  return minutes;
}

const emptyMinutes = (): Float64Array => new Float64Array(MINUTES + 1).fill(Number.NaN);

function add(minutes: Float64Array, minute: number, amount: number): void {
  const known = minutes[minute] as number;
  minutes[minute] = Number.isNaN(known) ? amount : known + amount;
}

/** Truth as Prometheus must find it: doubles, sums of what was recorded, false where there is none. */
export function prometheusTruth(counters: readonly Counter[]): Truth {
  const { bad, total } = recordedBy(counters);
  const truth = emptyTruth();
  const ratio = (minute: number, length: number): number => {
    let [badSum, totalSum, seen] = [0, 0, false];
    for (let index = Math.max(0, minute - length + 1); index <= minute; index += 1) {
      if (!Number.isNaN(bad[index])) {
        badSum += bad[index] as number;
        seen = true;
      }
      if (!Number.isNaN(total[index])) totalSum += total[index] as number;
    }
    return seen ? badSum / totalSum : Number.NaN;
  };
  TIERS.forEach(({ long, short, perTenThousand }, tier) => {
    const threshold = Number(perTenThousand) / 10_000;
    for (let minute = CLEAN_MINUTES; minute <= MINUTES; minute += 1) {
      const holds = ratio(minute, long) >= threshold && ratio(minute, short) >= threshold;
      (truth[tier] as Uint8Array)[minute] = holds ? 1 : 0;
    }
  });
  return truth;
}

/**
 * Truth as the engine must find it, by ticks: what was pushed until then, a gap's events spread over the gap, the
 * windows ending at the watermark. Exact: whole numbers, cross-multiplied.
 */
export function engineTruth(history: History, counters: readonly Counter[], watermarks: Int32Array): Truth {
  const bad = new Int32Array((MINUTES + 1) * STEPS_PER_MINUTE + 1);
  const total = new Int32Array(bad.length);
  const last = counters.map(() => ({ minute: 0, value: 0, start: 0, isBorn: false }));
  const truth = emptyTruth();
  for (let minute = 0; minute <= MINUTES; minute += 1) {
    counters.forEach((counter, index) => {
      const value = counter.values[minute] as number;
      if (Number.isNaN(value)) return;
      const known = last[index] as (typeof last)[number];
      const start = counter.starts[minute] as number;
      const isRestart = known.isBorn && start > known.start;
      // A counter that is born late covers the time since its balancer was last heard.
      const from = isRestart ? start : known.isBorn ? known.minute : lastHeard(history, counter, minute);
      const amount = known.isBorn && !isRestart ? value - known.value : value;
      spread(total, from, minute, amount);
      if (counter.isBad) spread(bad, from, minute, amount);
      last[index] = { minute, value, start, isBorn: true };
    });
    if (minute < CLEAN_MINUTES) continue;
    TIERS.forEach((tier, index) => {
      const end = watermarks[minute] as number;
      const holds = [tier.long, tier.short].every((length) => reaches(bad, total, end, length, tier.perTenThousand));
      (truth[index] as Uint8Array)[minute] = holds ? 1 : 0;
    });
  }
  return truth;
}

function lastHeard({ gaps }: History, { balancer }: Counter, minute: number): number {
  let before = minute - 1;
  while (before > 0 && gaps.some((gap) => gap.balancer === balancer && before >= gap.first && before <= gap.last)) {
    before -= 1;
  }
  return Math.max(0, before);
}

/** Whole events over 10 s steps: each the same share, what is left over to the latest. Step n ends at n x 10 s. */
function spread(steps: Int32Array, from: number, to: number, amount: number): void {
  const count = Math.max(1, (to - from) * STEPS_PER_MINUTE);
  const share = Math.floor(amount / count);
  const left = amount - share * count;
  for (let index = 0; index < count; index += 1) {
    const step = to * STEPS_PER_MINUTE - index;
    steps[step] = (steps[step] as number) + share + (index < left ? 1 : 0);
  }
}

function reaches(bad: Int32Array, total: Int32Array, end: number, length: number, perTenThousand: bigint): boolean {
  let [badSum, totalSum] = [0, 0];
  for (let step = Math.max(1, end - length * STEPS_PER_MINUTE + 1); step <= end; step += 1) {
    badSum += bad[step] as number;
    totalSum += total[step] as number;
  }
  return totalSum > 0 && BigInt(badSum) * 10_000n >= perTenThousand * BigInt(totalSum);
}
