import type { BalancerState, FeatureView, GaugeName, PeakName } from '../aggregate/features.ts';
import type { TotalHistogramSeries, TotalsView } from '../aggregate/total-cells.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import { ATTRIBUTE, canonicalMetric } from '../model/conventions.ts';
import { FLEET_TOTALS } from '../model/fleet-totals.ts';
import type { Labels } from '../model/labels.ts';
import { familyName, labelName, prometheusName } from '../model/prometheus-names.ts';
import { STAGES } from '../model/stages.ts';
import { type Family, labelText, numberText, type Sample } from './exposition.ts';

/** What of the fleet is read at each scrape. */
export type FleetSource = FeatureView & TotalsView;

/** Levels are read over so long before the watermark. */
const LATELY_MS = 60_000;
const THOUSAND = 1000;
const INSTANCE = labelName(ATTRIBUTE.instance);
const CLUSTER = labelName(ATTRIBUTE.cluster);
const KIND = labelName(ATTRIBUTE.configKind);
const VERSION = labelName(ATTRIBUTE.configVersion);

/** The fleet's canonical metrics, added up over what sends them, and what is known of balancers and certificates. */
export function fleetFamilies(source: FleetSource, now: EpochMs): readonly Family[] {
  return [
    ...totalFamilies(source),
    ...levelFamilies(source, now),
    ...configFamilies(source, now),
    ...balancerFamilies(source.balancers(now)),
    certificateFamily(source, now),
  ];
}

const totalFamilies = (source: TotalsView): readonly Family[] =>
  [...FLEET_TOTALS.keys()].map((metric): Family => {
    const help = canonicalMetric(metric)?.text ?? '';
    if (canonicalMetric(metric)?.type === 'histogram') {
      const histograms = source.totalHistograms(metric);
      return { name: familyName(metric), type: 'histogram', help, samples: () => histogramSamples(histograms) };
    }
    const samples = (): Sample[] => source.totals(metric).map(({ labels, value }) => [canonicalText(labels), value]);
    return { name: prometheusName(metric, 'total'), type: 'counter', help, samples };
  });

function* histogramSamples(histograms: readonly TotalHistogramSeries[]): Iterable<Sample> {
  for (const { labels, bounds, counts, sum } of histograms) {
    const text = canonicalText(labels);
    const before = text === '' ? '' : `${text},`;
    let count = 0;
    for (let index = 0; index < counts.length; index += 1) {
      count += counts[index] as number;
      yield [`${before}le="${numberText(bounds[index] ?? Number.POSITIVE_INFINITY)}"`, count, '_bucket'];
    }
    yield [text, sum, '_sum'];
    yield [text, count, '_count'];
  }
}

const canonicalText = (labels: Labels): string =>
  labelText(Object.fromEntries([...labels].map(([name, value]) => [labelName(name), value])));

const gauge = (name: string, help: string, samples: () => Iterable<Sample>): Family => ({
  name,
  type: 'gauge',
  help,
  samples,
});

/** A canonical level under its own name and text. */
const level = (metric: string, samples: () => Iterable<Sample>): Family =>
  gauge(prometheusName(metric, 'value'), canonicalMetric(metric)?.text ?? '', samples);

function levelFamilies(source: FleetSource, now: EpochMs): readonly Family[] {
  const end = source.watermark(now) ?? now;
  const from = epochMs(end - LATELY_MS);
  const byBalancer = (values: ReadonlyMap<string, number>): Sample[] =>
    [...values].map(([balancer, value]) => [labelText({ [INSTANCE]: balancer }), value]);
  const largest = (name: GaugeName, label: string | null): ReadonlyMap<string, number> => {
    const found = new Map<string, number>();
    for (const { labels, value } of source.gauges(name, now)) {
      const which = {
        [CLUSTER]: labels.get('cluster') ?? '',
        ...(label !== null && { [label]: labels.get('state') ?? '' }),
      };
      const text = labelText(which);
      found.set(text, Math.max(found.get(text) ?? 0, value));
    }
    return found;
  };
  return [
    level('lb.connections.active', () => byBalancer(peaksOf(source, 'connections.active', from, end))),
    level('lb.accept_queue.length', () => byBalancer(peaksOf(source, 'accept_queue.length', from, end))),
    level('lb.accept_queue.limit', () => byBalancer(limitsOf(source, now))),
    level('lb.cpu.utilization', () => byBalancer(cpuOf(source, from, end))),
    level('lb.upstream.hosts', () => largest('cluster.hosts', labelName(ATTRIBUTE.hostState))),
    level('lb.upstream.ejections.active', () => largest('cluster.ejections.active', null)),
  ];
}

/** Largest value of the last minute by balancer, its listeners added up. */
function peaksOf(source: FleetSource, name: PeakName, from: EpochMs, to: EpochMs): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const series of source.peaks(name)) {
    const values = series.peaks(from, to).map(({ value }) => value);
    if (values.length > 0) add(sums, series.labels, Math.max(...values));
  }
  return sums;
}

function limitsOf(source: FleetSource, now: EpochMs): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { labels, value } of source.gauges('accept_queue.limit', now)) add(sums, labels, value);
  return sums;
}

function add(sums: Map<string, number>, labels: Labels, value: number): void {
  const balancer = labels.get('balancer') ?? '';
  sums.set(balancer, (sums.get(balancer) ?? 0) + value);
}

/** Mean of the last minute, 0 to 1; of a balancer that tells seconds of its machine, busy of all. */
function cpuOf(source: FleetSource, from: EpochMs, to: EpochMs): ReadonlyMap<string, number> {
  const permille = new Map<string, number>();
  for (const { labels, range } of seriesOf(source, 'balancer.cpu.permille')) add(permille, labels, range(from, to));
  const means = new Map<string, number>();
  const busy = new Map<string, number>();
  const all = new Map<string, number>();
  for (const { labels, range } of seriesOf(source, 'balancer.cpu.time')) {
    add(all, labels, range(from, to));
    if (labels.get('state') === 'busy') add(busy, labels, range(from, to));
  }
  for (const [balancer, seconds] of all) if (seconds > 0) means.set(balancer, (busy.get(balancer) ?? 0) / seconds);
  for (const { labels, range } of seriesOf(source, 'balancer.cpu.samples')) {
    const samples = range(from, to);
    const balancer = labels.get('balancer') ?? '';
    if (samples > 0) means.set(balancer, (permille.get(balancer) ?? 0) / samples / THOUSAND);
  }
  return means;
}

type CpuFeature = 'balancer.cpu.permille' | 'balancer.cpu.samples' | 'balancer.cpu.time';

const seriesOf = (source: FleetSource, name: CpuFeature) =>
  [...source.features(name)].map((series) => ({
    labels: series.labels,
    range: (from: EpochMs, to: EpochMs) => series.range(from, to),
  }));

function configFamilies(source: FleetSource, now: EpochMs): readonly Family[] {
  return [
    gauge('lb_config_info', 'Always 1; carries the config version that a balancer runs.', () =>
      source
        .configs(now)
        .filter(({ current, stale }) => current && !stale)
        .map(({ balancer, kind, version }) => [
          labelText({ [INSTANCE]: balancer, [KIND]: kind, [VERSION]: version }),
          1,
        ]),
    ),
    gauge(
      'slowburn_config_rollout_timestamp_seconds',
      'When the first balancer took up a config version, in its newest rollout.',
      () => {
        const begun = new Map<string, number>();
        for (const { kind, version, from } of source.rollouts()) {
          begun.set(labelText({ [KIND]: kind, [VERSION]: version }), from / THOUSAND);
        }
        return begun;
      },
    ),
  ];
}

function balancerFamilies(balancers: readonly BalancerState[]): readonly Family[] {
  const nameOf = ({ id }: BalancerState): string => labelText({ [INSTANCE]: id });
  return [
    gauge('slowburn_balancer_info', 'Always 1: what is known of a balancer.', () =>
      balancers.map(({ id, zone, flavor, version }) => [
        labelText({
          [INSTANCE]: id,
          [labelName(ATTRIBUTE.balancerZone)]: zone ?? '',
          [labelName(ATTRIBUTE.flavor)]: flavor,
          [labelName(ATTRIBUTE.version)]: version ?? '',
        }),
        1,
      ]),
    ),
    gauge('slowburn_balancer_newest_point_timestamp_seconds', 'Time of the newest point of a balancer.', () =>
      balancers.map((balancer) => [nameOf(balancer), balancer.newestPointAt / THOUSAND]),
    ),
    gauge(
      'slowburn_balancer_stage_info',
      'Always 1: how faithfully a balancer tells a stage; absent = not at all.',
      () =>
        balancers.flatMap(({ id, stages }) =>
          STAGES.map((stage): Sample => [labelText({ [INSTANCE]: id, stage, fidelity: stages[stage] }), 1]),
        ),
    ),
  ];
}

/** The first end per name: the balancer that lags is the one that matters. */
const certificateFamily = (source: FleetSource, now: EpochMs): Family =>
  level('lb.tls.certificate.not_after', () => {
    const ends = new Map<string, number>();
    for (const { name, notAfter, stale } of source.certificates(now)) {
      if (stale) continue;
      const text = labelText({ [labelName(ATTRIBUTE.certificate)]: name });
      ends.set(text, Math.min(ends.get(text) ?? Number.POSITIVE_INFINITY, notAfter / THOUSAND));
    }
    return ends;
  });
