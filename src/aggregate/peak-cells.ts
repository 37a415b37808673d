import { type EpochMs, epochMs } from '../base/units.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import type { PeakName, PeakSeries } from './features.ts';
import { STEP_MS } from './view.ts';

/** A quarter of an hour: bursts matter while they last. */
const STEPS = 90;
const NONE = -1;

export interface PeakState {
  readonly name: PeakName;
  readonly labels: readonly (readonly [string, string])[];
  readonly steps: readonly (readonly [step: number, value: number])[];
}

/**
 * The largest value of a level within each 10 s step: a burst that has gone when the next value comes stays visible.
 */
export class PeakCell implements PeakSeries {
  readonly labels: Labels;
  readonly #steps = new Float64Array(STEPS).fill(NONE);
  readonly #values = new Float64Array(STEPS);

  constructor(labels: Labels) {
    this.labels = labels;
  }

  set(at: number, _balancer: string, value: number): void {
    const step = Math.ceil(at / STEP_MS);
    const slot = step % STEPS;
    const known = this.#steps[slot] as number;
    if (!Number.isFinite(value) || known > step) return;
    this.#values[slot] = known === step ? Math.max(this.#values[slot] as number, value) : value;
    this.#steps[slot] = step;
  }

  peaks(from: EpochMs, to: EpochMs): readonly { readonly at: EpochMs; readonly value: number }[] {
    const found: { at: EpochMs; value: number }[] = [];
    for (const [step, value] of this.snapshot()) {
      const at = epochMs(step * STEP_MS);
      if (at > from && at <= to) found.push({ at, value });
    }
    return found;
  }

  /** Steps that are known, oldest first. */
  snapshot(): readonly (readonly [number, number])[] {
    return [...this.#steps]
      .map((step, slot) => [step, this.#values[slot] as number] as const)
      .filter(([step]) => step !== NONE)
      .sort(([a], [b]) => a - b);
  }
}

/** Peaks by name and labels. */
export class PeakStore {
  readonly #byName = new Map<PeakName, Map<string, PeakCell>>();

  cell(name: PeakName, labels: Labels): PeakCell {
    let cells = this.#byName.get(name);
    if (cells === undefined) {
      cells = new Map();
      this.#byName.set(name, cells);
    }
    const key = labelsKey(labels);
    let cell = cells.get(key);
    if (cell === undefined) {
      cell = new PeakCell(labels);
      cells.set(key, cell);
    }
    return cell;
  }

  series(name: PeakName): readonly PeakSeries[] {
    return [...(this.#byName.get(name) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cell]) => cell);
  }

  snapshot(): readonly PeakState[] {
    return [...this.#byName].flatMap(([name, cells]) =>
      [...cells.values()].map((cell) => ({ name, labels: [...cell.labels], steps: cell.snapshot() })),
    );
  }

  restore(states: readonly PeakState[]): void {
    for (const { name, labels, steps } of states) {
      const cell = this.cell(name, labelsOf(labels));
      for (const [step, value] of steps) cell.set(step * STEP_MS, '', value);
    }
  }
}
