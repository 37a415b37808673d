import type { Staging } from '../otlp/staging.ts';
import type { Series } from './series.ts';

/**
 * One way in which the bytes of a series' identity were sent. Senders repeat their series in the same order, so each layout
 * remembers which one followed it last time: the guess is checked by comparing bytes, and the hash is only needed
 * when it fails.
 */
export interface Layout {
  readonly context: number;
  /** Kind, temporality and monotonicity in one number. */
  readonly shape: number;
  readonly name: Uint8Array;
  readonly unit: Uint8Array;
  readonly attributes: Uint8Array;
  readonly series: Series;
  next: Layout | null;
  /** Chain of layouts with the same hash. */
  readonly sameHash: Layout | null;
}

function equals(stored: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  const { length } = stored;
  if (length !== to - from) return false;
  for (let index = 0; index < length; index += 1) if (stored[index] !== bytes[from + index]) return false;
  return true;
}

function hashRange(seed: number, bytes: Uint8Array, from: number, to: number): number {
  let hash = seed;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return Math.imul(hash ^ (to - from), 0x01000193);
}

/** From bytes as sent to series. Equal hashes are told apart by their bytes. */
export class LayoutTable {
  readonly #byHash = new Map<number, Layout>();
  #last: Layout | null = null;

  /** The layout of a point, or null when these bytes have not been seen. `context` is the resolved context's number. */
  find(staging: Staging, point: number, context: number): Layout | null {
    const guess = this.#last?.next ?? null;
    if (guess !== null && this.#matches(guess, staging, point, context)) {
      this.#last = guess;
      return guess;
    }
    let found: Layout | null = this.#byHash.get(this.#hash(staging, point, context)) ?? null;
    while (found !== null && !this.#matches(found, staging, point, context)) found = found.sameHash;
    if (found !== null) {
      if (this.#last !== null) this.#last.next = found;
      this.#last = found;
    }
    return found;
  }

  add(staging: Staging, point: number, context: number, series: Series): Layout {
    const { bytes } = staging;
    const metric = staging.pointMetric[point] as number;
    const hash = this.#hash(staging, point, context);
    const layout: Layout = {
      context,
      shape: shapeOf(staging, metric),
      name: bytes.slice(staging.nameFrom[metric], staging.nameTo[metric]),
      unit: bytes.slice(staging.unitFrom[metric], staging.unitTo[metric]),
      attributes: bytes.slice(staging.attributesFrom[point], staging.attributesTo[point]),
      series,
      next: null,
      sameHash: this.#byHash.get(hash) ?? null,
    };
    this.#byHash.set(hash, layout);
    if (this.#last !== null) this.#last.next = layout;
    this.#last = layout;
    return layout;
  }

  #matches(layout: Layout, staging: Staging, point: number, context: number): boolean {
    const metric = staging.pointMetric[point] as number;
    const { bytes } = staging;
    return (
      layout.context === context &&
      layout.shape === shapeOf(staging, metric) &&
      equals(
        layout.attributes,
        bytes,
        staging.attributesFrom[point] as number,
        staging.attributesTo[point] as number,
      ) &&
      equals(layout.name, bytes, staging.nameFrom[metric] as number, staging.nameTo[metric] as number) &&
      equals(layout.unit, bytes, staging.unitFrom[metric] as number, staging.unitTo[metric] as number)
    );
  }

  #hash(staging: Staging, point: number, context: number): number {
    const metric = staging.pointMetric[point] as number;
    const { bytes } = staging;
    let hash = Math.imul((context + 1) ^ (shapeOf(staging, metric) << 24), 0x9e3779b1);
    hash = hashRange(hash, bytes, staging.nameFrom[metric] as number, staging.nameTo[metric] as number);
    hash = hashRange(hash, bytes, staging.unitFrom[metric] as number, staging.unitTo[metric] as number);
    return hashRange(hash, bytes, staging.attributesFrom[point] as number, staging.attributesTo[point] as number);
  }
}

const shapeOf = (staging: Staging, metric: number): number =>
  ((staging.metricKind[metric] as number) << 3) |
  ((staging.temporality[metric] as number) << 1) |
  (staging.monotonic[metric] as number);
