import type { Integer64 } from './wire-writer.ts';

/**
 * An ExportMetricsServiceRequest as a tree, in the shape and with the names of OTLP/JSON. 64-bit values are exact as
 * bigint or decimal text; enums are their numbers (see staging: TEMPORALITY_*).
 */
export interface MetricsPayload {
  readonly resourceMetrics: readonly ResourceMetricsPayload[];
}

export interface ResourceMetricsPayload {
  readonly resource?: { readonly attributes?: readonly KeyValue[]; readonly droppedAttributesCount?: number };
  readonly scopeMetrics: readonly ScopeMetricsPayload[];
  readonly schemaUrl?: string;
}

export interface ScopeMetricsPayload {
  readonly scope?: {
    readonly name?: string;
    readonly version?: string;
    readonly attributes?: readonly KeyValue[];
    readonly droppedAttributesCount?: number;
  };
  readonly metrics: readonly MetricPayload[];
  readonly schemaUrl?: string;
}

/** One metric; at most one of the five kinds of data is set. */
export interface MetricPayload {
  readonly name: string;
  readonly description?: string;
  readonly unit?: string;
  readonly gauge?: { readonly dataPoints: readonly NumberPointPayload[] };
  readonly sum?: {
    readonly dataPoints: readonly NumberPointPayload[];
    readonly aggregationTemporality: number;
    readonly isMonotonic: boolean;
  };
  readonly histogram?: {
    readonly dataPoints: readonly HistogramPointPayload[];
    readonly aggregationTemporality: number;
  };
  readonly exponentialHistogram?: {
    readonly dataPoints: readonly ExponentialHistogramPointPayload[];
    readonly aggregationTemporality: number;
  };
  readonly summary?: { readonly dataPoints: readonly SummaryPointPayload[] };
  readonly metadata?: readonly KeyValue[];
}

/** Nanoseconds since 1970-01-01T00:00:00Z; decimal text as JSON has it. */
export type UnixNano = bigint | string;

export interface PointPayload {
  readonly attributes?: readonly KeyValue[];
  /** Left out or 0 = unknown. */
  readonly startTimeUnixNano?: UnixNano;
  readonly timeUnixNano: UnixNano;
  readonly flags?: number;
  readonly exemplars?: readonly ExemplarPayload[];
}

export interface NumberPointPayload extends PointPayload {
  /** One of the two; neither only with the flag "no recorded value". */
  readonly asInt?: Integer64;
  readonly asDouble?: number;
}

export interface HistogramPointPayload extends PointPayload {
  readonly count: Integer64;
  readonly sum?: number;
  readonly bucketCounts?: readonly Integer64[];
  readonly explicitBounds?: readonly number[];
  readonly min?: number;
  readonly max?: number;
}

export interface BucketsPayload {
  readonly offset: number;
  readonly bucketCounts: readonly Integer64[];
}

export interface ExponentialHistogramPointPayload extends PointPayload {
  readonly count: Integer64;
  readonly sum?: number;
  readonly scale: number;
  readonly zeroCount?: Integer64;
  readonly positive?: BucketsPayload;
  readonly negative?: BucketsPayload;
  readonly min?: number;
  readonly max?: number;
  readonly zeroThreshold?: number;
}

export interface SummaryPointPayload extends PointPayload {
  readonly count: Integer64;
  readonly sum: number;
  readonly quantileValues?: readonly { readonly quantile: number; readonly value: number }[];
}

export interface ExemplarPayload {
  readonly filteredAttributes?: readonly KeyValue[];
  readonly timeUnixNano: UnixNano;
  readonly asInt?: Integer64;
  readonly asDouble?: number;
}

export interface KeyValue {
  readonly key: string;
  readonly value?: AnyValue;
}

/** At most one key is set; none = the empty value. */
export interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: Integer64;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
  readonly kvlistValue?: { readonly values: readonly KeyValue[] };
  readonly bytesValue?: Uint8Array;
}

/** Attributes from a plain record, in its order: whole numbers become intValue, others doubleValue. */
export function toAttributes(record: Readonly<Record<string, string | number | bigint | boolean>>): KeyValue[] {
  return Object.entries(record).map(([key, value]) => ({ key, value: toAnyValue(value) }));
}

function toAnyValue(value: string | number | bigint | boolean): AnyValue {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return { intValue: value };
  return { doubleValue: value };
}
