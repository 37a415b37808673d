import { ATTRIBUTE } from '../../model/conventions.ts';
import type { Reads, SeriesDescription } from '../binding.ts';
import {
  type CanonicalSeries,
  canonicalAttributes,
  type Fidelity,
  isCounter,
  isHistogram,
  isLevel,
  type Pairs,
  type Takes,
} from './profile.ts';

/** One canonical series that a metric feeds. */
export interface Row {
  readonly metric: string;
  readonly takes: Takes;
  readonly weight: number;
  readonly toSeconds: number;
  readonly attributes: readonly Pair[];
  readonly fidelity: Fidelity;
}

type Pair = readonly [string, string];

/**
 * What the values of a metric are. `total` also takes a gauge that only grows, `growth` a gauge that holds what came
 * since its last point, `current` a level that was declared a counter.
 */
type Values = 'counter' | 'total' | 'growth' | 'level' | 'current' | 'histogram' | 'explicit_histogram' | 'any';

/** A metric in a balancer's table. Without rows it is known, and told by another metric already. */
export interface Entry {
  readonly values: Values;
  readonly rows: readonly Row[];
}

export type Table = ReadonlyMap<string, Entry>;

const entry =
  (values: Values) =>
  (...rows: Row[]): Entry => ({ values, rows });
export const counter = entry('counter');
export const total = entry('total');
export const growth = entry('growth');
export const level = entry('level');
export const current = entry('current');
export const histogram = entry('histogram');
export const explicitHistogram = entry('explicit_histogram');
/** Another metric of the same balancer tells it already. */
export const REPEATED: Entry = { values: 'any', rows: [] };

const row =
  (takes: Takes, toSeconds = 1) =>
  (metric: string, attributes: readonly Pair[] = [], over: Partial<Row> = {}): Row => ({
    metric,
    takes,
    weight: 1,
    toSeconds,
    attributes,
    fidelity: takes === 'average' ? 'average_only' : 'exact',
    ...over,
  });

/** The value of a counter or level. */
export const value = row('value');
/** The number of values in a histogram, and their sum. */
export const countOf = row('count');
export const sumOf = row('sum');
const inSeconds = row('buckets');
const inMilliseconds = row('buckets', 1e-3);
export const seconds = (metric: string, fidelity: Fidelity = 'exact'): Row => inSeconds(metric, [], { fidelity });
export const milliseconds = (metric: string, fidelity: Fidelity = 'exact'): Row =>
  inMilliseconds(metric, [], { fidelity });
const averageInSeconds = row('average');
const averageInMilliseconds = row('average', 1e-3);
export const averageSeconds = (metric: string): Row => averageInSeconds(metric);
export const averageMilliseconds = (metric: string): Row => averageInMilliseconds(metric);

export const hosts = (state: string): Row => value('lb.upstream.hosts', [[ATTRIBUTE.hostState, state]]);
export const retry = (outcome: string, fidelity: Fidelity = 'exact'): Row =>
  value('lb.retries', [[ATTRIBUTE.retryOutcome, outcome]], { fidelity });
export const handshake = (resumed: string, weight = 1): Row =>
  value('lb.tls.handshakes', [[ATTRIBUTE.tlsResumed, resumed]], { weight });
export const handshakeFailed = (errorType: string): Row =>
  value('lb.tls.handshakes', [[ATTRIBUTE.errorType, errorType]]);
export const rejection = (reason: string): Row => value('lb.rejections', [[ATTRIBUTE.rejectionReason, reason]]);
/** Connections that a client opened and that were turned away. */
export const turnedAway = (errorType: string, weight = 1): Row =>
  value('lb.connections.rejected', [[ATTRIBUTE.errorType, errorType]], { weight });

/** Ejections of hosts that were carried out; `reason` null where the balancer names none. */
export const ejection = (reason: string | null): Row =>
  value('lb.upstream.ejections', [
    [ATTRIBUTE.ejectionEnforced, 'true'],
    ...(reason === null ? [] : [[ATTRIBUTE.ejectionReason, reason] as const]),
  ]);

/**
 * The rows of an entry with what the point itself says. Null where the received type is not what the entry needs: such
 * a metric is not the one that the table means.
 */
export function toSeries(
  description: SeriesDescription,
  { values, rows }: Entry,
  own: Pairs,
): readonly CanonicalSeries[] | null {
  const reads = readsAs(description, values);
  if (reads === null) return null;
  const pairs = [...own];
  return rows.map(({ metric, takes, weight, toSeconds, attributes, fidelity }) => ({
    metric,
    attributes: canonicalAttributes(description, [...pairs, ...attributes]),
    takes,
    weight,
    toSeconds,
    fidelity,
    ...(reads !== 'declared' && { reads }),
  }));
}

/** How the values are to be read; null = the type cannot hold them. */
function readsAs(description: SeriesDescription, values: Values): Reads | 'declared' | null {
  const { kind, temporality } = description;
  const isNumber = kind === 'gauge' || kind === 'sum';
  switch (values) {
    case 'any':
      return 'declared';
    case 'counter':
      return isCounter(description) ? 'declared' : null;
    case 'level':
      return isLevel(description) ? 'declared' : null;
    case 'histogram':
      return isHistogram(description) ? 'declared' : null;
    case 'explicit_histogram':
      return kind === 'histogram' ? 'declared' : null;
    case 'total':
    case 'growth':
      if (isCounter(description)) return 'declared';
      return kind === 'gauge' ? values : null;
    case 'current':
      if (isLevel(description)) return 'declared';
      return isNumber && temporality === 'cumulative' ? 'level' : null;
  }
}
