import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DAY, type EpochMs, epochMs, HOUR } from '../../src/base/units.ts';
import { labelsOf } from '../../src/model/labels.ts';
import type { HourlyFigures, MeasureName } from '../../src/model/measure.ts';
import { dailySeries } from '../../src/trend/daily.ts';

const MIDNIGHT = Date.UTC(2026, 2, 1);
/** The hour that ends so many hours after that midnight. */
const hour = (after: number): EpochMs => epochMs(MIDNIGHT + after * HOUR);

const row = (
  after: number,
  zone: string,
  figures: Partial<Record<MeasureName, number>>,
  notes: HourlyFigures['notes'] = {},
): HourlyFigures => ({ hour: hour(after), subject: labelsOf([['zone', zone]]), figures, notes });

const series = (rows: readonly HourlyFigures[], measure: MeasureName) =>
  dailySeries(rows, measure, epochMs(MIDNIGHT - 2 * DAY), hour(2));

describe('a measure by day', () => {
  test('a level is the middle of its hours, a count their sum, and nothing where nothing is known', () => {
    const rows = [
      row(-30, 'a', { zone_skew: 1, ejections: 2 }),
      row(-29, 'a', { zone_skew: 4, ejections: 3 }),
      row(-28, 'a', { zone_skew: 1.5 }),
      row(1, 'a', { zone_skew: 2 }),
      row(2, 'a', { zone_skew: 3 }),
    ];
    const level = series(rows, 'zone_skew');
    assert.deepEqual(
      level.days.map((day) => new Date(day).toISOString().slice(0, 10)),
      ['2026-02-27', '2026-02-28', '2026-03-01'],
    );
    assert.deepEqual(level.rows[0]?.values, [1.5, null, 2.5]);
    assert.deepEqual(series(rows, 'ejections').rows[0]?.values, [5, null, null]);
    assert.deepEqual(series(rows, 'retries').rows, []);
  });

  test('the hour that ends at midnight is the last of the day before', () => {
    const { rows } = series([row(0, 'a', { zone_skew: 1.2 }), row(1, 'a', { zone_skew: 1.4 })], 'zone_skew');
    assert.deepEqual(rows[0]?.values, [null, 1.2, 1.4]);
  });

  test('the worst now come first: the highest, and of resumption the lowest', () => {
    const rows = [
      row(1, 'a', { zone_skew: 1.1, resumption: 0.9 }),
      row(1, 'b', { zone_skew: 1.3, resumption: 0.95 }),
      row(-1, 'c', { zone_skew: 1.2, resumption: 0.5 }),
    ];
    const order = (measure: MeasureName) => series(rows, measure).rows.map(({ subject }) => subject.get('zone'));
    assert.deepEqual(order('zone_skew'), ['b', 'c', 'a']);
    assert.deepEqual(order('resumption'), ['c', 'a', 'b']);
  });

  test('the busiest host of a day is the one of most of its hours, and only of the measure that is about hosts', () => {
    const rows = [
      row(-3, 'a', { host_skew: 2, retries: 0 }, { top_host: 'h1' }),
      row(-2, 'a', { host_skew: 3, retries: 0 }, { top_host: 'h2' }),
      row(-1, 'a', { host_skew: 2, retries: 0 }, { top_host: 'h2' }),
    ];
    assert.deepEqual(series(rows, 'host_skew').rows[0]?.top, [null, 'h2', null]);
    assert.deepEqual(series(rows, 'retries').rows[0]?.top, [null, null, null]);
  });

  test('hours outside of the span are left out', () => {
    assert.deepEqual(series([row(-60, 'a', { zone_skew: 1 }), row(49, 'a', { zone_skew: 1 })], 'zone_skew').rows, []);
  });
});
