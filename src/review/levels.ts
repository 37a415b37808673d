import { formatInstant } from '../base/instant.ts';
import { median } from '../base/median.ts';
import { DAY, type EpochMs, epochMs, HOUR } from '../base/units.ts';
import { type Labels, labelsFromObject, labelsKey, labelsToObject } from '../model/labels.ts';
import { type HourlyFigures, MEASURE_NAMES, MEASURES, type MeasureName } from '../model/measure.ts';
import type { Part, ReviewLevel, ReviewTrend, WeeklyReview } from '../model/review.ts';
import { findTrends, trendFrom } from '../trend/findings.ts';
import { findingText, MEASURE_WORDS } from '../trend/words.ts';
import { type ReviewInput, WEEK_MS, WEEKS_SHOWN, type WeekSpan } from './input.ts';

/** A line through fewer says nothing. */
const TREND_WEEKS_MIN = 3;

const WHY_UNKNOWN: Readonly<Record<MeasureName, string>> = {
  zone_skew: 'No cluster has hosts in two zones that balancers tell apart, or each had too few requests.',
  cross_zone: 'Requests that cross zones are known only where balancers tell the zones of themselves and of hosts.',
  host_skew: 'No balancer tells requests by host, or there were too few.',
  connection_skew: 'Fewer than two balancers of a kind tell their connections, or there were too few.',
  handshake_skew: 'Fewer than two balancers of a kind tell their handshakes, or there were too few.',
  ejections: 'No balancer tells its ejections, or no cluster had requests.',
  health_changes: 'No balancer tells the health of hosts, or no cluster had requests.',
  resumption: 'No balancer tells which handshakes resumed a session, or there were too few.',
  retries: 'No balancer tells its retries, or there were too few requests.',
};

/** Why nothing is known of a measure in this week. */
export const whyUnknown = (measure: MeasureName): string =>
  `Not known: ${MEASURE_WORDS[measure]}. ${WHY_UNKNOWN[measure]}`;

interface Series {
  readonly subject: Labels;
  readonly samples: readonly { readonly hour: EpochMs; readonly value: number }[];
}

/** Every measure of every subject of which this week or the last knows anything; the worst changes first. */
export function levelsOf({ rows, span }: ReviewInput): Part<ReviewLevel> {
  const missing: string[] = [];
  const items = MEASURE_NAMES.flatMap((measure) => {
    const { unit, worse } = MEASURES[measure];
    const sign = worse === 'up' ? 1 : -1;
    const found = seriesOf(rows, measure).flatMap(({ subject, samples }): ReviewLevel[] => {
      const weeks = weeksOf(samples, measure, span);
      const now = weeks.at(-1) ?? null;
      const before = weeks.slice(0, -1).filter((value) => value !== null);
      if (now === null && (before.length === 0 || weeks.at(-2) === null)) return [];
      const mean = before.reduce((sum, value) => sum + value, 0) / before.length;
      const change = now === null || before.length === 0 ? null : now - mean;
      return [{ measure, unit, subject: labelsToObject(subject), weeks, change }];
    });
    if (found.every(({ weeks }) => weeks.at(-1) === null)) missing.push(whyUnknown(measure));
    // Those without a change stand last, in the order of their subjects.
    const worst = ({ change }: ReviewLevel): number => (change === null ? -Number.MAX_VALUE : sign * change);
    return found.sort((a, b) => worst(b) - worst(a));
  });
  return { items, unknown: missing.length === 0 ? null : missing.join(' ') };
}

/** By subject, in the order of their keys; samples oldest first. */
function seriesOf(rows: readonly HourlyFigures[], measure: MeasureName): readonly Series[] {
  const found = new Map<string, { subject: Labels; samples: { hour: EpochMs; value: number }[] }>();
  for (const { hour, subject, figures } of rows) {
    const value = figures[measure];
    if (value === undefined) continue;
    const key = labelsKey(subject);
    const known = found.get(key) ?? { subject, samples: [] };
    found.set(key, known);
    known.samples.push({ hour, value });
  }
  const series = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  for (const { samples } of series) samples.sort((a, b) => a.hour - b.hour);
  return series;
}

/** A level is its middle, a count so many a day. */
function levelIn(samples: Series['samples'], measure: MeasureName, from: number, to: number): number | null {
  const values = samples.filter(({ hour }) => hour > from && hour <= to).map(({ value }) => value);
  if (values.length === 0) return null;
  if (MEASURES[measure].kind === 'level') return median(values);
  return (values.reduce((sum, value) => sum + value, 0) / values.length) * (DAY / HOUR);
}

function weeksOf(samples: Series['samples'], measure: MeasureName, { from, until }: WeekSpan) {
  return Array.from({ length: WEEKS_SHOWN }, (_, index) => {
    const start = from - (WEEKS_SHOWN - 1 - index) * WEEK_MS;
    return levelIn(samples, measure, start, Math.min(start + WEEK_MS, until));
  });
}

/** Slow changes for the worse until the end of the week, with their course by day. */
export function trendsOf({ rows, span, detectors }: ReviewInput): WeeklyReview['trends'] {
  const weeks = weeksKnown(rows, span.until);
  if (weeks < TREND_WEEKS_MIN) {
    const unknown = `A trend needs figures of ${TREND_WEEKS_MIN} weeks; ${weeks === 0 ? 'none is' : `${weeks} ${weeks === 1 ? 'is' : 'are'}`} known.`;
    return { items: [], unknown, weeks };
  }
  const items = findTrends(rows, detectors, span.until, weeks).map((finding): ReviewTrend => {
    const { subject, measure, notes: _, ...figures } = finding;
    const { alert, unit } = MEASURES[measure];
    const own = detectors.get(alert);
    return {
      subject: labelsToObject(subject),
      measure,
      unit,
      alert,
      owner: own?.owner ?? 'edge',
      runbook: own?.runbook ?? alert,
      ...figures,
      summary: findingText(finding),
      days: [],
    };
  });
  const from = trendFrom(span.until, weeks);
  return {
    items: items.map((item) => ({ ...item, days: daysOf(rows, item, from, span.until) })),
    unknown: null,
    weeks,
  };
}

/** Of all figures, rounded: an hour that is missing at the beginning does not shorten the comparison. */
function weeksKnown(rows: readonly HourlyFigures[], until: EpochMs): number {
  const first = rows.reduce(
    (least, { hour, figures }) => (hour < least && Object.keys(figures).length > 0 ? hour : least),
    Number.POSITIVE_INFINITY,
  );
  return first > until ? 0 : Math.min(WEEKS_SHOWN, Math.round((until - first + HOUR) / WEEK_MS));
}

function daysOf(rows: readonly HourlyFigures[], { subject, measure }: ReviewTrend, from: EpochMs, until: EpochMs) {
  const key = labelsKey(labelsFromObject(subject));
  const samples = seriesOf(rows, measure).find((one) => labelsKey(one.subject) === key)?.samples ?? [];
  return Array.from({ length: Math.round((until - from) / DAY) }, (_, day) => {
    const start = from + day * DAY;
    return { until: formatInstant(epochMs(start + DAY)), value: levelIn(samples, measure, start, start + DAY) };
  });
}
