import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { epochMs } from '../../../src/base/units.ts';
import { decodeJsonMetrics } from '../../../src/otlp/decode-json.ts';
import { encodeMetrics } from '../../../src/otlp/encode-metrics.ts';
import { countAtOrBelow, type ExponentialPoint, emptyRun } from '../../../src/series/exponential.ts';
import { createCaller } from '../../support/grpc-client.ts';
import { send, toBytes } from '../../support/otlp-client.ts';
import { toTree } from '../../support/otlp-messages.ts';
import { type OtlpStack, startStack } from '../../support/otlp-stack.ts';
import { amounts, createRecording, cumulative, requestOf } from '../../support/recording-ingest.ts';
import { bytesField } from '../../support/wire-bytes.ts';

/** Times of the vectors are seconds after this. */
const T0 = 1_800_000_000_000;
const SECOND = 1000;

interface Vector {
  readonly id: string;
  readonly source: string;
  readonly says: string;
  readonly requests: readonly {
    readonly at: number;
    readonly rejected: number;
    readonly reason?: string;
    readonly scope?: string;
    readonly metrics: readonly unknown[];
  }[];
  readonly expect: {
    readonly series?: number;
    readonly increments: readonly number[];
    readonly intervals?: readonly (readonly [number, number])[];
    readonly gauges?: readonly number[];
    readonly observed?: readonly { readonly counts: readonly number[]; readonly sum: number | null }[];
    readonly names?: readonly string[];
    readonly units?: readonly string[];
    readonly counters?: Readonly<Record<string, number>>;
    /** Totals at or below each threshold after the last request. */
    readonly atOrBelow?: readonly (readonly [number, number])[];
    readonly neverNegative?: true;
  };
}

interface Downscale {
  readonly id: string;
  readonly source: string;
  readonly scale: number;
  readonly offset: number;
  readonly counts: readonly number[];
  readonly by: number;
  readonly expect: { readonly offset: number; readonly counts: readonly number[] };
}

interface Transport {
  readonly id: string;
  readonly source: string;
  readonly says?: string;
  readonly contentType: string;
  /** Members of one gauge point, or a whole body as hexadecimal digits. */
  readonly point?: string;
  readonly hex?: string;
  readonly status: number;
  readonly rejected?: string;
  readonly increments?: readonly number[];
  readonly atOrBelow1?: readonly number[];
}

const load = <T>(name: string): T => JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8')) as T;
const SERIES = load<readonly Vector[]>('series-vectors.json');
const { downscale: DOWNSCALE, streams: STREAMS } = load<{
  downscale: readonly Downscale[];
  streams: readonly Vector[];
}>('exponential-vectors.json');
const TRANSPORT = load<readonly Transport[]>('transport-vectors.json');

/** OTLP/JSON of a vector's request: `time` and `start` become nanoseconds. */
function toJson({ scope = 'edge', metrics }: Vector['requests'][number]): string {
  const resource = { attributes: [{ key: 'service.instance.id', value: { stringValue: 'lb-1' } }] };
  const text = JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics: [{ scope: { name: scope }, metrics }] }] });
  const nanos = (seconds: string): string => `${T0 + Number(seconds) * SECOND}000000`;
  return text
    .replace(/"time":(\d+)/g, (_, seconds: string) => `"timeUnixNano":"${nanos(seconds)}"`)
    .replace(/"start":(\d+)/g, (_, seconds: string) => `"startTimeUnixNano":"${nanos(seconds)}"`);
}

/** Sends by one of the three ways in; gives rejected points and message. */
type Way = (stack: OtlpStack, json: string) => Promise<{ rejected: number; message: string }>;
interface PartialSuccess {
  readonly partialSuccess?: { readonly rejectedDataPoints?: string; readonly errorMessage?: string };
}
const partialOf = ({ partialSuccess }: PartialSuccess) => ({
  rejected: Number(partialSuccess?.rejectedDataPoints ?? 0),
  message: partialSuccess?.errorMessage ?? '',
});
const fromProtobuf = (body: Uint8Array) => partialOf(toTree('ExportMetricsServiceResponse', body) as PartialSuccess);
const waysIn = (context: TestContext): Readonly<Record<string, Way>> => ({
  'HTTP JSON': async ({ httpPort }, json) => {
    const answer = await send(httpPort, { headers: { 'content-type': 'application/json' }, body: json });
    assert.equal(answer.status, 200);
    return partialOf(JSON.parse(answer.body.toString()));
  },
  'HTTP protobuf': async ({ httpPort }, json) => {
    const headers = { 'content-type': 'application/x-protobuf' };
    const answer = await send(httpPort, { headers, body: decodeJsonMetrics(toBytes(json)) });
    assert.equal(answer.status, 200);
    return fromProtobuf(answer.body);
  },
  gRPC: async ({ grpcPort }, json) => {
    const answer = await createCaller(context, grpcPort, { gzip: true })(decodeJsonMetrics(toBytes(json)));
    assert.equal(answer.code, 0);
    return fromProtobuf(answer.body);
  },
});

async function run(context: TestContext, vector: Vector, way: Way, threshold: number): Promise<OtlpStack> {
  const stack = await startStack(context, { threshold });
  for (const request of vector.requests) {
    stack.clock.advanceTo(epochMs(T0 + request.at * SECOND));
    const { rejected, message } = await way(stack, toJson(request));
    assert.equal(rejected, request.rejected);
    if (request.reason !== undefined) assert.ok(message.includes(request.reason), message);
  }
  return stack;
}

function check({ expect }: Vector, stack: OtlpStack): void {
  const { counted, gauges, observed, bound, ingest } = stack;
  if (expect.series !== undefined) assert.equal(ingest.seriesCount(), expect.series);
  assert.deepEqual(amounts(counted), expect.increments);
  if (expect.intervals !== undefined) {
    const intervals = counted.map(({ from, to }) => [(from - T0) / SECOND, (to - T0) / SECOND]);
    assert.deepEqual(intervals, expect.intervals);
  }
  if (expect.gauges !== undefined) assert.deepEqual(amounts(gauges), expect.gauges);
  if (expect.observed !== undefined)
    assert.deepEqual(
      observed.map(({ counts, sum }) => ({ counts, sum })),
      expect.observed,
    );
  if (expect.names !== undefined)
    assert.deepEqual(
      bound.map(({ name }) => name),
      expect.names,
    );
  if (expect.units !== undefined)
    assert.deepEqual(
      bound.map(({ unit }) => unit),
      expect.units,
    );
  for (const [name, count] of Object.entries(expect.counters ?? {})) {
    assert.equal(ingest.counters().get(name) ?? 0, count, name);
  }
}

describe('vectors of streams, by every way in', () => {
  for (const vector of [...SERIES, ...STREAMS]) {
    test(`${vector.id} ${vector.says} (${vector.source})`, async (context) => {
      for (const way of Object.values(waysIn(context))) {
        check(vector, await run(context, vector, way, 1));
        for (const [threshold, total] of vector.expect.atOrBelow ?? []) {
          const below = amounts((await run(context, vector, way, threshold)).below);
          assert.equal(
            below.reduce((sum, amount) => sum + amount, 0),
            total,
            `at or below ${threshold}`,
          );
          if (vector.expect.neverNegative)
            assert.ok(
              below.every((amount) => amount >= 0),
              String(below),
            );
        }
      }
    });
  }
});

describe('vectors of lowering the scale', () => {
  const numbersAt = (point: ExponentialPoint, scale: number, from: number, length: number): number[] => {
    const upTo = (index: number): number => countAtOrBelow(point, scale, 2 ** (index * 2 ** -scale));
    return Array.from({ length }, (_, index) => upTo(from + index + 1) - upTo(from + index));
  };
  for (const { id, source, scale, offset, counts, by, expect } of DOWNSCALE) {
    test(`${id} scale ${scale}, offset ${offset}, [${counts.join(' ')}] lowered by ${by} (${source})`, () => {
      const positive = { numbers: Float64Array.from(counts), from: 0, length: counts.length, offset };
      const point = { scale, sum: Number.NaN, zeroCount: 0, zeroThreshold: 0, positive, negative: emptyRun() };
      const around = numbersAt(point, scale - by, expect.offset - 2, expect.counts.length + 4);
      assert.deepEqual(around, [0, 0, ...expect.counts, 0, 0]);
    });
  }
});

describe('vectors of bytes and headers, over HTTP', () => {
  for (const [index, vector] of TRANSPORT.entries()) {
    test(`${vector.id} ${vector.says ?? vector.point} in ${vector.contentType} (${vector.source}) ${index}`, async (context) => {
      const stack = await startStack(context, { now: T0 + 10 * SECOND });
      const json = `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"g","gauge":{"dataPoints":[{"timeUnixNano":"${T0}000000",${vector.point}}]}}]}]}]}`;
      const body = vector.hex === undefined ? json : Buffer.from(vector.hex, 'hex');
      const answer = await send(stack.httpPort, { headers: { 'content-type': vector.contentType }, body });
      assert.equal(answer.status, vector.status);
      const type = vector.contentType.toLowerCase().split(';')[0];
      assert.equal(answer.headers['content-type'], type);
      if (type === 'application/json' && vector.status === 200) {
        assert.equal(JSON.parse(answer.body.toString()).partialSuccess?.rejectedDataPoints, vector.rejected);
        assert.equal(stack.gauges.length, vector.rejected === undefined ? 1 : 0);
      }
      assert.deepEqual(amounts(stack.counted), vector.increments ?? []);
      if (vector.atOrBelow1 !== undefined) assert.deepEqual(amounts(stack.below), vector.atOrBelow1);
    });
  }
});

describe('vectors that no file holds', () => {
  test('V34 two attribute sets with one hash are two series (opentelemetry-cpp#3060)', () => {
    const recording = createRecording({ hash: () => 0 });
    const metrics = ['a', 'b'].map((k, index) => cumulative('m', T0, index + 1, T0 - SECOND, { k }));
    recording.send(requestOf(metrics), T0);
    assert.deepEqual([recording.ingest.seriesCount(), amounts(recording.counted)], [2, [1, 2]]);
  });

  test('V36 a value nested 10,000 deep is 400 in both encodings and the next request is served (protobufjs#2121)', async (context) => {
    const { httpPort, counted } = await startStack(context);
    const depth = 10_000;
    let value = bytesField(1, toBytes('x'));
    for (let level = 0; level < depth; level += 1) value = bytesField(5, bytesField(1, value));
    const point = bytesField(7, bytesField(2, value));
    const protobuf = bytesField(1, bytesField(2, bytesField(2, bytesField(7, bytesField(1, point)))));
    const nested = `${'{"arrayValue":{"values":['.repeat(depth)}{}${']}}'.repeat(depth)}`;
    const json = `{"resourceMetrics":[{"resource":{"attributes":[{"key":"k","value":${nested}}]}}]}`;
    for (const [type, body] of [
      ['application/x-protobuf', protobuf],
      ['application/json', json],
    ] as const) {
      assert.equal((await send(httpPort, { headers: { 'content-type': type }, body })).status, 400);
    }
    const body = encodeMetrics(requestOf([cumulative('m', T0, 5, T0 - SECOND)]));
    assert.equal((await send(httpPort, { headers: { 'content-type': 'application/x-protobuf' }, body })).status, 200);
    assert.deepEqual(amounts(counted), [5]);
  });

  test('V40 a valid body over the cap, made of many ResourceMetrics, is 413 and nothing of it is stored', async (context) => {
    const limits = { wireBytes: 32 * 1024 * 1024 };
    const { httpPort, logged, ingest } = await startStack(context, { receivers: { limits } });
    const metrics = [cumulative('m', T0, 5, T0 - SECOND, { k: 'x'.repeat(1000) })];
    const one = Buffer.from(encodeMetrics(requestOf(metrics)));
    const body = Buffer.concat(Array.from({ length: Math.ceil((33 * 1024 * 1024) / one.length) }, () => one));
    const headers = { 'content-type': 'application/x-protobuf', 'transfer-encoding': 'chunked' };
    const answer = await send(httpPort, { headers, body });
    assert.equal(answer.status, 413);
    assert.deepEqual([logged.length, ingest.seriesCount()], [0, 0]);
  });
});
