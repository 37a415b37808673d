import {
  BALANCER_HISTOGRAM,
  type BalancerState,
  type FeatureSeries,
  type FeatureView,
  type GaugeReading,
  type PeakSeries,
} from '../aggregate/features.ts';
import type { HistogramSeries } from '../aggregate/histogram-cells.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { labelsKey } from '../model/labels.ts';
import { byBalancer } from './by-balancer.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { type Distribution, distributionOf } from './distribution.ts';
import { expectedWait, utilizationOf } from './queue-model.ts';
import { balancersText, namesText, placeOf, regionsOf } from './regions.ts';
import { baselineBefore, baselineEnd } from './robust-stats.ts';
import type { DetectorSettings } from './settings.ts';
import { type Summed, sumOf } from './sums.ts';
import { percent, perSecond, timesText, timeText } from './words.ts';

/** Steps with a nearly full queue that a window must hold: one may be a pause of the process. */
const FULL_STEPS_MIN = 2;

/**
 * Connections wait for the balancer to accept them: the kernel's queue is nearly full, turns connections away, or makes
 * them wait far longer than usual. Hosts look fine meanwhile, since what waits has not reached them.
 */
export const acceptQueueSaturation: Detector = {
  name: ALERT.acceptQueueSaturation,
  detect(input: DetectionInput): Detection {
    const { view, now, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const signals = signalsOf(view, now);
    const told = new Set(Object.values(signals).flatMap((one) => [...one.keys()]));
    const holding: Finding[] = [];
    const cleared = new Set<string>();
    for (const region of regionsOf(view.balancers(now).filter(({ id }) => told.has(id)))) {
      const key = labelsKey(region.identity);
      const heard = region.balancers.filter(({ stale }) => !stale);
      const at = { end, since: firingSince.get(key) };
      const full = heard.map((one) => judge(one, signals, input.settings, at)).filter((queue) => queue !== null);
      if (full.length > 0) {
        const place = {
          ...(region.name !== null && { region: region.name }),
          ...placeOf(full.map(({ balancer }) => balancer)),
        };
        holding.push({ identity: region.identity, place, severity: input.settings.severity, ...describe(full) });
      } else if (heard.length === region.balancers.length) cleared.add(key);
    }
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !cleared.has(key))) };
  },
};

/** What is told of accept queues, by balancer. */
interface Signals {
  readonly overflows: ReadonlyMap<string, readonly FeatureSeries[]>;
  readonly limits: ReadonlyMap<string, readonly GaugeReading[]>;
  readonly lengths: ReadonlyMap<string, readonly PeakSeries[]>;
  readonly waits: ReadonlyMap<string, readonly HistogramSeries[]>;
}

const signalsOf = (view: FeatureView, now: EpochMs): Signals => ({
  overflows: byBalancer(view.features('accept_queue.overflows')),
  limits: byBalancer(view.gauges('accept_queue.limit', now)),
  lengths: byBalancer(view.peaks('accept_queue.length')),
  waits: byBalancer(view.histograms(BALANCER_HISTOGRAM.acceptQueue)),
});

/** What is wrong with the queue of one balancer. */
interface Queue {
  readonly balancer: BalancerState;
  readonly overflows: number | null;
  readonly fill: { readonly length: number; readonly limit: number; readonly steps: number } | null;
  readonly wait: Wait | null;
}

/** Waits in seconds, rates in connections per second. */
interface Wait {
  readonly p99: number;
  readonly usualP99: number;
  readonly mean: number | null;
  readonly rate: number;
  readonly usualMean: number | null;
  readonly usualRate: number | null;
}

/** Where the judged window ends, and since when the alert fires. */
interface Moment {
  readonly end: EpochMs;
  readonly since: EpochMs | undefined;
}

function judge(balancer: BalancerState, signals: Signals, settings: DetectorSettings, at: Moment): Queue | null {
  const { id } = balancer;
  const overflows = overflowsOf(sumOf(signals.overflows.get(id) ?? []), settings, at);
  const fill = fillOf(signals.lengths.get(id) ?? [], signals.limits.get(id) ?? [], settings, at);
  const wait = waitOf(balancer, signals.waits.get(id) ?? [], settings, at);
  return overflows === null && fill === null && wait === null ? null : { balancer, overflows, fill, wait };
}

/** Connections turned away, where they are many and more than usual. */
function overflowsOf(counter: Summed, settings: DetectorSettings, { end, since }: Moment): number | null {
  const windowMs = threshold(settings, 'holdFor');
  const from = epochMs(end - windowMs);
  const overflows = counter.range(from, end);
  if (overflows < threshold(settings, 'minOverflows')) return null;
  const perWindow = (a: EpochMs, b: EpochMs): number => (counter.range(a, b) / (b - a)) * windowMs;
  const usual = baselineBefore(counter.firstDataAt, baselineEnd(from, windowMs, since), perWindow)?.middle ?? 0;
  return overflows >= threshold(settings, 'overflowsAboveBaseline') * usual ? overflows : null;
}

/** The fullest step of the fullest listener, where several steps were nearly full. */
function fillOf(
  lengths: readonly PeakSeries[],
  readings: readonly GaugeReading[],
  settings: DetectorSettings,
  { end }: Moment,
): Queue['fill'] {
  const from = epochMs(end - threshold(settings, 'holdFor'));
  const limits = new Map(readings.map(({ labels, value }) => [labels.get('listener'), value]));
  let fullest: Queue['fill'] = null;
  for (const series of lengths) {
    const limit = limits.get(series.labels.get('listener'));
    if (limit === undefined || limit <= 0) continue;
    const full = series.peaks(from, end).filter(({ value }) => value >= threshold(settings, 'fullShare') * limit);
    if (full.length < FULL_STEPS_MIN) continue;
    const length = Math.max(...full.map(({ value }) => value));
    if (fullest === null || length / limit > fullest.length / fullest.limit)
      fullest = { length, limit, steps: full.length };
  }
  return fullest;
}

function waitOf(
  { firstSeenAt }: BalancerState,
  series: readonly HistogramSeries[],
  settings: DetectorSettings,
  { end, since }: Moment,
): Wait | null {
  if (series.length === 0) return null;
  const windowMs = threshold(settings, 'holdFor');
  const from = epochMs(end - windowMs);
  const lately = distributionOf(series, from, end);
  const minEvents = threshold(settings, 'minEvents');
  const p99 = lately.quantile(0.99);
  if (p99 === null || lately.count < minEvents || p99 * 1000 < threshold(settings, 'waitP99')) return null;
  const usual = usualWait(series, baselineEnd(from, windowMs, since), firstSeenAt, minEvents);
  if (usual === null || p99 < threshold(settings, 'waitAboveBaseline') * usual.p99) return null;
  return {
    p99,
    usualP99: usual.p99,
    mean: lately.sum === null ? null : lately.sum / lately.count,
    rate: lately.count / (windowMs / 1000),
    usualMean: usual.mean,
    usualRate: usual.rate,
  };
}

function usualWait(series: readonly HistogramSeries[], until: EpochMs, firstDataAt: EpochMs, minEvents: number) {
  const of = (value: (lately: Distribution, seconds: number) => number | null): number | null =>
    baselineBefore(firstDataAt, until, (from, to) => {
      const one = distributionOf(series, from, to);
      return one.count < minEvents ? null : value(one, (to - from) / 1000);
    })?.middle ?? null;
  const p99 = of((one) => one.quantile(0.99));
  if (p99 === null) return null;
  return {
    p99,
    mean: of(({ sum, count }) => (sum === null ? null : sum / count)),
    rate: of(({ count }, seconds) => count / seconds),
  };
}

/** Summary and evidence; the worst queue stands for all. */
function describe(queues: readonly Queue[]): Pick<Finding, 'summary' | 'evidence'> {
  const evidence: Evidence[] = [];
  const overflows = queues.reduce((sum, queue) => sum + (queue.overflows ?? 0), 0);
  if (overflows > 0) {
    const text = `${overflows} connections turned away by a full queue`;
    evidence.push({ name: 'overflows', value: overflows, unit: '{connection}', text });
  }
  const fills = queues.map(({ fill }) => fill).filter((fill) => fill !== null);
  const fullest = fills.sort((a, b) => b.length / b.limit - a.length / a.limit)[0];
  if (fullest !== undefined) {
    const share = fullest.length / fullest.limit;
    const text = `up to ${fullest.length} connections wait where ${fullest.limit} fit (${percent(share)}), in ${fullest.steps} steps of 10 s`;
    evidence.push({ name: 'length', value: fullest.length, unit: '{connection}', text });
    evidence.push({
      name: 'limit',
      value: fullest.limit,
      unit: '{connection}',
      text: `the queue holds ${fullest.limit}`,
    });
  }
  const waits = queues.map(({ wait }) => wait).filter((wait) => wait !== null);
  const longest = waits.sort((a, b) => b.p99 - a.p99)[0];
  if (longest !== undefined) evidence.push(...waitEvidence(longest));
  const balancers = queues.map(({ balancer }) => balancer);
  evidence.push({
    name: 'balancers',
    value: queues.length,
    unit: '{balancer}',
    text: `accept queues of ${namesText(balancers.map(({ id }) => id))}`,
  });
  const first = evidence[0] as Evidence;
  return { summary: `Connections wait to be accepted by ${balancersText(balancers)}: ${first.text}.`, evidence };
}

/** The wait, the utilisation it means, and what the model expects of the load that really came. */
function waitEvidence({ p99, usualP99, mean, rate, usualMean, usualRate }: Wait): readonly Evidence[] {
  const evidence: Evidence[] = [
    {
      name: 'wait_p99',
      value: p99,
      unit: 's',
      text: `p99 of the wait ${timeText(p99)} (usual: ${timeText(usualP99)})`,
    },
  ];
  if (mean === null || mean <= 0) return evidence;
  const utilization = utilizationOf(rate, mean);
  evidence.push({
    name: 'utilization',
    value: utilization,
    unit: '1',
    text: `a mean wait of ${timeText(mean)} at ${perSecond(rate)} means that accepting is ${percent(utilization)} utilised`,
  });
  if (usualMean === null || usualRate === null || usualMean <= 0 || usualRate <= 0) return evidence;
  const usual = utilizationOf(usualRate, usualMean);
  const mu = usualRate / usual;
  const expected = expectedWait(rate / mu, mu);
  const load = `${timesText(rate / usualRate)} the usual connections`;
  const text = Number.isFinite(expected)
    ? `${load} should wait ${timeText(expected)} in the mean, they wait ${timeText(mean)}`
    : `${load} are more than can be accepted (about ${perSecond(mu)})`;
  evidence.push({ name: 'expected_wait', value: Number.isFinite(expected) ? expected : null, unit: 's', text });
  return evidence;
}
