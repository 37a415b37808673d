import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DateTime, type DurationUnit } from 'luxon';
import { present } from '../../src/base/assert.ts';
import { formatInstant } from '../../src/base/instant.ts';
import { DAY, type EpochMs, epochMs, HOUR, ms } from '../../src/base/units.ts';
import { instantOfLocal, type ZoneRules } from '../../src/base/zone.ts';
import { zoneRulesOf } from '../../src/config/zone-rules.ts';
import { Calendar, type CalendarUnit, nominalLength } from '../../src/slo/calendar.ts';

const zoneOf = (name: string): ZoneRules => present(zoneRulesOf(name) ?? undefined, name);
const utc = (text: string): EpochMs => epochMs(Date.parse(text));

function calendarOf(text: string, startTime: string, zone = 'Europe/Berlin'): Calendar {
  const unit = text.slice(-1) as CalendarUnit;
  return new Calendar({ unit, count: Number(text.slice(0, -1)), anchor: utc(`${startTime}Z`), zone: zoneOf(zone) });
}

/** The period that holds a time, as RFC 3339 without seconds. */
function periodOf(calendar: Calendar, at: string): readonly string[] {
  const { start, end } = calendar.periodAt(utc(at));
  return [start, end].map((edge) => formatInstant(edge).replace(':00.000', ''));
}

describe('local times', () => {
  const berlin = zoneOf('Europe/Berlin');
  const at = (local: string): string => formatInstant(instantOfLocal(berlin, utc(`${local}Z`)));

  test('winter, summer, the hour that is left out and the one that comes twice', () => {
    assert.equal(at('2026-01-01T00:00:00'), '2025-12-31T23:00:00.000Z');
    assert.equal(at('2026-07-01T00:00:00'), '2026-06-30T22:00:00.000Z');
    assert.equal(at('2026-03-29T02:30:00'), '2026-03-29T01:30:00.000Z');
    assert.equal(at('2026-10-25T02:30:00'), '2026-10-25T00:30:00.000Z');
    assert.equal(at('2026-10-25T03:00:00'), '2026-10-25T02:00:00.000Z');
  });

  test('are what luxon makes of them, in zones of all kinds', () => {
    const zones = ['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Pacific/Apia', 'UTC'];
    // Whole quarters of an hour of 2020 to 2040.
    const quarters = fc.integer({ min: utc('2020-01-01T00:00Z') / 900_000, max: utc('2040-01-01T00:00Z') / 900_000 });
    fc.assert(
      fc.property(fc.constantFrom(...zones), quarters, (name, quarter) => {
        const local = quarter * 900_000;
        const found = instantOfLocal(zoneOf(name), local);
        const text = new Date(local).toISOString().slice(0, 19);
        const peer = DateTime.fromISO(text, { zone: name });
        // Where clocks show it twice, luxon may take the second.
        const isAmbiguous = peer.getPossibleOffsets().length > 1;
        const expected = isAmbiguous
          ? Math.min(...peer.getPossibleOffsets().map((one) => one.toMillis()))
          : peer.toMillis();
        assert.equal(found, expected, `${name} ${text}`);
      }),
      { seed: 61, numRuns: 2000 },
    );
  });

  test('an unknown zone is none', () => {
    for (const name of ['Europe/Bonn', '', 'local', 'Mars/Olympus']) assert.equal(zoneRulesOf(name), null, name);
  });
});

describe('calendar periods', () => {
  test('months begin at local midnight on both sides of summer time', () => {
    const month = calendarOf('1M', '2026-01-01T00:00:00');
    assert.deepEqual(periodOf(month, '2026-03-15T12:00Z'), ['2026-02-28T23:00Z', '2026-03-31T22:00Z']);
    assert.deepEqual(periodOf(month, '2026-10-31T22:59Z'), ['2026-09-30T22:00Z', '2026-10-31T23:00Z']);
    assert.deepEqual(periodOf(month, '2025-06-10T00:00Z'), ['2025-05-31T22:00Z', '2025-06-30T22:00Z']);
  });

  test('an edge belongs to the period that ends there', () => {
    const month = calendarOf('1M', '2026-01-01T00:00:00', 'UTC');
    assert.deepEqual(periodOf(month, '2026-03-01T00:00Z'), ['2026-02-01T00:00Z', '2026-03-01T00:00Z']);
    const { end } = month.next(month.periodAt(utc('2026-03-01T00:00Z')));
    assert.equal(formatInstant(end), '2026-04-01T00:00:00.000Z');
  });

  test('a month without the day ends at its last one, and the next has it again', () => {
    const month = calendarOf('1M', '2026-01-31T06:00:00', 'UTC');
    assert.deepEqual(periodOf(month, '2026-03-01T00:00Z'), ['2026-02-28T06:00Z', '2026-03-31T06:00Z']);
    assert.deepEqual(periodOf(month, '2028-02-20T00:00Z'), ['2028-01-31T06:00Z', '2028-02-29T06:00Z']);
    const leap = calendarOf('1Y', '2024-02-29T00:00:00', 'UTC');
    assert.deepEqual(periodOf(leap, '2026-01-01T00:00Z'), ['2025-02-28T00:00Z', '2026-02-28T00:00Z']);
    assert.deepEqual(periodOf(leap, '2028-02-29T12:00Z'), ['2028-02-29T00:00Z', '2029-02-28T00:00Z']);
  });

  test('quarters, years, weeks from a Monday, days of 23 and 25 hours', () => {
    const quarter = calendarOf('1Q', '2026-01-01T00:00:00');
    assert.deepEqual(periodOf(quarter, '2026-05-05T00:00Z'), ['2026-03-31T22:00Z', '2026-06-30T22:00Z']);
    assert.deepEqual(periodOf(quarter, '2026-12-31T22:00Z'), ['2026-09-30T22:00Z', '2026-12-31T23:00Z']);
    const week = calendarOf('1w', '2026-01-05T00:00:00');
    assert.deepEqual(periodOf(week, '2026-03-29T12:00Z'), ['2026-03-22T23:00Z', '2026-03-29T22:00Z']);
    const day = calendarOf('1d', '2026-01-01T00:00:00');
    const hoursOf = (at: string): number => {
      const { start, end } = day.periodAt(utc(at));
      return (end - start) / HOUR;
    };
    assert.deepEqual(['2026-03-28T12:00Z', '2026-03-29T12:00Z', '2026-10-25T12:00Z'].map(hoursOf), [24, 23, 25]);
  });

  test('every period holds its time, meets its neighbour, and starts when luxon says', () => {
    const spans: Readonly<Record<CalendarUnit, DurationUnit>> = {
      d: 'days',
      w: 'weeks',
      M: 'months',
      Q: 'quarters',
      Y: 'years',
    };
    const unitArb = fc.constantFrom<CalendarUnit>('d', 'w', 'M', 'Q', 'Y');
    const zoneArb = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'UTC');
    const timeArb = fc.integer({ min: utc('2000-01-01T00:00Z'), max: utc('2040-01-01T00:00Z') });
    const days = fc.integer({ min: 10_000, max: 24_000 });
    fc.assert(
      fc.property(
        unitArb,
        fc.integer({ min: 1, max: 5 }),
        zoneArb,
        days,
        fc.nat(287),
        timeArb,
        (unit, count, zone, day, step, time) => {
          const anchor = day * DAY + step * 300_000;
          const calendar = new Calendar({ unit, count, anchor, zone: zoneOf(zone) });
          const { start, end } = calendar.periodAt(epochMs(time));
          assert.ok(start < time && time <= end, 'holds its time');
          assert.deepEqual(calendar.periodAt(end), { start, end });
          assert.equal(calendar.next({ start, end }).start, end);
          assert.deepEqual(
            new Calendar(calendar.spec).periodAt(epochMs(start + 1)),
            { start, end },
            'is not remembered wrongly',
          );
          const first = DateTime.fromISO(new Date(anchor).toISOString().slice(0, 19), { zone: 'UTC' });
          const local = DateTime.fromMillis(start + zoneOf(zone).offsetAt(start), { zone: 'UTC' });
          const guess = Math.round(local.diff(first, spans[unit]).as(spans[unit]) / count);
          const starts = [-2, -1, 0, 1, 2].map((by) =>
            instantOfLocal(zoneOf(zone), first.plus({ [spans[unit]]: (guess + by) * count }).toMillis()),
          );
          assert.ok(starts.includes(start), 'starts when luxon says');
        },
      ),
      { seed: 62, numRuns: 1000 },
    );
  });

  test('the nominal length is what factors reckon with', () => {
    const lengths = (['d', 'w', 'M', 'Q', 'Y'] as const).map((unit) => nominalLength({ unit, count: 1 }) / DAY);
    assert.deepEqual(lengths, [1, 7, 30, 90, 365]);
    assert.equal(nominalLength({ unit: 'w', count: 2 }), ms(14 * DAY));
  });
});
