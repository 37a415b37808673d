import { type EpochMs, epochMs } from '../../src/base/units.ts';
import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import type { KeyValue, MetricPayload, MetricsPayload } from '../../src/otlp/metrics-payload.ts';
import { Staging } from '../../src/otlp/staging.ts';
import type { Attributes, SeriesBinding, SeriesDescription } from '../../src/series/binding.ts';
import {
  type ApplyOutcome,
  createSeriesIngest,
  type IngestOptions,
  type SeriesIngest,
} from '../../src/series/ingest.ts';

/** What a cell was given. Times in milliseconds. */
export interface Added {
  readonly series: string;
  readonly from: number;
  readonly to: number;
  readonly amount: number;
}
export interface Observed {
  readonly from: number;
  readonly to: number;
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number | null;
}
export interface Heard {
  readonly balancer: string;
  readonly resource: Attributes;
  readonly newestPointAt: number;
  readonly receivedAt: number;
}

/** `name{key=type:value} balancer` */
export const seriesText = ({ name, attributes, balancer }: SeriesDescription): string => {
  const pairs = [...attributes].map(([key, { type, text }]) => `${key}=${type}:${text}`).sort();
  return `${name}{${pairs.join(',')}} ${balancer}`;
};

export interface Recording {
  readonly ingest: SeriesIngest;
  readonly counted: Added[];
  readonly below: Added[];
  readonly observed: Observed[];
  readonly gauges: Added[];
  readonly heard: Heard[];
  readonly bound: SeriesDescription[];
  send(payload: MetricsPayload, at: number, sender?: { peer?: string; identityHeader?: string | null }): ApplyOutcome;
  sendBytes(bytes: Uint8Array, at: number, sender?: { peer?: string; identityHeader?: string | null }): ApplyOutcome;
}

/**
 * An ingest whose every series feeds one counter, one latency cell with the threshold, one histogram and one gauge.
 */
export function createRecording(
  options: { threshold?: number; toSeconds?: number } & Pick<IngestOptions, 'hash' | 'maxSeries'> = {},
): Recording {
  const { threshold = 1, toSeconds = 1, ...rest } = options;
  const record = { counted: [], below: [], observed: [], gauges: [], heard: [], bound: [] } as {
    counted: Added[];
    below: Added[];
    observed: Observed[];
    gauges: Added[];
    heard: Heard[];
    bound: SeriesDescription[];
  };
  const bind = (description: SeriesDescription): SeriesBinding => {
    record.bound.push(description);
    const series = seriesText(description);
    const cell = (into: Added[]) => ({
      add: (from: number, to: number, amount: number): void => void into.push({ series, from, to, amount }),
    });
    const histogram = {
      add(from: number, to: number, bounds: Float64Array, counts: Float64Array, sum: number | null): void {
        record.observed.push({ from, to, bounds: [...bounds], counts: [...counts], sum });
      },
    };
    const gauge = {
      set: (at: number, _balancer: string, amount: number): void =>
        void record.gauges.push({ series, from: at, to: at, amount }),
    };
    const isGauge = description.kind === 'gauge' || !description.monotonic;
    return {
      understood: true,
      counters: [{ cell: cell(record.counted), weight: 1 }],
      atOrBelow: [{ cell: cell(record.below), weight: 1, threshold }],
      histograms: [{ cell: histogram, toSeconds }],
      gauges: isGauge ? [{ cell: gauge, weight: 1 }] : [],
    };
  };
  const balancers = {
    heard(balancer: string, resource: Attributes, newestPointAt: EpochMs, receivedAt: EpochMs): void {
      record.heard.push({ balancer, resource, newestPointAt, receivedAt });
    },
  };
  const ingest = createSeriesIngest({ binder: { bind }, balancers, ...rest });
  const staging = new Staging();
  const sendBytes: Recording['sendBytes'] = (bytes, at, { peer = '10.0.0.1', identityHeader = null } = {}) => {
    decodeMetrics(bytes, staging);
    return ingest.apply(staging, { receivedAt: epochMs(at), peer, identityHeader });
  };
  return { ingest, ...record, sendBytes, send: (payload, at, sender) => sendBytes(encodeMetrics(payload), at, sender) };
}

export const text = (values: Readonly<Record<string, string>>): KeyValue[] =>
  Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }));

/** Whole milliseconds as nanoseconds. */
export const nanos = (at: number): bigint => BigInt(at) * 1_000_000n;

export const requestOf = (
  metrics: readonly MetricPayload[],
  resource: Readonly<Record<string, string>> = { 'service.instance.id': 'lb-1' },
  scope = 'edge',
): MetricsPayload => ({
  resourceMetrics: [{ resource: { attributes: text(resource) }, scopeMetrics: [{ scope: { name: scope }, metrics }] }],
});

/** A monotonic cumulative sum of one point; `start` null = unknown. */
export const cumulative = (
  name: string,
  at: number,
  value: number | bigint,
  start: number | null,
  attributes: Readonly<Record<string, string>> = {},
): MetricPayload => ({
  name,
  sum: {
    aggregationTemporality: 2,
    isMonotonic: true,
    dataPoints: [
      {
        timeUnixNano: nanos(at),
        ...(start === null ? {} : { startTimeUnixNano: nanos(start) }),
        asInt: value,
        attributes: text(attributes),
      },
    ],
  },
});

export const amounts = (added: readonly Added[]): number[] => added.map(({ amount }) => amount);
