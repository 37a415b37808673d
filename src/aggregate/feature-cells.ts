import { type EpochMs, epochMs } from '../base/units.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import type { FeatureName, FeatureSeries } from './features.ts';
import { FEATURE_LEVELS, type RingState, StepRing } from './step-ring.ts';
import { STEP_MS } from './view.ts';

/** One feature series as plain data. */
export interface FeatureState {
  readonly name: FeatureName;
  readonly labels: readonly (readonly [string, string])[];
  readonly firstDataAt: number | null;
  readonly ring: RingState;
}

/** Counts one feature with one label set. */
export class FeatureCounter implements FeatureSeries {
  readonly labels: Labels;
  readonly ring = new StepRing(FEATURE_LEVELS);
  #firstDataAt = Number.POSITIVE_INFINITY;

  constructor(labels: Labels) {
    this.labels = labels;
  }

  get firstDataAt(): EpochMs | null {
    return Number.isFinite(this.#firstDataAt) ? epochMs(this.#firstDataAt) : null;
  }

  /** As CounterCell. */
  add(from: EpochMs, to: EpochMs, amount: number): void {
    if (!Number.isFinite(amount)) return;
    if (amount !== 0 && this.ring.add(from, to, amount) === amount) return;
    if (from >= this.#firstDataAt && to > this.#firstDataAt) return;
    const end = Math.ceil(to / STEP_MS) * STEP_MS;
    const start = from < to ? Math.floor(from / STEP_MS) * STEP_MS : end - STEP_MS;
    if (start < this.#firstDataAt) this.#firstDataAt = start;
  }

  range(from: EpochMs, to: EpochMs): number {
    return this.ring.range(from, to);
  }

  restore(state: FeatureState): void {
    this.#firstDataAt = state.firstDataAt ?? Number.POSITIVE_INFINITY;
    this.ring.restore(state.ring);
  }
}

/** All features by name and labels, in the order of their labels. */
export class FeatureStore {
  readonly #byName = new Map<FeatureName, Map<string, FeatureCounter>>();
  readonly #ordered = new Map<FeatureName, readonly FeatureCounter[]>();

  counter(name: FeatureName, labels: Labels): FeatureCounter {
    let counters = this.#byName.get(name);
    if (counters === undefined) {
      counters = new Map();
      this.#byName.set(name, counters);
    }
    const key = labelsKey(labels);
    let counter = counters.get(key);
    if (counter === undefined) {
      counter = new FeatureCounter(labels);
      counters.set(key, counter);
      this.#ordered.delete(name);
    }
    return counter;
  }

  series(name: FeatureName): readonly FeatureSeries[] {
    let ordered = this.#ordered.get(name);
    if (ordered === undefined) {
      const counters = [...(this.#byName.get(name) ?? [])];
      ordered = counters.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, counter]) => counter);
      this.#ordered.set(name, ordered);
    }
    return ordered;
  }

  releaseExpired(now: EpochMs): void {
    for (const counters of this.#byName.values()) {
      for (const { ring } of counters.values()) ring.releaseIfExpired(now);
    }
  }

  snapshot(): readonly FeatureState[] {
    return [...this.#byName].flatMap(([name, counters]) =>
      [...counters.values()].map(({ labels, firstDataAt, ring }) => ({
        name,
        labels: [...labels],
        firstDataAt,
        ring: ring.snapshot(),
      })),
    );
  }

  restore(states: readonly FeatureState[]): void {
    for (const state of states) this.counter(state.name, labelsOf(state.labels)).restore(state);
  }
}
