import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/base/app-error.ts';
import { decodeJsonMetrics } from '../../src/otlp/decode-json.ts';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import type { AnyValue, MetricsPayload, NumberPointPayload } from '../../src/otlp/metrics-payload.ts';
import { everyKind, toBytes, toJsonText } from '../support/otlp-client.ts';
import { reencode, toTree } from '../support/otlp-messages.ts';
import { payloads } from '../support/otlp-payloads.ts';

const REQUEST = 'ExportMetricsServiceRequest';

const decode = (json: string): Uint8Array => decodeJsonMetrics(toBytes(json));

/** A request with one gauge point, its members given as JSON text. */
const pointJson = (members: string): string =>
  `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"g","gauge":{"dataPoints":[{${members}}]}}]}]}]}`;

const withPoint = (point: Partial<NumberPointPayload>): MetricsPayload => ({
  resourceMetrics: [
    { scopeMetrics: [{ metrics: [{ name: 'g', gauge: { dataPoints: [{ timeUnixNano: 0n, ...point }] } }] }] },
  ],
});

const withAttribute = (value: AnyValue): MetricsPayload => withPoint({ attributes: [{ key: 'k', value }] });

const valueJson = (value: string): string => pointJson(`"attributes":[{"key":"k","value":${value}}]`);

function assertSame(json: string, payload: MetricsPayload): void {
  assert.deepEqual(Buffer.from(decode(json)), Buffer.from(encodeMetrics(payload)));
}

function assertMalformed(json: string | Uint8Array, message: RegExp): void {
  assert.throws(
    () => decodeJsonMetrics(typeof json === 'string' ? toBytes(json) : json),
    (error) => {
      assert.ok(error instanceof AppError, String(error));
      assert.equal(error.code, 'OTLP_MALFORMED');
      assert.match(error.message, message);
      return true;
    },
  );
}

test('every kind of metric gives the same request as protobuf does', () => {
  const fromJson = decode(toJsonText(everyKind()));
  assert.deepEqual(toTree(REQUEST, fromJson), toTree(REQUEST, encodeMetrics(everyKind())));
  assert.deepEqual(reencode(REQUEST, fromJson), reencode(REQUEST, encodeMetrics(everyKind())));
});

test('any request gives the same bytes as protobuf does, once fields are in one order', () => {
  fc.assert(
    fc.property(payloads, (payload) => {
      const fromJson = decode(toJsonText(payload));
      assert.deepEqual(reencode(REQUEST, fromJson), reencode(REQUEST, encodeMetrics(payload)));
    }),
    { numRuns: 300 },
  );
});

test('an empty object is an empty request', () => {
  assert.equal(decode('{}').length, 0);
  assert.equal(decode(' \n{ "resourceMetrics" : [ ] } \t').length, 0);
});

test('a bare integer keeps every digit', () => {
  assertSame(pointJson('"asInt":9007199254740993'), withPoint({ asInt: 9_007_199_254_740_993n }));
  assertSame(pointJson('"asInt":"-9223372036854775808"'), withPoint({ asInt: -(2n ** 63n) }));
  assertSame(pointJson('"timeUnixNano":18446744073709551615'), withPoint({ timeUnixNano: 2n ** 64n - 1n }));
});

test('any int64, bare or in quotes, is exact', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.boolean(), (value, quoted) => {
      const text = quoted ? `"${value}"` : String(value);
      assertSame(pointJson(`"asInt":${text}`), withPoint({ asInt: value }));
      assertSame(valueJson(`{"intValue":${text}}`), withAttribute({ intValue: value }));
    }),
  );
});

test('any uint64 beyond the range is malformed and names its path', () => {
  const path = /at \$\.resourceMetrics\[0\]\.scopeMetrics\[0\]\.metrics\[0\]\.gauge\.dataPoints\[0\]\.timeUnixNano/;
  assertMalformed(pointJson('"timeUnixNano":18446744073709551616'), path);
  assertMalformed(pointJson('"timeUnixNano":"99999999999999999999999999999"'), /out of range/);
  assertMalformed(pointJson('"timeUnixNano":-1'), /out of range/);
  assertMalformed(pointJson('"asInt":9223372036854775808'), /out of range/);
  assertMalformed(pointJson('"asInt":-9223372036854775809'), /out of range/);
  assertMalformed(pointJson('"flags":4294967296'), /out of range/);
});

test('a whole number may have a fraction or an exponent, others are malformed', () => {
  assertSame(pointJson('"asInt":1.0'), withPoint({ asInt: 1 }));
  assertSame(pointJson('"asInt":-2e3'), withPoint({ asInt: -2000 }));
  assertMalformed(pointJson('"asInt":1.5'), /whole number/);
  assertMalformed(pointJson('"asInt":1e40'), /whole number/);
});

test('any double, bare or in quotes, is correctly rounded', () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(finite, fc.boolean(), (value, quoted) => {
      const text = JSON.stringify(value);
      const json = pointJson(`"asDouble":${quoted ? `"${text}"` : text}`);
      assertSame(json, withPoint({ asDouble: Object.is(value, -0) ? 0 : value }));
    }),
    { numRuns: 500 },
  );
  const decimal = fc.tuple(fc.integer({ min: -99_999, max: 99_999 }), fc.stringMatching(/^\d{1,12}$/));
  fc.assert(
    fc.property(decimal, ([whole, fraction]) => {
      assertSame(pointJson(`"asDouble":${whole}.${fraction}`), withPoint({ asDouble: Number(`${whole}.${fraction}`) }));
    }),
    { numRuns: 500 },
  );
  assertSame(pointJson('"asDouble":-0.0'), withPoint({ asDouble: -0 }));
  assertSame(pointJson('"asDouble":-0'), withPoint({ asDouble: -0 }));
});

test('the names of NaN and the infinities are doubles, padded and other texts are malformed', () => {
  assertSame(pointJson('"asDouble":"NaN"'), withPoint({ asDouble: Number.NaN }));
  assertSame(pointJson('"asDouble":"Infinity"'), withPoint({ asDouble: Number.POSITIVE_INFINITY }));
  assertSame(pointJson('"asDouble":"-Infinity"'), withPoint({ asDouble: Number.NEGATIVE_INFINITY }));
  assertSame(pointJson('"asDouble":"1.2"'), withPoint({ asDouble: 1.2 }));
  for (const bad of [
    '" 1.2 "',
    '"+Inf"',
    '""',
    '"1.2x"',
    '"0x10"',
    '"nan"',
    '"1."',
    '".5"',
    'NaN',
    '01',
    '1e400',
    'true',
    '[]',
  ]) {
    assertMalformed(pointJson(`"asDouble":${bad}`), /asDouble/);
  }
  for (const bad of ['" 1"', '"1 "', '"NaN"', '""', '"0x1"', '"+1"', '"007"', '{}']) {
    assertMalformed(pointJson(`"asInt":${bad}`), /asInt/);
  }
});

test('the name of an enum value is malformed and says that a number is wanted', () => {
  const sum = (temporality: string): string =>
    `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"sum":{"aggregationTemporality":${temporality}}}]}]}]}`;
  assertMalformed(sum('"AGGREGATION_TEMPORALITY_DELTA"'), /aggregationTemporality must be a number/);
  assertMalformed(sum('"2"'), /aggregationTemporality must be a number/);
  const payload = { dataPoints: [], aggregationTemporality: 2, isMonotonic: false };
  assertSame(sum('2'), { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: '', sum: payload }] }] }] });
});

test('null is absent, for every kind of field, and does not count against a oneof', () => {
  const members = '"attributes":null,"timeUnixNano":null,"asInt":null,"flags":null,"asDouble":2,"exemplars":null';
  assertSame(pointJson(members), withPoint({ asDouble: 2 }));
  assertSame('{"resourceMetrics":[{"resource":null,"schemaUrl":null,"scopeMetrics":null}]}', {
    resourceMetrics: [{ scopeMetrics: [] }],
  });
  assertMalformed('{"resourceMetrics":[null]}', /an object \(ResourceMetrics\) expected/);
});

test('snake_case keys and unknown keys of any shape are ignored at every level', () => {
  const unknown = '"x":{"a":[1,-2.5e3,"s\\n",{"b":[[],{}]}],"c":null,"d":true,"e":false}';
  const json = `{${unknown},"resourceMetrics":[{${unknown},"schema_url":"no","scopeMetrics":[{${unknown},"metrics":[{"name":"g",
    ${unknown},"gauge":{"data_points":[{"asInt":1}],"dataPoints":[{${unknown},"time_unix_nano":"7","asInt":"3"}]}}]}]}],${unknown}}`;
  assertSame(json, withPoint({ asInt: 3 }));
});

test('keys that name parts of a prototype are ordinary', () => {
  const json = pointJson(
    '"__proto__":{"asInt":9},"constructor":1,"toString":[],"hasOwnProperty":null,"asInt":1,"attributes":[{"key":"__proto__","value":{"stringValue":"p"}}]',
  );
  const attributes = [{ key: '__proto__', value: { stringValue: 'p' } }];
  const text = Buffer.from(decode(json)).toString('latin1');
  assert.ok(text.includes('__proto__'));
  assert.equal(decode(json).length, encodeMetrics(withPoint({ asInt: 1, attributes })).length);
  assert.equal(({} as Record<string, unknown>)['asInt'], undefined);
});

test('escapes in values and keys are decoded', () => {
  assertSame(
    valueJson('{"stringValue":"\\u00e9\\n\\"\\\\\\/\\b\\f\\r\\t\\ud834\\udd1e"}'),
    withAttribute({ stringValue: 'é\n"\\/\b\f\r\t𝄞' }),
  );
  assertSame(valueJson('{"string\\u0056alue":"v"}'), withAttribute({ stringValue: 'v' }));
  assertSame(valueJson('{"stringValue":"\\ufeffx"}'), withAttribute({ stringValue: '\ufeffx' }));
  assertSame(valueJson('{"stringValue":"\ufeff\\nx"}'), withAttribute({ stringValue: '\ufeff\nx' }));
});

test('any text survives, however JSON writes it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (value) => {
      assertSame(valueJson(`{"stringValue":${JSON.stringify(value)}}`), withAttribute({ stringValue: value }));
      const escaped = [...Array(value.length).keys()]
        .map((index) => `\\u${value.charCodeAt(index).toString(16).padStart(4, '0')}`)
        .join('');
      assertSame(valueJson(`{"stringValue":"${escaped}"}`), withAttribute({ stringValue: value }));
    }),
  );
});

test('half of a surrogate pair, unknown escapes and raw control characters are malformed', () => {
  for (const bad of ['\\ud834', '\\ud834x', '\\udd1e', '\\ud834\\ud834']) {
    assertMalformed(valueJson(`{"stringValue":"${bad}"}`), /surrogate/);
  }
  assertMalformed(valueJson('{"stringValue":"\\x"}'), /unknown escape/);
  assertMalformed(valueJson('{"stringValue":"\\u12g4"}'), /hexadecimal/);
  assertMalformed(valueJson('{"stringValue":"\n"}'), /control character/);
  assertMalformed(pointJson('"unknown":"\t"'), /control character/);
});

test('text that is not UTF-8 is malformed, also below unknown keys', () => {
  const cut = (bytes: readonly number[], key: string): Uint8Array =>
    Buffer.concat([Buffer.from(`{"${key}":"`), Buffer.from(bytes), Buffer.from('"}')]);
  const bad = [
    [0xff],
    [0xc0, 0x80],
    [0xe2, 0x82],
    [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0x80],
    [0xe0, 0x80, 0x80],
    [0xf5],
  ];
  for (const bytes of bad) assertMalformed(cut(bytes, 'unknown'), /not UTF-8/);
});

test('the check for UTF-8 agrees with the decoder of the platform', () => {
  const fatal = new TextDecoder('utf-8', { fatal: true });
  const byte = fc.constantFrom(
    0x20,
    0x7f,
    0x80,
    0x8f,
    0x90,
    0x9f,
    0xa0,
    0xbf,
    0xc1,
    0xc2,
    0xdf,
    0xe0,
    0xe1,
    0xed,
    0xef,
    0xf0,
    0xf1,
    0xf4,
    0xf5,
  );
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 6 }), (bytes) => {
      const json = Buffer.concat([Buffer.from('{"u":"'), Buffer.from(bytes), Buffer.from('"}')]);
      let expected = true;
      try {
        fatal.decode(Uint8Array.from(bytes));
      } catch {
        expected = false;
      }
      let actual = true;
      try {
        decodeJsonMetrics(json);
      } catch {
        actual = false;
      }
      assert.equal(actual, expected);
    }),
    { numRuns: 2000 },
  );
});

test('bytesValue is base64 of either alphabet, padded or not', () => {
  const bytes = new Uint8Array([251, 255, 254, 1]);
  for (const text of ['+//+AQ==', '-__-AQ==', '+//+AQ']) {
    assertSame(valueJson(`{"bytesValue":"${text}"}`), withAttribute({ bytesValue: bytes }));
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (value) => {
      const text = Buffer.from(value).toString('base64');
      assertSame(valueJson(`{"bytesValue":"${text}"}`), withAttribute({ bytesValue: value }));
    }),
  );
  for (const bad of ['A', '=', 'AB=', 'A*==', 'AAAA=']) assertMalformed(valueJson(`{"bytesValue":"${bad}"}`), /base64/);
});

test('trace and span ids are hexadecimal of either case', () => {
  const exemplar = pointJson('"exemplars":[{"traceId":"0AfF","spanId":"00"}]');
  const bytes = Buffer.from(decode(exemplar)).toString('hex');
  assert.ok(bytes.includes('2a020aff'), bytes);
  assert.ok(bytes.includes('220100'), bytes);
  assertMalformed(pointJson('"exemplars":[{"traceId":"abc"}]'), /hexadecimal/);
  assertMalformed(pointJson('"exemplars":[{"traceId":"+/=="}]'), /hexadecimal/);
});

test('a byte order mark in front is skipped', () => {
  assert.equal(decode('\ufeff{}').length, 0);
});

test('a known key twice, two members of a oneof, and anything behind the object are malformed', () => {
  assertMalformed('{"resourceMetrics":[],"resourceMetrics":[]}', /"resourceMetrics" is given twice/);
  assertMalformed(pointJson('"asInt":1,"asInt":1'), /given twice/);
  assertMalformed(pointJson('"asInt":1,"asDouble":1'), /only one of "asInt" and "asDouble"/);
  assertMalformed(valueJson('{"stringValue":"a","boolValue":true}'), /only one of/);
  assertMalformed('{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"sum":{},"gauge":{}}]}]}]}', /only one of/);
  for (const tail of ['x', '{}', ',', 'null', '\u0000']) assertMalformed(`{}${tail}`, /followed by something else/);
  assert.equal(decode('{"u":1,"u":2}').length, 0);
});

test('a value of the wrong type is malformed', () => {
  for (const json of [
    '[]',
    '"x"',
    '1',
    'null',
    '',
    ' ',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{a:1}',
    '{"a":[1,]}',
    '{"a":tru}',
    '{"a":-}',
    '{"a":"',
  ]) {
    assertMalformed(json, /./);
  }
  assertMalformed('{"resourceMetrics":{}}', /an array \("resourceMetrics"\) expected/);
  assertMalformed('{"resourceMetrics":[[]]}', /an object \(ResourceMetrics\) expected, at \$\.resourceMetrics\[0\]/);
  assertMalformed(valueJson('"text"'), /an object \(AnyValue\)/);
  assertMalformed(valueJson('{"boolValue":"true"}'), /boolValue must be true or false/);
  assertMalformed(valueJson('{"boolValue":1}'), /boolValue must be true or false/);
  assertMalformed(valueJson('{"stringValue":1}'), /stringValue must be a string/);
});

const nested = (depth: number): string =>
  `${'{"arrayValue":{"values":['.repeat(depth - 1)}{"intValue":1}${']}}'.repeat(depth - 1)}`;

test('attribute values nest 100 deep; deeper ones are malformed and cost no stack', () => {
  assert.ok(decode(valueJson(nested(100))).length > 0);
  assertMalformed(valueJson(nested(101)), /nested deeper than 100/);
  assertMalformed(valueJson(nested(10_000)), /nested deeper than 100/);
  const lists = `${'{"kvlistValue":{"values":[{"value":'.repeat(10_000)}`;
  assertMalformed(valueJson(lists), /nested deeper than 100/);
});

test('unknown keys nest 512 deep; deeper ones are malformed and cost no stack', () => {
  const deep = (depth: number): string => `{"u":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  assert.equal(decode(deep(512)).length, 0);
  assertMalformed(deep(513), /nested deeper than 512/);
  assertMalformed(deep(1_000_000), /nested deeper than 512/);
  assertMalformed(`{"u":${'{"a":'.repeat(100_000)}`, /nested deeper than 512/);
});

test('whatever JSON.parse refuses is refused, and an object of unknown keys that it takes is an empty request', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.nat(), fc.nat(), fc.string({ maxLength: 2 }), (json, at, cut, insert) => {
      const text = `{"u":${json}}`;
      const from = at % (text.length + 1);
      const mutated = text.slice(0, from) + insert + text.slice(from + (cut % 3));
      let parsed: unknown;
      try {
        parsed = JSON.parse(new TextDecoder().decode(toBytes(mutated)));
      } catch {
        assertMalformed(mutated, /./);
        return;
      }
      const hasHalfPair = /\\u[dD][89a-fA-F]/.test(mutated);
      if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed) || hasHalfPair) return;
      assert.equal(decode(mutated).length, 0);
    }),
    { numRuns: 2000 },
  );
});

test('messages stay short however long keys and paths are', () => {
  const key = 'k'.repeat(100_000);
  assert.throws(
    () => decode(`{"${key}":[${`{"${key}":`.repeat(50)}x`),
    (error) => error instanceof AppError && error.message.length < 600,
  );
});
