import type { FeatureView } from '../aggregate/features.ts';
import { formatInstant } from '../base/instant.ts';
import type { EpochMs } from '../base/units.ts';
import { type Comparison, compareSides } from '../detect/cohorts.ts';
import { limitsOf } from '../detect/config-push-regression.ts';
import type { DetectorSettings } from '../detect/settings.ts';
import type { ComparisonAsked, ComparisonView, NotComparableView } from '../model/views.ts';

/** Two cohorts beside each other, by the thresholds of ConfigPushRegression; or why there is nothing to compare. */
export function compare(
  features: FeatureView,
  settings: DetectorSettings | undefined,
  now: EpochMs,
  asked: ComparisonAsked,
): ComparisonView | NotComparableView {
  if (settings === undefined)
    return { missing: 'ConfigPushRegression, whose thresholds judge, is not among the detectors' };
  const { windowSeconds, ...request } = asked;
  const windowMs = windowSeconds === null ? null : windowSeconds * 1000;
  const found = compareSides(features, { ...request, windowMs }, now, limitsOf(settings));
  return 'missing' in found ? found : toView(found, asked);
}

const toView = (
  found: Comparison,
  { attribute, a, b, cluster, fault, confidence }: ComparisonAsked,
): ComparisonView => ({
  kind: found.kind,
  attribute,
  a,
  b,
  cluster,
  from: formatInstant(found.from),
  to: formatInstant(found.to),
  verdict: found.verdict,
  reason: found.reason,
  worse: found.worse,
  deltas: found.deltas,
  sample: {
    requests: found.requests,
    otherRequests: found.otherRequests,
    confidence,
    failuresToHold: found.size.failuresToHold,
    rarestFault: found.size.rarestFault,
    formula:
      found.size.failuresToHold === 1
        ? '1 - (1 - confidence)^(1 / requests), at 95 % close to the rule of three, 3 / requests'
        : `the rate p with P(Binomial(requests, p) >= ${found.size.failuresToHold}) = confidence, less what the others have`,
  },
  fault: {
    rate: fault,
    requestsNeeded: Number.isFinite(found.size.requestsNeeded) ? found.size.requestsNeeded : null,
    seconds: found.needsMs === null ? null : found.needsMs / 1000,
  },
  exposure: found.exposure,
  drops: found.drops,
  members: found.members,
  others: found.others,
});
