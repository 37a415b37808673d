import { type EpochMs, epochMs } from '../base/units.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import type { BalancerBook } from './balancer-book.ts';
import type { GaugeName, GaugeReading } from './features.ts';

/**
 * The last value of one series. Several parts of one balancer may add up to one gauge (all hosts less the healthy
 * ones).
 */
interface Part {
  readonly balancer: string;
  readonly source: string;
  at: number;
  value: number;
}

export interface GaugeState {
  readonly name: GaugeName;
  readonly labels: readonly (readonly [string, string])[];
  readonly parts: readonly Readonly<Part>[];
}

class Gauge {
  readonly labels: Labels;
  readonly parts = new Map<string, Part>();

  constructor(labels: Labels) {
    this.labels = labels;
  }

  /** A late value changes nothing. Returns the value it takes the place of; null for the first and for late ones. */
  set(at: number, balancer: string, source: string, value: number): number | null {
    const key = JSON.stringify([balancer, source]);
    const part = this.parts.get(key);
    if (part === undefined) {
      this.parts.set(key, { balancer, source, at, value });
      return null;
    }
    if (at < part.at) return null;
    const before = part.value;
    part.at = at;
    part.value = value;
    return before;
  }
}

/** What a bound series sets. */
export interface GaugeTarget {
  /** Returns the value before, as far as one is known and this one is not late. */
  set(at: EpochMs, balancer: string, value: number): number | null;
}

/** Last values, by gauge, balancer and the series they came from. */
export class GaugeStore {
  readonly #byName = new Map<GaugeName, Map<string, Gauge>>();

  /**
   * The cell that one series sets; `source` tells the series of one balancer apart and stays the same when it is bound
   * again.
   */
  cell(name: GaugeName, labels: Labels, source: string): GaugeTarget {
    const gauge = this.#gauge(name, labels);
    return { set: (at, balancer, value) => gauge.set(at, balancer, source, value) };
  }

  /**
   * Sums per gauge and balancer, never below 0. Parts that the balancer no longer sends, and balancers that are stale,
   * are left out: a gauge that vanished must not stand still.
   */
  *readings(name: GaugeName, now: EpochMs, book: BalancerBook): Iterable<GaugeReading> {
    const gauges = [...(this.#byName.get(name) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [, gauge] of gauges) {
      const sums = new Map<string, { at: number; value: number }>();
      for (const { balancer, at, value } of gauge.parts.values()) {
        if (book.record(balancer).isSilentSince(at, now) || book.isStale(balancer, now)) continue;
        const sum = sums.get(balancer);
        sums.set(balancer, { at: Math.min(sum?.at ?? at, at), value: (sum?.value ?? 0) + value });
      }
      for (const [balancer, { at, value }] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const labels = labelsOf([...gauge.labels, ['balancer', balancer]]);
        yield { labels, value: Math.max(0, value), at: epochMs(at) };
      }
    }
  }

  /** Drops parts that were last set before `since`; a series that is still bound makes its part anew. */
  forgetBefore(since: number): void {
    for (const gauges of this.#byName.values()) {
      for (const { parts } of gauges.values()) {
        for (const [key, { at }] of parts) if (at < since) parts.delete(key);
      }
    }
  }

  snapshot(): readonly GaugeState[] {
    return [...this.#byName].flatMap(([name, gauges]) =>
      [...gauges.values()].map(({ labels, parts }) => ({
        name,
        labels: [...labels],
        parts: [...parts.values()].map((part) => ({ ...part })),
      })),
    );
  }

  restore(states: readonly GaugeState[]): void {
    for (const { name, labels, parts } of states) {
      const gauge = this.#gauge(name, labelsOf(labels));
      for (const { at, balancer, source, value } of parts) gauge.set(at, balancer, source, value);
    }
  }

  #gauge(name: GaugeName, labels: Labels): Gauge {
    let gauges = this.#byName.get(name);
    if (gauges === undefined) {
      gauges = new Map();
      this.#byName.set(name, gauges);
    }
    const key = labelsKey(labels);
    let gauge = gauges.get(key);
    if (gauge === undefined) {
      gauge = new Gauge(labels);
      gauges.set(key, gauge);
    }
    return gauge;
  }
}
