import { gunzipSync } from 'node:zlib';
import type { Prng } from '../../src/base/prng.ts';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import { type MetricPayload, type MetricsPayload, toAttributes } from '../../src/otlp/metrics-payload.ts';
import { mutateGzip } from './mutate-gzip.ts';
import { mutateJson } from './mutate-json.ts';
import { mutateProto, randomBytes } from './mutate-proto.ts';
import { scramble } from './scramble.ts';

export interface FuzzBody {
  /** What was done to it. */
  readonly name: string;
  readonly encoding: 'protobuf' | 'json';
  readonly isGzip: boolean;
  /** As sent. */
  readonly wire: Uint8Array;
  /** What it inflates to; null when it is no gzip. */
  readonly body: Uint8Array | null;
}

/** One body, made of a sound request with points of every kind, most often with faults. `now` in epoch milliseconds. */
export function randomBody(prng: Prng, now: number): FuzzBody {
  const payload = randomPayload(prng, now);
  const encoding = prng.below(2) === 0 ? 'protobuf' : 'json';
  const sound = encoding === 'json' ? toJson(payload) : encodeMetrics(payload);
  let [name, body] = ['sound', sound];
  const what = prng.below(10);
  if (what === 0) [name, body] = ['random', randomBytes(prng, prng.below(300))];
  else if (what > 2) {
    [name, body] = ['mutated', encoding === 'json' ? mutateJson(sound, prng) : mutateProto(sound, prng)];
  } else if (what === 1 && encoding === 'protobuf') [name, body] = ['scrambled', scramble(sound, prng)];
  if (prng.below(3) > 0) return { name, encoding, isGzip: false, wire: body, body };
  const wire = mutateGzip(body, prng);
  return { name: `${name}, gzip`, encoding, isGzip: true, wire, body: inflated(wire) };
}

export function inflated(wire: Uint8Array): Uint8Array | null {
  try {
    return gunzipSync(wire);
  } catch {
    return null;
  }
}

export const toJson = (payload: MetricsPayload): Uint8Array => {
  const text = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
  return new TextEncoder().encode(JSON.stringify(payload, text));
};

/** Few names and attributes, so that points meet series that are known. */
function randomPayload(prng: Prng, now: number): MetricsPayload {
  const list = <T>(most: number, one: () => T): T[] => Array.from({ length: 1 + prng.below(most) }, one);
  const metric = (): MetricPayload => randomMetric(prng, now);
  return {
    resourceMetrics: list(2, () => ({
      resource: { attributes: toAttributes({ 'service.instance.id': `edge-${prng.below(3)}`, 'host.cpus': 4 }) },
      scopeMetrics: list(2, () => ({
        scope: { name: `scope-${prng.below(2)}`, version: '1', attributes: toAttributes({ on: true }) },
        metrics: list(3, metric),
        schemaUrl: 'https://opentelemetry.io/schemas/1.30.0',
      })),
    })),
  };
}

function randomMetric(prng: Prng, now: number): MetricPayload {
  const point = () => ({
    attributes: toAttributes({
      'lb.side': 'upstream',
      'lb.upstream.cluster': `cluster-${prng.below(3)}`,
      'http.response.status_code': 200 + prng.below(5),
      ratio: prng.below(4) / 4,
    }),
    startTimeUnixNano: `${now - 60_000}000000`,
    timeUnixNano: `${now - prng.below(3) * 10_000}000001`,
    ...(prng.below(20) === 0 ? { flags: 1 } : {}),
  });
  const points = <T>(one: () => T): T[] => Array.from({ length: prng.below(4) }, one);
  const aggregationTemporality = 1 + prng.below(2);
  const name = `lb.metric.${prng.below(5)}`;
  const counts = (length: number): number[] => Array.from({ length }, () => prng.below(100));
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  switch (prng.below(5)) {
    case 0:
      return { name, gauge: { dataPoints: points(() => ({ ...point(), asDouble: prng.next() * 100 })) } };
    case 1: {
      const dataPoints = points(() => ({ ...point(), asInt: String(prng.below(1e9)) }));
      return { name: 'lb.requests', unit: '1', sum: { dataPoints, aggregationTemporality, isMonotonic: true } };
    }
    case 2: {
      const dataPoints = points(() => {
        const bucketCounts = counts(4);
        const explicitBounds = [0.1, 0.5, 1];
        return { ...point(), count: total(bucketCounts), sum: prng.next() * 10, bucketCounts, explicitBounds };
      });
      return { name: 'lb.stage.backend.duration', unit: 's', histogram: { dataPoints, aggregationTemporality } };
    }
    case 3: {
      const dataPoints = points(() => {
        const positive = { offset: prng.below(9) - 4, bucketCounts: counts(5) };
        const zeroCount = prng.below(3);
        return {
          ...point(),
          count: total(positive.bucketCounts) + zeroCount,
          zeroCount,
          scale: prng.below(6),
          positive,
        };
      });
      return {
        name: 'lb.stage.total.duration',
        unit: 's',
        exponentialHistogram: { dataPoints, aggregationTemporality },
      };
    }
    default:
      return {
        name,
        summary: {
          dataPoints: points(() => ({ ...point(), count: 4, sum: 2, quantileValues: [{ quantile: 1, value: 9 }] })),
        },
      };
  }
}
