import fc from 'fast-check';
import type {
  AnyValue,
  ExemplarPayload,
  KeyValue,
  MetricPayload,
  MetricsPayload,
} from '../../src/otlp/metrics-payload.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('', '__proto__', 'a'.repeat(200)),
);
const int64 = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.constantFrom(0n, -1n, 2n ** 53n + 1n));
const uint64 = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.constantFrom(0n, 127n, 128n, 2n ** 32n));
const uint32 = fc.oneof(fc.nat({ max: 2 ** 32 - 1 }), fc.constantFrom(0, 1));
const int32 = fc.integer();
const double = fc.oneof(fc.double(), fc.constantFrom(0, -0, 1));
const list = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 4 });

const { anyValue } = fc.letrec<{ anyValue: AnyValue; keyValue: KeyValue }>((tie) => ({
  keyValue: fc.record({ key: text, value: tie('anyValue') }, { requiredKeys: ['key'] }),
  anyValue: fc.oneof(
    { maxDepth: 3 },
    fc.constant({}),
    text.map((stringValue) => ({ stringValue })),
    fc.boolean().map((boolValue) => ({ boolValue })),
    int64.map((intValue) => ({ intValue })),
    double.map((doubleValue) => ({ doubleValue })),
    fc.uint8Array({ maxLength: 9 }).map((bytesValue) => ({ bytesValue })),
    list(tie('anyValue')).map((values) => ({ arrayValue: { values } })),
    list(tie('keyValue')).map((values) => ({ kvlistValue: { values } })),
  ),
}));

const attributes = list(fc.record({ key: text, value: anyValue }));

const exemplar = fc.oneof(
  fc.record({ timeUnixNano: uint64, asInt: int64, filteredAttributes: attributes }),
  fc.record({ timeUnixNano: uint64, asDouble: double }),
) as fc.Arbitrary<ExemplarPayload>;

const common = {
  attributes,
  startTimeUnixNano: uint64,
  timeUnixNano: uint64,
  flags: uint32,
  exemplars: list(exemplar),
};

const numberPoints = list(
  fc.oneof(fc.record({ ...common, asInt: int64 }), fc.record({ ...common, asDouble: double }), fc.record(common)),
);

const optional = { sum: double, min: double, max: double };
const histogramPoints = list(
  fc.record(
    { ...common, count: uint64, bucketCounts: list(uint64), explicitBounds: list(double), ...optional },
    { requiredKeys: ['timeUnixNano', 'count'] },
  ),
);

const buckets = fc.record({ offset: int32, bucketCounts: list(uint64) });
const exponentialPoints = list(
  fc.record(
    {
      ...common,
      count: uint64,
      scale: int32,
      zeroCount: uint64,
      positive: buckets,
      negative: buckets,
      zeroThreshold: double,
      ...optional,
    },
    { requiredKeys: ['timeUnixNano', 'count', 'scale'] },
  ),
);

const summaryPoints = list(
  fc.record({
    attributes,
    timeUnixNano: uint64,
    flags: uint32,
    count: uint64,
    sum: double,
    quantileValues: list(fc.record({ quantile: double, value: double })),
  }),
);

const aggregationTemporality = fc.nat({ max: 2 });
const metric: fc.Arbitrary<MetricPayload> = fc
  .tuple(
    fc.record({ name: text, description: text, unit: text, metadata: attributes }),
    fc.oneof(
      fc.constant({}),
      numberPoints.map((dataPoints) => ({ gauge: { dataPoints } })),
      fc
        .record({ dataPoints: numberPoints, aggregationTemporality, isMonotonic: fc.boolean() })
        .map((sum) => ({ sum })),
      fc.record({ dataPoints: histogramPoints, aggregationTemporality }).map((histogram) => ({ histogram })),
      fc
        .record({ dataPoints: exponentialPoints, aggregationTemporality })
        .map((exponentialHistogram) => ({ exponentialHistogram })),
      summaryPoints.map((dataPoints) => ({ summary: { dataPoints } })),
    ),
  )
  .map(([head, data]) => ({ ...head, ...data }) as MetricPayload);

const resource = fc.record({ attributes, droppedAttributesCount: uint32 });
const scope = fc.record({ name: text, version: text, attributes, droppedAttributesCount: uint32 });

/** Any request tree with every field that metrics have; doubles include NaN and the infinities. */
export const payloads = fc.record({
  resourceMetrics: list(
    fc.record(
      {
        resource,
        schemaUrl: text,
        scopeMetrics: list(fc.record({ scope, schemaUrl: text, metrics: list(metric) }, { requiredKeys: ['metrics'] })),
      },
      { requiredKeys: ['scopeMetrics'] },
    ),
  ),
}) as unknown as fc.Arbitrary<MetricsPayload>;
