import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import { toAttributes } from '../../src/otlp/metrics-payload.ts';
import { decodeAttributes } from '../../src/series/attribute-reader.ts';
import { createRecording } from '../support/recording-ingest.ts';
import { bytesField, concat, fixed64Field } from '../support/wire-bytes.ts';

const T0 = 1_800_000_000_000;
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

const gauge = (name: string) => ({ name, gauge: { dataPoints: [{ timeUnixNano: `${T0}000000`, asInt: '1' }] } });

describe('requests made to cost much', () => {
  test('a list in thousands of pieces is one list', () => {
    const piece = bytesField(5, bytesField(1, concat(Uint8Array.of(0x10), Uint8Array.of(1))));
    const pieces = 10_000;
    const attribute = bytesField(
      7,
      concat(bytesField(1, text('a')), bytesField(2, concat(...Array(pieces).fill(piece)))),
    );
    const value = decodeAttributes(attribute, 0, attribute.length, 0x3a).get('a');
    assert.equal(value?.type, 'array');
    assert.deepEqual(JSON.parse(value?.text ?? ''), Array(pieces).fill(['bool', 'true']));
  });

  test('a later member of the value replaces the pieces of a list, and a list begins anew behind it', () => {
    const list = bytesField(5, bytesField(1, Uint8Array.of(0x10, 1)));
    const word = bytesField(1, text('x'));
    const read = (...members: readonly Uint8Array[]) => {
      const attribute = bytesField(7, concat(...members.map((member) => bytesField(2, member))));
      return decodeAttributes(attribute, 0, attribute.length, 0x3a).get('');
    };
    assert.deepEqual(read(list, list), {
      type: 'array',
      text: '[["bool",true],["bool",true]]'.replaceAll('true', '"true"'),
    });
    assert.deepEqual(read(list, word), { type: 'string', text: 'x' });
    assert.deepEqual(read(word, list), { type: 'array', text: '[["bool","true"]]' });
  });

  test('field number 0 inside attributes makes them unreadable', () => {
    const scope = bytesField(1, bytesField(3, concat(bytesField(1, text('on')), Uint8Array.of(0x02, 0x00))));
    const point = bytesField(1, concat(fixed64Field(3, BigInt(T0) * 1_000_000n), fixed64Field(6, 1n)));
    const metric = bytesField(2, concat(bytesField(1, text('m')), bytesField(5, point)));
    const { ingest, sendBytes } = createRecording();
    const { rejected } = sendBytes(bytesField(1, bytesField(2, concat(scope, metric))), T0);
    assert.deepEqual([rejected, ingest.counters().get('attributes_unreadable')], [1, 1]);
  });

  test('a resource above 64 KiB is rejected with its points, and no other', () => {
    const { ingest, send } = createRecording();
    const metrics = [gauge('m')];
    const resource = { attributes: toAttributes({ 'service.instance.id': 'a'.repeat(65_536) }) };
    const outcome = send(
      { resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }, { scopeMetrics: [{ metrics }] }] },
      T0,
    );
    assert.deepEqual([outcome.points, outcome.rejected, ingest.seriesCount()], [2, 1, 1]);
  });

  test('scopes of one long resource are remembered up to a bound; known ones go on', () => {
    const { ingest, sendBytes } = createRecording();
    const attributes = toAttributes({ 'service.instance.id': 'a'.repeat(60_000) });
    const scopes = 2500;
    const scopeMetrics = Array.from({ length: scopes }, (_, index) => ({
      scope: { name: `scope-${index}` },
      metrics: [gauge('m')],
    }));
    const bytes = encodeMetrics({ resourceMetrics: [{ resource: { attributes }, scopeMetrics }] });
    const first = sendBytes(bytes, T0);
    const known = scopes - first.rejected;
    // 128 MiB of 60 KB.
    assert.equal(known > 2100 && known < 2300, true, `${known} scopes are known`);
    assert.equal(ingest.seriesCount(), known);
    assert.equal(sendBytes(bytes, T0).rejected, first.rejected);
  });

  test('a field of a sum inside a gauge changes nothing', () => {
    const { counted, gauges, sendBytes, ingest } = createRecording();
    const point = bytesField(1, concat(fixed64Field(3, BigInt(T0) * 1_000_000n), fixed64Field(6, -5n)));
    const data = concat(point, Uint8Array.of(0x10, 2, 0x18, 1));
    const metric = bytesField(2, concat(bytesField(1, text('m')), bytesField(5, data)));
    const { rejected } = sendBytes(bytesField(1, bytesField(2, metric)), T0);
    assert.deepEqual([rejected, ingest.counters().get('accepted'), counted.length, gauges.length], [0, 1, 0, 1]);
  });
});
