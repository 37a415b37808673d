import { type EpochMs, epochMs } from '../base/units.ts';
import { type Labels, labelsKey } from '../model/labels.ts';
import { badOfSlice, sliceEdgeAt, unitOf } from '../slo/slices.ts';
import type { Slo } from '../slo/slo.ts';
import type { BalancerRecord } from './balancer-record.ts';
import type { LevelSpec } from './count-level.ts';
import { planRange } from './range-plan.ts';
import { SliceCells, type SliceState } from './slice-cells.ts';
import { type RingState, StepRing, sloLevelsOf } from './step-ring.ts';
import { type GroupView, STEP_MS, type WindowSums } from './view.ts';

/** Stable over restarts. Another query is another generation, and so another group. */
export const groupKey = (slo: Slo, labels: Labels): string => `${slo.id}@${slo.generation}${labelsKey(labels)}`;

/** A group as plain data. */
export interface GroupState {
  readonly slo: string;
  readonly generation: string;
  readonly labels: readonly (readonly [string, string])[];
  readonly firstDataAt: number | null;
  /** Ids of the balancers that have fed it. */
  readonly feeders: readonly string[];
  readonly part: RingState;
  readonly total: RingState;
  /** Left out where events are counted. */
  readonly slices?: SliceState;
}

/** Counts one role of a group, and tells the group since when it has data. */
export class GroupCounter {
  readonly ring: StepRing;
  readonly #group: SloGroup;

  constructor(group: SloGroup) {
    this.#group = group;
    this.ring = new StepRing(group.levels);
  }

  /** As CounterCell. An amount of 0 counts nothing but shows that there is data. */
  add(from: EpochMs, to: EpochMs, amount: number): void {
    if (!Number.isFinite(amount)) return;
    this.#group.slices?.touch(from, to);
    const lost = this.ring.add(from, to, amount);
    if (lost === 0 || lost !== amount) this.#group.noteData(from, to);
  }
}

/** One group of one SLO. `part` counts the good or the bad events, as the indicator says. */
export class SloGroup implements GroupView {
  /** Replaced when labels, target or policy are edited; the query stays the same. */
  slo: Slo;
  readonly labels: Labels;
  readonly key: string;
  /** Another window length is another generation, so that they stay as they are. */
  readonly levels: readonly LevelSpec[];
  readonly part: GroupCounter;
  readonly total: GroupCounter;
  /** Null where events are counted. */
  readonly slices: SliceCells | null;
  /** Balancers with a series that is bound to this group. */
  readonly feeders = new Set<BalancerRecord>();
  #firstDataAt = Number.POSITIVE_INFINITY;

  constructor(slo: Slo, labels: Labels) {
    this.slo = slo;
    this.labels = labels;
    this.key = groupKey(slo, labels);
    this.levels = sloLevelsOf(slo.window.length);
    this.part = new GroupCounter(this);
    this.total = new GroupCounter(this);
    const { budgeting } = slo;
    this.slices =
      budgeting.kind === 'occurrences'
        ? null
        : new SliceCells(this.levels, budgeting, (from, to) => {
            const { bad, total, inconsistent } = this.#events(from, to);
            return inconsistent ? null : badOfSlice(budgeting, bad, total);
          });
  }

  /** Where slices are counted, the start of the first one. */
  get firstDataAt(): EpochMs | null {
    if (!Number.isFinite(this.#firstDataAt)) return null;
    return sliceEdgeAt(this.slo.budgeting, epochMs(this.#firstDataAt));
  }

  get lastEventAt(): EpochMs | null {
    const at = this.#newestAt();
    return Number.isFinite(at) ? epochMs(at) : null;
  }

  range(from: EpochMs, to: EpochMs): WindowSums {
    const { slices } = this;
    if (slices === null) return this.#events(from, to);
    slices.judgeWaiting();
    const plan = planRange(this.levels, slices.newestAt, from, to);
    return {
      bad: slices.bad.sum(plan),
      total: slices.total.sum(plan) * unitOf(this.slo.budgeting),
      from: epochMs(plan.from),
      to: epochMs(plan.to),
      inconsistent: false,
    };
  }

  contradicts(from: EpochMs, to: EpochMs): boolean {
    return this.#events(from, to).inconsistent;
  }

  /** A balancer that feeds the group was heard over (from, to]: it counted what there was, be it nothing. */
  noteHeard(from: number, to: number): void {
    const since = Math.max(from, this.#firstDataAt);
    if (since < to) this.slices?.touch(since, to);
  }

  /** Bad and total over the same steps: both roles are read by one plan. */
  #events(from: number, to: number): WindowSums {
    const plan = planRange(this.levels, this.#newestAt(), from, to);
    const total = this.total.ring.sum(plan);
    const part = this.part.ring.sum(plan);
    const { indicator } = this.slo;
    const countsBad = indicator.kind === 'events' && indicator.counts === 'bad';
    return {
      bad: countsBad ? part : total - part,
      total,
      from: epochMs(plan.from),
      to: epochMs(plan.to),
      inconsistent: part < 0 || total < 0 || part > total,
    };
  }

  /** Data over (from, to] begins with the step that holds its start. */
  noteData(from: number, to: number): void {
    if (from >= this.#firstDataAt && to > this.#firstDataAt) return;
    const end = Math.ceil(to / STEP_MS) * STEP_MS;
    const start = from < to ? Math.floor(from / STEP_MS) * STEP_MS : end - STEP_MS;
    if (start < this.#firstDataAt) this.#firstDataAt = start;
  }

  byteLength(): number {
    return this.part.ring.byteLength() + this.total.ring.byteLength() + (this.slices?.byteLength() ?? 0);
  }

  snapshot(): GroupState {
    return {
      slo: this.slo.id,
      generation: this.slo.generation,
      labels: [...this.labels],
      firstDataAt: this.firstDataAt,
      feeders: [...this.feeders].map(({ id }) => id),
      part: this.part.ring.snapshot(),
      total: this.total.ring.snapshot(),
      ...(this.slices === null ? {} : { slices: this.slices.snapshot() }),
    };
  }

  restore(state: GroupState): void {
    this.#firstDataAt = state.firstDataAt ?? Number.POSITIVE_INFINITY;
    this.part.ring.restore(state.part);
    this.total.ring.restore(state.total);
    if (state.slices !== undefined) this.slices?.restore(state.slices);
  }

  releaseIfExpired(now: number): void {
    this.part.ring.releaseIfExpired(now);
    this.total.ring.releaseIfExpired(now);
    this.slices?.releaseIfExpired(now);
  }

  #newestAt(): number {
    return Math.max(this.part.ring.newestAt, this.total.ring.newestAt);
  }
}
