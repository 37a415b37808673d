import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { epochMs } from '../../src/base/units.ts';
import { decodeJsonMetrics } from '../../src/otlp/decode-json.ts';
import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { Staging } from '../../src/otlp/staging.ts';
import type { Binder, SeriesDescription } from '../../src/series/binding.ts';
import { type ApplyOutcome, createSeriesIngest, type SeriesIngest } from '../../src/series/ingest.ts';

const T0 = 1_800_000_000_000;
const SECOND = 1000;

interface Added {
  readonly series: string;
  readonly from: number;
  readonly to: number;
  readonly amount: number;
}

/** An ingest whose every series feeds one counter, which writes down what it was given; `threshold` adds a latency cell. */
function recordingIngest(threshold?: number) {
  const added: Added[] = [];
  const below: Added[] = [];
  const nameOf = ({ name, attributes, balancer }: SeriesDescription): string =>
    [name, ...[...attributes].map(([key, { type, text }]) => `${key}=${type}:${text}`).sort(), balancer].join(' ');
  const binder: Binder = {
    bind(description) {
      const series = nameOf(description);
      const cell = (into: Added[]) => ({
        add: (from: number, to: number, amount: number) => void into.push({ series, from, to, amount }),
      });
      return {
        understood: true,
        counters: [{ cell: cell(added), weight: 1 }],
        atOrBelow: threshold === undefined ? [] : [{ cell: cell(below), weight: 1, threshold }],
        histograms: [],
        gauges: [],
      };
    },
  };
  const ingest = createSeriesIngest({ binder, balancers: { heard: () => undefined } });
  return { ingest, added, below };
}

type Point = Readonly<Record<string, unknown>>;
interface Sent {
  readonly points: readonly Point[];
  readonly name?: string;
  readonly temporality?: number;
  readonly monotonic?: boolean;
  readonly resource?: Readonly<Record<string, string>>;
  readonly scope?: string;
  readonly kind?: 'sum' | 'histogram' | 'exponentialHistogram' | 'gauge';
}

const nanos = (ms: number): string => `${ms}000000`;
const strings = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }));

function apply(
  ingest: SeriesIngest,
  sent: readonly Sent[],
  receivedAt = T0 + 3600 * SECOND,
  peer = '10.0.0.1',
): ApplyOutcome {
  const resourceMetrics = sent.map(
    ({
      points,
      name = 'requests',
      temporality = 2,
      monotonic = true,
      resource = { 'service.instance.id': 'a' },
      scope = '',
      kind = 'sum',
    }) => ({
      resource: { attributes: strings(resource) },
      scopeMetrics: [
        {
          scope: { name: scope },
          metrics: [
            {
              name,
              [kind]: {
                dataPoints: points,
                aggregationTemporality: temporality,
                ...(kind === 'sum' ? { isMonotonic: monotonic } : {}),
              },
            },
          ],
        },
      ],
    }),
  );
  const staging = new Staging();
  decodeMetrics(decodeJsonMetrics(new TextEncoder().encode(JSON.stringify({ resourceMetrics }))), staging);
  return ingest.apply(staging, { receivedAt: epochMs(receivedAt), peer, identityHeader: null });
}

/** A cumulative point `at` seconds after T0 with a start `start` seconds after T0 (none when null). */
const at = (seconds: number, value: number, start: number | null = 0): Point => ({
  timeUnixNano: nanos(T0 + seconds * SECOND),
  ...(start === null ? {} : { startTimeUnixNano: nanos(T0 + start * SECOND) }),
  asInt: String(value),
});
const amounts = (added: readonly Added[]): number[] => added.map(({ amount }) => amount);

describe('cumulative sums', () => {
  test('a fresh process counts from its start, then by differences', () => {
    const { ingest, added } = recordingIngest();
    apply(ingest, [{ points: [at(10, 5)] }]);
    apply(ingest, [{ points: [at(20, 12)] }]);
    assert.deepEqual(
      added.map(({ from, to, amount }) => [(from - T0) / SECOND, (to - T0) / SECOND, amount]),
      [
        [0, 10, 5],
        [10, 20, 7],
      ],
    );
  });

  test('an old process is a baseline, and so is one without a start or behind a scraper', () => {
    for (const first of [
      { points: [at(3600, 500)] },
      { points: [at(10, 500, null)] },
      { points: [at(10, 500)], scope: 'otelcol/prometheusreceiver' },
    ]) {
      const { ingest, added } = recordingIngest();
      apply(ingest, [first]);
      assert.deepEqual(added, []);
      assert.equal(ingest.counters().get('baseline'), 1);
    }
  });

  test("a new series of a known resource counts from the resource's last point, in whatever order the request lists them", () => {
    for (const flip of [false, true]) {
      const { ingest, added } = recordingIngest();
      apply(ingest, [{ points: [at(3600, 500)] }]);
      const both = [{ points: [at(3610, 510)] }, { name: 'errors', points: [at(3610, 9)] }];
      apply(ingest, flip ? both.reverse() : both);
      const born = added.find(({ series }) => series.startsWith('errors'));
      assert.deepEqual(born && [(born.from - T0) / SECOND, (born.to - T0) / SECOND, born.amount], [3600, 3610, 9]);
    }
  });

  test('V13, V14, V15: a new start is a reset, five runs count five, a start at the time is a baseline', () => {
    const reset = recordingIngest();
    apply(reset.ingest, [{ points: [at(10, 10)] }]);
    apply(reset.ingest, [{ points: [at(30, 3, 20)] }]);
    assert.deepEqual(amounts(reset.added), [10, 3]);
    const runs = recordingIngest();
    for (const run of [1, 2, 3, 4, 5]) apply(runs.ingest, [{ points: [at(run * 10 + 5, 1, run * 10)] }]);
    assert.deepEqual(amounts(runs.added), [1, 1, 1, 1, 1]);
    const unknown = recordingIngest();
    apply(unknown.ingest, [{ points: [at(10, 1256, 10)] }]);
    apply(unknown.ingest, [{ points: [at(20, 1260, 10)] }]);
    assert.deepEqual(amounts(unknown.added), [4]);
  });

  test('a fall with the same start is a reset: the new value counts', () => {
    const { ingest, added } = recordingIngest();
    for (const [seconds, value] of [
      [10, 100],
      [20, 4],
    ] as const)
      apply(ingest, [{ points: [at(seconds, value)] }]);
    assert.deepEqual(amounts(added), [100, 4]);
  });

  test('the same point again is passed, an older one is rejected', () => {
    const { ingest, added } = recordingIngest();
    apply(ingest, [{ points: [at(10, 5)] }]);
    assert.equal(apply(ingest, [{ points: [at(10, 5)] }]).rejected, 0);
    const late = apply(ingest, [{ points: [at(5, 2)] }]);
    assert.equal(late.rejected, 1);
    assert.match(late.message, /out_of_order/);
    assert.deepEqual(amounts(added), [5]);
  });

  test('points of one request are taken in the order of their times', () => {
    const { ingest, added } = recordingIngest();
    apply(ingest, [{ points: [at(30, 9), at(10, 2), at(20, 5)] }]);
    assert.deepEqual(amounts(added), [2, 3, 4]);
  });

  test('integers differ exactly above 2^53', () => {
    const { ingest, added } = recordingIngest();
    const big = 9_007_199_254_740_993n;
    apply(ingest, [{ points: [{ ...at(3600, 0), asInt: String(big) }] }]);
    apply(ingest, [{ points: [{ ...at(3610, 0), asInt: String(big + 3n) }] }]);
    assert.deepEqual(amounts(added), [3]);
  });

  test('fractions add up to the floored total', () => {
    const { ingest, added } = recordingIngest();
    for (const [seconds, asDouble] of [
      [10, 0.6],
      [20, 1.2],
      [30, 2.9],
      [40, 3.0],
    ] as const) {
      apply(ingest, [
        { points: [{ timeUnixNano: nanos(T0 + seconds * SECOND), startTimeUnixNano: nanos(T0), asDouble }] },
      ]);
    }
    assert.equal(
      amounts(added).reduce((sum, amount) => sum + amount, 0),
      3,
    );
  });

  test('a point far ahead of our clock is placed at arrival', () => {
    const { ingest, added } = recordingIngest();
    apply(ingest, [{ points: [at(10, 5), at(500, 9)] }], T0 + 20 * SECOND);
    assert.deepEqual(
      added.map(({ to }) => (to - T0) / SECOND),
      [10, 20],
    );
    assert.equal(ingest.counters().get('future'), 1);
  });
});

describe('delta sums', () => {
  const delta = (from: number, to: number, value: number): Sent => ({ points: [at(to, value, from)], temporality: 1 });

  test('V18, V20: contiguous, behind a gap, and the same request again', () => {
    const { ingest, added } = recordingIngest();
    for (const sent of [delta(0, 10, 5), delta(10, 20, 3), delta(30, 40, 2)]) apply(ingest, [sent]);
    const again = apply(ingest, [delta(30, 40, 2)]);
    assert.equal(again.rejected, 0);
    assert.deepEqual(
      added.map(({ from, amount }) => [(from - T0) / SECOND, amount]),
      [
        [0, 5],
        [10, 3],
        [30, 2],
      ],
    );
    assert.equal(ingest.counters().get('gap'), 1);
    assert.equal(ingest.counters().get('duplicate'), 1);
  });

  test('an overlapping interval is not added twice', () => {
    const { ingest, added } = recordingIngest();
    apply(ingest, [delta(0, 10, 5)]);
    assert.equal(apply(ingest, [delta(5, 15, 4)]).rejected, 1);
    assert.deepEqual(amounts(added), [5]);
  });
});

describe('points that cannot count', () => {
  const cases: readonly (readonly [string, Sent, RegExp])[] = [
    ['no time', { points: [{ asInt: '1' }] }, /time_missing/],
    ['no value', { points: [{ timeUnixNano: nanos(T0) }] }, /value_missing/],
    ['not a number', { points: [{ timeUnixNano: nanos(T0), asDouble: 'NaN' }] }, /value_not_finite/],
    ['no temporality', { points: [at(10, 1)], temporality: 0 }, /temporality_unspecified/],
    ['a negative delta', { points: [at(10, -1)], temporality: 1 }, /negative_delta/],
    [
      'V8: buckets that do not fit',
      {
        kind: 'histogram',
        points: [{ timeUnixNano: nanos(T0), count: '2', bucketCounts: ['1', '1'], explicitBounds: [] }],
      },
      /buckets_do_not_fit/,
    ],
    [
      'V37: a count that is not the sum',
      {
        kind: 'histogram',
        points: [
          { timeUnixNano: nanos(T0), count: '29502', bucketCounts: ['18446744073709551615', '1'], explicitBounds: [1] },
        ],
      },
      /count_is_not_sum/,
    ],
    [
      'V10: exponential buckets short of the count',
      {
        kind: 'exponentialHistogram',
        points: [{ timeUnixNano: nanos(T0), count: '10', scale: 0, positive: { offset: 0, bucketCounts: ['8'] } }],
      },
      /count_is_not_sum/,
    ],
  ];
  for (const [what, bad, reason] of cases) {
    test(`${what} rejects that point only`, () => {
      const { ingest, added } = recordingIngest();
      const outcome = apply(ingest, [
        { name: 'good', points: [at(10, 7)] },
        { name: 'bad', ...bad },
      ]);
      assert.deepEqual([outcome.points, outcome.rejected], [2, 1]);
      assert.match(outcome.message, reason);
      assert.deepEqual(amounts(added), [7]);
    });
  }

  test('a stale marker is passed, not rejected, and is no reset', () => {
    const { ingest, added } = recordingIngest();
    apply(ingest, [{ points: [at(10, 5)] }]);
    const marked = apply(ingest, [{ points: [{ ...at(20, 0), flags: 1 }] }]);
    apply(ingest, [{ points: [at(30, 6)] }]);
    assert.equal(marked.rejected, 0);
    assert.deepEqual(amounts(added), [5, 1]);
  });
});

describe('histograms', () => {
  const histogram = (seconds: number, counts: readonly number[], bounds: readonly number[], start = 0): Sent => ({
    kind: 'histogram',
    points: [
      {
        timeUnixNano: nanos(T0 + seconds * SECOND),
        startTimeUnixNano: nanos(T0 + start * SECOND),
        count: String(counts.reduce((sum, count) => sum + count, 0)),
        bucketCounts: counts.map(String),
        explicitBounds: bounds,
      },
    ],
  });

  test('count everything, and below a bound inclusively; off a bound the bracket is bad', () => {
    for (const [threshold, good] of [
      [0.25, 30],
      [0.3, 30],
      [0.5, 60],
    ] as const) {
      const { ingest, added, below } = recordingIngest(threshold);
      apply(ingest, [histogram(10, [10, 20, 30, 40], [0.1, 0.25, 0.5])]);
      assert.deepEqual([amounts(added), amounts(below)], [[100], [good]], `threshold ${threshold}`);
    }
  });

  test('V9: count and sum without buckets are stored', () => {
    const { ingest, added } = recordingIngest();
    const outcome = apply(ingest, [
      {
        kind: 'histogram',
        points: [{ timeUnixNano: nanos(T0 + 10 * SECOND), startTimeUnixNano: nanos(T0), count: '5', sum: 10 }],
      },
    ]);
    assert.deepEqual([outcome.rejected, amounts(added)], [0, [5]]);
  });

  test('other bounds begin another stream, which invents nothing', () => {
    const { ingest, added } = recordingIngest(0.25);
    apply(ingest, [histogram(10, [10, 0], [0.25])]);
    apply(ingest, [histogram(20, [10, 5, 0], [0.25, 1])]);
    apply(ingest, [histogram(30, [11, 6, 0], [0.25, 1])]);
    assert.deepEqual(amounts(added), [10, 2]);
  });

  test('exponential histograms count whole buckets up to the threshold, across a change of scale', () => {
    const { ingest, added, below } = recordingIngest(1);
    const point = (seconds: number, scale: number, offset: number, counts: readonly number[]): Sent => ({
      kind: 'exponentialHistogram',
      points: [
        {
          timeUnixNano: nanos(T0 + seconds * SECOND),
          startTimeUnixNano: nanos(T0),
          count: String(counts.reduce((sum, count) => sum + count, 0)),
          scale,
          positive: { offset, bucketCounts: counts.map(String) },
        },
      ],
    });
    // Scale 0: bucket i covers (2^i, 2^(i+1)]. Offset -2: (0.25, 0.5], (0.5, 1], (1, 2].
    apply(ingest, [point(10, 0, -2, [1, 2, 3])]);
    // Scale -1 (base 4): (1/16, 0.25], (0.25, 1], (1, 4].
    apply(ingest, [point(20, -1, -1, [5, 9])]);
    assert.deepEqual(amounts(added), [6, 8]);
    assert.deepEqual(amounts(below), [3, 2]);
  });
});

describe('identity', () => {
  test('V32: typed values are four series, V33: two scopes are two streams, order of attributes is one series', () => {
    const { ingest } = recordingIngest();
    const typed = [{ boolValue: true }, { intValue: '1' }, { doubleValue: 1 }, { stringValue: '1' }];
    apply(ingest, [{ points: typed.map((value) => ({ ...at(10, 1), attributes: [{ key: 'k', value }] })) }]);
    assert.equal(ingest.seriesCount(), 4);
    apply(ingest, [
      { points: [at(10, 5)], scope: 'A', name: 'n' },
      { points: [at(10, 7)], scope: 'B', name: 'n' },
    ]);
    assert.equal(ingest.seriesCount(), 6);
    const pairs = strings({ x: '1', y: '2' });
    apply(ingest, [{ points: [{ ...at(10, 1), attributes: pairs }], name: 'm' }]);
    apply(ingest, [{ points: [{ ...at(20, 1), attributes: [...pairs].reverse() }], name: 'm' }]);
    assert.equal(ingest.seriesCount(), 7);
  });

  test('two senders that name no resource are told apart by their addresses', () => {
    const { ingest, added } = recordingIngest();
    for (const peer of ['10.0.0.1', '10.0.0.2'])
      apply(ingest, [{ points: [at(10, 5)], resource: {} }], T0 + 20 * SECOND, peer);
    assert.deepEqual(added.map(({ series }) => series).sort(), ['requests 10.0.0.1', 'requests 10.0.0.2']);
  });
});

describe('properties', () => {
  /** A run of one balancer: increments per push, with restarts in between. */
  const runs = fc.array(
    fc.array(fc.record({ increment: fc.nat(1000), repeat: fc.boolean() }), { minLength: 1, maxLength: 12 }),
    { minLength: 1, maxLength: 4 },
  );

  test('totals equal the events sent, over restarts and retries, and snapshots in between change nothing', () => {
    fc.assert(
      fc.property(fc.array(runs, { minLength: 1, maxLength: 3 }), fc.nat(5), (balancers, cut) => {
        let { ingest, added } = recordingIngest();
        const all: Added[] = [];
        let expected = 0;
        let step = 0;
        balancers.forEach((ofBalancer, balancer) => {
          let seconds = 0;
          for (const run of ofBalancer) {
            const start = seconds;
            let total = 0;
            for (const { increment, repeat } of run) {
              seconds += 10;
              total += increment;
              expected += increment;
              const sent: Sent = {
                points: [at(seconds, total, start)],
                resource: { 'service.instance.id': `b${balancer}` },
              };
              apply(ingest, [sent]);
              if (repeat) apply(ingest, [sent]);
              step += 1;
              if (step % 6 === cut) {
                const snapshot = structuredClone(ingest.snapshot());
                all.push(...added);
                ({ ingest, added } = recordingIngest());
                ingest.restore(snapshot);
              }
            }
          }
        });
        all.push(...added);
        assert.equal(
          amounts(all).reduce((sum, amount) => sum + amount, 0),
          expected,
        );
      }),
      { seed: 7, numRuns: 150 },
    );
  });

  test('points in = accepted + rejected + passed', () => {
    const anyPoint = fc.record({
      seconds: fc.integer({ min: 0, max: 50 }),
      value: fc.integer({ min: -2, max: 9 }),
      flags: fc.constantFrom(0, 1),
    });
    fc.assert(
      fc.property(fc.array(fc.array(anyPoint, { maxLength: 6 }), { maxLength: 8 }), (requests) => {
        const { ingest } = recordingIngest();
        let rejected = 0;
        for (const points of requests) {
          const sent = points.map(({ seconds, value, flags }) => ({ ...at(seconds, value), flags }));
          rejected += apply(ingest, [{ points: sent, temporality: 1 }]).rejected;
        }
        const count = (name: string): number => ingest.counters().get(name) ?? 0;
        assert.equal(count('points'), count('accepted') + rejected + count('duplicate') + count('stale_marker'));
      }),
      { seed: 11, numRuns: 200 },
    );
  });
});
