import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../src/base/app-error.ts';
import { decodeJsonMetrics } from '../../src/otlp/decode-json.ts';
import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { normalizeMetrics } from '../../src/otlp/normalize.ts';
import { KIND_SUMMARY, Staging } from '../../src/otlp/staging.ts';
import { WIRE_BYTES, WireReader } from '../../src/otlp/wire.ts';
import { decodeScope, decodeText, UnreadableAttributes } from '../../src/series/attribute-reader.ts';
import type { FuzzBody } from './fuzz-bodies.ts';
import { keptRequestType, messageType } from './otlp-messages.ts';
import { decoded, type Expected, expectedOf } from './otlp-proto.ts';
import { bytesField, concat } from './wire-bytes.ts';

/**
 * `agree`: both read the same points. `refused`: ours calls the body malformed, which it may. `unreadable`: the body is
 * sound, attributes of a point are not, so that the point is rejected later. `apart`: no comparison is possible.
 * `lenient`: protobufjs finds fault with what ours does not look into: a text that a later one replaces, say.
 */
export type Verdict =
  | { readonly kind: 'agree' | 'refused' | 'unreadable'; readonly theirsAccepts: boolean }
  | { readonly kind: 'apart' | 'lenient'; readonly why: string }
  | { readonly kind: 'differ'; readonly what: string };

const REQUEST = messageType('ExportMetricsServiceRequest');
const THEIRS_REFUSES = 'protobufjs refuses it:';
const KEPT_REQUEST = keptRequestType();
const staging = new Staging();

/** What the two decoders make of a body that has been inflated. */
export function compareDecoders({ encoding, body }: Pick<FuzzBody, 'encoding' | 'body'>): Verdict {
  if (body === null) return { kind: 'apart', why: 'no gzip' };
  const theirs = attempt(() => expectedOf(encoding === 'json' ? theirProto(body) : body, KEPT_REQUEST));
  let protobuf: Uint8Array;
  try {
    protobuf = encoding === 'json' ? decodeJsonMetrics(body) : body;
    decodeMetrics(protobuf, staging);
  } catch (error) {
    if (error instanceof AppError) return { kind: 'refused', theirsAccepts: !(theirs instanceof Error) };
    return { kind: 'differ', what: `ours throws ${String(error)}` };
  }
  const ours = attempt(() => decoded(protobuf, staging));
  if (ours instanceof UnreadableAttributes) return { kind: 'unreadable', theirsAccepts: !(theirs instanceof Error) };
  if (ours instanceof Error) return { kind: 'differ', what: `ours throws ${String(ours)}` };
  if (hasUnreadable(protobuf)) return { kind: 'unreadable', theirsAccepts: !(theirs instanceof Error) };
  if (theirs instanceof Error && theirs.message === 'max depth exceeded') return { kind: 'apart', why: 'nested deep' };
  if (encoding === 'json') {
    const why = whyJsonIsApart(body);
    if (why !== null) return { kind: 'apart', why };
    // The conversion must also be protobuf that theirs reads as ours does.
    const converted = attempt(() => expectedOf(protobuf, KEPT_REQUEST));
    const difference = differenceOf(ours, converted);
    if (difference !== null) return { kind: 'differ', what: `converted: ${difference}` };
  }
  const difference =
    theirs instanceof Error
      ? differenceOf(
          withoutSummaries(ours),
          attempt(() => keptOf(protobuf)),
        ) &&
        differenceOf(
          withoutSummaries(ours),
          attempt(() => keptOf(normalizeMetrics(protobuf))),
        )
      : differenceOf(ours, theirs);
  if (difference === null) return { kind: 'agree', theirsAccepts: true };
  if (!difference.startsWith(THEIRS_REFUSES)) return { kind: 'differ', what: difference };
  return { kind: 'lenient', why: difference };
}

const withoutSummaries = ({ points }: Expected): Expected => ({
  points: points.filter(({ kind }) => kind !== KIND_SUMMARY),
});

/**
 * What protobufjs reads without what ours passes unread: what holds no point, summaries, which are refused, and, once
 * normalised, members of a oneof that a later one clears.
 */
const keptOf = (bytes: Uint8Array): Expected => expectedOf(onlyWithPoints(bytes), KEPT_REQUEST);

/** Enum values that OTLP does not have are as good as none to us; protobufjs keeps their numbers. */
const knownEnums = ({ points }: Expected): Expected => ({
  points: points.map((point) => ({
    ...point,
    temporality: [1, 2].includes(point.temporality) ? point.temporality : 0,
  })),
});

/** The request without whatever holds no point that may be kept. */
function onlyWithPoints(bytes: Uint8Array): Uint8Array {
  const resources = fieldsOf(bytes).flatMap(({ number, body, from, to }) => {
    if (number !== 1) return [bytes.subarray(from, to)];
    const inner = fieldsOf(body).map((field) => (field.number === 2 ? scopeWithPoints(field.body) : field.whole));
    return inner.some((piece, index) => piece !== null && fieldsOf(body)[index]?.number === 2)
      ? [bytesField(1, concat(...inner.filter((piece) => piece !== null)))]
      : [];
  });
  return concat(...resources);
}

function scopeWithPoints(body: Uint8Array): Uint8Array | null {
  const fields = fieldsOf(body);
  const kept = fields.filter(({ number, body: metric }) => number !== 2 || hasPoints(metric));
  return kept.some(({ number }) => number === 2) ? bytesField(2, concat(...kept.map(({ whole }) => whole))) : null;
}

const hasPoints = (metric: Uint8Array): boolean =>
  fieldsOf(metric).some(
    ({ number, body }) => [5, 7, 9, 10].includes(number) && fieldsOf(body).some((inner) => inner.number === 1),
  );

function fieldsOf(bytes: Uint8Array) {
  const reader = new WireReader();
  reader.open(bytes);
  const fields = [];
  while (reader.position < bytes.length) {
    const from = reader.position;
    const tag = reader.tag(bytes.length);
    let body: Uint8Array = new Uint8Array(0);
    if ((tag & 7) === WIRE_BYTES) {
      const end = reader.endOfBytes(bytes.length);
      body = bytes.subarray(reader.position, end);
      reader.position = end;
    } else reader.skip(tag & 7, bytes.length);
    fields.push({ number: tag >>> 3, body, whole: bytes.subarray(from, reader.position), from, to: reader.position });
  }
  return fields;
}

function attempt<T>(work: () => T): T | Error {
  try {
    return work();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** What is not UTF-8, or no attribute, is found out when series are looked for, and refused with its points. */
function hasUnreadable(protobuf: Uint8Array): boolean {
  decodeMetrics(protobuf, staging);
  const { bytes, contextCount, metricCount } = staging;
  const at = (column: Int32Array, index: number): number => column[index] ?? 0;
  try {
    for (let index = 0; index < contextCount; index += 1) {
      decodeScope(bytes, at(staging.scopeFrom, index), at(staging.scopeTo, index));
      decodeText(bytes, at(staging.schemaFrom, index), at(staging.schemaTo, index));
    }
    for (let index = 0; index < metricCount; index += 1) {
      decodeText(bytes, at(staging.nameFrom, index), at(staging.nameTo, index));
      decodeText(bytes, at(staging.unitFrom, index), at(staging.unitTo, index));
    }
    return false;
  } catch (error) {
    if (error instanceof UnreadableAttributes) return true;
    throw error;
  }
}

function differenceOf(ours: Expected, theirsAsRead: Expected | Error): string | null {
  if (theirsAsRead instanceof Error) return `${THEIRS_REFUSES} ${theirsAsRead.message}`;
  const theirs = knownEnums(theirsAsRead);
  if (isDeepStrictEqual(ours, theirs)) return null;
  const show = (value: unknown): string =>
    JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? `${inner}n` : inner));
  const index = ours.points.findIndex((point, at) => !isDeepStrictEqual(point, theirs.points[at]));
  return `${ours.points.length}/${theirs.points.length} points, at ${index}: ${show(ours.points[index])} / ${show(theirs.points[index])}`;
}

function theirProto(body: Uint8Array): Uint8Array {
  const tree = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as Record<string, unknown>;
  return REQUEST.encode(REQUEST.fromObject(tree)).finish();
}

/** Where JSON.parse or fromObject follow other rules than OTLP/JSON: numbers that a double does not hold. */
function whyJsonIsApart(body: Uint8Array): string | null {
  const text = new TextDecoder().decode(body);
  if (/\d{16}/.test(text.replace(/"\d{1,20}"/g, '""'))) return 'a number that a double does not hold';
  // "1e3" is a whole number in JSON's mapping; fromObject reads its digits up to the letter.
  if (/"-?\d[\d.]*[eE][+-]?\d+"/.test(text)) return 'a quoted whole number with an exponent';
  return null;
}
