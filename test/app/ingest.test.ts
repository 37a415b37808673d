import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { createBodyDecoder } from '../../src/app/decode-body.ts';
import { createIngest } from '../../src/app/ingest.ts';
import { createTurns } from '../../src/app/turns.ts';
import { ManualClock } from '../../src/base/clock.ts';
import { epochMs } from '../../src/base/units.ts';
import type { MetricsRequest } from '../../src/otlp/consumer.ts';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import { type MetricsPayload, toAttributes } from '../../src/otlp/metrics-payload.ts';
import type { IngestLog, LogPosition } from '../../src/store/ingest-log.ts';
import { createRecording, type Recording } from '../support/recording-ingest.ts';

const T0 = 1_800_000_000_000;

/** Points of counters of one resource: `count` series with one point each at each of `times`. */
function payloadOf(name: string, count: number, times: readonly number[]): MetricsPayload {
  const dataPoints = times.flatMap((at) =>
    Array.from({ length: count }, (_, series) => ({
      attributes: toAttributes({ series }),
      startTimeUnixNano: `${T0}000000`,
      timeUnixNano: `${at}000000`,
      asInt: `${(at - T0) * (series + 1)}`,
    })),
  );
  const sum = { dataPoints, aggregationTemporality: 2, isMonotonic: true };
  const resource = { attributes: toAttributes({ 'service.instance.id': 'edge-1' }) };
  return { resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [{ name, sum }] }] }] };
}

function createStack(context: TestContext) {
  const recording = createRecording();
  const appended: number[] = [];
  const end = (): LogPosition => ({ segment: 0, offset: appended.length });
  const log: IngestLog = {
    async append({ body }) {
      appended.push(body.length);
      return end();
    },
    read: () => [],
    trim: () => undefined,
    end,
    writable: () => true,
    close: async () => undefined,
  };
  const turns = createTurns();
  const bodies = createBodyDecoder(turns);
  context.after(() => bodies.close());
  const clock = new ManualClock(epochMs(T0 + 3_600_000));
  return { recording, turns, appended, ingest: createIngest({ series: recording.ingest, log, clock, turns, bodies }) };
}

const request = (body: Uint8Array, encoding: 'protobuf' | 'json' = 'protobuf'): MetricsRequest => ({
  transport: 'http',
  encoding,
  compression: 'none',
  body,
  received: body,
  peer: '127.0.0.1',
  identityHeader: null,
});

const json = (payload: MetricsPayload): Uint8Array => new TextEncoder().encode(JSON.stringify(payload));
/** What the same requests give when each is applied in one piece. */
function inOnePiece(...payloads: readonly MetricsPayload[]): Recording {
  const recording = createRecording();
  for (const payload of payloads) recording.send(payload, T0 + 3_600_000, { peer: '127.0.0.1' });
  return recording;
}

describe('requests applied in turns', () => {
  test('large bodies give what they give in one piece, in either encoding and out of order of time', async (context) => {
    const payload = payloadOf('lb.requests', 9000, [T0 + 20_000, T0 + 10_000]);
    const expected = inOnePiece(payload);
    assert.equal(expected.counted.length > 9000, true);
    for (const [body, encoding] of [
      [encodeMetrics(payload), 'protobuf'],
      [json(payload), 'json'],
    ] as const) {
      const { ingest, recording } = createStack(context);
      const outcome = await ingest.consume(request(body, encoding));
      assert.deepEqual(outcome, { kind: 'accepted', points: 18_000, rejectedPoints: 0, message: '' });
      assert.deepEqual(recording.counted, expected.counted);
      assert.deepEqual(recording.heard, expected.heard);
    }
  });

  test('a large body that is malformed at its very end leaves no trace', async (context) => {
    const { ingest, recording, appended } = createStack(context);
    const body = encodeMetrics(payloadOf('lb.requests', 20_000, [T0 + 10_000]));
    for (const [broken, encoding] of [
      [Uint8Array.from([...body, 0x0a, 0x7f]), 'protobuf'],
      [json(payloadOf('lb.requests', 9000, [T0 + 10_000])).slice(0, -1), 'json'],
    ] as const) {
      const outcome = await ingest.consume(request(broken, encoding));
      assert.equal(outcome.kind === 'refused' && outcome.refusal.code, 'OTLP_MALFORMED');
      assert.equal(outcome.kind === 'refused' && outcome.refusal.kind, 'malformed');
    }
    assert.deepEqual([appended, recording.counted, recording.ingest.seriesCount()], [[], [], 0]);
  });

  test('the loop goes round while a large request is applied; nothing of another or of a tick comes in between', async (context) => {
    const { ingest, recording, turns } = createStack(context);
    const large = payloadOf('lb.requests', 40_000, [T0 + 10_000]);
    const small = payloadOf('lb.requests', 3, [T0 + 20_000]);
    let rounds = 0;
    let watching = true;
    const watch = (): void => {
      if (recording.bound.length > 0) rounds += 1;
      if (watching) setImmediate(watch);
    };
    watch();
    let ticked: readonly [bound: number, counted: number] | undefined;
    const applying = ingest.consume(request(encodeMetrics(large)));
    while (recording.bound.length === 0) await new Promise(setImmediate);
    assert.equal(recording.bound.length < 40_000, true, 'the request was applied in one piece');
    const position = ingest.appliedPosition();
    turns.between(() => {
      ticked = [recording.bound.length, recording.counted.length];
    });
    const behind = ingest.consume(request(encodeMetrics(small)));
    assert.deepEqual([ticked, position], [undefined, { segment: 0, offset: 0 }]);
    await applying;
    assert.deepEqual(ticked, [40_000, inOnePiece(large).counted.length]);
    await behind;
    watching = false;
    assert.equal(rounds > 3, true, `the loop went round ${rounds} times`);
    assert.deepEqual(recording.counted, inOnePiece(large, small).counted);
    assert.deepEqual(ingest.appliedPosition(), { segment: 0, offset: 2 });
  });

  test('several large bodies at once are taken one after the other, in the order in which they came', async (context) => {
    const { ingest, recording } = createStack(context);
    const payloads = [1, 2, 3].map((push) => payloadOf('lb.requests', 20_000, [T0 + push * 10_000]));
    const outcomes = await Promise.all(payloads.map((payload) => ingest.consume(request(encodeMetrics(payload)))));
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['accepted', 'accepted', 'accepted'],
    );
    assert.deepEqual(recording.counted, inOnePiece(...payloads).counted);
  });
});
