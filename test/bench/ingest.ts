import { createAggregate } from '../../src/aggregate/cells.ts';
import { epochMs } from '../../src/base/units.ts';
import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import { Staging } from '../../src/otlp/staging.ts';
import { createBinder } from '../../src/series/bind.ts';
import { createSeriesIngest } from '../../src/series/ingest.ts';
import { sloOf, WORKBOOK } from '../support/fake-cells.ts';
import { messageType } from '../support/otlp-messages.ts';

const T0 = 1_800_000_000_000;
const PUSH_MS = 10_000;
const RUN_MS = 3000;

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const nanos = (ms: number): string => `${ms}000000`;

/** A request of cumulative sums or 15-bucket histograms with six attributes each, `push` pushes after T0. */
function requestOf(kind: 'sum' | 'histogram', points: number, push: number): Uint8Array {
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
  const number = (index: number) => ({ ...common(index), asInt: String(push * (index + 1)) });
  const buckets = (index: number) => ({
    ...common(index),
    count: String(push * 15),
    sum: push,
    bucketCounts: Array.from({ length: 15 }, () => String(push)),
    explicitBounds: Array.from({ length: 14 }, (_, bound) => 0.005 * 2 ** bound),
  });
  const pointsOf = <T>(make: (index: number) => T): T[] => Array.from({ length: points }, (_, index) => make(index));
  const metric =
    kind === 'sum'
      ? { name: 'lb.requests', sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: pointsOf(number) } }
      : {
          name: 'lb.stage.backend.duration',
          unit: 's',
          histogram: { aggregationTemporality: 2, dataPoints: pointsOf(buckets) },
        };
  const resource = { attributes: [attribute('service.instance.id', 'edge-1')] };
  return encodeMetrics({ resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [metric] }] }] });
}

/** Points per second of `work` over `requests`, one after the other, for at least RUN_MS. */
function rate(
  points: number,
  requests: readonly Uint8Array[],
  work: (bytes: Uint8Array, round: number) => void,
): number {
  let rounds = 0;
  for (let warm = 0; warm < requests.length; warm += 1) work(requests[warm] as Uint8Array, rounds++);
  const from = performance.now();
  const first = rounds;
  while (performance.now() - from < RUN_MS) work(requests[rounds % requests.length] as Uint8Array, rounds++);
  return Math.round(((rounds - first) * points * 1000) / (performance.now() - from));
}

function benchOne(kind: 'sum' | 'histogram', points: number): void {
  const requests = Array.from({ length: 20 }, (_, index) => requestOf(kind, points, index + 1));
  const staging = new Staging();
  const decode = rate(points, requests, (bytes) => decodeMetrics(bytes, staging));
  const type = messageType('ExportMetricsServiceRequest');
  const library = rate(points, requests, (bytes) => void type.decode(bytes));
  const aggregate = createAggregate();
  const slo = { ...sloOf(WORKBOOK), groupBy: ['lb.upstream.cluster', 'lb.upstream.zone'] };
  aggregate.replaceSlos([slo]);
  const series = createSeriesIngest({ binder: createBinder({ slos: [slo], aggregate }), balancers: aggregate });
  // Each round of the 20 requests begins a new process: the start moves with it, so that no point is late.
  const shiftBytes = requests.map((bytes) => bytes.slice());
  const whole = rate(points, shiftBytes, (bytes, round) => {
    decodeMetrics(bytes, staging);
    const laterMs = Math.floor(round / shiftBytes.length) * shiftBytes.length * PUSH_MS;
    for (let point = 0; point < staging.pointCount; point += 1) {
      staging.timeMs[point] = (staging.timeMs[point] as number) + laterMs;
      staging.startMs[point] = (staging.startMs[point] as number) + laterMs;
    }
    const receivedAt = epochMs(staging.timeMs[0] as number);
    series.apply(staging, { receivedAt, peer: '127.0.0.1', identityHeader: null });
  });
  const figures = {
    decode,
    decodeSeriesAdd: whole,
    protobufjs: library,
    timesProtobufjs: Number((whole / library).toFixed(1)),
  };
  process.stdout.write(
    `${JSON.stringify({ bench: 'ingest', kind, pointsPerRequest: points, pointsPerSecond: figures })}\n`,
  );
}

/** Decoding alone, decoding with series and cells, and protobufjs' decoding of the same bytes, on one core in one run. */
export function run(): Promise<void> {
  for (const kind of ['sum', 'histogram'] as const) for (const points of [1400, 8192]) benchOne(kind, points);
  return Promise.resolve();
}
