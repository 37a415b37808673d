import { epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { labelsKey } from '../model/labels.ts';
import { reportedClusters } from './clusters.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { hostIdentity } from './hosts.ts';
import { counted } from './words.ts';

/** An alert that fires stays until a host changes half as often. */
const CALM_SHARE = 0.5;

interface Flapping {
  readonly cluster: string;
  readonly host: string;
  readonly changes: number;
  readonly balancers: number;
}

/**
 * A host goes in and out of health again and again. Counted as one balancer sees it: each balancer has its own checks,
 * and a deploy that all of them see is one.
 */
export const healthCheckFlapping: Detector = {
  name: ALERT.healthCheckFlapping,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const within = threshold(settings, 'within');
    const limit = threshold(settings, 'changes');
    const reported = reportedClusters(view.balancers(now));
    const hosts = new Map<string, Flapping>();
    for (const series of view.features('host.health.changes')) {
      const cluster = series.labels.get('cluster');
      const host = series.labels.get('host');
      if (cluster === undefined || host === undefined || !reported.has(cluster)) continue;
      const changes = series.range(epochMs(end - within), end);
      if (changes === 0 && firingSince.size === 0) continue;
      const key = labelsKey(hostIdentity(cluster, host));
      const known = hosts.get(key);
      const balancers = (known?.balancers ?? 0) + (changes > 0 ? 1 : 0);
      hosts.set(key, { cluster, host, changes: Math.max(changes, known?.changes ?? 0), balancers });
    }
    const holding: Finding[] = [];
    const clear = new Set<string>();
    for (const [key, flapping] of [...hosts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (flapping.changes > (firingSince.has(key) ? CALM_SHARE * limit : limit)) {
        holding.push(toFinding(flapping, within, settings.severity));
      } else clear.add(key);
    }
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !clear.has(key))) };
  },
};

function toFinding(
  { cluster, host, changes, balancers }: Flapping,
  within: number,
  severity: Finding['severity'],
): Finding {
  const minutes = Math.round(within / 60_000);
  const evidence: Evidence[] = [
    { name: 'changes', value: changes, unit: '{change}', text: `${changes} changes of health in ${minutes} min` },
    { name: 'balancers', value: balancers, unit: '{balancer}', text: `seen by ${counted(balancers, 'balancer')}` },
  ];
  return {
    identity: hostIdentity(cluster, host),
    place: { cluster, host },
    severity,
    summary: `Host ${host} of cluster ${cluster} changes between healthy and unhealthy: ${changes} times in ${minutes} min.`,
    evidence,
  };
}
