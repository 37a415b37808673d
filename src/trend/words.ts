import type { Labels } from '../model/labels.ts';
import { MEASURES, type MeasureName, type TrendFinding } from '../model/measure.ts';
import { percentText } from '../model/phrases.ts';

/** What is compared, as people say it. */
export const MEASURE_WORDS: Readonly<Record<MeasureName, string>> = {
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

/** `cluster app, zone a`. */
export const subjectWords = (subject: Labels): string =>
  subject.size === 0 ? 'the fleet' : [...subject].map(([name, value]) => `${name} ${value}`).join(', ');

/** A ratio in per cent, a count with one digit. */
export const measureText = (measure: MeasureName, value: number): string =>
  MEASURES[measure].unit === '1' ? percentText(value) : value.toFixed(1);

/** `cluster app, zone a: load per capacity beside its share 102 % to 108 %, more by 2.0 % a week.` */
export function findingText({ measure, subject, now, before, slopePerWeek, notes }: TrendFinding): string {
  const { top_host: host } = notes;
  const named = measure === 'host_skew' && host !== undefined ? ` (${host} last)` : '';
  const figure = (value: number): string => measureText(measure, value);
  const way = slopePerWeek < 0 ? 'less' : 'more';
  const course = `${figure(before)} to ${figure(now)}${named}, ${way} by ${figure(Math.abs(slopePerWeek))} a week`;
  return `${subjectWords(subject)}: ${MEASURE_WORDS[measure]} ${course}.`;
}
