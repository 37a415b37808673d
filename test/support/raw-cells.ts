import { join } from 'node:path';
import { type FeedView, type GroupView, type SloCells, STEP_MS, type WindowSums } from '../../src/aggregate/view.ts';
import { assert, present } from '../../src/base/assert.ts';
import { type Decimal, parseDecimal } from '../../src/base/decimal.ts';
import { parseDuration } from '../../src/base/duration.ts';
import { type EpochMs, epochMs, type Ms } from '../../src/base/units.ts';
import { loadRules } from '../../src/config/load.ts';
import { zoneRulesOf } from '../../src/config/zone-rules.ts';
import { type Labels, labelsKey, labelsOf } from '../../src/model/labels.ts';
import { Calendar, type CalendarUnit, nominalLength } from '../../src/slo/calendar.ts';
import type { Policy, Slo, SloWindow } from '../../src/slo/slo.ts';

/** A Monday, on a step edge of every level. */
export const T0 = Date.UTC(2026, 2, 2);
export const SECOND = 1000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;

/** `after` milliseconds after T0. */
export const at = (after: number): EpochMs => epochMs(T0 + after);

type ShippedPolicyName = 'workbook' | 'countdown';

export interface SloOptions {
  readonly target?: string;
  readonly window?: string;
  /** A calendar window instead. */
  readonly calendar?: { readonly duration: string; readonly startTime: string; readonly zone: string };
  readonly policy?: ShippedPolicyName | Policy;
  readonly labels?: Readonly<Record<string, string>>;
}

const root = join(import.meta.dirname, '..', '..');
const SHIPPED = loadRules({
  rulesDir: null,
  shippedDir: join(root, 'rules'),
  runbooksDir: join(root, 'runbooks'),
}).policies;

/** A policy of the shipped tiers.yaml, fitted to an SLO as the service does it. */
function shippedPolicy(name: ShippedPolicyName, window: Ms, target: Decimal): Policy {
  const built = SHIPPED.build(name, window, target);
  assert(built.kind === 'policy', `policy ${name} cannot be built`);
  return built.policy;
}

const rollingOf = (text: string): SloWindow => ({
  text,
  length: present(parseDuration(text), text),
  rolling: true,
});

function calendarOf({ duration, startTime, zone: name }: NonNullable<SloOptions['calendar']>): SloWindow {
  const unit = { unit: duration.slice(-1) as CalendarUnit, count: Number(duration.slice(0, -1)) };
  const zone = present(zoneRulesOf(name) ?? undefined, name);
  const calendar = new Calendar({ ...unit, anchor: Date.parse(`${startTime}Z`), zone });
  return { text: duration, length: nominalLength(unit), rolling: false, calendar };
}

/** An availability SLO, 0.999 over 30d and workbook unless said otherwise. */
export function sloOf(options: SloOptions = {}): Slo {
  const { target = '0.999', window = '30d', policy = 'workbook' } = options;
  const id = 'checkout-availability';
  const decimal = present(parseDecimal(target), target);
  const sloWindow = options.calendar === undefined ? rollingOf(window) : calendarOf(options.calendar);
  const { length } = sloWindow;
  const query = { metric: 'lb.requests', where: [] };
  return {
    id,
    name: id,
    service: 'checkout',
    displayName: id,
    objective: { text: target, target: decimal },
    window: sloWindow,
    budgeting: { kind: 'occurrences' },
    indicator: { kind: 'events', counts: 'bad', part: query, total: query },
    labels: labelsOf(Object.entries(options.labels ?? { team: 'edge' })),
    annotations: labelsOf([]),
    groupBy: ['lb.upstream.cluster'],
    rollup: false,
    policy: typeof policy === 'string' ? shippedPolicy(policy, length, decimal) : policy,
    runbook: 'ErrorBudgetBurn',
    generation: 'g1',
    source: { file: 'slos/checkout.yaml', line: 1 },
  };
}

const ORIGIN = (T0 - 100 * DAY) / STEP_MS;

/**
 * A group over raw events in 10 s steps, kept for ever: no levels, no rounding. Unlike FakeGroup it takes events at any
 * time and in any order, and hides what has not happened yet.
 */
export class RawGroup implements GroupView {
  slo: Slo;
  readonly labels: Labels = labelsOf([['lb.upstream.cluster', 'checkout']]);
  firstDataAt: EpochMs | null = null;
  revealedUntil = Number.POSITIVE_INFINITY;
  #newestAt: EpochMs | null = null;
  readonly #steps = new Map<number, { bad: number; total: number }>();
  /** Running sums up to each step since ORIGIN; made anew when events were added. */
  #sums: { readonly bad: Float64Array; readonly total: Float64Array } | null = null;

  constructor(slo: Slo) {
    this.slo = slo;
  }

  get key(): string {
    return `${this.slo.id}@${this.slo.generation}${labelsKey(this.labels)}`;
  }

  get lastEventAt(): EpochMs | null {
    const ended = Math.floor(this.revealedUntil / STEP_MS) * STEP_MS;
    return this.#newestAt === null ? null : epochMs(Math.min(this.#newestAt, ended));
  }

  /** Events in the step that ends at `after`, milliseconds after T0. */
  add(after: number, bad: number, total: number): this {
    const step = Math.ceil((T0 + after) / STEP_MS);
    const before = this.#steps.get(step) ?? { bad: 0, total: 0 };
    this.#steps.set(step, { bad: before.bad + bad, total: before.total + total });
    const end = step * STEP_MS;
    this.#noteData(end - STEP_MS);
    if (this.#newestAt === null || end > this.#newestAt) this.#newestAt = epochMs(end);
    this.#sums = null;
    return this;
  }

  /** The same events in every step of (from, to], milliseconds after T0. With `everyMs` at the end of each such time. */
  steady(from: number, to: number, bad: number, total: number, everyMs: number = STEP_MS): this {
    this.#noteData(T0 + from);
    for (let after = from + everyMs; after <= to; after += everyMs) this.add(after, bad, total);
    return this;
  }

  range(from: EpochMs, to: EpochMs): WindowSums {
    const first = Math.floor(from / STEP_MS);
    const last = Math.floor(Math.min(to, this.revealedUntil) / STEP_MS);
    const sums = this.#running();
    const upTo = (values: Float64Array, step: number): number =>
      values[Math.min(values.length - 1, Math.max(0, step - ORIGIN))] ?? 0;
    const total = last <= first ? 0 : upTo(sums.total, last) - upTo(sums.total, first);
    const bad = last <= first ? 0 : upTo(sums.bad, last) - upTo(sums.bad, first);
    const inconsistent = bad > total || bad < 0 || total < 0;
    return { bad, total, from: epochMs(first * STEP_MS), to: epochMs(last * STEP_MS), inconsistent };
  }

  #noteData(from: number): void {
    if (this.firstDataAt === null || from < this.firstDataAt) this.firstDataAt = epochMs(from);
  }

  #running() {
    if (this.#sums !== null) return this.#sums;
    const size = Math.max(1, (this.#newestAt ?? T0) / STEP_MS - ORIGIN + 1);
    const bad = new Float64Array(size);
    const total = new Float64Array(size);
    for (let index = 1; index < size; index += 1) {
      const step = this.#steps.get(ORIGIN + index);
      bad[index] = (bad[index - 1] ?? 0) + (step?.bad ?? 0);
      total[index] = (total[index - 1] ?? 0) + (step?.total ?? 0);
    }
    this.#sums = { bad, total };
    return this.#sums;
  }
}

/** Cells over raw groups. The feed reports up to `now` unless told otherwise. */
export class RawCells implements SloCells {
  readonly list: readonly RawGroup[];
  feedOf: (now: EpochMs) => Partial<FeedView> = () => ({});

  constructor(...groups: readonly RawGroup[]) {
    this.list = groups;
  }

  groups(): Iterable<GroupView> {
    return this.list;
  }

  /** Moves time on: later events stay hidden. */
  reveal(now: EpochMs): void {
    for (const group of this.list) group.revealedUntil = now;
  }

  feed(_: GroupView, now: EpochMs): FeedView {
    const watermark = epochMs(Math.floor(now / STEP_MS) * STEP_MS);
    return { watermark, coverage: 1, reporting: true, newestPointAt: watermark, ...this.feedOf(now) };
  }
}
