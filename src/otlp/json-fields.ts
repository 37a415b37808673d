/**
 * How a field of OTLP/JSON is written in protobuf. Number kinds without a note have no presence: their zero is not
 * written. `hex` is bytes as hexadecimal digits (trace and span ids), `bytes` is base64.
 */
export type JsonFieldKind =
  | 'message'
  | 'string'
  | 'bytes'
  | 'hex'
  | 'bool'
  | 'enum'
  | 'uint32'
  | 'sint32'
  | 'int64'
  | 'uint64'
  | 'fixed64'
  | 'sfixed64'
  | 'double';

export interface JsonField {
  /** lowerCamelCase, the only spelling that OTLP/JSON knows. */
  readonly name: string;
  /** Field number. */
  readonly number: number;
  readonly kind: JsonFieldKind;
  readonly repeated: boolean;
  /** Written even when it holds the default value. */
  readonly presence: boolean;
  /** Only one such field of a message may be set. */
  readonly oneof: boolean;
  readonly message: JsonMessage | undefined;
  /** The name in ASCII, and this field's place in its message. */
  readonly nameBytes: Uint8Array;
  readonly bit: number;
}

export interface JsonMessage {
  readonly name: string;
  readonly fields: readonly JsonField[];
}

interface FieldOptions {
  readonly presence?: true;
  readonly oneof?: true;
  readonly message?: JsonMessage;
}

type FieldSpec = readonly [
  name: string,
  number: number,
  kind: JsonFieldKind | `${JsonFieldKind}[]`,
  options?: FieldOptions,
];

function toField([name, number, kind, options = {}]: FieldSpec, index: number): JsonField {
  const repeated = kind.endsWith('[]');
  return {
    name,
    number,
    kind: (repeated ? kind.slice(0, -2) : kind) as JsonFieldKind,
    repeated,
    presence: options.presence === true || options.oneof === true,
    oneof: options.oneof === true,
    message: options.message,
    nameBytes: new TextEncoder().encode(name),
    bit: 1 << index,
  };
}

const define = (name: string, ...fields: readonly FieldSpec[]): JsonMessage => ({ name, fields: fields.map(toField) });

/** AnyValue and its lists contain each other, so that their fields are filled in below. */
export const ANY_VALUE: { name: string; fields: readonly JsonField[] } = { name: 'AnyValue', fields: [] };

const KEY_VALUE = define('KeyValue', ['key', 1, 'string'], ['value', 2, 'message', { message: ANY_VALUE }]);
const ARRAY_VALUE = define('ArrayValue', ['values', 1, 'message[]', { message: ANY_VALUE }]);
const KEY_VALUE_LIST = define('KeyValueList', ['values', 1, 'message[]', { message: KEY_VALUE }]);

ANY_VALUE.fields = define(
  'AnyValue',
  ['stringValue', 1, 'string', { oneof: true }],
  ['intValue', 3, 'int64', { oneof: true }],
  ['boolValue', 2, 'bool', { oneof: true }],
  ['doubleValue', 4, 'double', { oneof: true }],
  ['arrayValue', 5, 'message', { oneof: true, message: ARRAY_VALUE }],
  ['kvlistValue', 6, 'message', { oneof: true, message: KEY_VALUE_LIST }],
  ['bytesValue', 7, 'bytes', { oneof: true }],
).fields;

const attributes = (number: number, name = 'attributes'): FieldSpec => [
  name,
  number,
  'message[]',
  { message: KEY_VALUE },
];

const EXEMPLAR = define(
  'Exemplar',
  attributes(7, 'filteredAttributes'),
  ['timeUnixNano', 2, 'fixed64'],
  ['asDouble', 3, 'double', { oneof: true }],
  ['asInt', 6, 'sfixed64', { oneof: true }],
  ['spanId', 4, 'hex'],
  ['traceId', 5, 'hex'],
);

const NUMBER_POINT = define(
  'NumberDataPoint',
  attributes(7),
  ['startTimeUnixNano', 2, 'fixed64'],
  ['timeUnixNano', 3, 'fixed64'],
  ['asDouble', 4, 'double', { oneof: true }],
  ['asInt', 6, 'sfixed64', { oneof: true }],
  ['exemplars', 5, 'message[]', { message: EXEMPLAR }],
  ['flags', 8, 'uint32'],
);

const HISTOGRAM_POINT = define(
  'HistogramDataPoint',
  attributes(9),
  ['startTimeUnixNano', 2, 'fixed64'],
  ['timeUnixNano', 3, 'fixed64'],
  ['count', 4, 'fixed64'],
  ['sum', 5, 'double', { presence: true }],
  ['bucketCounts', 6, 'fixed64[]'],
  ['explicitBounds', 7, 'double[]'],
  ['exemplars', 8, 'message[]', { message: EXEMPLAR }],
  ['flags', 10, 'uint32'],
  ['min', 11, 'double', { presence: true }],
  ['max', 12, 'double', { presence: true }],
);

const BUCKETS = define('Buckets', ['offset', 1, 'sint32'], ['bucketCounts', 2, 'uint64[]']);

const EXPONENTIAL_POINT = define(
  'ExponentialHistogramDataPoint',
  attributes(1),
  ['startTimeUnixNano', 2, 'fixed64'],
  ['timeUnixNano', 3, 'fixed64'],
  ['count', 4, 'fixed64'],
  ['sum', 5, 'double', { presence: true }],
  ['scale', 6, 'sint32'],
  ['zeroCount', 7, 'fixed64'],
  ['positive', 8, 'message', { message: BUCKETS }],
  ['negative', 9, 'message', { message: BUCKETS }],
  ['flags', 10, 'uint32'],
  ['exemplars', 11, 'message[]', { message: EXEMPLAR }],
  ['min', 12, 'double', { presence: true }],
  ['max', 13, 'double', { presence: true }],
  ['zeroThreshold', 14, 'double'],
);

const VALUE_AT_QUANTILE = define('ValueAtQuantile', ['quantile', 1, 'double'], ['value', 2, 'double']);

const SUMMARY_POINT = define(
  'SummaryDataPoint',
  attributes(7),
  ['startTimeUnixNano', 2, 'fixed64'],
  ['timeUnixNano', 3, 'fixed64'],
  ['count', 4, 'fixed64'],
  ['sum', 5, 'double'],
  ['quantileValues', 6, 'message[]', { message: VALUE_AT_QUANTILE }],
  ['flags', 8, 'uint32'],
);

const points = (message: JsonMessage): FieldSpec => ['dataPoints', 1, 'message[]', { message }];
const TEMPORALITY: FieldSpec = ['aggregationTemporality', 2, 'enum'];

const GAUGE = define('Gauge', points(NUMBER_POINT));
const SUM = define('Sum', points(NUMBER_POINT), TEMPORALITY, ['isMonotonic', 3, 'bool']);
const HISTOGRAM = define('Histogram', points(HISTOGRAM_POINT), TEMPORALITY);
const EXPONENTIAL = define('ExponentialHistogram', points(EXPONENTIAL_POINT), TEMPORALITY);
const SUMMARY = define('Summary', points(SUMMARY_POINT));

const METRIC = define(
  'Metric',
  ['name', 1, 'string'],
  ['description', 2, 'string'],
  ['unit', 3, 'string'],
  ['gauge', 5, 'message', { oneof: true, message: GAUGE }],
  ['sum', 7, 'message', { oneof: true, message: SUM }],
  ['histogram', 9, 'message', { oneof: true, message: HISTOGRAM }],
  ['exponentialHistogram', 10, 'message', { oneof: true, message: EXPONENTIAL }],
  ['summary', 11, 'message', { oneof: true, message: SUMMARY }],
  attributes(12, 'metadata'),
);

const SCOPE = define('InstrumentationScope', ['name', 1, 'string'], ['version', 2, 'string'], attributes(3), [
  'droppedAttributesCount',
  4,
  'uint32',
]);

const SCOPE_METRICS = define(
  'ScopeMetrics',
  ['scope', 1, 'message', { message: SCOPE }],
  ['metrics', 2, 'message[]', { message: METRIC }],
  ['schemaUrl', 3, 'string'],
);

const ENTITY_REF = define(
  'EntityRef',
  ['schemaUrl', 1, 'string'],
  ['type', 2, 'string'],
  ['idKeys', 3, 'string[]'],
  ['descriptionKeys', 4, 'string[]'],
);

const RESOURCE = define(
  'Resource',
  attributes(1),
  ['droppedAttributesCount', 2, 'uint32'],
  ['entityRefs', 3, 'message[]', { message: ENTITY_REF }],
);

const RESOURCE_METRICS = define(
  'ResourceMetrics',
  ['resource', 1, 'message', { message: RESOURCE }],
  ['scopeMetrics', 2, 'message[]', { message: SCOPE_METRICS }],
  ['schemaUrl', 3, 'string'],
);

/** opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest and everything below it. */
export const EXPORT_METRICS_REQUEST = define('ExportMetricsServiceRequest', [
  'resourceMetrics',
  1,
  'message[]',
  { message: RESOURCE_METRICS },
]);
