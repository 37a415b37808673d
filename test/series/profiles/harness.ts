import assert from 'node:assert/strict';
import { type Aggregate, createAggregate } from '../../../src/aggregate/cells.ts';
import type { FeatureName, GaugeName } from '../../../src/aggregate/features.ts';
import { canonicalMetric } from '../../../src/model/conventions.ts';
import { decodeJsonMetrics } from '../../../src/otlp/decode-json.ts';
import { decodeMetrics } from '../../../src/otlp/decode-metrics.ts';
import { Staging } from '../../../src/otlp/staging.ts';
import { createBinder } from '../../../src/series/bind.ts';
import type { SeriesDescription } from '../../../src/series/binding.ts';
import { createSeriesIngest, type SeriesIngest } from '../../../src/series/ingest.ts';
import { translate } from '../../../src/series/profiles/registry.ts';
import type { Slo } from '../../../src/slo/slo.ts';
import { at } from '../../aggregate/fixture.ts';

/** `metric{attributes}` without what every series carries; the weight where it is not 1, and what it takes. */
export function read(description: SeriesDescription): string[] {
  for (const { metric } of translate(description).series)
    assert.ok(canonicalMetric(metric), `${metric} has no meaning`);
  const common = ['service.instance.id', 'lb.flavor', 'service.name', 'service.version', 'host.name'];
  return translate(description).series.map(({ metric, attributes, weight, takes }) => {
    const pairs = [...attributes].filter(([name]) => !common.includes(name)).map(([name, value]) => `${name}=${value}`);
    const taken = takes === 'value' ? '' : `${takes} of `;
    return `${weight === 1 ? '' : `${weight} x `}${taken}${metric}{${pairs.join(',')}}`;
  });
}

export const isLeftOut = (description: SeriesDescription): boolean => {
  const { understood, series } = translate(description);
  return understood && series.length === 0;
};

export const isIgnored = (description: SeriesDescription): boolean => !translate(description).understood;

/** What the first canonical series says of time and faithfulness. */
export const timeOf = (description: SeriesDescription): string => {
  const [series] = translate(description).series;
  return `${series?.metric} ${series?.takes} x ${series?.toSeconds} ${series?.fidelity}`;
};

type Value = string | number;
type Point = Readonly<Record<string, unknown>>;

/** A metric of a request, as a balancer sends it. `sum` is cumulative and monotonic. */
export interface Metric {
  readonly name: string;
  readonly kind?: 'sum' | 'gauge' | 'histogram' | 'exponentialHistogram';
  readonly unit?: string;
  readonly attributes?: Readonly<Record<string, Value>>;
  readonly value?: number;
  /** Instead of a value: fields of the data point. */
  readonly point?: Point;
  readonly delta?: boolean;
}

const keyValues = (values: Readonly<Record<string, Value>>) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
  }));

const nanosAt = (seconds: number): string => `${at(seconds)}000000`;

function toPayload({ name, kind = 'sum', unit = '', attributes = {}, value, point, delta }: Metric, seconds: number) {
  const dataPoints = [
    { attributes: keyValues(attributes), timeUnixNano: nanosAt(seconds), ...(point ?? { asDouble: value }) },
  ];
  const aggregationTemporality = delta === true ? 1 : 2;
  if (kind === 'gauge') return { name, unit, gauge: { dataPoints } };
  if (kind === 'histogram' || kind === 'exponentialHistogram') {
    return { name, unit, [kind]: { aggregationTemporality, dataPoints } };
  }
  return { name, unit, sum: { aggregationTemporality, isMonotonic: true, dataPoints } };
}

export interface Sender {
  readonly resource?: Readonly<Record<string, Value>>;
  readonly scope?: string;
  readonly peer?: string;
  readonly identityHeader?: string;
}

/** Everything from the bytes of a request to the cells, as the service wires it. */
export interface Fleet {
  readonly aggregate: Aggregate;
  readonly ingest: SeriesIngest;
  /** One request with one resource and scope, `seconds` after T0, received at once. */
  push(seconds: number, sender: Sender, metrics: readonly Metric[]): ReturnType<SeriesIngest['apply']>;
  pushRaw(seconds: number, payload: unknown, peer?: string): ReturnType<SeriesIngest['apply']>;
  /** `label=value,...: count` over everything so far. */
  features(name: FeatureName): string[];
  gauges(name: GaugeName, seconds: number): string[];
  /** `slo[labels] part/total`. */
  sums(): string[];
}

const textOf = (labels: ReadonlyMap<string, string>): string =>
  [...labels].map(([label, value]) => `${label}=${value}`).join(',');

export function createFleet(...slos: Slo[]): Fleet {
  const aggregate = createAggregate();
  aggregate.replaceSlos(slos);
  const ingest = createSeriesIngest({ binder: createBinder({ slos, aggregate }), balancers: aggregate });
  const pushRaw: Fleet['pushRaw'] = (seconds, payload, peer = '10.0.0.1') => {
    const staging = new Staging();
    decodeMetrics(decodeJsonMetrics(new TextEncoder().encode(JSON.stringify(payload))), staging);
    return ingest.apply(staging, { receivedAt: at(seconds), peer, identityHeader: null });
  };
  return {
    aggregate,
    ingest,
    pushRaw,
    push(seconds, { resource = {}, scope = '', peer = '10.0.0.1', identityHeader }, metrics) {
      const scopeMetrics = [{ scope: { name: scope }, metrics: metrics.map((metric) => toPayload(metric, seconds)) }];
      const payload = { resourceMetrics: [{ resource: { attributes: keyValues(resource) }, scopeMetrics }] };
      const staging = new Staging();
      decodeMetrics(decodeJsonMetrics(new TextEncoder().encode(JSON.stringify(payload))), staging);
      return ingest.apply(staging, { receivedAt: at(seconds), peer, identityHeader: identityHeader ?? null });
    },
    features: (name) =>
      [...aggregate.features(name)].map((one) => `${textOf(one.labels)}: ${one.range(at(-3600), at(3600))}`),
    gauges: (name, seconds) =>
      [...aggregate.gauges(name, at(seconds))].map(({ labels, value }) => `${textOf(labels)}: ${value}`),
    sums: () =>
      [...aggregate.groups()].map((group) => {
        const { bad, total } = group.range(at(-3600), at(3600));
        return `${group.slo.id}[${textOf(group.labels)}] ${bad}/${total}`;
      }),
  };
}
