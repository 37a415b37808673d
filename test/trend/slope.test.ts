import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createPrng } from '../../src/base/prng.ts';
import { epochMs } from '../../src/base/units.ts';
import { type Sample, slopeOf } from '../../src/trend/slope.ts';
import { normal } from '../support/normal.ts';

const HOUR = 3_600_000;
const WEEK_HOURS = 168;
const UNTIL = epochMs(1_800_000_000_000);
const WEEKS = 5;

/** Hourly values of so many weeks, by hours before the end, the oldest first. */
const series = (value: (hoursBack: number) => number, weeks = WEEKS): Sample[] =>
  Array.from({ length: weeks * WEEK_HOURS }, (_, i) => weeks * WEEK_HOURS - 1 - i).map((back) => ({
    at: epochMs(UNTIL - back * HOUR),
    value: value(back),
  }));

/** A day's and a week's course, larger than any trend in these tests. */
const course = (back: number): number =>
  0.2 * Math.cos((2 * Math.PI * back) / 24) + (Math.floor(back / 24) % 7 > 4 ? 0.1 : 0);

const drifting = (perWeek: number, noise: (back: number) => number = () => 0) =>
  series((back) => 1 + course(back) - (perWeek * back) / WEEK_HOURS + noise(back));

const seeded = (seed: number, sd: number) => {
  const prng = createPrng(seed);
  const drawn = Array.from({ length: 60 * WEEK_HOURS }, () => sd * normal(prng));
  return (back: number): number => drawn[back] as number;
};

const level = (samples: readonly Sample[], weeks = WEEKS) => slopeOf(samples, UNTIL, weeks, 'level');
const near = (value: number | undefined, wanted: number, within: number): void =>
  assert.ok(value !== undefined && Math.abs(value - wanted) <= within, `${value}, not ${wanted} within ${within}`);

describe('the slope of a measure', () => {
  test('is exact whatever the course of day and week, and as sure as it can be', () => {
    const slope = level(drifting(0.02));
    near(slope?.perWeek, 0.02, 1e-12);
    assert.ok((slope?.confidence ?? 0) > 0.999999);
    assert.equal(slope?.samples, WEEKS * WEEK_HOURS);
    near((slope?.now ?? 0) - (slope?.before ?? 0), 0.08, 0.01);
  });

  test('scaled values give a scaled slope and the same confidence', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.double({ min: 0.01, max: 1000, noNaN: true }),
        (seed, times) => {
          const samples = drifting(0.01, seeded(seed, 0.02));
          const [own, scaled] = [level(samples), level(samples.map(({ at, value }) => ({ at, value: value * times })))];
          near((scaled?.perWeek ?? 0) / times, own?.perWeek ?? 0, 1e-9);
          near(scaled?.confidence, own?.confidence ?? 0, 1e-6);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('moved by a constant it stays the same', () => {
    const samples = drifting(0.01, seeded(3, 0.02));
    near(
      level(samples.map(({ at, value }) => ({ at, value: value + 7 })))?.perWeek,
      level(samples)?.perWeek ?? 0,
      1e-9,
    );
  });

  test('hours that are missing, every third and whole nights, do not turn the course of a day into a trend', () => {
    for (const isKept of [
      (back: number) => back % 3 !== 0,
      (back: number) => back % 24 < 12,
      // Older days lack their nights, newer ones their mornings.
      (back: number) => (back > 400 ? back % 24 < 16 : back % 24 >= 8),
    ]) {
      const kept = drifting(0.02).filter((_, i) => isKept(WEEKS * WEEK_HOURS - 1 - i));
      near(level(kept)?.perWeek, 0.02, 1e-12);
    }
  });

  test('neither an hour nor a whole day that is a thousand times as high moves it much', () => {
    const usual = level(drifting(0.02, seeded(5, 0.005)))?.perWeek ?? 0;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: WEEKS * 7 - 1 }), fc.constantFrom(1, 24), (day, hours) => {
        const spoiled = drifting(0.02, seeded(5, 0.005)).map(({ at, value }) => {
          const back = (UNTIL - at) / HOUR;
          return { at, value: back >= day * 24 && back < day * 24 + hours ? value + 1000 : value };
        });
        const slope = level(spoiled);
        near(slope?.perWeek, usual, hours === 1 ? 0.0005 : 0.0015);
        assert.ok((slope?.confidence ?? 0) > 0.99, `confidence ${slope?.confidence}`);
      }),
      { numRuns: 60 },
    );
  });

  test('a step in the middle is a change too; one that is taken back is none', () => {
    const stepped = series((back) => (back < 2.5 * WEEK_HOURS ? 1.1 : 1) + 0.2 * Math.cos((Math.PI * back) / 12));
    assert.ok((level(stepped)?.perWeek ?? 0) > 0.02);
    const hill = series((back) => (Math.abs(back - 2.5 * WEEK_HOURS) < WEEK_HOURS / 2 ? 1.1 : 1));
    assert.ok((level(hill)?.confidence ?? 1) < 0.9);
  });

  test('counts are told per day and week, however few an hour has', () => {
    const prng = createPrng(11);
    const samples = series((back) => prng.poisson(Math.max(0, (14 - (2 * back) / WEEK_HOURS) / 24)));
    const slope = slopeOf(samples, UNTIL, WEEKS, 'count');
    near(slope?.perWeek, 2, 0.7);
    near(slope?.now, 13, 2);
  });

  test('two weeks, nothing at all, and values that do not move tell nothing', () => {
    assert.equal(level(series((back) => -back, 2)), null);
    assert.equal(level([]), null);
    near(level(series(() => 1))?.confidence, 0, 1e-6);
    assert.equal(level(series(() => 1))?.perWeek, 0);
  });

  test('what lies before the span or after its end changes nothing', () => {
    const samples = drifting(0.02, seeded(9, 0.01));
    const outside = [
      { at: epochMs(UNTIL - 60 * WEEK_HOURS * HOUR), value: 1e9 },
      { at: epochMs(UNTIL + HOUR), value: -1e9 },
    ];
    assert.deepEqual(level([...outside, ...samples]), level(samples));
  });
});

test('days that resemble the day before make it less sure than as many that do not', () => {
  const run = (memory: number): number => {
    let sure = 0;
    for (let seed = 1; seed <= 100; seed += 1) {
      const prng = createPrng(seed);
      let last = 0;
      const days = Array.from({ length: WEEKS * 7 }, () => {
        last = memory * last + Math.sqrt(1 - memory * memory) * normal(prng);
        return 0.02 * last;
      });
      const slope = level(series((back) => 1 + (days[Math.floor(back / 24)] as number)));
      if ((slope?.confidence ?? 0) >= 0.99) sure += 1;
    }
    return sure;
  };
  const [free, alike] = [run(0), run(0.6)];
  console.log(`of 100 series without a trend surer than 0.99: ${free}, with days alike (0.6) ${alike}`);
  assert.ok(free <= 5, `${free}`);
  assert.ok(alike <= 12, `${alike}`);
});
