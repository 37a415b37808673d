import { createAggregate } from '../../src/aggregate/cells.ts';
import { parseDecimal } from '../../src/base/decimal.ts';
import { DAY, epochMs, ms } from '../../src/base/units.ts';
import { NO_LABELS } from '../../src/model/labels.ts';
import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import { Staging } from '../../src/otlp/staging.ts';
import { createBinder } from '../../src/series/bind.ts';
import { createSeriesIngest, type SeriesIngest } from '../../src/series/ingest.ts';
import type { Slo } from '../../src/slo/slo.ts';
import { messageType } from '../support/otlp-messages.ts';

const T0 = 1_800_000_000_000;
const PUSH_MS = 10_000;
const RUN_MS = 2000;
const REQUESTS = 20;

type Kind = 'sum' | 'histogram';

/** Upstream requests per cluster and zone: every series of the bench feeds it. */
const SLO: Slo = {
  id: 'bench',
  name: 'bench',
  service: 'bench',
  displayName: 'bench',
  objective: { text: '0.999', target: parseDecimal('0.999') ?? { units: 0n, scale: 0 } },
  window: { text: '30d', length: ms(30 * DAY), rolling: true },
  indicator: {
    kind: 'events',
    counts: 'bad',
    part: { metric: 'lb.requests', where: [{ kind: 'equals', attribute: 'lb.response.class', value: '5xx' }] },
    total: { metric: 'lb.requests', where: [] },
  },
  labels: NO_LABELS,
  annotations: NO_LABELS,
  groupBy: ['lb.upstream.cluster', 'lb.upstream.zone'],
  rollup: false,
  policy: { name: 'workbook', confidence: null, tiers: [] },
  runbook: 'ErrorBudgetBurn',
  generation: '1',
} as unknown as Slo;

const LATENCY: Slo = {
  ...SLO,
  id: 'latency',
  indicator: { kind: 'latency', query: { metric: 'lb.stage.backend.duration', where: [] }, threshold: 0.32 },
};

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const nanos = (at: number): string => `${at}000000`;
const make = <T>(length: number, one: (index: number) => T): T[] => Array.from({ length }, (_, index) => one(index));

/** Request number `push` of one balancer: cumulative sums or 15-bucket histograms with six attributes each. */
function requestOf(kind: Kind, points: number, push: number): Uint8Array {
  const common = (index: number) => ({
    startTimeUnixNano: nanos(T0),
    timeUnixNano: nanos(T0 + push * PUSH_MS),
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
      sum: push,
      bucketCounts: make(15, () => String(push)),
      explicitBounds: make(14, (bound) => 0.005 * 2 ** bound),
    })),
  };
  const metric =
    kind === 'sum' ? { name: 'lb.requests', sum } : { name: 'lb.stage.backend.duration', unit: 's', histogram };
  const resource = { attributes: [attribute('service.instance.id', 'edge-1')] };
  const scope = { name: 'edge' };
  return encodeMetrics({ resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics: [metric] }] }] });
}

/** Points per second of `work` over `requests`, one after the other, for at least RUN_MS. */
function rate(points: number, requests: readonly Uint8Array[], work: (bytes: Uint8Array, round: number) => void) {
  let round = 0;
  const next = (): void => work(requests[round % requests.length] as Uint8Array, round++);
  while (round < 2 * requests.length) next();
  const first = round;
  const from = performance.now();
  while (performance.now() - from < RUN_MS) next();
  return Math.round(((round - first) * points * 1000) / (performance.now() - from));
}

function createIngest(): SeriesIngest {
  const aggregate = createAggregate();
  const slos = [SLO, LATENCY];
  aggregate.replaceSlos(slos);
  return createSeriesIngest({ binder: createBinder({ slos, aggregate }), balancers: aggregate });
}

/** Counts what arrives and keeps nothing: what series cost without cells. */
function createBareIngest(): SeriesIngest {
  const cell = {
    total: 0,
    add(_from: number, _to: number, amount: number): void {
      this.total += amount;
    },
  };
  const binding = {
    understood: true,
    counters: [{ cell, weight: 1 }],
    atOrBelow: [{ cell, weight: 1, threshold: 0.32 }],
    histograms: [],
    gauges: [],
  };
  return createSeriesIngest({ binder: { bind: () => binding }, balancers: { heard: () => undefined } });
}

/** Decodes and applies; each round of the requests is a later run of the balancer, so that no point is late. */
function decodeAndApply(ingest: SeriesIngest, staging: Staging): (bytes: Uint8Array, round: number) => void {
  return (bytes, round) => {
    decodeMetrics(bytes, staging);
    const laterMs = Math.floor(round / REQUESTS) * REQUESTS * PUSH_MS;
    for (let point = 0; point < staging.pointCount; point += 1) {
      staging.timeMs[point] = (staging.timeMs[point] as number) + laterMs;
      staging.startMs[point] = (staging.startMs[point] as number) + laterMs;
    }
    const receivedAt = epochMs(staging.timeMs[0] as number);
    const { rejected } = ingest.apply(staging, { receivedAt, peer: '127.0.0.1', identityHeader: null });
    if (rejected > 0) throw new Error('the bench sends only good points');
  };
}

function benchOne(kind: Kind, points: number): void {
  const requests = make(REQUESTS, (index) => requestOf(kind, points, index + 1));
  const staging = new Staging();
  const type = messageType('ExportMetricsServiceRequest');
  const protobufjs = rate(points, requests, (bytes) => void type.decode(bytes));
  const decode = rate(points, requests, (bytes) => decodeMetrics(bytes, staging));
  const decodeSeries = rate(points, requests, decodeAndApply(createBareIngest(), staging));
  const decodeSeriesCells = rate(points, requests, decodeAndApply(createIngest(), staging));
  const pointsPerSecond = { decode, decodeSeries, decodeSeriesCells, protobufjs };
  const timesProtobufjs = Number((decodeSeriesCells / protobufjs).toFixed(1));
  const bytesPerPoint = Math.round((requests[0]?.length ?? 0) / points);
  const figures = { bench: 'ingest', kind, pointsPerRequest: points, bytesPerPoint, pointsPerSecond, timesProtobufjs };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}

/** How long a snapshot of many series takes to write and to take up. */
function benchRestart(kind: Kind, series: number): void {
  const ingest = createBareIngest();
  const staging = new Staging();
  const perRequest = 10_000;
  for (let from = 0; from < series; from += perRequest) {
    const bytes = requestOf(kind, perRequest, 1);
    decodeMetrics(bytes, staging);
    const source = { receivedAt: epochMs(T0 + PUSH_MS), peer: `10.0.0.${from / perRequest}`, identityHeader: null };
    const { resourceTo } = staging;
    // The last character of the balancer's name makes it another one.
    staging.bytes[(resourceTo[0] as number) - 1] = 0x21 + from / perRequest;
    ingest.apply(staging, source);
  }
  const savedFrom = performance.now();
  const snapshot = structuredClone(ingest.snapshot());
  const restoredFrom = performance.now();
  createBareIngest().restore(snapshot);
  const snapshotMs = Math.round(restoredFrom - savedFrom);
  const restoreMs = Math.round(performance.now() - restoredFrom);
  const figures = { bench: 'series', kind, series: ingest.seriesCount(), snapshotMs, restoreMs };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}

/**
 * Decoding alone, with series, with series and cells, and protobufjs' decoding of the same bytes, on one core in one
 * run; then a restart.
 */
export function runIngestBench(): Promise<void> {
  for (const kind of ['sum', 'histogram'] as const) for (const points of [1400, 8192]) benchOne(kind, points);
  for (const kind of ['sum', 'histogram'] as const) benchRestart(kind, 500_000);
  return Promise.resolve();
}

export const run = runIngestBench;
