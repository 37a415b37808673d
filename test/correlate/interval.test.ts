import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatInstant, parseInstant } from '../../src/base/instant.ts';
import { type EpochMs, epochMs, ms } from '../../src/base/units.ts';
import type { ZoneRules } from '../../src/base/zone.ts';
import { zoneRulesOf } from '../../src/config/zone-rules.ts';
import { intervalUntil, type MuteInterval } from '../../src/correlate/interval.ts';
import { MINUTE } from '../support/alerts.ts';
import { intervalOf } from '../support/mutes.ts';

const instant = (text: string): EpochMs => parseInstant(text) ?? epochMs(Number.NaN);

/** The times that an interval covers within a day and a half from `from`, minute by minute, as UTC. */
function covered(interval: MuteInterval, from: string, hours = 36): string[] {
  const zone = zoneRulesOf(interval.zone) as ZoneRules;
  const found: string[] = [];
  let open: EpochMs | null = null;
  for (let minute = 0; minute <= hours * 60; minute += 1) {
    const now = epochMs(instant(from) + minute * MINUTE);
    const until = intervalUntil(interval, zone, now);
    if (open === null && until !== null)
      found.push(`${formatInstant(now).slice(0, 16)} to ${formatInstant(until).slice(0, 16)}`);
    if (open !== null && until !== null) assert.equal(until, open, 'its end does not move while it runs');
    if (open !== null && until === null) assert.equal(now, open, 'it ends when it said');
    open = until;
  }
  return found;
}

describe('a mute interval', () => {
  test('runs by the clocks of its zone, on its days, up to its end', () => {
    const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri'] as const;
    const batch = intervalOf('Europe/Berlin', 2, 4, { weekdays });
    // 2026-01-16 is a Friday.
    assert.deepEqual(covered(batch, '2026-01-15T12:00:00Z', 96), [
      '2026-01-16T01:00 to 2026-01-16T03:00',
      '2026-01-19T01:00 to 2026-01-19T03:00',
    ]);
  });

  test('over midnight belongs to the day on which it begins', () => {
    const night = intervalOf('UTC', 22, 6, { weekdays: ['fri'] });
    assert.deepEqual(covered(night, '2026-01-15T12:00:00Z', 96), ['2026-01-16T22:00 to 2026-01-17T06:00']);
    const wholeDay = intervalOf('UTC', 0, 24, { weekdays: ['sat'] });
    assert.deepEqual(covered(wholeDay, '2026-01-15T12:00:00Z', 96), ['2026-01-17T00:00 to 2026-01-18T00:00']);
  });

  test('where clocks leave an hour out it is shorter, and gone if all of it is left out', () => {
    // Berlin, 2026-03-29: 02:00 becomes 03:00, at 01:00 UTC.
    const day = '2026-03-28T20:00:00Z';
    assert.deepEqual(covered(intervalOf('Europe/Berlin', 1, 4), day, 24), ['2026-03-29T00:00 to 2026-03-29T02:00']);
    assert.deepEqual(covered(intervalOf('Europe/Berlin', 2, 3), day, 24), []);
    const half = intervalOf('Europe/Berlin', 2, 3, { from: ms(150 * MINUTE), to: ms(210 * MINUTE) });
    assert.deepEqual(covered(half, day, 24), ['2026-03-29T01:00 to 2026-03-29T01:30']);
  });

  test('where clocks show an hour twice it is longer, and begins and ends once', () => {
    // Berlin, 2026-10-25: 03:00 becomes 02:00, at 01:00 UTC.
    const day = '2026-10-24T20:00:00Z';
    assert.deepEqual(covered(intervalOf('Europe/Berlin', 2, 4), day, 24), ['2026-10-25T00:00 to 2026-10-25T03:00']);
    const early = intervalOf('Europe/Berlin', 0, 3, { to: ms(150 * MINUTE) });
    assert.deepEqual(covered(early, '2026-10-24T18:00:00Z', 24), ['2026-10-24T22:00 to 2026-10-25T00:30']);
  });

  test('in a zone that jumps at midnight', () => {
    // Santiago, 2026-09-06: 00:00 becomes 01:00, at 04:00 UTC.
    assert.deepEqual(covered(intervalOf('America/Santiago', 0, 2), '2026-09-05T20:00:00Z', 24), [
      '2026-09-06T04:00 to 2026-09-06T05:00',
    ]);
  });
});
