import { createAggregate } from '../../src/aggregate/cells.ts';
import { createPrng } from '../../src/base/prng.ts';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import { createBurnEngine } from '../../src/burn/engine.ts';
import { labelsOf } from '../../src/model/labels.ts';
import type { Slo } from '../../src/slo/slo.ts';
import { bookOf, correctionOf, recurrenceOf } from '../support/corrections.ts';
import { sloOf } from '../support/raw-cells.ts';

const GROUPS = 10_000;
const PER_SLO = 100;
const STEP_MS = 10_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TICKS = 12;
/** A Monday. */
const T0 = Date.UTC(2026, 2, 2);

/** How a share of the groups fares; the others have no error. */
interface Course {
  readonly name: string;
  readonly errorRatio: number;
  readonly share: number;
  /** Planned work of an hour every day, for all groups; or only for groups that do not exist. */
  readonly work?: 'everywhere' | 'elsewhere';
}
const COURSES: readonly Course[] = [
  { name: 'no errors', errorRatio: 0, share: 0 },
  { name: 'errors below the budget everywhere', errorRatio: 0.0003, share: 1 },
  { name: 'one group of a hundred burns', errorRatio: 0.05, share: 0.01 },
  { name: 'every group burns', errorRatio: 0.05, share: 1 },
  { name: 'errors below the budget, work elsewhere', errorRatio: 0.0003, share: 1, work: 'elsewhere' },
  { name: 'errors below the budget, daily work', errorRatio: 0.0003, share: 1, work: 'everywhere' },
  { name: 'every group burns, daily work', errorRatio: 0.05, share: 1, work: 'everywhere' },
];

const slosOf = (): readonly Slo[] =>
  Array.from({ length: GROUPS / PER_SLO }, (_, index) => ({
    ...sloOf({ policy: 'countdown' }),
    id: `slo-${index}`,
    groupBy: ['lb.upstream.cluster'],
  }));

/**
 * 10,000 groups with all windows, states and time to exhaustion in one tick, over a history of one and of 35 days:
 * milliseconds of the slowest and the median tick, and bytes per group. Hours of history are spread over their
 * steps, the last seven hours come by the minute.
 */
export async function run(): Promise<void> {
  for (const days of [1, 35]) {
    for (const course of COURSES) benchOne(days, course);
  }
}

function benchOne(days: number, { name, errorRatio, share, work }: Course): void {
  const slos = slosOf();
  const before = bytesInUse();
  const aggregate = createAggregate();
  aggregate.replaceSlos(slos);
  const prng = createPrng(days);
  const end = T0 + 36 * DAY_MS;
  aggregate.heard('edge-1', new Map(), epochMs(end), epochMs(end));
  const balancer = aggregate.balancer('edge-1');
  const groups = slos.flatMap((slo) =>
    Array.from({ length: PER_SLO }, (_, index) =>
      aggregate.group(slo, labelsOf([['lb.upstream.cluster', `c-${index}`]])),
    ),
  );
  const fine = end - 7 * HOUR_MS;
  const add = (from: number, to: number): void => {
    groups.forEach((group, index) => {
      const total = Math.round((to - from) / 100) + prng.below(10);
      const isFailing = share > 0 && index % Math.round(1 / share) === 0;
      const bad = isFailing ? Math.floor(total * errorRatio + prng.next()) : 0;
      group.total.add(epochMs(from), epochMs(to), total);
      if (bad > 0) group.part.add(epochMs(from), epochMs(to), bad);
    });
  };
  for (const group of groups) aggregate.addFeeder(group, balancer);
  for (let at = end - days * DAY_MS; at < fine; at += HOUR_MS) add(at, at + HOUR_MS);
  for (let at = fine; at < end; at += 6 * STEP_MS) add(at, at + 6 * STEP_MS);
  const bytesPerGroup = Math.round((bytesInUse() - before) / GROUPS);

  const engine = createBurnEngine();
  const matchers = [work === 'everywhere' ? 'service=checkout' : 'service=none'];
  const time = { kind: 'recurring', recurrence: recurrenceOf() } as const;
  const book = bookOf(...(work === undefined ? [] : [correctionOf(1, 0, 0, { slos: [], matchers, time })]));
  const times: number[] = [];
  let firing = 0;
  for (let tick = 0; tick < TICKS; tick += 1) {
    const now: EpochMs = epochMs(end + tick * STEP_MS);
    if (tick > 0) {
      add(now - STEP_MS, now);
      aggregate.heard('edge-1', new Map(), now, now);
    }
    const started = performance.now();
    engine.evaluate(book.over(aggregate, now), now);
    times.push(performance.now() - started);
  }
  firing = engine.statuses().filter(({ severity }) => severity !== null).length;
  const [first = 0, ...later] = times;
  later.sort((a, b) => a - b);
  const round = (value: number): number => Math.round(value);
  const figures = {
    bench: 'evaluate',
    groups: GROUPS,
    historyDays: days,
    course: name,
    firing,
    firstTickMs: round(first),
    medianTickMs: round(later[later.length >> 1] ?? 0),
    slowestTickMs: round(later.at(-1) ?? 0),
    microsecondsPerGroup: Number((((later[later.length >> 1] ?? 0) * 1000) / GROUPS).toFixed(1)),
    bytesPerGroup,
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}

function bytesInUse(): number {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
