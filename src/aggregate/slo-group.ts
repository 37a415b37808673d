import { type EpochMs, epochMs } from '../base/units.ts';
import { type Labels, labelsKey } from '../model/labels.ts';
import { badOfSlices, membersOf } from '../slo/composite.ts';
import { badOfSlice, sliceEdgeAt, unitOf } from '../slo/slices.ts';
import type { Member, Slicing, Slo } from '../slo/slo.ts';
import type { BalancerRecord } from './balancer-record.ts';
import type { LevelSpec } from './count-level.ts';
import { planRange } from './range-plan.ts';
import { SliceCells, type SliceState } from './slice-cells.ts';
import { type RingState, StepRing, sloLevelsOf } from './step-ring.ts';
import { type GroupView, STEP_MS, type WindowSums } from './view.ts';

/** Stable over restarts. Another query is another generation, and so another group. */
export const groupKey = (slo: Slo, labels: Labels): string => `${slo.id}@${slo.generation}${labelsKey(labels)}`;

/** What was counted, as plain data. */
export interface CountState {
  readonly firstDataAt: number | null;
  readonly part: RingState;
  readonly total: RingState;
  /** Left out where no threshold ever lay between two bounds. */
  readonly between?: RingState;
}

/** A group as plain data. */
export interface GroupState extends CountState {
  readonly slo: string;
  readonly generation: string;
  readonly labels: readonly (readonly [string, string])[];
  /** Ids of the balancers that have fed it. */
  readonly feeders: readonly string[];
  /** Of a composite, in the order of its members. */
  readonly members?: readonly CountState[];
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
    this.#group.touch(from, to);
    const lost = this.ring.add(from, to, amount);
    if (lost === 0 || lost !== amount) this.#group.noteData(from, to);
  }
}

/**
 * One group of one SLO. `part` counts the good or the bad events, as the indicator says. A composite has a group for each
 * member instead, of an SLO made for it; what they are told, it is told, too.
 */
export class SloGroup implements GroupView {
  /** Replaced when labels, target or policy are edited; the query stays the same. */
  #slo: Slo;
  readonly labels: Labels;
  readonly key: string;
  /** Another window length is another generation, so that they stay as they are. */
  readonly levels: readonly LevelSpec[];
  readonly part: GroupCounter;
  readonly total: GroupCounter;
  /** Null where events are counted. */
  readonly slices: SliceCells | null;
  /** Of a composite, in the order of its members; empty otherwise. */
  readonly members: readonly SloGroup[];
  readonly #whole: SloGroup | null;
  /** Balancers with a series that is bound to this group. */
  readonly feeders = new Set<BalancerRecord>();
  /** What lies around the threshold; null until something does. */
  #between: StepRing | null = null;
  #firstDataAt = Number.POSITIVE_INFINITY;

  /** `whole` is the composite's group that this one is a member of. */
  constructor(slo: Slo, labels: Labels, whole: SloGroup | null = null) {
    this.#slo = slo;
    this.#whole = whole;
    this.labels = labels;
    this.key = groupKey(slo, labels);
    this.levels = sloLevelsOf(slo.window.length);
    this.part = new GroupCounter(this);
    this.total = new GroupCounter(this);
    this.members = membersOf(slo.indicator).map((member) => new SloGroup(memberSlo(slo, member), labels, this));
    const { budgeting } = slo;
    this.slices =
      budgeting.kind === 'occurrences'
        ? null
        : new SliceCells(this.levels, budgeting, (from, to) => this.#judge(budgeting, from, to));
  }

  get slo(): Slo {
    return this.#slo;
  }

  set slo(slo: Slo) {
    this.#slo = slo;
    for (const [index, member] of membersOf(slo.indicator).entries()) {
      const group = this.members[index];
      if (group !== undefined) group.slo = memberSlo(slo, member);
    }
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

  /** Data over (from, to] is about to be added to this group or to one of its members. */
  touch(from: number, to: number): void {
    const { slices } = this.#whole ?? this;
    slices?.touch(from, to);
  }

  /** A balancer that feeds the group was heard over (from, to]: it counted what there was, be it nothing. */
  noteHeard(from: number, to: number): void {
    const since = Math.max(from, this.#firstDataAt);
    if (since < to) this.slices?.touch(since, to);
  }

  #judge(slicing: Slicing, from: number, to: number): number | null {
    const { indicator } = this.slo;
    if (indicator.kind !== 'composite') {
      const { bad, total, inconsistent } = this.#events(from, to);
      return inconsistent ? null : badOfSlice(slicing, bad, total);
    }
    const events = this.members.map((member) => member.#events(from, to));
    if (events.every(({ inconsistent }) => inconsistent)) return null;
    const sound = events.map((sums) => (sums.inconsistent ? null : sums));
    return badOfSlices(slicing, indicator.members, sound);
  }

  /** Bad and total over the same steps: both roles are read by one plan. Of a composite, all members' together. */
  #events(from: number, to: number): WindowSums {
    if (this.members.length > 0) return together(this.members.map((member) => member.#events(from, to)));
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
      between: this.#between === null ? 0 : this.#between.sum(plan),
    };
  }

  /** Notes that `amount` of the events over (from, to] lay between the bounds around the threshold. */
  addBetween(from: number, to: number, amount: number): void {
    if (amount === 0 || !Number.isFinite(amount)) return;
    this.#between ??= new StepRing(this.levels);
    this.#between.add(from, to, amount);
  }

  /** Data over (from, to] begins with the step that holds its start. */
  noteData(from: number, to: number): void {
    if (from >= this.#firstDataAt && to > this.#firstDataAt) return;
    const end = Math.ceil(to / STEP_MS) * STEP_MS;
    const start = from < to ? Math.floor(from / STEP_MS) * STEP_MS : end - STEP_MS;
    if (start < this.#firstDataAt) this.#firstDataAt = start;
    this.#whole?.noteData(from, to);
  }

  byteLength(): number {
    const ofMembers = this.members.reduce((total, member) => total + member.byteLength(), 0);
    const own = [this.part.ring, this.total.ring, this.#between, this.slices];
    return own.reduce((total, one) => total + (one?.byteLength() ?? 0), ofMembers);
  }

  snapshot(): GroupState {
    return {
      slo: this.slo.id,
      generation: this.slo.generation,
      labels: [...this.labels],
      feeders: [...this.feeders].map(({ id }) => id),
      ...this.#counts(),
      ...(this.slices === null ? {} : { slices: this.slices.snapshot() }),
      ...(this.members.length === 0 ? {} : { members: this.members.map((member) => member.#counts()) }),
    };
  }

  restore(state: GroupState): void {
    this.#take(state);
    for (const [index, member] of this.members.entries()) {
      const counts = state.members?.[index];
      if (counts !== undefined) member.#take(counts);
    }
    if (state.slices !== undefined) this.slices?.restore(state.slices);
  }

  #counts(): CountState {
    const { firstDataAt } = this;
    const between = this.#between === null ? {} : { between: this.#between.snapshot() };
    return { firstDataAt, part: this.part.ring.snapshot(), total: this.total.ring.snapshot(), ...between };
  }

  #take(state: CountState): void {
    this.#firstDataAt = state.firstDataAt ?? Number.POSITIVE_INFINITY;
    this.part.ring.restore(state.part);
    this.total.ring.restore(state.total);
    if (state.between !== undefined) {
      this.#between = new StepRing(this.levels);
      this.#between.restore(state.between);
    }
  }

  releaseIfExpired(now: number): void {
    for (const one of [this.part.ring, this.total.ring, this.#between, this.slices]) one?.releaseIfExpired(now);
    for (const member of this.members) member.releaseIfExpired(now);
  }

  #newestAt(): number {
    let newest = Math.max(this.part.ring.newestAt, this.total.ring.newestAt);
    for (const member of this.members) newest = Math.max(newest, member.#newestAt());
    return newest;
  }
}

/** An SLO of a member's own, as its counters and windows need it. */
const memberSlo = (slo: Slo, { name, indicator, objective }: Member): Slo => ({
  ...slo,
  id: `${slo.id}:${name}`,
  displayName: name,
  indicator,
  objective,
  budgeting: { kind: 'occurrences' },
});

function together(sums: readonly WindowSums[]): WindowSums {
  const sound = sums.filter(({ inconsistent }) => !inconsistent);
  const [first] = sums as [WindowSums, ...WindowSums[]];
  return {
    bad: sound.reduce((total, { bad }) => total + bad, 0),
    total: sound.reduce((total, one) => total + one.total, 0),
    from: first.from,
    to: first.to,
    inconsistent: sound.length < sums.length,
  };
}
