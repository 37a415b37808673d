import { createAggregate } from '../../src/aggregate/cells.ts';
import { epochMs } from '../../src/base/units.ts';
import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import { Staging } from '../../src/otlp/staging.ts';
import { createBinder } from '../../src/series/bind.ts';
import { createSeriesIngest, type SeriesIngest } from '../../src/series/ingest.ts';
import type { Slo } from '../../src/slo/slo.ts';
import { COUNTDOWN, sloOf } from '../support/fake-cells.ts';

/** Off every step's edge: each push covers parts of two steps. */
export const T0 = 1_800_000_003_217;
export const PUSH_MS = 10_000;

export type Kind = 'sum' | 'histogram';
export const KINDS: readonly Kind[] = ['sum', 'histogram'];

/** Upstream requests per cluster and zone: every sum of the bench feeds it, every histogram the one below. */
const REQUESTS: Slo = {
  ...sloOf(COUNTDOWN),
  id: 'bench',
  indicator: {
    kind: 'events',
    counts: 'bad',
    part: { metric: 'lb.requests', where: [{ kind: 'equals', attribute: 'lb.response.class', value: '5xx' }] },
    total: { metric: 'lb.requests', where: [] },
  },
  groupBy: ['lb.upstream.cluster', 'lb.upstream.zone'],
};
const LATENCY: Slo = {
  ...REQUESTS,
  id: 'latency',
  indicator: { kind: 'latency', query: { metric: 'lb.stage.backend.duration', where: [] }, threshold: 0.32 },
};
export const SLOS: readonly Slo[] = [REQUESTS, LATENCY];

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const nanos = (at: number): string => `${at}000000`;
export const make = <T>(length: number, one: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => one(index));

export interface RequestOptions {
  readonly kind: Kind;
  readonly points: number;
  /** Number of the push, from 1. */
  readonly push: number;
  readonly balancer?: string;
  readonly t0?: number;
}

/** A push of one balancer: cumulative sums or 15-bucket histograms with six attributes each. */
export function requestOf({ kind, points, push, balancer = 'edge-1', t0 = T0 }: RequestOptions): Uint8Array {
  const common = (index: number) => ({
    startTimeUnixNano: nanos(t0),
    timeUnixNano: nanos(t0 + push * PUSH_MS),
    attributes: [
      attribute('lb.side', 'upstream'),
      attribute('lb.upstream.cluster', `cluster-${index % 50}`),
      attribute('lb.upstream.zone', `zone-${index % 3}`),
      attribute('lb.response.class', index % 10 === 0 ? '5xx' : '2xx'),
      attribute('lb.route', `route-${index}`),
      attribute('http.request.method', 'GET'),
    ],
  });
  const sum = {
    aggregationTemporality: 2,
    isMonotonic: true,
    dataPoints: make(points, (index) => ({ ...common(index), asInt: String(push * (index + 1)) })),
  };
  const histogram = {
    aggregationTemporality: 2,
    dataPoints: make(points, (index) => ({
      ...common(index),
      count: String(push * 15),
      sum: push * 1.25,
      bucketCounts: make(15, () => String(push)),
      explicitBounds: make(14, (bound) => 0.005 * 2 ** bound),
    })),
  };
  const metric =
    kind === 'sum' ? { name: 'lb.requests', sum } : { name: 'lb.stage.backend.duration', unit: 's', histogram };
  const resource = { attributes: [attribute('service.instance.id', balancer)] };
  const scope = { name: 'edge' };
  return encodeMetrics({ resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics: [metric] }] }] });
}

/** The product's series and cells. */
export function createIngest(): {
  readonly series: SeriesIngest;
  readonly aggregate: ReturnType<typeof createAggregate>;
} {
  const aggregate = createAggregate();
  aggregate.replaceSlos(SLOS);
  return {
    aggregate,
    series: createSeriesIngest({ binder: createBinder({ slos: SLOS, aggregate }), balancers: aggregate }),
  };
}

/**
 * Series that feed nothing: what they cost without cells. A cell of the bench's own would make calls to the product's
 * cells slower than they are where there is no such cell.
 */
export function createBareIngest(): SeriesIngest {
  const binding = { understood: false, counters: [], atOrBelow: [], histograms: [], gauges: [] };
  return createSeriesIngest({ binder: { bind: () => binding }, balancers: { heard: () => undefined } });
}

/**
 * Takes requests again and again: each round of them is a later run of the balancer, so that no point is late. Moving
 * the times is part of what is measured.
 */
export function takeAgain(ingest: SeriesIngest, requests: readonly Uint8Array[], pushesPerRound: number): () => void {
  const staging = new Staging();
  let taken = 0;
  return () => {
    const round = Math.floor(taken / requests.length);
    decodeMetrics(requests[taken % requests.length] as Uint8Array, staging);
    taken += 1;
    const laterMs = round * pushesPerRound * PUSH_MS;
    for (let point = 0; point < staging.pointCount; point += 1) {
      staging.timeMs[point] = (staging.timeMs[point] as number) + laterMs;
      staging.startMs[point] = (staging.startMs[point] as number) + laterMs;
    }
    const receivedAt = epochMs(staging.timeMs[0] as number);
    const { rejected } = ingest.apply(staging, { receivedAt, peer: '127.0.0.1', identityHeader: null });
    if (rejected > 0) throw new Error('the bench sends only good points');
  };
}
