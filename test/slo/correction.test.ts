import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { daysFromCivil, formatInstant } from '../../src/base/instant.ts';
import { type EpochMs, epochMs, ms } from '../../src/base/units.ts';
import { localOf } from '../../src/base/zone.ts';
import { zoneRulesOf } from '../../src/config/zone-rules.ts';
import { type Recurrence, WEEKDAYS } from '../../src/model/correction.ts';
import { occurrencesOf, timesOf, wholeSteps } from '../../src/slo/correction.ts';
import { correctionOf, recurrenceOf, undone } from '../support/corrections.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const utc = (text: string): EpochMs => epochMs(Date.parse(`${text}Z`));

/** `2026-03-28T01:00Z/60m`, in order. */
function told(recurrence: Recurrence, from: string, to: string): string[] {
  const zone = zoneRulesOf(recurrence.zone);
  assert.ok(zone !== null);
  return occurrencesOf(recurrence, zone, utc(from), utc(to)).map(
    ({ start, end }) => `${formatInstant(start).slice(0, 16)}Z/${(end - start) / 60_000}m`,
  );
}

describe('planned work that repeats', () => {
  test('keeps the local time over both changes of the clocks', () => {
    assert.deepEqual(told(recurrenceOf({ start: ms(4 * HOUR) }), '2026-03-28T00:00', '2026-03-31T00:00'), [
      '2026-03-28T03:00Z/60m',
      '2026-03-29T02:00Z/60m',
      '2026-03-30T02:00Z/60m',
    ]);
    assert.deepEqual(told(recurrenceOf({ start: ms(4 * HOUR) }), '2026-10-24T00:00', '2026-10-27T00:00'), [
      '2026-10-24T02:00Z/60m',
      '2026-10-25T03:00Z/60m',
      '2026-10-26T03:00Z/60m',
    ]);
  });

  test('a start that the clocks leave out comes after the gap, and lasts as long as ever', () => {
    const halfPastTwo = recurrenceOf({ start: ms(2.5 * HOUR) });
    assert.deepEqual(told(halfPastTwo, '2026-03-29T00:00', '2026-03-30T00:00'), ['2026-03-29T01:30Z/60m']);
  });

  test('a start that the clocks show twice is the first of both, once', () => {
    const halfPastTwo = recurrenceOf({ start: ms(2.5 * HOUR) });
    assert.deepEqual(told(halfPastTwo, '2026-10-25T00:00', '2026-10-26T00:00'), ['2026-10-25T00:30Z/60m']);
  });

  test('six hours over the change of the clocks are six hours', () => {
    const night = recurrenceOf({ start: ms(22 * HOUR), duration: ms(6 * HOUR), weekdays: ['sat'] });
    assert.deepEqual(told(night, '2026-03-27T00:00', '2026-03-31T00:00'), ['2026-03-28T21:00Z/360m']);
    assert.deepEqual(told(night, '2026-10-23T00:00', '2026-10-27T00:00'), ['2026-10-24T20:00Z/360m']);
  });

  test('weekdays are those of the local date, which need not be UTC’s', () => {
    const auckland = recurrenceOf({ zone: 'Pacific/Auckland', weekdays: ['mon'] });
    // Monday 02:00 of Auckland is Sunday 13:00 or 14:00 in UTC.
    assert.deepEqual(told(auckland, '2026-01-01T00:00', '2026-01-14T00:00'), [
      '2026-01-04T13:00Z/60m',
      '2026-01-11T13:00Z/60m',
    ]);
  });

  test('first and last date are kept, both included', () => {
    const days = { firstDay: daysFromCivil(2026, 6, 2), lastDay: daysFromCivil(2026, 6, 4) };
    const found = told(recurrenceOf({ ...days, zone: 'UTC' }), '2026-01-01T00:00', '2027-01-01T00:00');
    assert.deepEqual(found, ['2026-06-02T02:00Z/60m', '2026-06-03T02:00Z/60m', '2026-06-04T02:00Z/60m']);
  });

  test('what began before is still found while it lasts', () => {
    const long = recurrenceOf({ zone: 'UTC', weekdays: ['mon'], duration: ms(7 * DAY) });
    assert.deepEqual(told(long, '2026-03-08T23:00', '2026-03-09T01:00'), ['2026-03-02T02:00Z/10080m']);
  });

  test('any piece of time finds what the whole finds in it', () => {
    const from = utc('2026-03-01T00:00');
    const zones = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'UTC');
    const minutes = (max: number) => fc.integer({ min: 1, max }).map((n) => ms(n * 60_000));
    const anyRecurrence = fc
      .record({ zone: zones, weekdays: fc.subarray([...WEEKDAYS], { minLength: 1 }), start: minutes(1439) })
      .chain((part) => minutes(3 * 1440).map((duration) => recurrenceOf({ ...part, duration })));
    fc.assert(
      fc.property(anyRecurrence, fc.nat(240 * 24), fc.nat(240), (recurrence, afterHours, hours) => {
        const zone = zoneRulesOf(recurrence.zone);
        assert.ok(zone !== null);
        const [start, end] = [epochMs(from + afterHours * HOUR), epochMs(from + (afterHours + hours + 1) * HOUR)];
        const whole = occurrencesOf(recurrence, zone, from, epochMs(from + 300 * DAY));
        const expected = whole.filter((one) => one.start < end && one.end > start);
        assert.deepEqual(occurrencesOf(recurrence, zone, start, end), expected);
        for (const one of whole) {
          const day = Math.floor(localOf(zone, one.start) / DAY);
          assert.ok(recurrence.weekdays.includes(WEEKDAYS[(day + 3) % 7] ?? 'mon'));
        }
      }),
      { seed: 31, numRuns: 60 },
    );
  });
});

describe('the times of a correction', () => {
  const [from, to] = [utc('2026-03-01T02:03:20'), utc('2026-03-01T02:56:40')];
  const always = [epochMs(0), utc('2030-01-01T00:00')] as const;
  const times = (correction: ReturnType<typeof correctionOf>) => timesOf(correction, zoneRulesOf, ...always);

  test('end where it was ended, and are none once it is undone', () => {
    const correction = correctionOf(1, from, to);
    assert.deepEqual(times(correction), [{ start: from, end: to }]);
    const ended = { at: epochMs(from + 60_000), by: 'ana', reason: 'done early' };
    assert.deepEqual(times({ ...correction, ended }), [{ start: from, end: ended.at }]);
    assert.deepEqual(times({ ...correction, ended: { ...ended, at: from } }), []);
    assert.deepEqual(times(undone(correction)), []);
  });

  test('are rounded out to whole steps and joined', () => {
    assert.deepEqual(wholeSteps([{ start: from, end: to }], 300_000), [
      { start: utc('2026-03-01T02:00:00'), end: utc('2026-03-01T03:00:00') },
    ]);
    const minute = (start: number, end: number) => ({ start: epochMs(start * 60_000), end: epochMs(end * 60_000) });
    assert.deepEqual(wholeSteps([minute(40, 45), minute(1, 4), minute(5, 12), minute(6, 7)], 300_000), [
      minute(0, 15),
      minute(40, 45),
    ]);
  });
});
