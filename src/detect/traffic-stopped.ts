import { epochMs } from '../base/units.ts';
import { ALERT } from '../model/conventions.ts';
import { labelsKey, labelsOf } from '../model/labels.ts';
import { baselineRate } from './baseline.ts';
import { byCluster, isReported } from './clusters.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';

/** The window grows no further than this while it waits for enough requests to have been due. */
const WINDOW_MS_MAX = 3_600_000;

/**
 * Requests of a cluster fall to next to nothing while its balancers go on reporting: users cannot reach us, and no
 * error is
 * counted anywhere. The window grows until at least `minExpected` requests were due in it.
 */
export const trafficStopped: Detector = {
  name: ALERT.trafficStopped,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const holding: Finding[] = [];
    const undecided = new Set<string>();
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const balancers = view.balancers(now);
    for (const [cluster, requests] of byCluster(view, 'cluster.requests')) {
      const identity = labelsOf([['cluster', cluster]]);
      const key = labelsKey(identity);
      if (!isReported(balancers, cluster)) {
        undecided.add(key);
        continue;
      }
      const holdFor = threshold(settings, 'holdFor');
      const rate = baselineRate(requests, epochMs((firingSince.get(key) ?? end) - holdFor));
      if (rate === null) {
        if (firingSince.has(key)) undecided.add(key);
        continue;
      }
      const window = Math.max(holdFor, Math.ceil(threshold(settings, 'minExpected') / rate));
      if (!(window <= WINDOW_MS_MAX)) continue;
      const due = rate * window;
      const came = requests.range(epochMs(end - window), end);
      if (came >= threshold(settings, 'baselineShare') * due) continue;
      holding.push({
        identity,
        place: { cluster },
        severity: settings.severity,
        summary: `Traffic of cluster ${cluster} has stopped: ${came} requests where about ${Math.round(due)} were due.`,
        evidence: [
          {
            name: 'requests',
            value: came,
            unit: '{request}',
            text: `${came} requests in ${Math.round(window / 60_000)} min`,
          },
          { name: 'due', value: Math.round(due), unit: '{request}', text: `about ${Math.round(due)} were due` },
        ],
      });
    }
    return { holding, undecided };
  },
};
