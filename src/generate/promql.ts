import { labelName, type Part, prometheusName } from '../model/prometheus-names.ts';
import type { Condition, Fraction, MetricQuery } from '../slo/slo.ts';

/** A string literal of PromQL. */
export const quoted = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

function matcher(condition: Condition): string {
  const name = labelName(condition.attribute);
  switch (condition.kind) {
    case 'equals':
      return `${name}=${quoted(condition.value)}`;
    case 'in':
      return `${name}=~${quoted(condition.values.map(literally).join('|'))}`;
    case 'not':
      return `${name}!=${quoted(condition.value)}`;
    case 'matches':
      return `${name}=~${quoted(condition.pattern)}`;
  }
}

/** A bucket's bound as exporters write it: `10` and `10.0` are the same number. */
const boundMatcher = (bound: number): string =>
  Number.isInteger(bound) ? `le=~${quoted(`${bound}(\\.0)?`)}` : `le=${quoted(String(bound))}`;

/** An instant selector of what a query counts. */
export function selector({ metric, where }: MetricQuery, part: Part): string {
  const matchers = where.map(matcher);
  if (typeof part === 'object') matchers.push(boundMatcher(part.atOrBelow));
  return `${prometheusName(metric, part)}{${matchers.join(', ')}}`;
}

/** A fraction as a literal: its own digits where they end, else the nearest double's. */
export function literal({ numerator, denominator }: Fraction): string {
  let scale = 1n;
  for (let digits = 0; digits <= 18; digits += 1) {
    if ((numerator * scale) % denominator === 0n) return decimalText((numerator * scale) / denominator, digits);
    scale *= 10n;
  }
  return String(Number(numerator) / Number(denominator));
}

function decimalText(units: bigint, digits: number): string {
  const text = String(units).padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** A range of whole minutes one second short, so that a window that is closed on both ends holds no extra sample. */
export function shortOf(lengthMs: number): string {
  let seconds = lengthMs / 1000 - 1;
  let text = '';
  for (const [unit, size] of [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ] as const) {
    const count = Math.floor(seconds / size);
    if (count > 0) text += `${count}${unit}`;
    seconds -= count * size;
  }
  return text;
}
