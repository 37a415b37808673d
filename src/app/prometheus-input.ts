import { formatInstant } from '../base/instant.ts';
import { type EpochMs, epochMs, type Ms } from '../base/units.ts';
import { selector } from '../generate/promql.ts';
import { ATTRIBUTE, canonicalMetric } from '../model/conventions.ts';
import { labelName, type Part } from '../model/prometheus-names.ts';
import { encodeMetrics } from '../otlp/encode-metrics.ts';
import {
  type MetricPayload,
  type ResourceMetricsPayload,
  toAttributes,
  type UnixNano,
} from '../otlp/metrics-payload.ts';
import type { MetricQuery, PlainIndicator, Slo } from '../slo/slo.ts';
import type { ReplayLine } from './replay-input.ts';

export interface PrometheusInput {
  /** Without a trailing slash; `/api/v1/query_range` is added. */
  readonly url: string;
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly step: Ms;
  readonly slos: readonly Slo[];
}

/** Steps of one query; servers refuse more than 11,000 points a series. */
const STEPS_PER_QUERY = 1440;
const TIMEOUT_MS = 120_000;
const CUMULATIVE = 2;

/** What is read of one metric for one query of an SLO. */
interface Wanted {
  readonly metric: string;
  readonly isHistogram: boolean;
  readonly expression: string;
}

interface Matrix {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [seconds: number, value: string])[];
}

/** One series of a counter, or one histogram with what is known of its buckets, at one moment. */
interface Sample {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Cumulative counts by upper bound; a counter has its only value at infinity. */
  readonly counts: Map<number, number>;
}

/**
 * What a Prometheus server keeps of the SLOs' metrics, as the lines of a replay: cumulative points, one request per step.
 * A series' first sample is where counting begins, as nothing says when it started.
 */
export async function* readPrometheus(input: PrometheusInput): AsyncGenerator<ReplayLine> {
  const wanted = wantedOf(input.slos);
  const attributes = attributesByLabel(input.slos);
  const heard = new Set<string>();
  const span = input.step * STEPS_PER_QUERY;
  for (let start: number = input.from; start <= input.to; start += span) {
    const end = Math.min(input.to, start + span - input.step);
    const moments = new Map<number, Map<string, Sample>>();
    for (const one of wanted) {
      const found = await queryRange(input, one.expression, start, end);
      if (found.length > 0) heard.add(one.expression);
      for (const series of found) addSeries(series, one, moments);
    }
    for (let at = start; at <= end; at += input.step) {
      const where = `${input.url} at ${formatInstant(epochMs(at))}`;
      const samples = moments.get(at);
      if (samples === undefined) yield { where, kind: 'time', at: epochMs(at) };
      else yield { where, kind: 'metrics', body: encodeMetrics(toPayload([...samples.values()], at, attributes)) };
    }
  }
  for (const { expression } of wanted) {
    if (heard.has(expression)) continue;
    yield { where: input.url, kind: 'bad', message: `no series of ${expression} in this time` };
  }
}

const isHistogram = (metric: string): boolean => canonicalMetric(metric)?.type === 'histogram';

const indicatorsOf = ({ indicator }: Slo): readonly PlainIndicator[] =>
  indicator.kind === 'composite' ? indicator.members.map((member) => member.indicator) : [indicator];

const queriesOf = (slo: Slo): readonly MetricQuery[] =>
  indicatorsOf(slo).flatMap((indicator) =>
    indicator.kind === 'latency' ? [indicator.query] : [indicator.part, indicator.total],
  );

/** One query per metric and condition; of a histogram the bounds that any SLO asks of it, and all together. */
function wantedOf(slos: readonly Slo[]): readonly Wanted[] {
  const bounds = new Map<string, Set<number>>();
  for (const indicator of slos.flatMap(indicatorsOf)) {
    if (indicator.kind !== 'latency') continue;
    const { metric } = indicator.query;
    bounds.set(metric, (bounds.get(metric) ?? new Set()).add(indicator.threshold));
  }
  const wanted = slos.flatMap(queriesOf).map(({ metric, where }): Wanted => {
    if (!isHistogram(metric)) return { metric, isHistogram: false, expression: selector({ metric, where }, 'total') };
    const values = [...(bounds.get(metric) ?? [])]
      .sort((a, b) => a - b)
      // `10` and `10.0` are the same number.
      .flatMap((bound) => (Number.isInteger(bound) ? [`${bound}`, `${bound}.0`] : [`${bound}`]));
    const part: Part = 'buckets';
    const le = { kind: 'in', attribute: 'le', values: [...values, '+Inf'] } as const;
    return { metric, isHistogram: true, expression: selector({ metric, where: [...where, le] }, part) };
  });
  return [...new Map(wanted.map((one) => [one.expression, one])).values()];
}

/** From the names that Prometheus can carry back to those of attributes. */
function attributesByLabel(slos: readonly Slo[]): ReadonlyMap<string, string> {
  const asked = slos.flatMap((slo) => [
    ...slo.groupBy,
    ...queriesOf(slo).flatMap(({ where }) => where.map(({ attribute }) => attribute)),
  ]);
  return new Map([...Object.values(ATTRIBUTE), ...asked].map((name) => [labelName(name), name]));
}

async function queryRange(
  { url, step }: PrometheusInput,
  query: string,
  start: number,
  end: number,
): Promise<readonly Matrix[]> {
  const body = new URLSearchParams({
    query,
    start: String(start / 1000),
    end: String(end / 1000),
    step: String(step / 1000),
  });
  const response = await ask(`${url}/api/v1/query_range`, body);
  const text = await response.text();
  let answer: { readonly status?: string; readonly error?: string; readonly data?: { readonly result?: Matrix[] } };
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch {
    throw new Error(`${url} answers ${response.status} and no JSON: is it a Prometheus server?`);
  }
  if (answer.status !== 'success' || answer.data?.result === undefined) {
    throw new Error(`${url} answers ${response.status}: ${answer.error ?? 'no result'}`);
  }
  return answer.data.result;
}

/** A connection that idled while history was replayed may have been closed by the server: asked again once. */
async function ask(address: string, body: URLSearchParams): Promise<Response> {
  const once = (): Promise<Response> =>
    fetch(address, { method: 'POST', body, signal: AbortSignal.timeout(TIMEOUT_MS) });
  try {
    return await once().catch(once);
  } catch (error) {
    const { cause, message } = error as Error;
    throw new Error(`${address} does not answer: ${cause instanceof Error ? cause.message : message}`);
  }
}

/** Files the values of a series by moment; the same series found by two queries is one. */
function addSeries({ metric, values }: Matrix, wanted: Wanted, moments: Map<number, Map<string, Sample>>): void {
  const { __name__: _, le, ...labels } = metric;
  const bound = wanted.isHistogram ? Number(le?.replace('+Inf', 'Infinity')) : Number.POSITIVE_INFINITY;
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  const key = JSON.stringify([wanted.metric, sorted]);
  for (const [seconds, text] of values) {
    const value = Math.round(Number(text));
    if (!Number.isSafeInteger(value)) continue;
    const at = Math.round(seconds * 1000);
    const samples = moments.get(at) ?? new Map<string, Sample>();
    moments.set(at, samples);
    const sample = samples.get(key) ?? { metric: wanted.metric, labels: Object.fromEntries(sorted), counts: new Map() };
    samples.set(key, sample);
    sample.counts.set(bound, value);
  }
}

function toPayload(
  samples: readonly Sample[],
  at: number,
  attributes: ReadonlyMap<string, string>,
): { readonly resourceMetrics: readonly ResourceMetricsPayload[] } {
  const byResource = new Map<string, { resource: Record<string, string>; metrics: MetricPayload[] }>();
  for (const sample of samples) {
    const resource: Record<string, string> = {};
    const own: Record<string, string> = {};
    for (const [label, value] of Object.entries(sample.labels)) {
      const name = attributes.get(label) ?? label;
      if (/^(service|cloud)\./.test(name)) resource[name] = value;
      else own[name] = value;
    }
    // Each metric is asked for by its own name: none is to be made of another's counts.
    resource[ATTRIBUTE.flavor] = own[ATTRIBUTE.flavor] ?? 'prometheus';
    // The scrape's own name of a target.
    if (own['instance'] !== undefined) resource[ATTRIBUTE.instance] ??= own['instance'];
    const metric = toMetric(sample, own, `${at}000000`);
    if (metric === null) continue;
    const key = JSON.stringify(Object.entries(resource).sort());
    const known = byResource.get(key) ?? { resource, metrics: [] };
    known.metrics.push(metric);
    byResource.set(key, known);
  }
  return {
    resourceMetrics: [...byResource.values()].map(({ resource, metrics }) => ({
      resource: { attributes: toAttributes(resource) },
      scopeMetrics: [{ metrics }],
    })),
  };
}

function toMetric({ metric, counts }: Sample, own: Record<string, string>, nanos: UnixNano): MetricPayload | null {
  const point = { attributes: toAttributes(own), timeUnixNano: nanos };
  const all = counts.get(Number.POSITIVE_INFINITY);
  if (all === undefined) return null;
  if (!isHistogram(metric)) {
    const dataPoints = [{ ...point, asInt: all }];
    return { name: metric, sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } };
  }
  const explicitBounds = [...counts.keys()].filter(Number.isFinite).sort((a, b) => a - b);
  const cumulative = [...explicitBounds.map((bound) => counts.get(bound) ?? 0), all];
  // Scraped while it counted, a bucket can be ahead of the next: by no more than what was just counted.
  const bucketCounts = cumulative.map((count, index) => Math.max(0, count - (cumulative[index - 1] ?? 0)));
  const count = bucketCounts.reduce((sum, one) => sum + one, 0);
  const dataPoints = [{ ...point, count, bucketCounts, explicitBounds }];
  return { name: metric, histogram: { dataPoints, aggregationTemporality: CUMULATIVE } };
}
