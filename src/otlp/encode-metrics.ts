import type {
  AnyValue,
  BucketsPayload,
  ExemplarPayload,
  ExponentialHistogramPointPayload,
  HistogramPointPayload,
  KeyValue,
  MetricPayload,
  MetricsPayload,
  NumberPointPayload,
  PointPayload,
  ResourceMetricsPayload,
  ScopeMetricsPayload,
  SummaryPointPayload,
} from './metrics-payload.ts';
import { type Integer64, WIRE_LENGTH, WIRE_VARINT, WireWriter, zigzag32 } from './wire-writer.ts';

/**
 * Encodes a request tree as protobuf bytes of opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest,
 * fields in the order of their numbers, repeated numbers packed. Throws RangeError for a 64-bit value given as an
 * inexact number.
 */
export function encodeMetrics(payload: MetricsPayload): Uint8Array {
  const writer = new WireWriter(64 * 1024);
  for (const resourceMetrics of payload.resourceMetrics) {
    message(writer, 1, resourceMetrics, writeResourceMetrics);
  }
  return writer.finish();
}

type WriteBody<T> = (writer: WireWriter, value: T) => void;

function message<T>(writer: WireWriter, field: number, value: T, writeBody: WriteBody<T>): void {
  writer.tag(field, WIRE_LENGTH);
  const mark = writer.begin();
  writeBody(writer, value);
  writer.end(mark);
}

function messages<T>(writer: WireWriter, field: number, values: readonly T[] | undefined, body: WriteBody<T>): void {
  if (values === undefined) return;
  for (const value of values) message(writer, field, value, body);
}

function text(writer: WireWriter, field: number, value: string | undefined): void {
  if (value !== undefined && value !== '') writer.stringField(field, value);
}

function unsigned(writer: WireWriter, field: number, value: number | undefined): void {
  if (value !== undefined && value !== 0) writer.varintField(field, value);
}

function signed32(writer: WireWriter, field: number, value: number): void {
  if (value !== 0) writer.varintField(field, zigzag32(value));
}

/** A field that has no presence: zero is not written. */
function fixed64(writer: WireWriter, field: number, value: Integer64 | undefined): void {
  if (value === undefined || value === 0) return;
  if (typeof value === 'number' || BigInt(value) !== 0n) writer.fixed64Field(field, value);
}

/** A field with presence: written whenever it is given. */
function double(writer: WireWriter, field: number, value: number | undefined): void {
  if (value !== undefined) writer.doubleField(field, value);
}

/** A field that has no presence: zero is not written, but the negative zero is. */
function plainDouble(writer: WireWriter, field: number, value: number | undefined): void {
  if (value !== undefined && !Object.is(value, 0)) writer.doubleField(field, value);
}

function writeResourceMetrics(writer: WireWriter, value: ResourceMetricsPayload): void {
  if (value.resource !== undefined) {
    message(writer, 1, value.resource, (_, resource) => {
      messages(writer, 1, resource.attributes, writeKeyValue);
      unsigned(writer, 2, resource.droppedAttributesCount);
    });
  }
  messages(writer, 2, value.scopeMetrics, writeScopeMetrics);
  text(writer, 3, value.schemaUrl);
}

function writeScopeMetrics(writer: WireWriter, value: ScopeMetricsPayload): void {
  if (value.scope !== undefined) {
    message(writer, 1, value.scope, (_, scope) => {
      text(writer, 1, scope.name);
      text(writer, 2, scope.version);
      messages(writer, 3, scope.attributes, writeKeyValue);
      unsigned(writer, 4, scope.droppedAttributesCount);
    });
  }
  messages(writer, 2, value.metrics, writeMetric);
  text(writer, 3, value.schemaUrl);
}

function writeMetric(writer: WireWriter, metric: MetricPayload): void {
  text(writer, 1, metric.name);
  text(writer, 2, metric.description);
  text(writer, 3, metric.unit);
  const { gauge, sum, histogram, exponentialHistogram, summary } = metric;
  if (gauge !== undefined) message(writer, 5, gauge, (_, data) => messages(writer, 1, data.dataPoints, writeNumber));
  if (sum !== undefined) {
    message(writer, 7, sum, (_, data) => {
      messages(writer, 1, data.dataPoints, writeNumber);
      unsigned(writer, 2, data.aggregationTemporality);
      if (data.isMonotonic) writer.varintField(3, 1);
    });
  }
  if (histogram !== undefined) {
    message(writer, 9, histogram, (_, data) => {
      messages(writer, 1, data.dataPoints, writeHistogram);
      unsigned(writer, 2, data.aggregationTemporality);
    });
  }
  if (exponentialHistogram !== undefined) {
    message(writer, 10, exponentialHistogram, (_, data) => {
      messages(writer, 1, data.dataPoints, writeExponentialHistogram);
      unsigned(writer, 2, data.aggregationTemporality);
    });
  }
  if (summary !== undefined) {
    message(writer, 11, summary, (_, data) => messages(writer, 1, data.dataPoints, writeSummary));
  }
  messages(writer, 12, metric.metadata, writeKeyValue);
}

function writeTimes(writer: WireWriter, point: PointPayload): void {
  fixed64(writer, 2, point.startTimeUnixNano);
  fixed64(writer, 3, point.timeUnixNano);
}

function writeNumber(writer: WireWriter, point: NumberPointPayload): void {
  writeTimes(writer, point);
  double(writer, 4, point.asDouble);
  messages(writer, 5, point.exemplars, writeExemplar);
  if (point.asInt !== undefined) writer.fixed64Field(6, point.asInt);
  messages(writer, 7, point.attributes, writeKeyValue);
  unsigned(writer, 8, point.flags);
}

function writeHistogram(writer: WireWriter, point: HistogramPointPayload): void {
  writeTimes(writer, point);
  fixed64(writer, 4, point.count);
  double(writer, 5, point.sum);
  packed(writer, 6, point.bucketCounts, (count) => writer.fixed64Value(count));
  packed(writer, 7, point.explicitBounds, (bound) => writer.double(bound));
  messages(writer, 8, point.exemplars, writeExemplar);
  messages(writer, 9, point.attributes, writeKeyValue);
  unsigned(writer, 10, point.flags);
  double(writer, 11, point.min);
  double(writer, 12, point.max);
}

function writeExponentialHistogram(writer: WireWriter, point: ExponentialHistogramPointPayload): void {
  messages(writer, 1, point.attributes, writeKeyValue);
  writeTimes(writer, point);
  fixed64(writer, 4, point.count);
  double(writer, 5, point.sum);
  signed32(writer, 6, point.scale);
  fixed64(writer, 7, point.zeroCount);
  if (point.positive !== undefined) message(writer, 8, point.positive, writeBuckets);
  if (point.negative !== undefined) message(writer, 9, point.negative, writeBuckets);
  unsigned(writer, 10, point.flags);
  messages(writer, 11, point.exemplars, writeExemplar);
  double(writer, 12, point.min);
  double(writer, 13, point.max);
  plainDouble(writer, 14, point.zeroThreshold);
}

function writeBuckets(writer: WireWriter, buckets: BucketsPayload): void {
  signed32(writer, 1, buckets.offset);
  packed(writer, 2, buckets.bucketCounts, (count) => writer.varint64Value(count));
}

function writeSummary(writer: WireWriter, point: SummaryPointPayload): void {
  writeTimes(writer, point);
  fixed64(writer, 4, point.count);
  plainDouble(writer, 5, point.sum);
  messages(writer, 6, point.quantileValues, (_, entry) => {
    plainDouble(writer, 1, entry.quantile);
    plainDouble(writer, 2, entry.value);
  });
  messages(writer, 7, point.attributes, writeKeyValue);
  unsigned(writer, 8, point.flags);
}

function writeExemplar(writer: WireWriter, exemplar: ExemplarPayload): void {
  fixed64(writer, 2, exemplar.timeUnixNano);
  double(writer, 3, exemplar.asDouble);
  if (exemplar.asInt !== undefined) writer.fixed64Field(6, exemplar.asInt);
  messages(writer, 7, exemplar.filteredAttributes, writeKeyValue);
}

function packed<T>(
  writer: WireWriter,
  field: number,
  values: readonly T[] | undefined,
  write: (value: T) => void,
): void {
  if (values === undefined || values.length === 0) return;
  writer.tag(field, WIRE_LENGTH);
  const mark = writer.begin();
  for (const value of values) write(value);
  writer.end(mark);
}

function writeKeyValue(writer: WireWriter, attribute: KeyValue): void {
  text(writer, 1, attribute.key);
  if (attribute.value !== undefined) message(writer, 2, attribute.value, writeAnyValue);
}

/** The members of a oneof have presence: an empty string and a zero are written. */
function writeAnyValue(writer: WireWriter, value: AnyValue): void {
  if (value.stringValue !== undefined) writer.stringField(1, value.stringValue);
  if (value.boolValue !== undefined) writer.varintField(2, value.boolValue ? 1 : 0);
  if (value.intValue !== undefined) {
    writer.tag(3, WIRE_VARINT);
    writer.varint64Value(value.intValue);
  }
  double(writer, 4, value.doubleValue);
  if (value.arrayValue !== undefined) {
    message(writer, 5, value.arrayValue, (_, list) => messages(writer, 1, list.values, writeAnyValue));
  }
  if (value.kvlistValue !== undefined) {
    message(writer, 6, value.kvlistValue, (_, list) => messages(writer, 1, list.values, writeKeyValue));
  }
  if (value.bytesValue !== undefined) writer.bytesField(7, value.bytesValue);
}
