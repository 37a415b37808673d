import { MEASURE_NAMES } from '../model/measure.ts';
import type { TrendRowView, TrendSeriesView, TrendsView, TrendView } from '../model/views.ts';
import {
  instant,
  labelSet,
  listOf,
  numberOf,
  numberOrNull,
  oneOf,
  ref,
  text,
  textOrNull,
  texts,
  viewSchema,
  wholeOf,
} from './schema-parts.ts';

export const TREND = viewSchema<TrendView>('Trend', 'A slow change for the worse. It pages and tickets nobody.', {
  subject: labelSet('cluster, zone, balancer; empty = the whole fleet.'),
  measure: oneOf(MEASURE_NAMES, 'What changes.'),
  unit: text('Of now, before and slopePerWeek; 1 = a ratio.'),
  alert: text('The alert whose slow sibling it is.'),
  owner: text('Who acts on that alert.'),
  runbook: text('Its runbook.'),
  now: numberOf('Middle of the last seven days; of counts the mean per day.'),
  before: numberOf('The same of the first seven days.'),
  slopePerWeek: numberOf('Median change a week of days compared hour by hour.'),
  confidence: numberOf('1 less the chance of so much order without a trend.'),
  samples: wholeOf('Hours behind it.'),
  summary: text('In one sentence.'),
});

export const TRENDS = viewSchema<TrendsView>('Trends', 'Slow changes for the worse in some weeks.', {
  from: instant('Start of the span.'),
  until: instant('Its end, on the hour.'),
  weeks: wholeOf('As asked.'),
  hours: wholeOf('Hours of the span of which anything is known.'),
  findings: listOf(ref<TrendView>(TREND), 'The steepest, by its threshold, first.'),
});

export const TREND_ROW = viewSchema<TrendRowView>('TrendRow', 'One measure of one subject, day by day.', {
  subject: labelSet('cluster, zone, balancer; empty = the whole fleet.'),
  values: listOf(numberOrNull('The middle hour of a level, the sum of a count.'), 'By the days of the series.'),
  top: listOf(textOrNull('The busiest host in most hours, of host_skew.'), 'By the days of the series.'),
});

export const TREND_SERIES = viewSchema<TrendSeriesView>('TrendSeries', 'One measure of all its subjects over weeks.', {
  measure: oneOf(MEASURE_NAMES, 'As asked.'),
  unit: text('Of values; 1 = a ratio.'),
  from: instant('Start of the span.'),
  until: instant('Its end, on the hour.'),
  weeks: wholeOf('As asked.'),
  days: texts('Begins of the days of UTC; the last one is as far as it has come.'),
  rows: listOf(ref<TrendRowView>(TREND_ROW), 'Those that are the worst now come first.'),
});
