import { assert } from '../base/assert.ts';
import { DAY, type EpochMs } from '../base/units.ts';
import type { DetectorSettings } from '../detect/settings.ts';
import { labelsKey } from '../model/labels.ts';
import { type HourlyFigures, MEASURE_NAMES, MEASURES, type MeasureName, type TrendFinding } from '../model/measure.ts';
import { type Sample, slopeOf } from './slope.ts';

/** With the least slope that is told: some thousand comparisons of healthy fleets brought none (test/trend). */
const CONFIDENCE_MIN = 0.999;

/** Threshold of `detectors.yaml` by which each measure is judged: what it must change in a week. */
const THRESHOLDS: Readonly<Record<MeasureName, string>> = {
  zone_skew: 'trendPerWeek',
  cross_zone: 'crossZonePerWeek',
  host_skew: 'trendPerWeek',
  connection_skew: 'trendPerWeek',
  handshake_skew: 'trendPerWeek',
  ejections: 'trendPerWeek',
  health_changes: 'trendPerWeek',
  resumption: 'trendPerWeek',
  retries: 'trendPerWeek',
};

/** Start of the span that a review of so many weeks looks at. */
export const trendFrom = (until: EpochMs, weeks: number): EpochMs => (until - weeks * 7 * DAY) as EpochMs;

/**
 * What has slowly become worse in the `weeks` before `until`: significant, and by at least what the rules name per
 * week. The steepest, by its threshold, first. Measures of detectors that are switched off are left out.
 */
export function findTrends(
  rows: readonly HourlyFigures[],
  settings: ReadonlyMap<string, DetectorSettings>,
  until: EpochMs,
  weeks: number,
): readonly TrendFinding[] {
  const found: { readonly finding: TrendFinding; readonly times: number; readonly key: string }[] = [];
  for (const [key, own] of bySubject(rows)) {
    const newest = own.reduce((last, row) => (row.hour > last.hour ? row : last));
    for (const measure of MEASURE_NAMES) {
      const detector = settings.get(MEASURES[measure].alert);
      const samples = own.flatMap(({ hour, figures }): Sample[] => {
        const value = figures[measure];
        return value === undefined ? [] : [{ at: hour, value }];
      });
      if (detector?.enabled !== true || samples.length === 0) continue;
      const limit = detector.thresholds[THRESHOLDS[measure]];
      assert(limit !== undefined, `${MEASURES[measure].alert}.${THRESHOLDS[measure]} is not set`);
      const slope = slopeOf(samples, until, weeks, MEASURES[measure].kind);
      const worse = slope === null ? 0 : MEASURES[measure].worse === 'up' ? slope.perWeek : -slope.perWeek;
      if (slope === null || worse < limit || slope.confidence < CONFIDENCE_MIN) continue;
      const { perWeek, ...figures } = slope;
      const finding = { subject: newest.subject, measure, slopePerWeek: perWeek, ...figures, notes: newest.notes };
      found.push({ finding, times: worse / limit, key: `${key} ${measure}` });
    }
  }
  return found.sort((a, b) => b.times - a.times || (a.key < b.key ? -1 : 1)).map(({ finding }) => finding);
}

function bySubject(rows: readonly HourlyFigures[]): ReadonlyMap<string, readonly HourlyFigures[]> {
  const subjects = new Map<string, HourlyFigures[]>();
  for (const row of rows) {
    const key = labelsKey(row.subject);
    const list = subjects.get(key);
    if (list === undefined) subjects.set(key, [row]);
    else list.push(row);
  }
  return subjects;
}
