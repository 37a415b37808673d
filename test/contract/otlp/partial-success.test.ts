import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { epochMs } from '../../../src/base/units.ts';
import { encodeMetrics } from '../../../src/otlp/encode-metrics.ts';
import type { MetricPayload } from '../../../src/otlp/metrics-payload.ts';
import { PASSED, REJECTED } from '../../../src/series/reasons.ts';
import { createCaller } from '../../support/grpc-client.ts';
import { send, toJsonText } from '../../support/otlp-client.ts';
import { toTree } from '../../support/otlp-messages.ts';
import { type OtlpStack, startStack } from '../../support/otlp-stack.ts';
import { amounts, cumulative, nanos, requestOf } from '../../support/recording-ingest.ts';

const T0 = 1_800_000_000_000;
const DAY = 86_400_000;

interface Partial {
  readonly rejectedDataPoints?: string;
  readonly errorMessage?: string;
}

/** Sends by JSON over HTTP and gives what partial success says; undefined where it is unset. */
async function push({ httpPort }: OtlpStack, metrics: readonly MetricPayload[]): Promise<Partial | undefined> {
  const body = toJsonText(requestOf(metrics));
  const answer = await send(httpPort, { headers: { 'content-type': 'application/json' }, body });
  assert.equal(answer.status, 200);
  return JSON.parse(answer.body.toString()).partialSuccess;
}

const good = cumulative('good', T0, 7, T0 - 10_000);
const sum = (name: string, points: object[], rest: object = {}): MetricPayload => ({
  name,
  sum: {
    aggregationTemporality: 2,
    isMonotonic: true,
    dataPoints: points.map((point) => ({ timeUnixNano: nanos(T0), ...point })),
    ...rest,
  },
});

describe('partial success', () => {
  test('P1 accepted and rejected points together are 200 with the number of rejected points and a message', async (context) => {
    const stack = await startStack(context);
    const bad = sum('bad', [{ asInt: -1 }, { asInt: -2 }, {}]);
    const partial = await push(stack, [good, bad]);
    assert.equal(partial?.rejectedDataPoints, '3', 'points, not metrics');
    assert.match(
      partial?.errorMessage ?? '',
      /^data points not counted: 2 negative_total \(bad\); 1 value_missing \(bad\)$/,
    );
    assert.deepEqual(amounts(stack.counted), [7]);
    const call = createCaller(context, stack.grpcPort);
    const answer = await call(encodeMetrics(requestOf([good, bad])));
    assert.equal(answer.code, 0);
    const { partialSuccess } = toTree('ExportMetricsServiceResponse', answer.body) as { partialSuccess: Partial };
    assert.deepEqual([partialSuccess.rejectedDataPoints, partialSuccess.errorMessage], ['3', partial?.errorMessage]);
  });

  test('P2 a warning about points that were all accepted has a message and rejects none', async (context) => {
    const stack = await startStack(context);
    const overflow = { asInt: 5, attributes: [{ key: 'otel.metric.overflow', value: { boolValue: true } }] };
    const partial = await push(stack, [sum('m', [{ ...overflow, startTimeUnixNano: nanos(T0 - 1000) }])]);
    assert.deepEqual(Object.keys(partial ?? {}), ['errorMessage']);
    assert.match(partial?.errorMessage ?? '', /otel\.metric\.overflow/);
    assert.deepEqual(amounts(stack.counted), [5]);
  });

  test('P3 full success leaves partial success unset', async (context) => {
    const stack = await startStack(context);
    assert.equal(await push(stack, [good]), undefined);
    const again = await createCaller(context, stack.grpcPort)(encodeMetrics(requestOf([good])));
    assert.deepEqual([again.code, again.body.length], [0, 0], 'a duplicate is no warning either');
  });

  test('P4 points that are dropped, over a limit, of a kind that is not kept or too old are rejected', async (context) => {
    const stack = await startStack(context);
    const summary = { name: 's', summary: { dataPoints: [{ timeUnixNano: nanos(T0), count: 1, sum: 1 }] } };
    const late = T0 - 37 * DAY;
    const long = [{ key: 'k', value: { stringValue: 'x'.repeat(70_000) } }];
    const rows: readonly [string, readonly MetricPayload[]][] = [
      [REJECTED.summary, [summary, summary]],
      [REJECTED.tooOld, [cumulative('old', late, 1, late - 1000), cumulative('old', late + 10_000, 2, late - 1000)]],
      [
        REJECTED.tooLong,
        [
          sum('long', [
            { asInt: 1, attributes: long },
            { asInt: 2, attributes: long },
          ]),
        ],
      ],
      [REJECTED.temporalityUnspecified, [sum('none', [{ asInt: 1 }, { asInt: 2 }], { aggregationTemporality: 0 })]],
    ];
    for (const [reason, metrics] of rows) {
      const partial = await push(stack, metrics);
      assert.equal(partial?.rejectedDataPoints, '2', reason);
      assert.ok(partial?.errorMessage?.includes(`2 ${reason}`), partial?.errorMessage);
    }
    assert.equal(stack.ingest.seriesCount(), 0);
    const kept = cumulative('kept', T0 - 35 * DAY, 3, T0 - 35 * DAY - 1000);
    assert.equal(await push(stack, [kept]), undefined, 'what a cell still keeps is taken');
  });

  test('P5 when all points are rejected the answer is 200 with all of them', async (context) => {
    const stack = await startStack(context);
    const partial = await push(stack, [sum('bad', [{ asInt: -1 }, { asInt: -2 }])]);
    assert.equal(partial?.rejectedDataPoints, '2');
    const call = createCaller(context, stack.grpcPort);
    assert.equal((await call(encodeMetrics(requestOf([sum('bad', [{ asInt: -1 }])])))).code, 0);
  });

  test('P6 points in = accepted + rejected + passed, per request and in all', async (context) => {
    const stack = await startStack(context);
    const { ingest } = stack;
    const requests: readonly (readonly MetricPayload[])[] = [
      [good, sum('bad', [{ asInt: -1 }, {}, { asDouble: Number.NaN }])],
      [good, sum('stale', [{ flags: 1 }, { asInt: 2, startTimeUnixNano: nanos(T0 - 1000) }])],
      [good, cumulative('good', T0 - 5000, 1, T0 - 10_000)],
    ];
    const count = (name: string): number => ingest.counters().get(name) ?? 0;
    const account = () => {
      const of = (reasons: object): number =>
        Object.values(reasons).reduce((total, reason) => total + count(reason), 0);
      return { points: count('points'), accepted: count('accepted'), rejected: of(REJECTED), passed: of(PASSED) };
    };
    let before = account();
    for (const [index, metrics] of requests.entries()) {
      stack.clock.advanceTo(epochMs(T0 + index));
      const partial = await push(stack, metrics);
      const now = account();
      const points = metrics.reduce((total, metric) => total + (metric.sum?.dataPoints.length ?? 0), 0);
      assert.equal(now.points - before.points, points);
      assert.equal(now.rejected - before.rejected, Number(partial?.rejectedDataPoints ?? 0));
      assert.equal(now.points, now.accepted + now.rejected + now.passed);
      before = now;
    }
    assert.deepEqual(before, { points: 9, accepted: 2, rejected: 4, passed: 3 });
  });
});
