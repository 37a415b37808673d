import type { FeedView, GroupView, SloCells, WindowSums } from '../../src/aggregate/view.ts';
import { parseDecimal } from '../../src/base/decimal.ts';
import { parseDuration } from '../../src/base/duration.ts';
import { type EpochMs, epochMs, type Ms } from '../../src/base/units.ts';
import { labelsOf, NO_LABELS } from '../../src/model/labels.ts';
import type { Policy, Slo, Tier } from '../../src/slo/slo.ts';

export const STEP = 10_000;
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** On a day's edge, so that steps, minutes and hours fall together. */
export const ORIGIN = 20_000 * DAY;

const duration = (text: string): Ms => parseDuration(text) ?? (0 as Ms);

const tier = (
  name: string,
  severity: Tier['severity'],
  long: string,
  short: string,
  minBurn: Tier['minBurn'],
  minBadEvents: number,
): Tier => ({
  name,
  severity,
  exhaustsWithin: duration(name),
  long: duration(long),
  short: duration(short),
  minBurn,
  minBadEvents,
  factor: { numerator: BigInt(30 * DAY), denominator: BigInt(duration(name)) },
});

/** The tables of the shipped tiers.yaml for 30 d. */
export const WORKBOOK: Policy = {
  name: 'workbook',
  confidence: null,
  tiers: [
    tier('50h', 'page', '1h', '5m', 'full', 0),
    tier('5d', 'page', '6h', '30m', 'full', 0),
    tier('10d', 'ticket', '1d', '2h', 'full', 0),
    tier('30d', 'ticket', '3d', '6h', 'full', 0),
  ],
};
export const COUNTDOWN: Policy = {
  name: 'countdown',
  confidence: 0.98,
  tiers: [
    tier('6h', 'page', '5m', '1m', 'full', 2),
    tier('50h', 'page', '1h', '5m', 'half', 2),
    tier('5d', 'page', '6h', '30m', 'half', 4),
    tier('10d', 'ticket', '1d', '2h', 'half', 4),
    tier('30d', 'ticket', '3d', '6h', 'half', 4),
  ],
};

export function sloOf(policy: Policy, target = '0.999', labels = NO_LABELS): Slo {
  const query = { metric: 'lb.requests', where: [] };
  return {
    id: 'checkout-availability',
    name: 'checkout-availability',
    service: 'checkout',
    displayName: 'availability',
    objective: { text: target, target: parseDecimal(target) ?? { units: 0n, scale: 0 } },
    window: { text: '30d', length: (30 * DAY) as Ms, rolling: true },
    budgeting: { kind: 'occurrences' },
    indicator: { kind: 'events', counts: 'bad', part: query, total: query },
    labels,
    annotations: NO_LABELS,
    groupBy: ['lb.upstream.cluster'],
    rollup: false,
    policy,
    runbook: 'ErrorBudgetBurn',
    generation: '1',
    source: { file: 'test', line: 1 },
  };
}

/** One group over raw events by 10 s step, from ORIGIN on: sums by walking, no levels, no rounding. */
export class FakeGroup implements GroupView {
  slo: Slo;
  readonly labels = labelsOf([['lb.upstream.cluster', 'checkout']]);
  readonly key = 'group';
  readonly #bad: number[] = [0];
  readonly #total: number[] = [0];

  constructor(slo: Slo) {
    this.slo = slo;
  }

  /** Adds the next step. */
  push(bad: number, total: number): void {
    this.#bad.push((this.#bad.at(-1) ?? 0) + bad);
    this.#total.push((this.#total.at(-1) ?? 0) + total);
  }

  /** Adds steps for `forMs`, each made by `step` from its index. */
  pushFor(forMs: number, step: (index: number) => readonly [bad: number, total: number]): void {
    for (let index = 0; index < forMs / STEP; index += 1) this.push(...step(index));
  }

  get end(): EpochMs {
    return epochMs(ORIGIN + (this.#total.length - 1) * STEP);
  }

  get firstDataAt(): EpochMs | null {
    return this.#total.length > 1 ? epochMs(ORIGIN) : null;
  }

  get lastEventAt(): EpochMs | null {
    return this.#total.length > 1 ? this.end : null;
  }

  range(from: EpochMs, to: EpochMs): WindowSums {
    const index = (at: number): number =>
      Math.min(this.#total.length - 1, Math.max(0, Math.floor((at - ORIGIN) / STEP)));
    const [first, last] = [index(from), Math.max(index(from), index(to))];
    const bad = (this.#bad[last] ?? 0) - (this.#bad[first] ?? 0);
    const total = (this.#total[last] ?? 0) - (this.#total[first] ?? 0);
    return { bad, total, from, to, inconsistent: bad > total };
  }
}

/** Cells of one group; `feed` can be set to what a test needs. */
export function cellsOf(group: FakeGroup, feed: Partial<FeedView> = {}): SloCells {
  return {
    groups: () => [group],
    feed: () => ({ watermark: group.end, coverage: 1, reporting: true, newestPointAt: group.end, ...feed }),
  };
}
