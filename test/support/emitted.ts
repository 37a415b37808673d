import type { Attributes, PointKind, SeriesDescription } from '../../src/series/binding.ts';
import { messageType } from './otlp-messages.ts';

/** One point of a request as protobufjs reads it. */
export interface SentPoint {
  readonly metric: string;
  /** The same for every point of a series. */
  readonly key: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly description: SeriesDescription;
  /** ms since 1970; start is 0 where there is none. */
  readonly time: number;
  readonly start: number;
  /** Of a histogram its count. */
  readonly value: number;
  readonly sum: number;
}

interface KeyValue {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly boolValue?: boolean };
}

interface Point {
  readonly attributes?: readonly KeyValue[];
  readonly startTimeUnixNano?: string;
  readonly timeUnixNano: string;
  readonly asInt?: string;
  readonly asDouble?: number;
  readonly count?: string;
  readonly sum?: number;
}

interface Data {
  readonly dataPoints: readonly Point[];
  readonly isMonotonic?: boolean;
}

interface Metric {
  readonly name: string;
  readonly unit?: string;
  readonly gauge?: Data;
  readonly sum?: Data;
  readonly histogram?: Data;
}

interface Request {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeMetrics: readonly {
      readonly scope: { readonly name?: string };
      readonly metrics: readonly Metric[];
    }[];
  }[];
}

const REQUEST = 'ExportMetricsServiceRequest';

const attributesOf = (pairs: readonly KeyValue[] = []): Attributes =>
  new Map(
    pairs.map(({ key, value }) => [
      key,
      { type: value.boolValue === undefined ? 'string' : 'bool', text: value.stringValue ?? String(value.boolValue) },
    ]),
  );

const msOf = (nanoseconds: string | undefined): number => Number(BigInt(nanoseconds ?? '0') / 1_000_000n);

/** Every point of an export request, in the order of the wire. */
export function readPoints(body: Uint8Array): SentPoint[] {
  const type = messageType(REQUEST);
  const request = type.toObject(type.decode(body), { longs: String, defaults: false }) as Request;
  return request.resourceMetrics.flatMap(({ resource, scopeMetrics }) =>
    scopeMetrics.flatMap(({ scope, metrics }) =>
      metrics.flatMap((metric) => pointsOf(metric, attributesOf(resource.attributes), scope.name ?? '')),
    ),
  );
}

function pointsOf(metric: Metric, resource: Attributes, scope: string): SentPoint[] {
  const kinds: [PointKind, Data | undefined][] = [
    ['gauge', metric.gauge],
    ['sum', metric.sum],
    ['histogram', metric.histogram],
  ];
  return kinds.flatMap(([kind, data]) =>
    (data?.dataPoints ?? []).map((point) => pointOf(metric, kind, data, point, resource, scope)),
  );
}

function pointOf(
  metric: Metric,
  kind: PointKind,
  data: Data | undefined,
  point: Point,
  resource: Attributes,
  scope: string,
): SentPoint {
  const attributes = attributesOf(point.attributes);
  const texts = new Map([...attributes].map(([name, { text }]) => [name, text]));
  return {
    metric: metric.name,
    key: `${metric.name} ${JSON.stringify([...texts])}`,
    attributes: texts,
    description: {
      resource,
      scope: { name: scope, version: '', attributes: new Map() },
      name: metric.name,
      unit: metric.unit ?? '',
      kind,
      temporality: kind === 'gauge' ? 'unspecified' : 'cumulative',
      monotonic: data?.isMonotonic ?? false,
      attributes,
      balancer: resource.get('service.instance.id')?.text ?? '',
    },
    time: msOf(point.timeUnixNano),
    start: msOf(point.startTimeUnixNano),
    value: Number(point.asInt ?? point.asDouble ?? point.count ?? 0),
    sum: point.sum ?? 0,
  };
}
