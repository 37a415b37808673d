import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { labelsKey } from '../model/labels.ts';
import {
  type ConfigHealth,
  cohortReader,
  type Delta,
  goneFrom,
  type HealthLimits,
  healthOf,
  type Measure,
  pushesOf,
  pushIdentity,
} from './config-health.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { placeOf } from './regions.ts';
import type { DetectorSettings } from './settings.ts';
import { percent, timeText } from './words.ts';

/**
 * Balancers on a new config version do worse than before and than those that do not have it: more errors, more added
 * latency, more CPU. Any change counts, also one that is "just a route".
 */
export const configPushRegression: Detector = {
  name: ALERT.configPushRegression,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const holding: Finding[] = [];
    const cleared = new Set<string>();
    const all = view.balancers(now);
    const reader = cohortReader(view);
    for (const push of pushesOf(view, now)) {
      const key = labelsKey(pushIdentity(push));
      // What has done well for long is what is usual; an alert is followed to its end.
      if (end - push.since > threshold(settings, 'watchFor') && !firingSince.has(key)) continue;
      const health = healthOf(push, reader, all, end, limitsOf(settings));
      if (health.verdict === 'rollback') holding.push(toFinding(health, settings));
      else if (health.deltas.length > 0) cleared.add(key);
    }
    const gone = goneFrom(view, now, firingSince.keys());
    return {
      holding,
      undecided: new Set([...firingSince.keys()].filter((key) => !cleared.has(key) && !gone.has(key))),
    };
  },
};

export const limitsOf = (settings: DetectorSettings): HealthLimits => ({
  windowMs: threshold(settings, 'window'),
  bakeMs: threshold(settings, 'bakeFor'),
  minEvents: threshold(settings, 'minEvents'),
  errorsAbove: threshold(settings, 'errorsAbove'),
  errorsRise: threshold(settings, 'errorsRise'),
  latencyAbove: threshold(settings, 'latencyAbove'),
  latencyRiseMs: threshold(settings, 'latencyRise'),
  cpuRise: threshold(settings, 'cpuRise'),
});

const NAMES: Readonly<Record<Measure, string>> = { errors: '5xx', added_p99: 'added latency p99', cpu: 'CPU' };
const UNITS: Readonly<Record<Measure, string>> = { errors: '1', added_p99: 's', cpu: '1' };
const valueText = (measure: Measure, value: number): string =>
  measure === 'added_p99' ? timeText(value) : percent(value);

function toFinding(
  { push, rollout, deltas, worse, requests, rarestSeen }: ConfigHealth,
  settings: DetectorSettings,
): Finding {
  const { version, kind, previous, balancers, rest } = push;
  const shown = worse.map((measure) => deltas.find((delta) => delta.measure === measure) as Delta);
  const what = shown
    .map(
      ({ measure, value, other }) => `${NAMES[measure]} ${valueText(measure, value)}, was ${valueText(measure, other)}`,
    )
    .join('; ');
  const evidence: Evidence[] = [
    { name: 'verdict', value: 'rollback', text: `roll back to ${previous ?? 'the version before'}` },
    {
      name: 'rollout',
      value: rollout,
      text: `${rollout}: ${balancers.length} balancers run it, ${rest.length} still the version before`,
    },
    ...deltas.map(deltaEvidence),
    {
      name: 'sample',
      value: requests,
      unit: '{request}',
      text: `judged by ${requests} requests, which show faults down to ${percent(rarestSeen)} of requests`,
    },
  ];
  return {
    identity: pushIdentity(push),
    place: { configVersion: version, ...placeOf(balancers) },
    began: push.since,
    severity: settings.severity,
    summary: `Config ${kind === '' ? '' : `${kind} `}version ${version} does worse than ${previous ?? 'what it replaced'} (${rollout}): ${what}.`,
    evidence,
  };
}

function deltaEvidence({ measure, against, value, other, sample, otherSample, chance, worse }: Delta): Evidence {
  const than = against === 'rest' ? 'on the version before' : 'before the change';
  const events = measure === 'cpu' ? 'readings' : 'requests';
  const sure =
    chance === null || !worse ? '' : `; chance at most ${chance < 1e-12 ? '1e-12' : chance.toExponential(0)}`;
  return {
    name: `${measure}_against_${against}`,
    value: value - other,
    unit: UNITS[measure],
    text:
      `${NAMES[measure]} ${valueText(measure, value)} of ${Math.round(sample)} ${events}, ` +
      `${valueText(measure, other)} of ${Math.round(otherSample)} ${than}${sure}`,
  };
}
