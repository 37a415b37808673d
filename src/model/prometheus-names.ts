import { canonicalMetric } from './conventions.ts';

/** What of a metric is read: a counter's total, a gauge's value, or a part of a histogram. */
export type Part = 'total' | 'value' | 'count' | 'buckets' | { readonly atOrBelow: number };

/** Names as OpenTelemetry's Prometheus compatibility gives them: `lb.requests` is `lb_requests_total`. */
export function prometheusName(metric: string, part: Part): string {
  const base = familyName(metric);
  if (part === 'total') return `${base}_total`;
  if (part === 'value') return canonicalMetric(metric)?.unit === '1' ? `${base}_ratio` : base;
  return part === 'count' ? `${base}_count` : `${base}_bucket`;
}

/** Of a histogram, without the ending of one of its parts. */
export const familyName = (metric: string): string =>
  `${labelName(metric)}${canonicalMetric(metric)?.unit === 's' ? '_seconds' : ''}`;

export const labelName = (attribute: string): string => attribute.replace(/[^a-zA-Z0-9_]/g, '_');
