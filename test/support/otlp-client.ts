import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { MetricsConsumer, MetricsOutcome, MetricsRequest, ReceiverMetrics } from '../../src/otlp/consumer.ts';
import { type MetricsPayload, toAttributes } from '../../src/otlp/metrics-payload.ts';

/**
 * A payload as OTLP/JSON: 64-bit values become decimal text, bytes base64, NaN, infinities and the negative zero
 * texts.
 */
export function toJsonText(payload: MetricsPayload): string {
  return JSON.stringify(payload, (_, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
    if (Object.is(value, -0)) return '-0';
    return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
  });
}

export const toBytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** One resource with one metric of every kind, every field set. */
export function everyKind(): MetricsPayload {
  const at = { startTimeUnixNano: 1_790_000_000_000_000_001n, timeUnixNano: 1_790_000_010_123_456_789n };
  const attributes = toAttributes({
    'http.route': '/päth/€/𝄞',
    'http.response.status_code': 503,
    retried: true,
    share: 0.25,
  });
  const exemplars = [
    { timeUnixNano: at.timeUnixNano, asDouble: 0.1, filteredAttributes: toAttributes({ trace: 'x' }) },
  ];
  const nested = {
    key: 'nested',
    value: {
      kvlistValue: {
        values: [
          { key: '__proto__', value: { arrayValue: { values: [{ stringValue: '' }, { intValue: -1n }, {}] } } },
          { key: 'raw', value: { bytesValue: new Uint8Array([0, 255, 128]) } },
        ],
      },
    },
  };
  const metric = { description: 'd', unit: 's', metadata: toAttributes({ m: 'n' }) };
  return {
    resourceMetrics: [
      {
        resource: {
          attributes: [...toAttributes({ 'service.instance.id': 'lb-1' }), nested],
          droppedAttributesCount: 2,
        },
        schemaUrl: 'https://example.org/resource',
        scopeMetrics: [
          {
            scope: { name: 'lb', version: '1', attributes: toAttributes({ a: 1n }), droppedAttributesCount: 1 },
            schemaUrl: 'https://example.org/scope',
            metrics: [
              {
                ...metric,
                name: 'gauge',
                gauge: { dataPoints: [{ ...at, attributes, exemplars, flags: 1, asDouble: -0 }] },
              },
              {
                ...metric,
                name: 'sum',
                sum: {
                  aggregationTemporality: 2,
                  isMonotonic: true,
                  dataPoints: [
                    { ...at, attributes, asInt: -(2n ** 63n) },
                    { ...at, attributes, asInt: 2n ** 63n - 1n },
                    { ...at, asDouble: Number.NaN },
                  ],
                },
              },
              {
                ...metric,
                name: 'histogram',
                histogram: {
                  aggregationTemporality: 1,
                  dataPoints: [
                    {
                      ...at,
                      attributes,
                      exemplars,
                      count: 2n ** 64n - 1n,
                      sum: Number.POSITIVE_INFINITY,
                      bucketCounts: [9_007_199_254_740_993n, 0n, 2n],
                      explicitBounds: [0.005, 1e-7],
                      min: 5e-324,
                      max: 1.7976931348623157e308,
                    },
                  ],
                },
              },
              {
                ...metric,
                name: 'exponential',
                exponentialHistogram: {
                  aggregationTemporality: 2,
                  dataPoints: [
                    {
                      ...at,
                      attributes,
                      exemplars,
                      count: 10,
                      sum: 0,
                      scale: -3,
                      zeroCount: 1,
                      positive: { offset: -2_147_483_648, bucketCounts: [1, 2n ** 64n - 1n] },
                      negative: { offset: 2_147_483_647, bucketCounts: [] },
                      min: -1,
                      max: 1,
                      zeroThreshold: 0.5,
                    },
                  ],
                },
              },
              {
                ...metric,
                name: 'summary',
                summary: {
                  dataPoints: [
                    { ...at, attributes, flags: 1, count: 3, sum: 1.5, quantileValues: [{ quantile: 0.99, value: 7 }] },
                  ],
                },
              },
            ],
          },
        ],
      },
    ],
  };
}

export interface RecordingConsumer extends MetricsConsumer {
  readonly requests: MetricsRequest[];
}

/** Keeps what it is given and answers with what `respond` says (one point accepted by default). */
export function createRecordingConsumer(
  respond: (request: MetricsRequest) => MetricsOutcome | Promise<MetricsOutcome> = () => accepted(),
): RecordingConsumer {
  const requests: MetricsRequest[] = [];
  return {
    requests,
    async consume(request) {
      requests.push(request);
      return respond(request);
    },
  };
}

export const accepted = (rejectedPoints = 0, message = ''): MetricsOutcome => ({
  kind: 'accepted',
  points: 1,
  rejectedPoints,
  message,
});

export interface CountedRequests extends ReceiverMetrics {
  /** `transport outcome bytes` in order. */
  readonly lines: string[];
}

export function createCountedRequests(): CountedRequests {
  const lines: string[] = [];
  return { lines, request: (transport, outcome, bytes) => void lines.push(`${transport} ${outcome} ${bytes}`) };
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Sends one request to 127.0.0.1 on a connection of its own. */
export function send(
  port: number,
  options: {
    readonly method?: string;
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: Uint8Array | string;
  } = {},
): Promise<HttpAnswer> {
  const { method = 'POST', path = '/v1/metrics', headers = {}, body = '' } = options;
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) }),
      );
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
