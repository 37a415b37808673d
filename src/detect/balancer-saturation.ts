import { BALANCER_HISTOGRAM, type BalancerState } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { labelsKey } from '../model/labels.ts';
import { type CpuReader, cpuReader } from './balancer-cpu.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { type Distribution, distributionOf } from './distribution.ts';
import { balancersText, namesText, placeOf, type Region, regionsOf } from './regions.ts';
import { percent, timeText } from './words.ts';

/** Added latency is kept per minute. */
const LATENCY_WINDOW_MS = 120_000;
/** Own push intervals that a window must hold, so that one reading decides nothing. */
const READINGS = 2;

/**
 * Balancers run out of CPU. One of them is a ticket; all zones of a region at once, with requests that wait for it, is
 * a page: there is nowhere to send the traffic.
 */
export const balancerSaturation: Detector = {
  name: ALERT.balancerSaturation,
  detect(input: DetectionInput): Detection {
    const { view, now, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const cpu = cpuReader(view);
    const told = new Set(cpu.balancers);
    const holding: Finding[] = [];
    const cleared = new Set<string>();
    for (const region of regionsOf(view.balancers(now).filter(({ id }) => told.has(id)))) {
      const key = labelsKey(region.identity);
      const loads = region.balancers.filter(({ stale }) => !stale).map((one) => loadOf(one, cpu, input, end));
      const known = loads.filter((load) => load !== null);
      if (known.length === 0) continue;
      const limit = firingSince.has(key)
        ? threshold(input.settings, 'clearBelow')
        : threshold(input.settings, 'utilization');
      const hot = known.filter(({ share }) => share >= limit);
      if (hot.length > 0) holding.push(toFinding(input, region, known, hot, end));
      // What fired on balancers that are silent now has not recovered.
      else if (known.length === region.balancers.length) cleared.add(key);
      else if (!firingSince.has(key)) cleared.add(key);
    }
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !cleared.has(key))) };
  },
};

interface Load {
  readonly balancer: BalancerState;
  readonly share: number;
  readonly busy: number;
  readonly all: number;
}

/** Mean over the window; null where the balancer has not told enough. */
function loadOf(balancer: BalancerState, cpu: CpuReader, { settings }: DetectionInput, end: EpochMs): Load | null {
  const windowMs = Math.max(
    threshold(settings, 'holdFor'),
    Math.ceil((READINGS * balancer.interval) / 10_000) * 10_000,
  );
  const { busy, all } = cpu.read(balancer.id, epochMs(end - windowMs), end);
  return all >= READINGS ? { balancer, share: busy / all, busy, all } : null;
}

interface Zone {
  readonly name: string;
  readonly share: number;
}

/** Zones with the mean of their balancers, from sums. */
function zonesOf(loads: readonly Load[]): readonly Zone[] {
  const sums = new Map<string, { busy: number; all: number }>();
  for (const { balancer, busy, all } of loads) {
    const before = sums.get(balancer.zone ?? '') ?? { busy: 0, all: 0 };
    sums.set(balancer.zone ?? '', { busy: before.busy + busy, all: before.all + all });
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, { busy, all }]) => ({ name, share: busy / all }));
}

function addedOf({ view }: DetectionInput, { balancers }: Region, end: EpochMs): Distribution {
  const ids = new Set(balancers.map(({ id }) => id));
  const series = view
    .histograms(BALANCER_HISTOGRAM.added)
    .filter(({ labels }) => ids.has(labels.get('balancer') ?? ''));
  return distributionOf(series, epochMs(end - LATENCY_WINDOW_MS), end);
}

function toFinding(
  input: DetectionInput,
  region: Region,
  known: readonly Load[],
  hot: readonly Load[],
  end: EpochMs,
): Finding {
  const { settings } = input;
  const limit = threshold(settings, 'utilization');
  const zones = zonesOf(known);
  const isEverywhere = zones.every(({ share }) => share >= limit);
  const added = addedOf(input, region, end);
  const p99 = added.count >= threshold(settings, 'minEvents') ? added.quantile(0.99) : null;
  const isPage = isEverywhere && p99 !== null && p99 * 1000 > threshold(settings, 'addedP99');
  const worst = [...hot].sort((a, b) => b.share - a.share);
  const balancers = hot.map(({ balancer }) => balancer);
  const mean = hot.reduce((sum, { busy }) => sum + busy, 0) / hot.reduce((sum, { all }) => sum + all, 0);
  const waits = p99 === null ? '' : `; added latency p99 is ${timeText(p99)}`;
  const evidence: Evidence[] = [
    { name: 'cpu', value: mean, unit: '1', text: `CPU ${percent(mean)} in the mean of ${balancersText(balancers)}` },
    {
      name: 'balancers',
      value: hot.length,
      unit: '{balancer}',
      text: `${hot.length} of ${known.length} are saturated: ${namesText(worst.map(({ balancer }) => balancer.id))}`,
    },
    {
      name: 'zones',
      value: zones.filter(({ share }) => share >= limit).length,
      unit: '{zone}',
      text: zones
        .map(({ name, share }) => `${name === '' ? 'no zone told' : `zone ${name}`} ${percent(share)}`)
        .join(', '),
    },
  ];
  if (p99 !== null) {
    evidence.push({
      name: 'added_p99',
      value: p99,
      unit: 's',
      text: `the balancers add ${timeText(p99)} at the 99th percentile`,
    });
  }
  return {
    identity: region.identity,
    place: { ...(region.name !== null && { region: region.name }), ...placeOf(balancers) },
    severity: isPage ? 'page' : settings.severity,
    summary: `CPU of ${balancersText(balancers)} is at ${percent(mean)}${waits}.`,
    evidence,
  };
}
