import { KIND_EXPONENTIAL_HISTOGRAM, KIND_GAUGE, KIND_HISTOGRAM, KIND_SUM, type Staging } from '../otlp/staging.ts';
import { decodeAttributes } from './attribute-reader.ts';
import type { Binder, PointKind, SeriesBinding, SeriesDescription, Temporality } from './binding.ts';
import { BindingPool } from './binding-pool.ts';
import { BoundsTable } from './bounds-table.ts';
import { type HashRange, hashText } from './bytes.ts';
import { withRoom } from './columns.ts';
import { type Context, ContextTable } from './context-table.ts';
import { HashIndex } from './hash-index.ts';
import { attributesKey } from './identity.ts';
import { LayoutTable } from './layout-table.ts';
import { MetricTable } from './metric-table.ts';
import { SeriesState } from './series-state.ts';

export interface IdentitiesState {
  /** The layout in which each series first came. */
  readonly firstLayout: Int32Array;
  /** Hash of each series' metric and canonical attributes. */
  readonly hash: Int32Array;
}

/** Set by SDKs on the one series that takes what goes over their limit of series; its other attributes are lost. */
const OVERFLOW_ATTRIBUTE = 'otel.metric.overflow';

/** Layouts remembered per series, on average: shuffled attributes must not fill the memory. */
const LAYOUTS_PER_SERIES = 4;

/**
 * From the bytes of a point to its series. Known bytes cost comparisons; new ones are decoded, found to be another
 * layout of a known series or a new one, and bound. What identifies a series is kept as the bytes in which it first
 * came, and decoded again when all series are bound again.
 */
export class SeriesTable {
  readonly contexts: ContextTable;
  readonly metrics: MetricTable;
  readonly layouts: LayoutTable;
  readonly bounds = new BoundsTable();
  readonly state = new SeriesState();
  readonly bindings: SeriesBinding[] = [];
  /** Series found since the start in which a sender lumps together what went over its limit. */
  overflowSeries = 0;
  readonly #maxSeries: number;
  #binder: Binder;
  #pool = new BindingPool();
  /** First layout of each series. */
  #layout = new Int32Array(64);
  /** Series by metric and canonical attributes. */
  readonly #canonical = new HashIndex();

  constructor(options: { readonly binder: Binder; readonly hash: HashRange; readonly maxSeries: number }) {
    this.#binder = options.binder;
    this.#maxSeries = options.maxSeries;
    this.contexts = new ContextTable(options.hash);
    this.metrics = new MetricTable(options.hash);
    this.layouts = new LayoutTable(options.hash);
  }

  get size(): number {
    return this.state.size;
  }

  get isFull(): boolean {
    return this.state.size >= this.#maxSeries;
  }

  contextOf(row: number): Context {
    const metric = this.layouts.metricOf(this.#layout[row] as number);
    return this.contexts.get(this.metrics.context[metric] as number);
  }

  /**
   * The series of a point of `metric`; made and bound if it is new, -1 if there is no room. Throws
   * UnreadableAttributes.
   */
  find(staging: Staging, point: number, metric: number): number {
    const layout = this.layouts.find(staging, point, metric);
    return layout >= 0 ? (this.layouts.series[layout] as number) : this.#resolve(staging, point, metric);
  }

  /** What the series is, decoded from the bytes in which it first came. */
  describe(row: number): SeriesDescription {
    const layout = this.#layout[row] as number;
    const from = this.layouts.fromOf(layout);
    return this.#description(this.layouts.metricOf(layout), this.layouts.bytes, from, this.layouts.toOf(layout));
  }

  rebind(binder: Binder): void {
    this.#binder = binder;
    this.#pool = new BindingPool();
    for (let row = 0; row < this.size; row += 1)
      this.bindings[row] = this.#pool.shared(binder.bind(this.describe(row)));
  }

  snapshot(): IdentitiesState {
    return { firstLayout: this.#layout.slice(0, this.size), hash: this.#canonical.hashes() };
  }

  /** Once the other tables are restored: finds the series by their identity again, and binds them. */
  restore({ firstLayout, hash }: IdentitiesState): void {
    this.#layout = firstLayout.slice();
    for (let row = 0; row < firstLayout.length; row += 1) {
      this.#canonical.add(row, hash[row] as number);
      this.bindings.push(this.#pool.shared(this.#binder.bind(this.describe(row))));
    }
  }

  #resolve(staging: Staging, point: number, metric: number): number {
    const from = staging.attributesFrom[point] as number;
    const description = this.#description(metric, staging.bytes, from, staging.attributesTo[point] as number);
    const key = attributesKey(description.attributes);
    const hash = canonicalHash(metric, key);
    let slot = this.#canonical.first(hash);
    while (slot >= 0 && !this.#isSame(this.#canonical.rowAt(slot), metric, key)) {
      slot = this.#canonical.next(slot, hash);
    }
    if (slot >= 0) {
      const row = this.#canonical.rowAt(slot);
      if (this.layouts.size < LAYOUTS_PER_SERIES * (this.size + 16)) this.layouts.add(staging, point, metric, row);
      return row;
    }
    if (this.isFull) return -1;
    const binding = this.#pool.shared(this.#binder.bind(description));
    const row = this.state.add();
    this.#layout = withRoom(this.#layout, row + 1);
    this.#layout[row] = this.layouts.add(staging, point, metric, row);
    this.#canonical.add(row, hash);
    this.bindings.push(binding);
    if (description.attributes.get(OVERFLOW_ATTRIBUTE)?.text === 'true') this.overflowSeries += 1;
    return row;
  }

  #isSame(row: number, metric: number, key: string): boolean {
    return (
      this.layouts.metricOf(this.#layout[row] as number) === metric &&
      attributesKey(this.describe(row).attributes) === key
    );
  }

  #description(metric: number, bytes: Uint8Array, from: number, to: number): SeriesDescription {
    const context = this.contexts.get(this.metrics.context[metric] as number);
    const shape = this.metrics.shape[metric] as number;
    const kind = shape >> 3;
    return {
      resource: context.resource,
      scope: context.scope,
      balancer: context.balancer,
      name: this.metrics.nameOf(metric),
      unit: this.metrics.unitOf(metric),
      kind: KINDS[kind] ?? 'summary',
      temporality: TEMPORALITIES[(shape >> 1) & 3] ?? 'unspecified',
      monotonic: (shape & 1) === 1,
      attributes: decodeAttributes(bytes, from, to, ATTRIBUTE_TAGS[kind] ?? NUMBER_ATTRIBUTES),
    };
  }
}

const canonicalHash = (metric: number, key: string): number => Math.imul(metric + 1, 0x9e3779b1) ^ hashText(key);

const NUMBER_ATTRIBUTES = 0x3a;
const KINDS: Readonly<Record<number, PointKind>> = {
  [KIND_GAUGE]: 'gauge',
  [KIND_SUM]: 'sum',
  [KIND_HISTOGRAM]: 'histogram',
  [KIND_EXPONENTIAL_HISTOGRAM]: 'exponential_histogram',
};
const TEMPORALITIES: readonly Temporality[] = ['unspecified', 'delta', 'cumulative'];
const ATTRIBUTE_TAGS: Readonly<Record<number, number>> = {
  [KIND_HISTOGRAM]: 0x4a,
  [KIND_EXPONENTIAL_HISTOGRAM]: 0x0a,
};
