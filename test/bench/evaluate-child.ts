import { createAggregate } from '../../src/aggregate/cells.ts';
import type { GroupState, SloGroup } from '../../src/aggregate/slo-group.ts';
import { createPrng } from '../../src/base/prng.ts';
import { epochMs } from '../../src/base/units.ts';
import { createBurnEngine } from '../../src/burn/engine.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { bookOf, correctionOf, recurrenceOf } from '../support/corrections.ts';
import { sloOf } from '../support/raw-cells.ts';
import { COURSES, type Course } from './evaluate-courses.ts';
import { medianOf, print } from './rounds.ts';

/** `COURSE DAYS`: one case of the bench of evaluation. */
const GROUPS = 10_000;
const PER_SLO = 100;
/** Histories that are really counted; the other groups take up copies. A multiple of the rarest course's period. */
const COUNTED = 100;
const STEP_MS = 10_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TICKS = 12;
/** 36 days after a Monday. */
const END = Date.UTC(2026, 2, 2) + 36 * DAY_MS;

const slos = Array.from({ length: GROUPS / PER_SLO }, (_, index) => ({
  ...sloOf({ policy: 'countdown' }),
  id: `slo-${index}`,
  groupBy: ['lb.upstream.cluster'],
}));

/** Events of (from, to], for each group its own. */
function countEvents(groups: readonly SloGroup[], from: number, to: number, course: Course): void {
  const { errorRatio, share } = course;
  groups.forEach((group, index) => {
    const total = Math.round((to - from) / 100) + prng.below(10);
    const isFailing = share > 0 && index % Math.round(1 / share) === 0;
    const bad = isFailing ? Math.floor(total * errorRatio + prng.next()) : 0;
    group.total.add(epochMs(from), epochMs(to), total);
    if (bad > 0) group.part.add(epochMs(from), epochMs(to), bad);
  });
}

/** By the minute in the last 7 hours, before that in the steps of 5 minutes that are kept of it. */
function historiesOf(groups: readonly SloGroup[], days: number, course: Course): readonly GroupState[] {
  const fine = END - 7 * HOUR_MS;
  for (let at = END - days * DAY_MS; at < fine; at += 300_000) countEvents(groups, at, at + 300_000, course);
  for (let at = fine; at < END; at += 60_000) countEvents(groups, at, at + 60_000, course);
  return groups.map((group) => group.snapshot());
}

function bytesInUse(): number {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function benchOne(days: number, course: Course): void {
  const aggregate = createAggregate();
  aggregate.replaceSlos(slos);
  aggregate.heard('edge-1', new Map(), epochMs(END), epochMs(END));
  const balancer = aggregate.balancer('edge-1');
  const groupsOf = (slo: (typeof slos)[number]): SloGroup[] =>
    Array.from({ length: PER_SLO }, (_, index) =>
      aggregate.group(slo, labelsOf([['lb.upstream.cluster', `c-${index}`]])),
    );
  const counted = groupsOf(slos[0] as (typeof slos)[number]).slice(0, COUNTED);
  const histories = historiesOf(counted, days, course);
  const before = bytesInUse();
  const copies = slos.slice(1).flatMap(groupsOf);
  copies.forEach((group, index) => {
    group.restore(histories[index % COUNTED] as GroupState);
  });
  const groups = [...counted, ...copies];
  for (const group of groups) aggregate.addFeeder(group, balancer);

  const engine = createBurnEngine();
  const { work } = course;
  const matchers = [work === 'everywhere' ? 'service=checkout' : 'service=none'];
  const time = { kind: 'recurring', recurrence: recurrenceOf() } as const;
  const book = bookOf(...(work === undefined ? [] : [correctionOf(1, 0, 0, { slos: [], matchers, time })]));
  const times: number[] = [];
  for (let tick = 0; tick < TICKS; tick += 1) {
    const now = epochMs(END + tick * STEP_MS);
    if (tick > 0) countEvents(groups, now - STEP_MS, now, course);
    aggregate.heard('edge-1', new Map(), now, now);
    const started = performance.now();
    engine.evaluate(book.over(aggregate, now), now);
    times.push(performance.now() - started);
  }
  const bytesPerGroup = (bytesInUse() - before) / copies.length;
  const [first = 0, ...later] = times;
  const median = medianOf(later);
  print({
    bench: 'evaluate',
    groups: GROUPS,
    historyDays: days,
    course: course.name,
    firing: engine.statuses().filter(({ severity }) => severity !== null).length,
    firstTickMs: Math.round(first),
    medianTickMs: Math.round(median),
    slowestTickMs: Math.round(Math.max(...later)),
    microsecondsPerGroup: Number(((median * 1000) / GROUPS).toFixed(1)),
    bytesPerGroup: Math.round(bytesPerGroup),
  });
}

const [name, days] = process.argv.slice(2);
const prng = createPrng(Number(days));
const course = COURSES.find((one) => one.name === name);
if (course === undefined) throw new Error(`no course ${name}`);
benchOne(Number(days), course);
