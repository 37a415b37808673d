import { epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { labelsKey, labelsOf } from '../model/labels.ts';
import { byCluster, counterOf, largestByCluster, reportedClusters } from './clusters.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { counted, percent } from './words.ts';

interface CapState {
  readonly cluster: string;
  readonly refused: number;
  readonly out: number;
  readonly pool: number;
  readonly isNextRefused: boolean;
  readonly unserved: number;
  readonly requests: number;
  readonly hasNoHost: boolean;
}

/**
 * Ejection can protect users no further: balancers refused to take out another bad host, or would refuse the next one.
 * It pages when requests find no healthy host at all.
 */
export const ejectionCapReached: Detector = {
  name: ALERT.ejectionCapReached,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const refused = byCluster(view, 'cluster.ejections.refused');
    const unserved = byCluster(view, 'cluster.no_healthy.requests');
    const requests = byCluster(view, 'cluster.requests');
    const hosts = largestByCluster(view, 'cluster.hosts', now);
    const outs = largestByCluster(view, 'cluster.ejections.active', now);
    const window = epochMs(end - threshold(settings, 'window'));
    const holding: Finding[] = [];
    const clear = new Set<string>();
    for (const cluster of [...reportedClusters(view.balancers(now))].sort()) {
      const out = outs.get(cluster) ?? 0;
      const pool = hosts.get(cluster) ?? 0;
      const without = counterOf(unserved, cluster).range(window, end);
      // Balancers that answer such requests themselves may count them as requests of the cluster, or not.
      const all = Math.max(without, counterOf(requests, cluster).range(window, end));
      const state: CapState = {
        cluster,
        refused: counterOf(refused, cluster).range(epochMs(end - threshold(settings, 'refusedWithin')), end),
        out,
        pool,
        isNextRefused:
          out >= threshold(settings, 'minOut') &&
          pool > 0 &&
          out >= Math.max(1, Math.floor(threshold(settings, 'cap') * pool)),
        unserved: without,
        requests: all,
        hasNoHost:
          without >= threshold(settings, 'minUnserved') && without >= threshold(settings, 'unservedShare') * all,
      };
      if (state.refused > 0 || state.isNextRefused || state.hasNoHost)
        holding.push(toFinding(state, settings.severity));
      else clear.add(labelsKey(identityOf(cluster)));
    }
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !clear.has(key))) };
  },
};

const identityOf = (cluster: string) => labelsOf([['cluster', cluster]]);

function toFinding(state: CapState, severity: Finding['severity']): Finding {
  const { cluster, refused, out, pool, isNextRefused, unserved, requests, hasNoHost } = state;
  const outNow = pool > 0 ? `${out} of ${counted(pool, 'host')} out` : `${counted(out, 'host')} out`;
  const evidence: Evidence[] = [];
  if (hasNoHost) {
    evidence.push({
      name: 'no_healthy_requests',
      value: unserved,
      unit: '{request}',
      text: `${unserved} requests (${percent(unserved / requests)}) found no healthy host`,
    });
  }
  if (refused > 0) {
    const text = `${counted(refused, 'ejection')} refused because of the cap`;
    evidence.push({ name: 'refused', value: refused, unit: '{ejection}', text });
  }
  if (out > 0 || isNextRefused) evidence.push({ name: 'hosts_out', value: out, unit: '{host}', text: outNow });
  const atCap =
    refused > 0
      ? `Balancers refuse to eject more hosts of cluster ${cluster}; ${outNow}.`
      : `The next ejection in cluster ${cluster} would be refused; ${outNow}.`;
  return {
    identity: identityOf(cluster),
    place: { cluster },
    severity: hasNoHost ? 'page' : severity,
    summary: hasNoHost ? `Requests to cluster ${cluster} find no healthy host: ${unserved} in the last minute.` : atCap,
    evidence,
  };
}
