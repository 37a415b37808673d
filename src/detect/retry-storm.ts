import type { FeatureSeries, FeatureView } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import { baselineRatio } from './baseline.ts';
import { byCluster, type ClusterCounter, counterOf, reportedClusters } from './clusters.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { baselineEnd } from './robust-stats.ts';
import type { DetectorSettings } from './settings.ts';
import { percent, timesText } from './words.ts';

/** An alert that fires stays while its figures are above this part of their limits. */
const STAYS_ABOVE = 0.75;
/** Where a balancer does not say which layer it is. */
const UNNAMED = 'balancer';

interface Layer {
  readonly name: string;
  readonly retries: number;
  /** Of the cluster's requests. */
  readonly share: number;
}

interface Storm {
  readonly requests: number;
  /** Largest first; those that retry at all. */
  readonly layers: readonly Layer[];
  readonly overBudget: Layer | null;
  readonly overflow: number | null;
  /** Two or more layers retry the same requests. */
  readonly multiplies: boolean;
}

/**
 * Retries multiply the load on a cluster that already fails. A failed request becomes as many as a layer may retry;
 * where several layers retry, as many as the product of all of them. Told by retries above their budget, by retries
 * that the budget kept back, or by more than one layer that retries.
 */
export const retryStorm: Detector = {
  name: ALERT.retryStorm,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const holding: Finding[] = [];
    const clear = new Set<string>();
    const retries = layersByCluster(view);
    const overflows = byCluster(view, 'cluster.retries.overflow');
    const requests = byCluster(view, 'cluster.requests');
    const reported = reportedClusters(view.balancers(now));
    for (const cluster of [...new Set([...retries.keys(), ...overflows.keys()])].sort()) {
      if (!reported.has(cluster)) continue;
      const key = keyOf(cluster);
      const total = counterOf(requests, cluster);
      const layers = retries.get(cluster) ?? NO_LAYERS;
      const storm = stormOf(total, layers, counterOf(overflows, cluster), end, firingSince.get(key), settings);
      if (storm !== null) holding.push(toFinding(cluster, storm, settings));
      else clear.add(key);
    }
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !clear.has(key))) };
  },
};

const identityOf = (cluster: string): Labels => labelsOf([['cluster', cluster]]);
const keyOf = (cluster: string): string => labelsKey(identityOf(cluster));

type Layers = ReadonlyMap<string, readonly FeatureSeries[]>;
const NO_LAYERS: Layers = new Map();

function layersByCluster(view: FeatureView): ReadonlyMap<string, Layers> {
  const found = new Map<string, Map<string, FeatureSeries[]>>();
  for (const series of view.features('cluster.retries')) {
    const cluster = series.labels.get('cluster');
    if (cluster === undefined) continue;
    const layer = series.labels.get('layer') ?? UNNAMED;
    const layers = found.get(cluster) ?? new Map<string, FeatureSeries[]>();
    found.set(cluster, layers);
    layers.set(layer, [...(layers.get(layer) ?? []), series]);
  }
  return found;
}

function stormOf(
  requests: ClusterCounter,
  layers: Layers,
  overflows: ClusterCounter,
  end: EpochMs,
  since: EpochMs | undefined,
  settings: DetectorSettings,
): Storm | null {
  const holdFor = threshold(settings, 'holdFor');
  const from = epochMs(end - holdFor);
  const middle = epochMs(end - Math.round(holdFor / 20_000) * 10_000);
  const stays = since === undefined ? 1 : STAYS_ABOVE;
  const minEvents = threshold(settings, 'minEvents');
  const whole = layersIn(layers, requests, from, end);
  // What was a storm in the first half only is over.
  const lately = new Map(layersIn(layers, requests, middle, end).layers.map((one) => [one.name, one.share]));
  const isAbove = ({ name, retries, share }: Layer, limit: number): boolean =>
    retries >= minEvents && share >= stays * limit && (lately.get(name) ?? 0) >= stays * limit;
  const budget = threshold(settings, 'budget');
  const isEvidenced = budget * whole.requests >= threshold(settings, 'minExpected');
  const overBudget = isEvidenced ? whole.layers.find((layer) => isAbove(layer, budget)) : undefined;
  const multiplies =
    isEvidenced && whole.layers.filter((layer) => isAbove(layer, threshold(settings, 'layerShare'))).length > 1;
  const kept = overflows.range(from, end);
  const overflow = kept >= minEvents && whole.requests > 0 ? kept / whole.requests : 0;
  const isKept =
    overflow >= stays * threshold(settings, 'overflowShare') &&
    overflow >=
      stays * threshold(settings, 'overflowOverUsual') * usualOverflow(overflows, requests, from, end, since, settings);
  if (overBudget === undefined && !multiplies && !isKept) return null;
  return { ...whole, overBudget: overBudget ?? null, overflow: isKept ? overflow : null, multiplies };
}

function usualOverflow(
  overflows: ClusterCounter,
  requests: ClusterCounter,
  from: EpochMs,
  end: EpochMs,
  since: EpochMs | undefined,
  settings: DetectorSettings,
): number {
  const until = baselineEnd(from, end - from, since);
  return baselineRatio(overflows, requests, until, threshold(settings, 'minExpected')) ?? 0;
}

function layersIn(layers: Layers, total: ClusterCounter, from: EpochMs, to: EpochMs) {
  const requests = total.range(from, to);
  const counted = [...layers].flatMap(([name, series]): Layer[] => {
    const retries = series.reduce((sum, one) => sum + one.range(from, to), 0);
    return retries > 0 ? [{ name, retries, share: retries / Math.max(1, requests) }] : [];
  });
  return { requests, layers: counted.sort((a, b) => b.retries - a.retries) };
}

/**
 * How many times the load without retries. Some balancers count each retry as a request of its cluster, some do not:
 * where retries leave room among the requests, these are taken to hold them.
 */
function timesOf(layers: readonly Layer[], requests: number): number {
  const first = requests - layers.reduce((sum, { retries }) => sum + retries, 0);
  if (first > requests / 100) return requests / first;
  return layers.reduce((product, { share }) => product * (1 + share), 1);
}

function toFinding(cluster: string, storm: Storm, settings: DetectorSettings): Finding {
  const { layers, overBudget, overflow, multiplies, requests } = storm;
  const what: string[] = [];
  if (overBudget !== null) {
    what.push(
      `${percent(overBudget.share)} of the requests are retries of the ${overBudget.name} layer (budget: ${percent(threshold(settings, 'budget'))})`,
    );
  }
  if (overflow !== null) what.push(`budgets keep back retries of ${percent(overflow)} of the requests`);
  if (multiplies) {
    const names = layers.map(({ name }) => name).join(' and ');
    what.push(`${layers.length} layers retry the same requests (${names}), so that their retries multiply`);
  }
  const evidence: Evidence[] = layers.map(({ name, share, retries }) => ({
    name: `retries_${name}`,
    value: share,
    unit: '1',
    text: `${name} layer: ${retries} retries beside ${requests} requests, ${percent(share)}`,
  }));
  if (layers.length > 1) {
    const times = timesOf(layers, requests);
    evidence.push({ name: 'times', value: times, unit: '1', text: `${timesText(times)} the load if none retried` });
  }
  if (overflow !== null) {
    const text = `retries of ${percent(overflow)} of the requests were kept back by a budget`;
    evidence.push({ name: 'overflow', value: overflow, unit: '1', text });
  }
  return {
    identity: identityOf(cluster),
    place: { cluster },
    severity: settings.severity,
    summary: `Retries multiply the load on cluster ${cluster}: ${what.join('; ')}.`,
    evidence,
  };
}
