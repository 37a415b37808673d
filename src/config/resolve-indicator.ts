import { CANONICAL_METRICS, type CanonicalMetric, canonicalMetric } from '../model/conventions.ts';
import type { Condition, MetricQuery, PlainIndicator } from '../slo/slo.ts';
import type { Report } from './report.ts';
import { resolveWhere } from './resolve-where.ts';
import { booleanOf, child, entries, keyPosition, numberOf, type Position, type SourceNode, textOf } from './source.ts';
import { nearest } from './suggest.ts';

const SOURCE_KEYS: readonly string[] = ['metric', 'where', 'threshold'];

/** One metricSource, read. `threshold` is undefined where none is written. */
interface Source {
  readonly query: MetricQuery;
  readonly metric: CanonicalMetric;
  readonly threshold: number | undefined;
  readonly thresholdAt: Position | undefined;
  readonly at: Position;
}

/** What an SLO's indicator counts: done, or waiting for the threshold of each objective. */
export type IndicatorPlan =
  | { readonly kind: 'ready'; readonly indicator: PlainIndicator }
  | { readonly kind: 'per-objective'; readonly query: MetricQuery };

/** Reads `spec.indicator`; undefined when it has an error (reported). */
export function resolveIndicator(spec: SourceNode, report: Report): IndicatorPlan | undefined {
  const indicator = child(spec, 'indicator');
  if (child(spec, 'indicatorRef') !== undefined) {
    report.error(keyPosition(spec, 'indicatorRef'), {
      code: 'CONFIG_UNSUPPORTED',
      message: 'indicatorRef is not supported',
      fix: 'write the indicator inside the SLO: indicator: { spec: { ratioMetric: ... } }',
    });
    return undefined;
  }
  const body = child(indicator, 'spec');
  const ratio = child(body, 'ratioMetric');
  const threshold = child(body, 'thresholdMetric');
  if (body === undefined || (ratio === undefined) === (threshold === undefined)) {
    report.error(indicator === undefined ? spec.at : keyPosition(indicator, 'spec'), {
      code: 'CONFIG_INDICATOR_INVALID',
      message: ratio === undefined ? 'the indicator says not what to count' : 'the indicator has two meanings',
      fix: 'write either ratioMetric (good or bad, and total) or thresholdMetric (with op and value in the objective)',
    });
    return undefined;
  }
  return ratio === undefined ? resolveThreshold(threshold, report) : resolveRatio(ratio, report);
}

function resolveThreshold(node: SourceNode | undefined, report: Report): IndicatorPlan | undefined {
  const source = node === undefined ? undefined : resolveSource(node, report);
  if (source === undefined) return undefined;
  if (!isHistogram(source, report)) return undefined;
  if (source.threshold !== undefined && source.thresholdAt !== undefined) {
    report.error(source.thresholdAt, {
      code: 'CONFIG_THRESHOLD_MISPLACED',
      message: 'the threshold of a thresholdMetric belongs into the objective',
      fix: `remove it and write objectives: [{ op: lte, value: ${source.threshold}, target: ... }]`,
    });
    return undefined;
  }
  return { kind: 'per-objective', query: source.query };
}

function resolveRatio(ratio: SourceNode, report: Report): IndicatorPlan | undefined {
  for (const key of ['raw', 'rawType']) {
    if (child(ratio, key) === undefined) continue;
    report.error(keyPosition(ratio, key), {
      code: 'CONFIG_UNSUPPORTED',
      message: `${key} (a ratio made elsewhere) is not supported: ratios cannot be added up to a budget`,
      fix: 'count events instead: good or bad, and total',
    });
    return undefined;
  }
  if (booleanOf(child(ratio, 'counter')) === false) {
    report.error(keyPosition(ratio, 'counter'), {
      code: 'CONFIG_UNSUPPORTED',
      message: 'counter: false (a value that goes up and down) is not supported',
      fix: 'use a counter or histogram metric and write counter: true',
    });
    return undefined;
  }
  const [good, bad, total] = [child(ratio, 'good'), child(ratio, 'bad'), child(ratio, 'total')];
  const part = good ?? bad;
  if (part === undefined || total === undefined || (good !== undefined && bad !== undefined)) {
    const both = good !== undefined && bad !== undefined;
    report.error(both ? keyPosition(ratio, 'bad') : ratio.at, {
      code: 'CONFIG_INDICATOR_INVALID',
      message: both
        ? 'both good and bad are given'
        : total === undefined
          ? 'total is missing'
          : 'good or bad is missing',
      fix: both ? 'keep one of the two: the other follows from total' : 'write total, and either good or bad',
    });
    return undefined;
  }
  const partSource = resolveSource(part, report);
  const totalSource = resolveSource(total, report);
  if (partSource === undefined || totalSource === undefined) return undefined;
  return joinRatio(good === undefined ? 'bad' : 'good', partSource, totalSource, report);
}

function joinRatio(counts: 'good' | 'bad', part: Source, total: Source, report: Report): IndicatorPlan | undefined {
  if (total.threshold !== undefined) {
    report.error(total.thresholdAt ?? total.at, {
      code: 'CONFIG_THRESHOLD_MISPLACED',
      message: 'total counts all events and takes no threshold',
      fix: 'remove the threshold from total and put it under good',
    });
    return undefined;
  }
  if (part.threshold !== undefined) return joinLatency(counts, part, part.threshold, total, report);
  if (sameQuery(part.query, total.query)) {
    const latency = part.metric.type === 'histogram';
    const share = counts === 'good' ? 'nothing' : 'everything';
    report.error(part.at, {
      code: latency ? 'CONFIG_THRESHOLD_MISSING' : 'CONFIG_INDICATOR_INVALID',
      message: `${counts} and total count the same events, so that ${share} is bad`,
      fix: latency
        ? 'add threshold: seconds under good, for example threshold: 0.3'
        : `add a condition to ${counts}, for example where: { lb.response.class: 5xx }`,
    });
    return undefined;
  }
  warnOutsideTotal(counts, part, total, report);
  return { kind: 'ready', indicator: { kind: 'events', counts, part: part.query, total: total.query } };
}

function joinLatency(
  counts: 'good' | 'bad',
  part: Source,
  threshold: number,
  total: Source,
  report: Report,
): IndicatorPlan | undefined {
  const at = part.thresholdAt ?? part.at;
  if (!isHistogram(part, report)) return undefined;
  if (counts === 'bad') {
    report.error(at, {
      code: 'CONFIG_THRESHOLD_MISPLACED',
      message: 'a threshold counts what is at or below it, which is good',
      fix: 'rename bad to good',
    });
    return undefined;
  }
  if (!sameQuery(part.query, total.query)) {
    report.error(total.at, {
      code: 'CONFIG_INDICATOR_INVALID',
      message: 'good and total of a latency SLO ask for different series',
      fix: 'give both the same metric and the same where; only good has a threshold',
    });
    return undefined;
  }
  return { kind: 'ready', indicator: { kind: 'latency', query: part.query, threshold } };
}

function resolveSource(definition: SourceNode, report: Report): Source | undefined {
  const metricSource = child(definition, 'metricSource') ?? definition;
  const type = textOf(child(metricSource, 'type'));
  if (child(metricSource, 'metricSourceRef') !== undefined || type !== 'slowburn') {
    const at = child(metricSource, 'type')?.at ?? metricSource.at;
    report.error(
      child(metricSource, 'metricSourceRef') === undefined ? at : keyPosition(metricSource, 'metricSourceRef'),
      {
        code: 'CONFIG_METRIC_SOURCE',
        message:
          type === undefined || type === 'slowburn'
            ? 'metricSource needs its type'
            : `metricSource.type ${type} is not known`,
        fix: 'write metricSource: { type: slowburn, spec: { metric: ... } } without a metricSourceRef',
      },
    );
    return undefined;
  }
  const spec = child(metricSource, 'spec') ?? metricSource;
  const name = child(spec, 'metric') ?? spec;
  const metric = resolveMetric(name, report);
  const where = resolveWhere(child(spec, 'where'), report);
  const thresholdNode = child(spec, 'threshold');
  const threshold = thresholdNode === undefined ? undefined : resolveSeconds(thresholdNode, report);
  if (metric === undefined || where === undefined || (thresholdNode !== undefined && threshold === undefined)) {
    return undefined;
  }
  // A misspelt `where` is the schema's finding; what the rest would mean without it is not worth a second one.
  if (entries(spec).some(([key]) => !SOURCE_KEYS.includes(key))) return undefined;
  return { query: { metric: metric.name, where }, metric, threshold, thresholdAt: thresholdNode?.at, at: name.at };
}

function resolveMetric(node: SourceNode, report: Report): CanonicalMetric | undefined {
  const name = textOf(node) ?? '';
  const metric = canonicalMetric(name);
  if (metric === undefined) {
    const usable = CANONICAL_METRICS.filter(({ type }) => type !== 'gauge').map((known) => known.name);
    const near = nearest(name, usable);
    report.error(node.at, {
      code: 'CONFIG_METRIC_UNKNOWN',
      message: `unknown metric ${JSON.stringify(name)}`,
      fix: near === undefined ? `use one of ${usable.join(', ')}` : `did you mean ${near}?`,
    });
    return undefined;
  }
  if (metric.type === 'gauge') {
    report.error(node.at, {
      code: 'CONFIG_METRIC_TYPE',
      message: `${name} is a gauge: it has a level, but no events to count`,
      fix: 'use a counter such as lb.requests or a histogram such as http.server.request.duration',
    });
    return undefined;
  }
  return metric;
}

/**
 * Seconds, above 0; undefined when it is not (reported). Duration texts such as `300ms` get the number as their fix.
 */
export function resolveSeconds(node: SourceNode, report: Report): number | undefined {
  const value = numberOf(node);
  if (value !== undefined && Number.isFinite(value) && value > 0) return value;
  const written = node.kind === 'scalar' && node.text !== '' ? JSON.stringify(node.text) : 'this';
  report.error(node.at, {
    code: 'CONFIG_THRESHOLD_INVALID',
    message: `${written} is not a latency in seconds`,
    fix: 'write a plain number of seconds above 0, for example 0.3 for 300 ms',
  });
  return undefined;
}

function isHistogram(source: Source, report: Report): boolean {
  if (source.metric.type === 'histogram') return true;
  report.error(source.thresholdAt ?? source.at, {
    code: 'CONFIG_THRESHOLD_ON_COUNTER',
    message: `${source.metric.name} is a counter and has no latencies to compare`,
    fix: 'remove the threshold, or use a duration metric such as http.server.request.duration',
  });
  return false;
}

const conditionText = (condition: Condition): string => JSON.stringify(condition);

const sameQuery = (a: MetricQuery, b: MetricQuery): boolean =>
  a.metric === b.metric &&
  a.where.length === b.where.length &&
  a.where.every((condition) => b.where.some((other) => conditionText(other) === conditionText(condition)));

/** A part that lacks a condition of its total can count events that total does not. */
function warnOutsideTotal(counts: 'good' | 'bad', part: Source, total: Source, report: Report): void {
  if (part.query.metric !== total.query.metric) return;
  const constrained = new Set(part.query.where.map((condition) => condition.attribute));
  const loose = total.query.where.filter((condition) => !constrained.has(condition.attribute));
  if (loose.length === 0) return;
  report.warning(part.at, {
    code: 'CONFIG_PART_OUTSIDE_TOTAL',
    message: `${counts} can count events that total leaves out`,
    fix: `repeat the condition on ${loose.map((condition) => condition.attribute).join(', ')} under ${counts}`,
  });
}
