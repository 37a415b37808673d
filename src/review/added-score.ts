import { mergeRanges } from '../detect/distribution.ts';
import type { HourlyDurations, HourlyFigures } from '../model/measure.ts';
import { latencyText } from '../model/phrases.ts';
import type { Measured } from './scorecard.ts';
import { bySubject, SHAPE, zoneName } from './tally.ts';

const REQUESTS_MIN = 100;
const SLOWEST = 0.01;

interface ZoneP99 {
  readonly name: string;
  readonly p99: number;
  readonly state: 'met' | 'missed' | 'not_known';
}

/**
 * What balancers add to requests at p99, in the zone where it is most. Whether it is below the limit is told from the
 * bounds of the histograms alone: between two of them nothing is guessed.
 */
export function addedScore(rows: readonly HourlyFigures[], limitS: number): Measured {
  const zones = bySubject(rows, SHAPE.zone).flatMap(({ subject, hours }) => {
    const durations = hours.flatMap(({ added = [] }) => added);
    return zoneP99(zoneName(subject), durations, limitS) ?? [];
  });
  const [first, ...others] = zones;
  if (first === undefined) {
    return { value: null, detail: 'no balancer tells what it adds to requests (lb.added.duration)' };
  }
  const worst = others.reduce((most, one) => (one.p99 > most.p99 ? one : most), first);
  const missed = zones.find(({ state }) => state === 'missed');
  const unsure = zones.find(({ state }) => state === 'not_known');
  if (missed === undefined && unsure !== undefined) {
    const detail = `${unsure.name}: ${latencyText(limitS * 1000)} lies between two bounds of its histograms`;
    return { value: unsure.p99, detail, state: 'not_known' };
  }
  const detail = zones.length > 1 ? `${worst.name}, the slowest of ${zones.length}` : worst.name;
  return { value: worst.p99, detail, state: missed === undefined ? 'met' : 'missed' };
}

function zoneP99(name: string, durations: readonly HourlyDurations[], limitS: number): ZoneP99 | null {
  const merged = mergeRanges(summed(durations).map((one) => ({ ...one, sum: null })));
  const p99 = merged.count < REQUESTS_MIN ? null : merged.quantile(1 - SLOWEST);
  if (p99 === null) return null;
  let [below, above] = [0, 0];
  for (const { bounds, counts } of durations) {
    counts.forEach((count, index) => {
      const [low, high] = [index === 0 ? 0 : (bounds[index - 1] as number), bounds[index]];
      if (high !== undefined && high <= limitS) below += count;
      else if (low >= limitS) above += count;
    });
  }
  const allowed = SLOWEST * merged.count;
  const state = merged.count - below <= allowed ? 'met' : above > allowed ? 'missed' : 'not_known';
  return { name, p99, state };
}

/** One per set of bounds. */
function summed(durations: readonly HourlyDurations[]): readonly HourlyDurations[] {
  const sets = new Map<string, { bounds: readonly number[]; counts: number[] }>();
  for (const { bounds, counts } of durations) {
    const known = sets.get(bounds.join());
    if (known === undefined) sets.set(bounds.join(), { bounds, counts: [...counts] });
    else for (const [index, count] of counts.entries()) known.counts[index] = (known.counts[index] ?? 0) + count;
  }
  return [...sets].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}
