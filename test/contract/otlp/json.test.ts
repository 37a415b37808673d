import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeJsonMetrics } from '../../../src/otlp/decode-json.ts';
import { encodeMetrics } from '../../../src/otlp/encode-metrics.ts';
import type { MetricsPayload } from '../../../src/otlp/metrics-payload.ts';
import { send, toBytes, toJsonText } from '../../support/otlp-client.ts';
import { toTree } from '../../support/otlp-messages.ts';
import { payloads } from '../../support/otlp-payloads.ts';
import { decoded, type ExpectedPoint } from '../../support/otlp-proto.ts';
import { startStack } from '../../support/otlp-stack.ts';
import { createRecording } from '../../support/recording-ingest.ts';

const T0 = 1_800_000_000_000;

/** A request of one gauge point with these members. */
const pointJson = (members: string): string =>
  `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"g","gauge":{"dataPoints":[{${members}}]}}]}]}]}`;
const read = (json: string): ExpectedPoint | undefined => decoded(decodeJsonMetrics(toBytes(json))).points[0];
const tree = (json: string): string =>
  JSON.stringify(toTree('ExportMetricsServiceRequest', decodeJsonMetrics(toBytes(json))));

/** Posts JSON to the whole receiver. */
async function post(port: number, body: string | Uint8Array): Promise<{ status: number; message: string }> {
  const answer = await send(port, { headers: { 'content-type': 'application/json' }, body });
  const { message = '' } = JSON.parse(answer.body.toString());
  return { status: answer.status, message };
}

describe('OTLP/JSON decoding', () => {
  test('J1 only lowerCamelCase is known: snake_case keys are ignored', () => {
    const point = read(
      pointJson('"time_unix_nano":"9","timeUnixNano":"7","as_int":"1","asDouble":2.5,"start_time_unix_nano":1'),
    );
    assert.deepEqual([point?.time, point?.start, point?.value], [7n, 0n, 2.5]);
    assert.deepEqual(decoded(decodeJsonMetrics(toBytes('{"resource_metrics":[{"scope_metrics":[]}]}'))).points, []);
  });

  test('J2 unknown keys are ignored at every level', async (context) => {
    const x = '"x":{"a":[1,-2.5e3,"s",{"b":[[],{}]}],"c":null,"d":true}';
    const value = `{${x},"stringValue":"v"}`;
    const point = `{${x},"timeUnixNano":"${T0}000000","asInt":"3","attributes":[{${x},"key":"k","value":${value}}]}`;
    const metric = `{${x},"name":"g","gauge":{${x},"dataPoints":[${point}]}}`;
    const scope = `{${x},"scope":{${x},"name":"s"},"metrics":[${metric}]}`;
    const resource = `{${x},"attributes":[{"key":"host.name","value":{"stringValue":"h"}}]}`;
    const { httpPort, gauges } = await startStack(context);
    const body = `{${x},"resourceMetrics":[{${x},"resource":${resource},"scopeMetrics":[${scope}]}]}`;
    assert.equal((await post(httpPort, body)).status, 200);
    assert.deepEqual(
      gauges.map(({ series, amount }) => [series, amount]),
      [['g{k=string:v} h', 3]],
    );
  });

  test('J3 64-bit integers are exact, as text and as numbers', () => {
    for (const text of ['9007199254740993', '-9007199254740993', '9223372036854775807', '-9223372036854775808', '0']) {
      for (const written of [text, `"${text}"`]) {
        assert.equal(read(pointJson(`"asInt":${written}`))?.exactInt, BigInt(text), written);
      }
    }
    for (const written of ['18446744073709551615', '"18446744073709551615"']) {
      assert.equal(read(pointJson(`"timeUnixNano":${written}`))?.time, 2n ** 64n - 1n);
    }
  });

  test('J4 doubles are numbers or text, the three names included; padded and other text is 400', async (context) => {
    const values: readonly [string, number][] = [
      ['1.5', 1.5],
      ['"1.2"', 1.2],
      ['"-1e-7"', -1e-7],
      ['"NaN"', Number.NaN],
      ['"Infinity"', Number.POSITIVE_INFINITY],
      ['"-Infinity"', Number.NEGATIVE_INFINITY],
      ['5e-324', 5e-324],
    ];
    for (const [written, value] of values)
      assert.ok(Object.is(read(pointJson(`"asDouble":${written}`))?.value, value), written);
    const { httpPort } = await startStack(context);
    for (const bad of ['" 1.2 "', '"+Inf"', '"Inf"', '"nan"', '""', '"1,2"', '"0x1"', 'NaN', 'true', '[]']) {
      assert.equal((await post(httpPort, pointJson(`"asDouble":${bad}`))).status, 400, bad);
    }
  });

  test('J5 enums are integers: a name is 400 and says why, never silently 0', async (context) => {
    const json = (temporality: string): string =>
      `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","sum":{"aggregationTemporality":${temporality},"dataPoints":[{"asInt":1}]}}]}]}]}`;
    assert.equal(read(json('1'))?.temporality, 1);
    assert.equal(read(json('2'))?.temporality, 2);
    const { httpPort } = await startStack(context);
    for (const name of ['"AGGREGATION_TEMPORALITY_CUMULATIVE"', '"2"', '""']) {
      const { status, message } = await post(httpPort, json(name));
      assert.equal(status, 400);
      assert.match(message, /aggregationTemporality must be a number: OTLP\/JSON allows no names of enum values/);
    }
  });

  test('J6 trace and span ids are hexadecimal of either case, other bytes are base64', async (context) => {
    const ids = '"exemplars":[{"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"eee19b7ec3c1b174"}]';
    const [traceId, spanId] = ['5b8efff798038103d269b633813fc60c', 'eee19b7ec3c1b174'].map((hex) =>
      Buffer.from(hex, 'hex').toString('base64'),
    );
    assert.ok(tree(pointJson(ids)).includes(`"spanId":"${spanId}","traceId":"${traceId}"`));
    const bytes = '"attributes":[{"key":"k","value":{"bytesValue":"+/8="}}]';
    assert.deepEqual(tree(pointJson(bytes)).includes('"bytesValue":"+/8="'), true);
    const { httpPort } = await startStack(context);
    for (const bad of [
      '"exemplars":[{"traceId":"W47/95gDgQPSabYzgT/GDA=="}]',
      '"exemplars":[{"spanId":"abc"}]',
      '"attributes":[{"key":"k","value":{"bytesValue":"*"}}]',
    ]) {
      assert.equal((await post(httpPort, pointJson(bad))).status, 400, bad);
    }
  });

  test('J7 null is the same as absent, wherever a field may be', () => {
    const nulls =
      '"attributes":null,"startTimeUnixNano":null,"timeUnixNano":"7","asInt":null,"asDouble":2,"exemplars":null,"flags":null';
    assert.deepEqual(read(pointJson(nulls)), read(pointJson('"timeUnixNano":"7","asDouble":2')));
    const json =
      '{"resourceMetrics":[{"resource":null,"schemaUrl":null,"scopeMetrics":[{"scope":null,"metrics":[{"name":"m","unit":null,"sum":null,"gauge":{"dataPoints":[{"timeUnixNano":"7"}]}}]}]}]}';
    assert.deepEqual([read(json)?.name, read(json)?.unit, read(json)?.kind], ['m', '', 1]);
    assert.equal(decodeJsonMetrics(toBytes('{"resourceMetrics":null}')).length, 0);
  });

  test('J8 metadata, schemaUrl and scope attributes are taken', async (context) => {
    const attributes = '"attributes":[{"key":"a","value":{"stringValue":"b"}}]';
    const metric = `{"name":"g","metadata":[{"key":"m","value":{"intValue":"1"}}],"gauge":{"dataPoints":[{"timeUnixNano":"${T0}000000","asInt":1}]}}`;
    const json = `{"resourceMetrics":[{"schemaUrl":"https://r","scopeMetrics":[{"schemaUrl":"https://s","scope":{"name":"n","version":"1",${attributes}},"metrics":[${metric}]}]}]}`;
    for (const part of [
      '"schemaUrl":"https://r"',
      '"schemaUrl":"https://s"',
      '"metadata":[{"key":"m","value":{"intValue":"1"}}]',
    ]) {
      assert.ok(tree(json).includes(part), part);
    }
    const { httpPort, bound } = await startStack(context);
    assert.equal((await post(httpPort, json)).status, 200);
    assert.equal(bound[0]?.scope.attributes.get('a')?.text, 'b');
  });

  test('J9 a byte order mark is skipped; anything behind the object and a known key twice are 400', async (context) => {
    const { httpPort, gauges } = await startStack(context);
    const good = pointJson(`"timeUnixNano":"${T0}000000","asInt":1`);
    assert.equal((await post(httpPort, `\ufeff${good} \r\n\t`)).status, 200);
    assert.equal(gauges.length, 1);
    for (const tail of ['x', '{}', ',', '\0', '\ufeff']) {
      const { status, message } = await post(httpPort, good + tail);
      assert.equal(status, 400, tail);
      assert.match(message, /followed by something else/);
    }
    const twice = await post(httpPort, pointJson('"asInt":1,"asInt":2'));
    assert.deepEqual([twice.status, /"asInt" is given twice/.test(twice.message)], [400, true]);
    assert.equal((await post(httpPort, '{"unknown":1,"unknown":2}')).status, 200);
    assert.equal(gauges.length, 1);
  });

  test('J10 the same payload as protobuf and as JSON comes to the same state', () => {
    const state = (bytes: Uint8Array) => {
      const recording = createRecording();
      const outcome = recording.sendBytes(bytes, T0);
      const { counted, below, observed, gauges, bound, ingest } = recording;
      return {
        outcome,
        counted,
        below,
        observed,
        gauges,
        bound,
        counters: ingest.counters(),
        snapshot: ingest.snapshot().state,
      };
    };
    /** Random times are hardly ever in reach: put them where points count. */
    const near = (payload: MetricsPayload): MetricsPayload =>
      JSON.parse(
        JSON.stringify(payload, (key, value: unknown) => {
          if (key === 'timeUnixNano') return `${T0 - Number(BigInt(value as string) % 7n) * 1000}000000`;
          if (key === 'startTimeUnixNano') return `${T0 - 60_000}000000`;
          if (value instanceof Uint8Array) return { bytes: [...value] };
          if (typeof value === 'number' && !Number.isFinite(value)) return 1;
          return typeof value === 'bigint' ? String(value) : value;
        }),
        (_, value: unknown) =>
          typeof value === 'object' && value !== null && 'bytes' in value
            ? Uint8Array.from(value.bytes as number[])
            : value,
      ) as MetricsPayload;
    let accepted = 0;
    fc.assert(
      fc.property(payloads, (payload) => {
        const placed = near(payload);
        const fromProtobuf = state(encodeMetrics(placed));
        assert.deepEqual(state(decodeJsonMetrics(toBytes(toJsonText(placed)))), fromProtobuf);
        accepted += fromProtobuf.counters.get('accepted') ?? 0;
      }),
      { seed: 10, numRuns: 200 },
    );
    assert.ok(accepted > 100, `only ${accepted} points were good enough to compare anything`);
  });
});
