import type { PlainIndicator } from '../slo/slo.ts';
import type { Report } from './report.ts';
import { type IndicatorPlan, resolveSeconds } from './resolve-indicator.ts';
import { child, keyPosition, type SourceNode, textOf } from './source.ts';

/** The indicator of one objective: a thresholdMetric takes its bound from `op: lte` and `value`. */
export function objectiveIndicator(
  plan: IndicatorPlan,
  objective: SourceNode,
  report: Report,
): PlainIndicator | undefined {
  const [op, value] = [child(objective, 'op'), child(objective, 'value')];
  if (plan.kind === 'ready') {
    const stray = op !== undefined ? 'op' : value !== undefined ? 'value' : undefined;
    if (stray === undefined) return plan.indicator;
    report.error(keyPosition(objective, stray), {
      code: 'CONFIG_THRESHOLD_MISPLACED',
      message: `${stray} belongs to a thresholdMetric, and this indicator is a ratioMetric`,
      fix: `remove ${stray}`,
    });
    return undefined;
  }
  if (op === undefined || value === undefined) {
    report.error(objective.at, {
      code: 'CONFIG_THRESHOLD_MISSING',
      message: `a thresholdMetric needs ${op === undefined ? 'op' : 'value'} in its objective`,
      fix: 'write for example { op: lte, value: 0.3, target: 0.99 }',
    });
    return undefined;
  }
  if (textOf(op) !== 'lte') {
    report.error(op.at, {
      code: 'CONFIG_UNSUPPORTED',
      message: `op ${textOf(op) ?? 'without a value'} is not supported: histogram bounds are inclusive`,
      fix: 'write op: lte',
    });
    return undefined;
  }
  const threshold = resolveSeconds(value, report);
  return threshold === undefined ? undefined : { kind: 'latency', query: plan.query, threshold };
}
