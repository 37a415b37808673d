import type { FeatureSeries, FeatureView } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { labelsKey, labelsOf } from '../model/labels.ts';
import { largestByCluster, reportedClusters } from './clusters.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';

const STEP_MS = 10_000;

/**
 * Balancers take hosts out of a cluster. Balancers that eject one host within `roundGap` of each other are one round. In small
 * pools any ejection counts; in larger ones two rounds of one host within five minutes, or a tenth of the hosts out
 * at once.
 */
export const hostEjections: Detector = {
  name: ALERT.hostEjections,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const holding: Finding[] = [];
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const from = epochMs(end - threshold(settings, 'roundsWithin'));
    const hosts = largestByCluster(view, 'cluster.hosts', now);
    const out = largestByCluster(view, 'cluster.ejections.active', now);
    const series = seriesByCluster(view);
    for (const cluster of [...new Set([...series.keys(), ...out.keys()])].sort()) {
      const rounds = mostRounds(series.get(cluster) ?? [], from, end, threshold(settings, 'roundGap'));
      const pool = hosts.get(cluster) ?? 0;
      const ejected = out.get(cluster) ?? 0;
      const isSmall = pool > 0 && pool < threshold(settings, 'smallPoolHosts');
      const holds = isSmall
        ? rounds.count > 0 || ejected > 0
        : rounds.count >= threshold(settings, 'rounds') ||
          (pool > 0 && ejected > 0 && ejected / pool >= threshold(settings, 'outShare'));
      if (holds) holding.push(toFinding(cluster, rounds, ejected, pool, settings.severity));
    }
    // An ejection that fell out of the window while nobody reports the cluster is not over.
    const clear = new Set([...reportedClusters(view.balancers(now))].map(keyOf));
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !clear.has(key))) };
  },
};

const keyOf = (cluster: string): string => labelsKey(labelsOf([['cluster', cluster]]));

interface Rounds {
  readonly count: number;
  readonly host: string | null;
  readonly reasons: readonly string[];
}

function seriesByCluster(view: FeatureView): Map<string, FeatureSeries[]> {
  const found = new Map<string, FeatureSeries[]>();
  for (const series of view.features('cluster.ejections')) {
    const cluster = series.labels.get('cluster');
    if (cluster === undefined) continue;
    found.set(cluster, [...(found.get(cluster) ?? []), series]);
  }
  return found;
}

/** Rounds of the most ejected host; where balancers do not name hosts, rounds of the cluster. */
function mostRounds(series: readonly FeatureSeries[], from: EpochMs, to: EpochMs, gapMs: number): Rounds {
  const active = series.filter((one) => one.range(from, to) > 0);
  const byHost = new Map<string, FeatureSeries[]>();
  for (const one of active) {
    const host = one.labels.get('host') ?? '';
    byHost.set(host, [...(byHost.get(host) ?? []), one]);
  }
  let most: Rounds = { count: 0, host: null, reasons: [] };
  for (const [host, ejections] of [...byHost].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const count = countRounds(ejections, from, to, gapMs);
    if (count <= most.count) continue;
    const reasons = ejections.map((one) => one.labels.get('reason')).filter((reason) => reason !== undefined);
    most = { count, host: host === '' ? null : host, reasons: [...new Set(reasons)].sort() };
  }
  return most;
}

function countRounds(series: readonly FeatureSeries[], from: EpochMs, to: EpochMs, gapMs: number): number {
  let rounds = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  for (let step = from; step < to; step = epochMs(step + STEP_MS)) {
    const stepEnd = epochMs(step + STEP_MS);
    if (!series.some((one) => one.range(step, stepEnd) > 0)) continue;
    if (stepEnd - lastAt > gapMs) rounds += 1;
    lastAt = stepEnd;
  }
  return rounds;
}

function toFinding(
  cluster: string,
  rounds: Rounds,
  ejected: number,
  pool: number,
  severity: Finding['severity'],
): Finding {
  const which = rounds.host === null ? 'hosts' : `host ${rounds.host}`;
  const are = ejected === 1 ? 'is' : 'are';
  const outNow = pool > 0 ? `${ejected} of ${pool} hosts ${are} out` : `${ejected} hosts ${are} out`;
  return {
    identity: labelsOf([['cluster', cluster]]),
    place: rounds.host === null ? { cluster } : { cluster, host: rounds.host },
    severity,
    summary: `Balancers eject ${which} from cluster ${cluster}; ${outNow}.`,
    evidence: evidenceOf(rounds, ejected, outNow),
  };
}

/** What is known; a counter whose step is not over yet has no round to show. */
function evidenceOf(rounds: Rounds, ejected: number, outNow: string): readonly Evidence[] {
  const evidence: Evidence[] = [{ name: 'hosts_out', value: ejected, unit: '{host}', text: outNow }];
  const { count, reasons } = rounds;
  if (count > 0) {
    const text = count === 1 ? 'one round of ejection lately' : `${count} rounds of ejection lately`;
    evidence.push({ name: 'rounds', value: count, text });
  }
  if (reasons.length > 0) {
    evidence.push({ name: 'reasons', value: reasons.join(', '), text: `ejected for ${reasons.join(', ')}` });
  }
  return evidence;
}
