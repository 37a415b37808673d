import { formatInstant, parseInstant } from '../base/instant.ts';
import { type EpochMs, epochMs, HOUR } from '../base/units.ts';
import type { DetectorSettings } from '../detect/settings.ts';
import { labelsToObject } from '../model/labels.ts';
import { MEASURES, type MeasureName, type TrendFinding } from '../model/measure.ts';
import { percentText } from '../model/phrases.ts';
import type { TrendSeriesView, TrendsView, TrendView } from '../model/views.ts';
import type { IncidentStore } from '../store/store.ts';
import { dailySeries } from '../trend/daily.ts';
import { findTrends, trendFrom } from '../trend/findings.ts';

/** What is compared, as people say it. */
const WORDS: Readonly<Record<MeasureName, string>> = {
  zone_skew: 'load per capacity beside its share',
  cross_zone: 'requests that cross zones, at least',
  host_skew: 'the busiest host beside the mean',
  connection_skew: 'new connections beside the mean',
  handshake_skew: 'handshakes beside the mean',
  ejections: 'ejections a day',
  health_changes: 'changes of health a day',
  resumption: 'handshakes that resume a session',
  retries: 'retries beside requests',
};

/** Slow changes in the `weeks` before `until`, from stored hours: asked again later, the same. */
export function trends(
  store: IncidentStore,
  settings: ReadonlyMap<string, DetectorSettings>,
  until: EpochMs,
  weeks: number,
): TrendsView {
  const end = epochMs(Math.floor(until / HOUR) * HOUR);
  const from = trendFrom(end, weeks);
  const rows = store.hourly(from, end);
  return {
    from: formatInstant(from),
    until: formatInstant(end),
    weeks,
    hours: new Set(rows.map(({ hour }) => hour)).size,
    findings: findTrends(rows, settings, end, weeks).map((finding) => toView(finding, settings)),
  };
}

/** A measure day by day in the `weeks` before `until`, from the same hours. */
export function trendSeries(
  store: IncidentStore,
  measure: MeasureName,
  until: EpochMs,
  weeks: number,
): TrendSeriesView {
  const end = epochMs(Math.floor(until / HOUR) * HOUR);
  const from = trendFrom(end, weeks);
  const { days, rows } = dailySeries(store.hourly(from, end), measure, from, end);
  return {
    measure,
    unit: MEASURES[measure].unit,
    from: formatInstant(from),
    until: formatInstant(end),
    weeks,
    days: days.map(formatInstant),
    rows: rows.map(({ subject, values, top }) => ({ subject: labelsToObject(subject), values, top })),
  };
}

/** An instant that a caller asked for; `now` where it asked for none. */
export const untilOf = (text: string | null, now: EpochMs): EpochMs =>
  text === null ? now : (parseInstant(text) ?? now);

function toView(finding: TrendFinding, settings: ReadonlyMap<string, DetectorSettings>): TrendView {
  const { measure, subject, now, before, slopePerWeek, confidence, samples, notes } = finding;
  const { alert, unit } = MEASURES[measure];
  const own = settings.get(alert);
  const figure = (value: number): string => (unit === '1' ? percentText(value) : value.toFixed(1));
  const where = [...subject].map(([name, value]) => `${name} ${value}`).join(', ');
  const { top_host: host } = notes;
  const named = measure === 'host_skew' && host !== undefined ? ` (${host} last)` : '';
  return {
    subject: labelsToObject(subject),
    measure,
    unit,
    alert,
    owner: own?.owner ?? 'edge',
    runbook: own?.runbook ?? alert,
    now,
    before,
    slopePerWeek,
    confidence,
    samples,
    summary: `${where === '' ? 'the fleet' : where}: ${WORDS[measure]} ${figure(before)} to ${figure(now)}${named}, ${slopePerWeek < 0 ? 'less' : 'more'} by ${figure(Math.abs(slopePerWeek))} a week.`,
  };
}
