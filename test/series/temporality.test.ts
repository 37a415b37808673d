import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MetricPayload } from '../../src/otlp/metrics-payload.ts';
import { amounts, createRecording, cumulative, nanos, type Recording, requestOf } from '../support/recording-ingest.ts';

const T0 = 1_800_000_000_000;
const SECOND = 1000;
const at = (seconds: number): number => T0 + seconds * SECOND;

/**
 * Sends points [time, value, start] (seconds after T0) of one counter, each in a request of its own, received on time.
 */
function sendAll(recording: Recording, points: readonly (readonly [number, number, number | null])[]): void {
  for (const [time, value, start] of points) {
    recording.send(requestOf([cumulative('m', at(time), value, start === null ? null : at(start))]), at(time));
  }
}
const count = ({ ingest }: Recording, name: string): number => ingest.counters().get(name) ?? 0;
const intervals = ({ counted }: Recording): (readonly [number, number, number])[] =>
  counted.map(({ from, to, amount }) => [(from - T0) / SECOND, (to - T0) / SECOND, amount]);

describe('start times of cumulative series', () => {
  test('a restart counts from its start', () => {
    const recording = createRecording();
    sendAll(recording, [
      [10, 100, 0],
      [30, 150, 22],
    ]);
    assert.deepEqual(intervals(recording), [
      [0, 10, 100],
      [22, 30, 150],
    ]);
    assert.equal(count(recording, 'reset'), 1);
  });

  const startingAt = (time: number, value: number, startTimeUnixNano: bigint): MetricPayload => ({
    name: 'm',
    sum: {
      aggregationTemporality: 2,
      isMonotonic: true,
      dataPoints: [{ timeUnixNano: nanos(at(time)), startTimeUnixNano, asInt: value }],
    },
  });

  test('a start in microseconds, as Envoy 1.40.0 writes it, is read as such: a restart shows though no value fell', () => {
    const recording = createRecording();
    const micros = (seconds: number): bigint => nanos(at(seconds)) / 1000n;
    recording.send(requestOf([startingAt(10, 100, micros(0))]), at(10));
    recording.send(requestOf([startingAt(20, 130, micros(0))]), at(20));
    recording.send(requestOf([startingAt(30, 150, micros(22))]), at(30));
    assert.deepEqual(intervals(recording), [
      [0, 10, 100],
      [10, 20, 30],
      [22, 30, 150],
    ]);
    assert.equal(count(recording, 'reset'), 1);
  });

  test('a start in the future, or of decades ago in any unit, is taken as not sent, so that values decide', () => {
    const recording = createRecording();
    recording.send(requestOf([startingAt(10, 100, 1_000n)]), at(10));
    recording.send(requestOf([startingAt(20, 130, nanos(at(20) + 5))]), at(20));
    recording.send(requestOf([startingAt(30, 4, nanos(at(31)))]), at(30));
    assert.deepEqual(intervals(recording), [
      [10, 20, 30],
      [20, 30, 4],
    ]);
    assert.equal(count(recording, 'baseline'), 1);
  });

  test('a start computed anew each time, a few hundred milliseconds off, is no restart', () => {
    const recording = createRecording();
    sendAll(recording, [
      [10, 100, 0],
      [20, 130, 0.3],
      [30, 150, -0.2],
      [40, 151, 0.1],
    ]);
    assert.deepEqual(amounts(recording.counted), [100, 30, 20, 1]);
    assert.equal(count(recording, 'reset'), 0);
  });

  test('a start that is the last flush to the nanosecond is no restart, unless the value fell', () => {
    const recording = createRecording();
    const point = (time: bigint, start: bigint, value: number): MetricPayload => ({
      name: 'm',
      sum: {
        aggregationTemporality: 2,
        isMonotonic: true,
        dataPoints: [{ timeUnixNano: time, startTimeUnixNano: start, asInt: value }],
      },
    });
    const flush = (index: number): bigint => nanos(at(10 * index)) + 123_457n;
    for (const [index, value] of [
      [1, 100],
      [2, 130],
      [3, 160],
      [4, 7],
    ] as const) {
      recording.send(requestOf([point(flush(index), flush(index - 1), value)]), at(10 * index));
    }
    assert.deepEqual(amounts(recording.counted), [100, 30, 30, 7]);
  });

  test('where starts are flushes, a lost request is a gap, not a restart, also of a series seen but once', () => {
    let recording = createRecording();
    const point = (name: string, time: number, start: number, value: number): MetricPayload => ({
      name,
      sum: {
        aggregationTemporality: 2,
        isMonotonic: true,
        dataPoints: [
          { timeUnixNano: nanos(at(time)) + 457n, startTimeUnixNano: nanos(at(start)) + 457n, asInt: value },
        ],
      },
    });
    recording.send(requestOf([point('m', 10, 0, 1000)]), at(10));
    recording.send(requestOf([point('m', 20, 10, 1010), point('n', 20, 10, 5)]), at(20));
    const { ingest } = recording;
    recording = createRecording();
    recording.ingest.restore(structuredClone(ingest.snapshot()));
    // What was flushed at 30 never came.
    recording.send(requestOf([point('m', 40, 30, 1030), point('n', 40, 30, 9)]), at(40));
    recording.send(requestOf([point('m', 60, 50, 7), point('n', 60, 50, 9)]), at(60));
    assert.deepEqual(intervals(recording), [
      [20, 40, 20],
      [20, 40, 4],
      [50, 60, 7],
      [40, 60, 0],
    ]);
    // From here on its starts are those of the process.
    for (const [time, start, value] of [
      [70, 65, 1],
      [80, 65, 2],
      [90, 85, 4],
    ] as const) {
      recording.send(requestOf([point('m', time, start, value)]), at(time));
    }
    assert.deepEqual(amounts(recording.counted).slice(4), [1, 1, 4]);
  });

  test('two senders under one name are not mixed: the younger one counts, the older is refused and told', () => {
    const recording = createRecording();
    const send = (time: number, value: number, start: number): number =>
      recording.send(requestOf([cumulative('m', at(time), value, at(start))]), at(time)).rejected;
    assert.equal(send(1000, 50_000, -100_000), 0);
    assert.equal(send(1005, 300, 900), 0);
    assert.equal(send(1010, 50_010, -100_000), 1);
    assert.equal(send(1015, 310, 900), 0);
    assert.equal(send(1020, 50_020, -100_000), 1);
    assert.deepEqual(amounts(recording.counted), [10]);
    assert.equal(count(recording, 'interleaved_start'), 2);
    assert.equal(send(1400, 50_400, -100_000), 0, 'it takes over when the younger is gone');
    assert.equal(send(1410, 50_410, -100_000), 0);
    assert.deepEqual(amounts(recording.counted), [10, 10]);
  });
});

describe('first points', () => {
  test('one flush sent in two requests, some milliseconds apart, is one first flush: history is no growth', () => {
    const recording = createRecording();
    recording.send(requestOf([cumulative('a', at(0), 5000, at(-50_000))]), at(0));
    recording.send(requestOf([cumulative('b', at(0) + 4, 9000, at(-50_000))]), at(0) + 4);
    assert.deepEqual(recording.counted, []);
    assert.equal(count(recording, 'baseline'), 2);
    recording.send(requestOf([cumulative('c', at(10), 3, at(-50_000))]), at(10));
    assert.deepEqual(intervals(recording), [[0.004, 10, 3]]);
  });

  test('a new series in a part of a flush that comes behind two later ones is growth', () => {
    let recording = createRecording();
    const send = (name: string, time: number, value: number) =>
      recording.send(requestOf([cumulative(name, at(time), value, null)]), at(time));
    for (const time of [10, 20, 30, 40, 50]) send('m', time, time);
    const { ingest } = recording;
    recording = createRecording();
    recording.ingest.restore(structuredClone(ingest.snapshot()));
    recording.send(requestOf([cumulative('n', at(30), 6, null)]), at(51));
    recording.send(requestOf([cumulative('o', at(12), 7, null)]), at(51));
    recording.send(requestOf([cumulative('p', at(10), 8, null)]), at(51));
    assert.deepEqual(intervals(recording), [
      [20, 30, 6],
      [10, 12, 7],
    ]);
  });

  test('a start 10 min before the first point counts, one 10 min and 1 ms before does not', () => {
    for (const [start, expected] of [
      [-600, [5]],
      [-600.001, []],
    ] as const) {
      const recording = createRecording();
      sendAll(recording, [[0, 5, start]]);
      assert.deepEqual(amounts(recording.counted), expected);
    }
  });

  test('a scraper never starts fresh, yet a new series of a target that it knows is growth', () => {
    for (const scope of [
      'github.com/open-telemetry/collector-contrib/receiver/haproxyreceiver',
      'otelcol/nginxreceiver',
    ]) {
      const recording = createRecording();
      const send = (name: string, time: number, value: number) =>
        recording.send(requestOf([cumulative(name, at(time), value, at(0))], undefined, scope), at(time));
      send('m', 10, 500);
      send('n', 20, 4);
      assert.deepEqual(intervals(recording), [[10, 20, 4]]);
    }
  });

  test('a delta states its own interval; without a start it covers the time since the last point', () => {
    const recording = createRecording();
    const delta = (time: number, value: number, start: number | null): void => {
      const metric = cumulative('m', at(time), value, start === null ? null : at(start));
      const sum = { ...(metric.sum as NonNullable<MetricPayload['sum']>), aggregationTemporality: 1 };
      recording.send(requestOf([{ name: 'm', sum }]), at(time));
    };
    delta(100, 5, 40);
    delta(110, 6, null);
    delta(120, 7, 110);
    assert.deepEqual(intervals(recording), [
      [40, 100, 5],
      [100, 110, 6],
      [110, 120, 7],
    ]);
    assert.equal(count(recording, 'gap'), 0);
  });
});

describe('clocks that are wrong', () => {
  test('a clock that is steadily 5 min ahead keeps its intervals, placed at arrival', () => {
    const recording = createRecording();
    for (const push of [1, 2, 3]) {
      const time = 300 + 10 * push;
      recording.send(requestOf([cumulative('m', at(time), 5 * push, at(300))]), at(10 * push));
      if (push === 2) recording.send(requestOf([cumulative('new', at(time), 2, at(0))]), at(10 * push));
    }
    assert.deepEqual(intervals(recording), [
      [0, 10, 5],
      [10, 20, 5],
      [10, 20, 2],
      [20, 30, 5],
    ]);
    assert.equal(count(recording, 'future'), 4);
    assert.deepEqual(
      recording.heard.map(({ newestPointAt }) => (newestPointAt - T0) / SECOND),
      [10, 20, 20, 30],
    );
  });

  test('a clock set right after hours ahead goes on counting at once, and a late retry makes nothing up', () => {
    const recording = createRecording();
    const send = (time: number, value: number, receivedAt: number): number =>
      recording.send(requestOf([cumulative('m', at(time), value, null)]), at(receivedAt)).rejected;
    send(7200, 100, 0);
    send(7210, 130, 10);
    assert.equal(send(7200, 100, 15), 1, 'a retry of the wrong clock stays late');
    assert.equal(send(20, 150, 20), 0);
    assert.equal(send(30, 160, 30), 0);
    assert.deepEqual(amounts(recording.counted), [30, 20, 10]);
    assert.equal(count(recording, 'clock_back'), 1);
  });
});

describe('sums that may fall, and gauges', () => {
  const level = (temporality: number, time: number, value: number): MetricPayload => ({
    name: 'm',
    sum: {
      aggregationTemporality: temporality,
      isMonotonic: false,
      dataPoints: [{ timeUnixNano: nanos(at(time)), startTimeUnixNano: nanos(at(0)), asInt: value }],
    },
  });

  test('V31: a fall is a value, not a reset', () => {
    const recording = createRecording();
    for (const [time, value] of [
      [10, 10],
      [20, 7],
    ] as const)
      recording.send(requestOf([level(2, time, value)]), at(time));
    assert.deepEqual(amounts(recording.gauges), [10, 7]);
    assert.deepEqual([recording.counted, count(recording, 'reset')], [[], 0]);
  });

  test('deltas of such a sum add up', () => {
    const recording = createRecording();
    const delta = (from: number, to: number, value: number): MetricPayload => ({
      name: 'm',
      sum: {
        aggregationTemporality: 1,
        isMonotonic: false,
        dataPoints: [{ timeUnixNano: nanos(at(to)), startTimeUnixNano: nanos(at(from)), asInt: value }],
      },
    });
    for (const [from, to, value] of [
      [0, 10, 5],
      [10, 20, -3],
      [20, 30, 1],
    ] as const)
      recording.send(requestOf([delta(from, to, value)]), at(to));
    assert.deepEqual(amounts(recording.gauges), [5, 2, 3]);
  });

  test('an older gauge value is refused, the same time again is passed', () => {
    const recording = createRecording();
    const gauge = (time: number, asDouble: number): MetricPayload => ({
      name: 'm',
      gauge: { dataPoints: [{ timeUnixNano: nanos(at(time)), asDouble }] },
    });
    const results = [
      [10, 1.5],
      [5, 9],
      [10, 9],
      [20, 2.5],
    ].map(([time = 0, value = 0]) => recording.send(requestOf([gauge(time, value)]), at(20)));
    assert.deepEqual(
      results.map(({ rejected }) => rejected),
      [0, 1, 0, 0],
    );
    assert.deepEqual(amounts(recording.gauges), [1.5, 2.5]);
  });
});
