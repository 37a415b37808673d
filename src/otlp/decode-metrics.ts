import { checkNesting, NotCanonical, passKeyValue } from './attribute-run.ts';
import {
  decodeExponentialPoint,
  decodeHistogramPoint,
  decodeNumberPoint,
  decodeSummaryPoint,
} from './decode-points.ts';
import { normalizeMetrics } from './normalize.ts';
import {
  KIND_EXPONENTIAL_HISTOGRAM,
  KIND_GAUGE,
  KIND_HISTOGRAM,
  KIND_SUM,
  KIND_SUMMARY,
  type Staging,
  StagingFull,
} from './staging.ts';
import { expectWire, malformed, WIRE_BYTES, WIRE_VARINT, WireReader } from './wire.ts';

const reader = new WireReader();

const RESOURCE_ATTRIBUTES = 0x0a;
const SCOPE_ATTRIBUTES = 0x1a;
/** Tag of Metric.metadata, which is not kept. */
const METADATA = 0x62;

/**
 * Decodes an ExportMetricsServiceRequest (opentelemetry/proto/collector/metrics/v1) into columns. Fields may come in
 * any order; unknown ones are passed; the last of a singular scalar wins. Throws OTLP_MALFORMED and leaves nothing
 * usable behind when the bytes are no such message, and StagingFull where the staging is too small for it or the
 * message has to be normalised and is longer than `normalizeBytesMax`.
 */
export function decodeMetrics(bytes: Uint8Array, staging: Staging, normalizeBytesMax = Number.POSITIVE_INFINITY): void {
  try {
    decodeRequest(bytes, staging);
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    if (bytes.length > normalizeBytesMax) throw new StagingFull();
    decodeRequest(normalizeMetrics(bytes), staging);
  }
}

function decodeRequest(bytes: Uint8Array, staging: Staging): void {
  staging.reset(bytes);
  reader.open(bytes);
  const limit = bytes.length;
  while (reader.position < limit) {
    const tag = reader.tag(limit);
    if (tag === 0x0a) decodeResourceMetrics(staging, reader.endOfBytes(limit));
    else passUnknown(tag, limit, 1);
  }
}

/** Passes a field that is not known; a known field number with another wire type is refused. */
function passUnknown(tag: number, limit: number, knownUpTo: number): void {
  if (tag >>> 3 <= knownUpTo) expectWire(tag & 7, WIRE_BYTES, `field ${tag >>> 3}`);
  reader.skip(tag & 7, limit);
}

/**
 * ResourceMetrics: resource 1, scope_metrics 2, schema_url 3. The resource may stand behind its scopes, so it is
 * looked for first.
 */
function decodeResourceMetrics(staging: Staging, limit: number): void {
  const start = reader.position;
  let resourceFrom = 0;
  let resourceTo = 0;
  while (reader.position < limit) {
    const tag = reader.tag(limit);
    if (tag === 0x0a) {
      if (resourceTo !== 0) throw new NotCanonical();
      resourceTo = reader.endOfBytes(limit);
      resourceFrom = reader.position;
      checkNesting(reader, resourceTo, RESOURCE_ATTRIBUTES);
    } else passUnknown(tag, limit, 3);
  }
  reader.position = start;
  while (reader.position < limit) {
    const tag = reader.tag(limit);
    if (tag === 0x12) decodeScopeMetrics(staging, resourceFrom, resourceTo, reader.endOfBytes(limit));
    else reader.skip(tag & 7, limit);
  }
}

/** ScopeMetrics: scope 1, metrics 2, schema_url 3. One that holds no point leaves nothing behind. */
function decodeScopeMetrics(staging: Staging, resourceFrom: number, resourceTo: number, limit: number): void {
  const start = reader.position;
  let scopeFrom = 0;
  let scopeTo = 0;
  let schemaFrom = 0;
  let schemaTo = 0;
  while (reader.position < limit) {
    const tag = reader.tag(limit);
    if (tag === 0x0a) {
      if (scopeTo !== 0) throw new NotCanonical();
      scopeTo = reader.endOfBytes(limit);
      scopeFrom = reader.position;
      checkNesting(reader, scopeTo, SCOPE_ATTRIBUTES);
    } else if (tag === 0x1a) {
      schemaTo = reader.endOfBytes(limit);
      schemaFrom = reader.position;
      reader.position = schemaTo;
    } else passUnknown(tag, limit, 3);
  }
  const pointsBefore = staging.pointCount;
  const context = staging.addContext();
  staging.resourceFrom[context] = resourceFrom;
  staging.resourceTo[context] = resourceTo;
  staging.scopeFrom[context] = scopeFrom;
  staging.scopeTo[context] = scopeTo;
  staging.schemaFrom[context] = schemaFrom;
  staging.schemaTo[context] = schemaTo;
  reader.position = start;
  while (reader.position < limit) {
    const tag = reader.tag(limit);
    if (tag === 0x12) decodeMetric(staging, context, reader.endOfBytes(limit));
    else reader.skip(tag & 7, limit);
  }
  if (staging.pointCount === pointsBefore) staging.contextCount -= 1;
}

/**
 * Metric: name 1, description 2, unit 3, and one of gauge 5, sum 7, histogram 9, exponential_histogram 10, summary 11.
 * One that holds no point leaves nothing behind.
 */
function decodeMetric(staging: Staging, context: number, limit: number): void {
  const pointsBefore = staging.pointCount;
  const metric = staging.addMetric();
  staging.metricContext[metric] = context;
  staging.nameFrom[metric] = 0;
  staging.nameTo[metric] = 0;
  staging.unitFrom[metric] = 0;
  staging.unitTo[metric] = 0;
  staging.metricKind[metric] = 0;
  let dataFrom = 0;
  let dataTo = 0;
  while (reader.position < limit) {
    const tag = reader.tag(limit);
    const kind = kindOfField(tag >>> 3);
    if (tag === 0x0a) {
      const end = reader.endOfBytes(limit);
      staging.nameFrom[metric] = reader.position;
      staging.nameTo[metric] = end;
      reader.position = end;
    } else if (tag === 0x1a) {
      const end = reader.endOfBytes(limit);
      staging.unitFrom[metric] = reader.position;
      staging.unitTo[metric] = end;
      reader.position = end;
    } else if (kind !== 0) {
      expectWire(tag & 7, WIRE_BYTES, 'the data of a metric');
      if (dataTo !== 0) throw new NotCanonical();
      dataTo = reader.endOfBytes(limit);
      dataFrom = reader.position;
      staging.metricKind[metric] = kind;
      reader.position = dataTo;
    } else if (tag === METADATA) passKeyValue(reader, limit);
    else passUnknown(tag, limit, 3);
  }
  if (dataTo !== 0) {
    reader.position = dataFrom;
    decodeData(staging, metric, dataTo);
    reader.position = limit;
  }
  if (staging.pointCount === pointsBefore) staging.metricCount -= 1;
}

function kindOfField(field: number): number {
  switch (field) {
    case 5:
      return KIND_GAUGE;
    case 7:
      return KIND_SUM;
    case 9:
      return KIND_HISTOGRAM;
    case 10:
      return KIND_EXPONENTIAL_HISTOGRAM;
    case 11:
      return KIND_SUMMARY;
    default:
      return 0;
  }
}

/**
 * Gauge, Sum, Histogram, ...: data_points 1, aggregation_temporality 2, is_monotonic 3. The latter two may stand
 * behind the points, which do not need them.
 */
function decodeData(staging: Staging, metric: number, limit: number): void {
  let temporality = 0;
  let monotonic = 0;
  const kind = staging.metricKind[metric];
  // To a gauge and a summary these fields are unknown.
  const hasTemporality = kind !== KIND_GAUGE && kind !== KIND_SUMMARY;
  while (reader.position < limit) {
    const tag = reader.tag(limit);
    if (tag === 0x0a) decodePoint(staging, metric, reader.endOfBytes(limit));
    else if (tag === 0x10 && hasTemporality) temporality = reader.varint(limit);
    else if (tag === 0x18 && kind === KIND_SUM) monotonic = reader.varint(limit);
    else {
      if (tag >>> 3 === 1) expectWire(tag & 7, WIRE_BYTES, 'data_points');
      if (tag >>> 3 === 2 && hasTemporality) expectWire(tag & 7, WIRE_VARINT, 'aggregation_temporality');
      reader.skip(tag & 7, limit);
    }
  }
  // A value that the enum does not have is as good as none.
  staging.temporality[metric] = temporality > 2 ? 0 : temporality;
  staging.monotonic[metric] = monotonic === 0 ? 0 : 1;
}

function decodePoint(staging: Staging, metric: number, limit: number): void {
  switch (staging.metricKind[metric]) {
    case KIND_GAUGE:
    case KIND_SUM:
      decodeNumberPoint(reader, staging, metric, limit);
      return;
    case KIND_HISTOGRAM:
      decodeHistogramPoint(reader, staging, metric, limit);
      return;
    case KIND_EXPONENTIAL_HISTOGRAM:
      decodeExponentialPoint(reader, staging, metric, limit);
      return;
    case KIND_SUMMARY:
      decodeSummaryPoint(reader, staging, metric, limit);
      return;
    default:
      throw malformed('a metric has data of no known kind');
  }
}
