import type { GroupView } from '../aggregate/view.ts';
import { type EpochMs, epochMs } from '../base/units.ts';

export const HOUR_MS = 3_600_000;
const HOURS = 24;
const DAYS = 7;

/**
 * Events to expect per millisecond, by hour of the day (UTC, counted from the epoch): the mean of the same hours of
 * the last 7
 * days where the group has them, else the mean over what is known. Never the alert window's rate: an outage changes traffic.
 */
export type ExpectedTraffic = (at: EpochMs) => number;

export function expectedTraffic(group: GroupView, to: EpochMs): ExpectedTraffic {
  const first = group.firstDataAt;
  if (first === null || first >= to) return () => 0;
  const from = epochMs(Math.max(first, to - group.slo.window.length));
  const mean = group.range(from, to).total / (to - from);
  const lastHour = Math.floor(to / HOUR_MS);
  const sums = new Float64Array(HOURS);
  const known = new Uint8Array(HOURS);
  for (let back = 1; back <= HOURS * DAYS; back += 1) {
    const hour = lastHour - back;
    if (hour * HOUR_MS < first) break;
    const slot = hour % HOURS;
    sums[slot] = (sums[slot] ?? 0) + group.range(epochMs(hour * HOUR_MS), epochMs((hour + 1) * HOUR_MS)).total;
    known[slot] = (known[slot] ?? 0) + 1;
  }
  return (at) => {
    const slot = Math.floor(at / HOUR_MS) % HOURS;
    const days = known[slot] ?? 0;
    return days === 0 ? mean : (sums[slot] ?? 0) / (days * HOUR_MS);
  };
}
