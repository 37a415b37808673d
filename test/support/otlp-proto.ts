import type protobuf from 'protobufjs';
import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { Staging, VALUE_INT, VALUE_NONE } from '../../src/otlp/staging.ts';
import { decodeAttributes } from '../../src/series/attribute-reader.ts';
import { attributesKey } from '../../src/series/identity.ts';
import { messageType } from './otlp-messages.ts';

/** A data point as both decoders can tell it. 64-bit numbers that we keep as doubles are compared as doubles. */
export interface ExpectedPoint {
  readonly kind: number;
  readonly name: string;
  readonly unit: string;
  readonly temporality: number;
  readonly monotonic: boolean;
  readonly resource: readonly (readonly [string, string])[];
  readonly attributes: readonly (readonly [string, string])[];
  readonly time: bigint;
  readonly start: bigint;
  readonly flags: number;
  readonly value: number | null;
  readonly exactInt: bigint | null;
  readonly count: number;
  readonly sum: number | null;
  readonly counts: readonly number[];
  readonly bounds: readonly number[];
  readonly exponential: readonly number[];
}
export interface Expected {
  readonly points: readonly ExpectedPoint[];
}

type Tree = { readonly [key: string]: unknown };
const KINDS = ['', 'gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary'];
const ATTRIBUTE_TAGS = [0, 0x3a, 0x3a, 0x4a, 0x0a, 0x3a];
const REQUEST = messageType('ExportMetricsServiceRequest');

const trees = (value: unknown): readonly Tree[] => (value ?? []) as readonly Tree[];
const tree = (value: unknown): Tree => (value ?? {}) as Tree;
const big = (value: unknown): bigint => BigInt(String(value ?? 0));
const asNumber = (value: unknown): number => Number(value ?? 0);
const numbersOf = (values: unknown): number[] => ((values ?? []) as readonly unknown[]).map(asNumber);

/** Strings as they are; other values by their JSON, which is enough to see that they belong to their key. */
function pairs(attributes: unknown): (readonly [string, string])[] {
  const last = new Map(
    trees(attributes).map(({ key, value }) => [String(key ?? ''), String(tree(value)['stringValue'] ?? '')]),
  );
  return [...last].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** What protobufjs reads. */
export function expectedOf(bytes: Uint8Array, request: protobuf.Type = REQUEST): Expected {
  const options: protobuf.IConversionOptions = { longs: String, bytes: String, enums: Number };
  const points: ExpectedPoint[] = [];
  for (const resourceMetrics of trees(request.toObject(request.decode(bytes), options)['resourceMetrics'])) {
    for (const { metrics } of trees(resourceMetrics['scopeMetrics'])) {
      for (const metric of trees(metrics)) {
        const kind = KINDS.findIndex((name) => name !== '' && metric[name] !== undefined);
        const data = tree(metric[KINDS[kind] ?? '']);
        for (const point of trees(data['dataPoints'])) {
          points.push(expectedPoint(kind, metric, data, point, tree(resourceMetrics['resource'])));
        }
      }
    }
  }
  return { points };
}

function expectedPoint(kind: number, metric: Tree, data: Tree, point: Tree, resource: Tree): ExpectedPoint {
  const positive = tree(point['positive']);
  const negative = tree(point['negative']);
  const isNumber = kind <= 2;
  const isHistogram = kind === 3 || kind === 4;
  const asInt = point['asInt'];
  const value = isNumber ? (asInt ?? point['asDouble']) : undefined;
  return {
    kind,
    name: String(metric['name'] ?? ''),
    unit: String(metric['unit'] ?? ''),
    temporality: asNumber(data['aggregationTemporality']),
    monotonic: data['isMonotonic'] === true,
    resource: pairs(resource['attributes']),
    attributes: pairs(point['attributes']),
    time: big(point['timeUnixNano']),
    start: big(point['startTimeUnixNano']),
    flags: asNumber(point['flags']),
    value: value === undefined ? null : Number(value),
    exactInt: isNumber && asInt !== undefined ? big(asInt) : null,
    count: isHistogram ? asNumber(point['count']) : 0,
    sum: isHistogram && point['sum'] !== undefined ? asNumber(point['sum']) : null,
    counts: kind === 3 ? numbersOf(point['bucketCounts']) : kind === 4 ? numbersOf(positive['bucketCounts']) : [],
    bounds: kind === 3 ? numbersOf(point['explicitBounds']) : kind === 4 ? numbersOf(negative['bucketCounts']) : [],
    exponential:
      kind === 4
        ? [point['scale'], point['zeroCount'], point['zeroThreshold'], positive['offset'], negative['offset']].map(
            asNumber,
          )
        : [],
  };
}

/** What our decoder reads. */
export function decoded(bytes: Uint8Array, staging = new Staging()): Expected {
  decodeMetrics(bytes, staging);
  return { points: Array.from({ length: staging.pointCount }, (_, point) => decodedPoint(staging, point)) };
}

const textOf = ({ bytes }: Staging, from = 0, to = 0): string => new TextDecoder().decode(bytes.subarray(from, to));

function decodedPairs({ bytes }: Staging, from = 0, to = 0, tag = 0): (readonly [string, string])[] {
  const attributes = decodeAttributes(bytes, from, to, tag);
  const sorted = JSON.parse(attributesKey(attributes)) as readonly (readonly [string, string, string])[];
  return sorted.map(([key, type, value]) => [key, type === 'string' ? value : '']);
}

const columnAt = (column: ArrayLike<number>, index: number): number => column[index] ?? 0;
const nanos = (ms: number, below: number): bigint => BigInt(ms) * 1_000_000n + BigInt(below);

function decodedPoint(staging: Staging, point: number): ExpectedPoint {
  const at = (column: ArrayLike<number>): number => columnAt(column, point);
  const metric = at(staging.pointMetric);
  const context = columnAt(staging.metricContext, metric);
  const kind = columnAt(staging.metricKind, metric);
  const valueKind = at(staging.valueKind);
  const range = (from: number, length: number): number[] => [...staging.numbers.slice(from, from + length)];
  const isHistogram = kind === 3 || kind === 4;
  return {
    kind,
    name: textOf(staging, staging.nameFrom[metric], staging.nameTo[metric]),
    unit: textOf(staging, staging.unitFrom[metric], staging.unitTo[metric]),
    temporality: columnAt(staging.temporality, metric),
    monotonic: staging.monotonic[metric] === 1,
    resource: decodedPairs(staging, staging.resourceFrom[context], staging.resourceTo[context], 0x0a),
    attributes: decodedPairs(
      staging,
      staging.attributesFrom[point],
      staging.attributesTo[point],
      columnAt(ATTRIBUTE_TAGS, kind),
    ),
    time: nanos(at(staging.timeMs), at(staging.timeSubNs)),
    start: nanos(at(staging.startMs), at(staging.startSubNs)),
    flags: at(staging.flags),
    value: valueKind === VALUE_NONE ? null : at(staging.value),
    exactInt: valueKind === VALUE_INT ? BigInt(at(staging.intHigh)) * 2n ** 32n + BigInt(at(staging.intLow)) : null,
    count: at(staging.count),
    sum: staging.hasSum[point] === 1 ? at(staging.sum) : null,
    counts: isHistogram ? range(at(staging.countsFrom), at(staging.countsLength)) : [],
    bounds: isHistogram ? range(at(staging.boundsFrom), at(staging.boundsLength)) : [],
    exponential:
      kind === 4
        ? [
            at(staging.scale),
            at(staging.zeroCount),
            at(staging.zeroThreshold),
            at(staging.positiveOffset),
            at(staging.negativeOffset),
          ]
        : [],
  };
}
