import {
  FLAG_NO_RECORDED_VALUE,
  KIND_EXPONENTIAL_HISTOGRAM,
  KIND_GAUGE,
  KIND_HISTOGRAM,
  KIND_SUM,
  KIND_SUMMARY,
  type Staging,
  VALUE_DOUBLE,
  VALUE_INT,
} from '../../src/otlp/staging.ts';
import { messageType } from './otlp-messages.ts';

/**
 * What the fast decoder keeps of a request, one entry per data point in the order of the wire, comparable with
 * deepEqual.
 */
export interface StagedPoint {
  readonly resource: unknown;
  readonly scope: unknown;
  readonly name: string;
  readonly unit: string;
  readonly kind: string;
  readonly temporality: number;
  readonly monotonic: boolean;
  readonly attributes: unknown;
  readonly time: string;
  readonly start: string;
  readonly noRecordedValue: boolean;
  readonly flags: number;
  readonly value: unknown;
}

const OPTIONS = { longs: String, bytes: String, enums: Number, oneofs: false } as const;
const KINDS: Readonly<Record<number, string>> = {
  [KIND_GAUGE]: 'gauge',
  [KIND_SUM]: 'sum',
  [KIND_HISTOGRAM]: 'histogram',
  [KIND_EXPONENTIAL_HISTOGRAM]: 'exponentialHistogram',
  [KIND_SUMMARY]: 'summary',
};
/** Field number of the attributes in each kind's point: the run is read back as a message of its own. */
const POINT_TYPE: Readonly<Record<string, string>> = {
  gauge: 'NumberDataPoint',
  sum: 'NumberDataPoint',
  histogram: 'HistogramDataPoint',
  exponentialHistogram: 'ExponentialHistogramDataPoint',
  summary: 'SummaryDataPoint',
};

const plain = (type: string, bytes: Uint8Array): Record<string, unknown> =>
  messageType(type).toObject(messageType(type).decode(bytes), OPTIONS);

/** From the columns. Ranges are decoded by protobufjs. */
export function stagedPoints(staging: Staging): StagedPoint[] {
  const { bytes } = staging;
  const text = (from: number, to: number): string => new TextDecoder().decode(bytes.subarray(from, to));
  return Array.from({ length: staging.pointCount }, (_, point) => {
    const at = <T extends { readonly [index: number]: number }>(column: T, index: number): number =>
      column[index] ?? Number.NaN;
    const metric = at(staging.pointMetric, point);
    const context = at(staging.metricContext, metric);
    const kind = KINDS[at(staging.metricKind, metric)] ?? '?';
    const run = bytes.subarray(at(staging.attributesFrom, point), at(staging.attributesTo, point));
    const nanos = (ms: number, subNs: number): string => String(BigInt(ms) * 1_000_000n + BigInt(subNs));
    return {
      resource:
        plain('Resource', bytes.subarray(at(staging.resourceFrom, context), at(staging.resourceTo, context)))[
          'attributes'
        ] ?? [],
      scope: plain(
        'InstrumentationScope',
        bytes.subarray(at(staging.scopeFrom, context), at(staging.scopeTo, context)),
      ),
      name: text(at(staging.nameFrom, metric), at(staging.nameTo, metric)),
      unit: text(at(staging.unitFrom, metric), at(staging.unitTo, metric)),
      kind,
      temporality: at(staging.temporality, metric),
      monotonic: at(staging.monotonic, metric) === 1,
      attributes: plain(POINT_TYPE[kind] ?? '', run)['attributes'] ?? [],
      time: nanos(at(staging.timeMs, point), at(staging.timeSubNs, point)),
      start: nanos(at(staging.startMs, point), at(staging.startSubNs, point)),
      noRecordedValue: (at(staging.flags, point) & FLAG_NO_RECORDED_VALUE) !== 0,
      flags: at(staging.flags, point),
      value: stagedValue(staging, point, kind),
    };
  });
}

function stagedValue(staging: Staging, point: number, kind: string): unknown {
  const at = (column: { readonly [index: number]: number }): number => column[point] ?? Number.NaN;
  const run = (from: number, length: number): unknown[] =>
    [...staging.numbers.subarray(from, from + length)].map(whole);
  switch (kind) {
    case 'gauge':
    case 'sum':
      if (at(staging.valueKind) === VALUE_DOUBLE) return { double: at(staging.value) };
      if (at(staging.valueKind) !== VALUE_INT) return {};
      return {
        int: String((BigInt(at(staging.intHigh)) << 32n) + BigInt(at(staging.intLow))),
        rounded: at(staging.value),
      };
    case 'histogram':
      return {
        count: whole(at(staging.count)),
        sum: at(staging.hasSum) === 1 ? at(staging.sum) : null,
        counts: run(at(staging.countsFrom), at(staging.countsLength)),
        bounds: run(at(staging.boundsFrom), at(staging.boundsLength)),
      };
    case 'exponentialHistogram':
      return {
        count: whole(at(staging.count)),
        sum: at(staging.hasSum) === 1 ? at(staging.sum) : null,
        scale: at(staging.scale),
        zeroCount: whole(at(staging.zeroCount)),
        zeroThreshold: at(staging.zeroThreshold),
        positive: { offset: at(staging.positiveOffset), counts: run(at(staging.countsFrom), at(staging.countsLength)) },
        negative: { offset: at(staging.negativeOffset), counts: run(at(staging.boundsFrom), at(staging.boundsLength)) },
      };
    default:
      return null;
  }
}

/** Unsigned counts are exact up to 2^53; which neighbour a larger one is rounded to is left open. */
const whole = (value: number): number | 'huge' => (value > Number.MAX_SAFE_INTEGER && value < 2 ** 65 ? 'huge' : value);

interface Tree {
  readonly [name: string]: unknown;
}
const tree = (value: unknown): Tree => (value ?? {}) as Tree;
const trees = (value: unknown): Tree[] => (value ?? []) as Tree[];
const numbers = (value: unknown): unknown[] => ((value ?? []) as (string | number)[]).map((one) => whole(Number(one)));

/** The same view of the same bytes, from protobufjs. */
export function oraclePoints(bytes: Uint8Array): StagedPoint[] {
  const points: StagedPoint[] = [];
  for (const resourceMetrics of trees(plain('ExportMetricsServiceRequest', bytes)['resourceMetrics'])) {
    for (const scopeMetrics of trees(resourceMetrics['scopeMetrics'])) {
      for (const metric of trees(scopeMetrics['metrics'])) {
        const kind = Object.values(KINDS).find((name) => metric[name] !== undefined);
        if (kind === undefined) continue;
        const data = tree(metric[kind]);
        for (const point of trees(data['dataPoints'])) {
          points.push({
            resource: tree(resourceMetrics['resource'])['attributes'] ?? [],
            scope: tree(scopeMetrics['scope']),
            name: String(metric['name'] ?? ''),
            unit: String(metric['unit'] ?? ''),
            kind,
            temporality: Number(data['aggregationTemporality'] ?? 0),
            monotonic: data['isMonotonic'] === true,
            attributes: point['attributes'] ?? [],
            time: String(point['timeUnixNano'] ?? '0'),
            start: String(point['startTimeUnixNano'] ?? '0'),
            noRecordedValue: (Number(point['flags'] ?? 0) & 1) === 1,
            flags: Number(point['flags'] ?? 0),
            value: oracleValue(point, kind),
          });
        }
      }
    }
  }
  return points;
}

function oracleValue(point: Tree, kind: string): unknown {
  const side = (value: unknown): unknown => {
    const { offset, bucketCounts } = tree(value);
    return { offset: Number(offset ?? 0), counts: numbers(bucketCounts) };
  };
  const count = whole(Number(point['count'] ?? 0));
  const sum = point['sum'] ?? null;
  switch (kind) {
    case 'gauge':
    case 'sum':
      if (point['asDouble'] !== undefined) return { double: point['asDouble'] };
      if (point['asInt'] === undefined) return {};
      return { int: point['asInt'], rounded: Number(point['asInt']) };
    case 'histogram':
      return { count, sum, counts: numbers(point['bucketCounts']), bounds: numbers(point['explicitBounds']) };
    case 'exponentialHistogram':
      return {
        count,
        sum,
        scale: Number(point['scale'] ?? 0),
        zeroCount: whole(Number(point['zeroCount'] ?? 0)),
        zeroThreshold: Number(point['zeroThreshold'] ?? 0),
        positive: side(point['positive']),
        negative: side(point['negative']),
      };
    default:
      return null;
  }
}
