import { gzipSync } from 'node:zlib';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import { type MetricsPayload, toAttributes } from '../../src/otlp/metrics-payload.ts';
import { type FuzzBody, toJson } from './fuzz-bodies.ts';
import { fixed64Field, tagOf, varint } from './wire-bytes.ts';

const MIB = 1024 * 1024;

/** A body made to cost as much as it can, at most 1 MiB on the wire and 64 MiB inflated, and the answers it may get. */
export interface HeavyBody extends Omit<FuzzBody, 'body'> {
  readonly statuses: readonly number[];
}

const concat = (...parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts);
const field = (number: number, body: Uint8Array): Uint8Array =>
  Buffer.concat([tagOf(number, 2), varint(body.length), body]);
const request = (...scopes: readonly Uint8Array[]): Uint8Array => field(1, concat(...scopes));
const scope = (...metrics: readonly Uint8Array[]): Uint8Array => field(2, concat(...metrics));
const sumMetric = (points: Uint8Array): Uint8Array =>
  field(2, concat(field(1, text('lb.requests')), field(7, concat(points, Uint8Array.of(0x10, 2, 0x18, 1)))));
const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const attribute = (number: number, key: string, value: Uint8Array): Uint8Array =>
  field(number, concat(field(1, text(key)), field(2, value)));

/** `piece` until there are `bytes` of it. */
function repeated(piece: Uint8Array, bytes: number): Uint8Array {
  const all = Buffer.alloc(bytes - (bytes % piece.length));
  all.fill(piece);
  return all;
}

function newSeries(now: number, bytes: number, round: number): MetricsPayload {
  const dataPoints = Array.from({ length: Math.floor(bytes / 130) }, (_, index) => ({
    attributes: toAttributes({
      'lb.side': 'upstream',
      'lb.upstream.cluster': `c-${index % 50}`,
      route: `${round}/${index}`,
    }),
    startTimeUnixNano: `${now - 60_000}000000`,
    timeUnixNano: `${now}000000`,
    asInt: String(index),
  }));
  const sum = { dataPoints, aggregationTemporality: 2, isMonotonic: true };
  return { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'lb.requests', sum }] }] }] };
}

/** One series, its points from newest to oldest. */
function backwards(now: number, bytes: number): Uint8Array {
  const points: Uint8Array[] = [];
  for (let size = 0, at = now; size < bytes; at -= 1) {
    const point = field(1, concat(fixed64Field(3, BigInt(at) * 1_000_000n), fixed64Field(6, 5n)));
    points.push(point);
    size += point.length;
  }
  return request(scope(sumMetric(Buffer.concat(points))));
}

/** A resource of 60 KiB and as many scopes as fit. */
function manyScopes(now: number, bytes: number): Uint8Array {
  const resource = field(1, attribute(1, 'service.instance.id', field(1, new Uint8Array(60_000).fill(0x61))));
  const point = field(1, concat(fixed64Field(3, BigInt(now) * 1_000_000n), fixed64Field(6, 5n)));
  const scopes: Uint8Array[] = [];
  for (let size = 0, index = 0; size < bytes; index += 1) {
    const one = scope(field(1, field(1, text(`s${index}`))), sumMetric(point));
    scopes.push(one);
    size += one.length;
  }
  return request(resource, Buffer.concat(scopes));
}

/** Attribute values of 60 KiB that come in as many pieces as there can be. */
function piecedValues(now: number, bytes: number): Uint8Array {
  const points: Uint8Array[] = [];
  for (let size = 0, index = 0; size < bytes; index += 1) {
    const value = repeated(Uint8Array.of(0x2a, 2, 0x0a, 0), 60_000);
    const time = fixed64Field(3, BigInt(now) * 1_000_000n);
    const point = field(1, concat(time, fixed64Field(6, BigInt(index)), attribute(7, `list-${index}`, value)));
    points.push(point);
    size += point.length;
  }
  return request(scope(sumMetric(Buffer.concat(points))));
}

const pointsOf = (kind: number, points: Uint8Array): Uint8Array =>
  request(scope(field(2, concat(field(1, text('lb.latency')), field(kind, points)))));

/** Points of series that no other round has. */
export function newSeriesBodies(now: number, round: number): HeavyBody[] {
  const name = 'new series';
  const [protobuf, json] = [newSeries(now, 0.9 * MIB, round), newSeries(now, 0.25 * MIB, -1 - round)];
  return [
    { name, encoding: 'protobuf', isGzip: false, wire: encodeMetrics(protobuf), statuses: [200] },
    { name, encoding: 'json', isGzip: false, wire: toJson(json), statuses: [200] },
  ];
}

/** The worst we know of. */
export function heavyBodies(now: number): HeavyBody[] {
  const bodies: HeavyBody[] = [];
  const add = (name: string, encoding: 'protobuf' | 'json', body: Uint8Array, statuses = [200, 400]): void => {
    if (body.length <= MIB) bodies.push({ name, encoding, isGzip: false, wire: body, statuses });
    const wire = gzipSync(body, { level: 9 });
    if (wire.length <= MIB) bodies.push({ name: `${name}, gzip`, encoding, isGzip: true, wire, statuses });
  };
  for (const [size, bytes] of [
    ['1 MiB', MIB - 1000],
    ['64 MiB', 64 * MIB - 1000],
  ] as const) {
    add(`empty points, ${size}`, 'protobuf', pointsOf(7, repeated(Uint8Array.of(0x0a, 0), bytes)));
    add(`empty scopes, ${size}`, 'protobuf', request(repeated(Uint8Array.of(0x12, 0), bytes)));
    add(`empty metrics, ${size}`, 'protobuf', request(scope(repeated(Uint8Array.of(0x12, 2, 0x2a, 0), bytes))));
    add(`unknown fields, ${size}`, 'protobuf', repeated(concat(tagOf(1000, 0), varint(1)), bytes));
    add(`one bucket list, ${size}`, 'protobuf', pointsOf(9, field(1, field(6, new Uint8Array(8 * (bytes >> 3))))));
    add(`varint buckets, ${size}`, 'protobuf', pointsOf(10, field(1, field(8, field(2, new Uint8Array(bytes))))));
    add(
      `one attribute, ${size}`,
      'protobuf',
      pointsOf(7, field(1, attribute(7, 'a', field(1, new Uint8Array(bytes))))),
    );
    add(
      `a pieced metric, ${size}`,
      'protobuf',
      request(
        scope(
          repeated(concat(field(2, concat(field(7, field(1, new Uint8Array(0))), field(7, new Uint8Array(0))))), bytes),
        ),
      ),
    );
    add(`zeros, ${size}`, 'protobuf', new Uint8Array(bytes));
    add(
      `points backwards, ${size === '1 MiB' ? size : '16 MiB'}`,
      'protobuf',
      backwards(now, Math.min(bytes, 16 * MIB)),
    );
    add(
      `scopes of a long resource, ${size === '1 MiB' ? size : '8 MiB'}`,
      'protobuf',
      manyScopes(now, Math.min(bytes - 61_000, 8 * MIB)),
    );
    add(`values in pieces, ${size}`, 'protobuf', piecedValues(now, bytes - 61_000));
    add(`spaces, ${size}`, 'json', concat(text('{"resourceMetrics":['), repeated(text(' '), bytes - 100), text(']}')));
    add(`one string, ${size}`, 'json', concat(text('{"a":"'), repeated(text('\u00e9'), bytes - 100), text('"}')));
    add(`escapes, ${size}`, 'json', concat(text('{"a":"'), repeated(text('\\u0041'), bytes - 100), text('"}')));
    add(`unknown arrays, ${size}`, 'json', concat(text('{"a":[0'), repeated(text(',[]'), bytes - 100), text(']}')));
    add(
      `empty messages, ${size}`,
      'json',
      concat(text('{"resourceMetrics":[{}'), repeated(text(',{}'), bytes - 100), text(']}')),
    );
    const points = concat(
      text('{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"sum":{"dataPoints":[{}'),
      repeated(text(',{}'), bytes - 200),
      text(']}}]}]}]}'),
    );
    add(`empty points, ${size}`, 'json', points);
  }
  const bomb = gzipSync(new Uint8Array(65 * MIB));
  bodies.push({ name: 'a bomb of 65 MiB', encoding: 'protobuf', isGzip: true, wire: bomb, statuses: [413] });
  return bodies;
}
