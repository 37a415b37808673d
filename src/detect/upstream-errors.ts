import { epochMs } from '../base/units.ts';
import { ALERT } from '../model/conventions.ts';
import { labelsKey, labelsOf } from '../model/labels.ts';
import { baselineRatio } from './baseline.ts';
import { logBinomialTail } from './binomial.ts';
import { byCluster, counterOf } from './clusters.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';

/**
 * A cluster answers with 5xx far more often than it does at this hour. It explains a burn; it does not page. The
 * baseline ends
 * where the alert began, so that a long outage does not become normal.
 */
export const upstreamErrors: Detector = {
  name: ALERT.upstreamErrors,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const holding: Finding[] = [];
    const undecided = new Set<string>();
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const window = threshold(settings, 'holdFor');
    const from = epochMs(end - window);
    const requests = byCluster(view, 'cluster.requests');
    const errors = byCluster(view, 'cluster.errors');
    for (const [cluster, total] of requests) {
      const identity = labelsOf([['cluster', cluster]]);
      const key = labelsKey(identity);
      const events = total.range(from, end);
      const failed = counterOf(errors, cluster).range(from, end);
      if (events < threshold(settings, 'minEvents')) {
        if (firingSince.has(key) && events === 0) undecided.add(key);
        continue;
      }
      const frozenAt = firingSince.get(key);
      const baselineEnd = epochMs(frozenAt === undefined ? from : Math.min(from, frozenAt - window));
      const minExpected = threshold(settings, 'minExpected');
      const usual = baselineRatio(counterOf(errors, cluster), total, baselineEnd, minExpected) ?? 0;
      const ratio = failed / events;
      const limit = Math.max(threshold(settings, 'minRatio'), threshold(settings, 'ratioAboveBaseline') * usual);
      if (ratio < limit) continue;
      // The most that is still usual: how often would it alone bring so many?
      const logChance = logBinomialTail(failed, events, limit / threshold(settings, 'ratioAboveBaseline'));
      if (logChance > Math.log(threshold(settings, 'chance'))) continue;
      holding.push({
        identity,
        place: { cluster },
        severity: settings.severity,
        summary: `Cluster ${cluster} answers ${percent(ratio)} of requests with 5xx (usual: ${percent(usual)}).`,
        evidence: [
          { name: 'ratio', value: ratio, unit: '1', text: `${failed} of ${events} requests failed` },
          { name: 'baseline', value: usual, unit: '1', text: `usual share of errors ${percent(usual)}` },
        ],
      });
    }
    return { holding, undecided };
  },
};

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.01 ? 2 : 1)} %`;
