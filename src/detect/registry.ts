import type { FeatureView } from '../aggregate/features.ts';
import type { SloCells } from '../aggregate/view.ts';
import { drained } from '../base/steps.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import { type Alert, type AlertChange, alertKey } from '../model/alert.ts';
import { type Labels, labelsKey, labelsOf, mergeLabels } from '../model/labels.ts';
import { acceptQueueSaturation } from './accept-queue-saturation.ts';
import { admissionRejections } from './admission-rejections.ts';
import { balancerSaturation } from './balancer-saturation.ts';
import { balancerSkew } from './balancer-skew.ts';
import { certificateRenewalStalled } from './certificate-renewal-stalled.ts';
import { coldStart } from './cold-start.ts';
import { configBudgetSpent } from './config-budget-spent.ts';
import { configDrift } from './config-drift.ts';
import { configPushRegression } from './config-push-regression.ts';
import { configPushUnstaged } from './config-push-unstaged.ts';
import type { Detector, Finding } from './detector.ts';
import { drainCut } from './drain-cut.ts';
import { ejectionCapReached } from './ejection-cap-reached.ts';
import type { DetectionEngine, DetectionRecord, DetectionTick } from './engine.ts';
import { fastFailSinkhole } from './fast-fail-sinkhole.ts';
import { handshakeStorm } from './handshake-storm.ts';
import { healthCheckCascade } from './health-check-cascade.ts';
import { healthCheckFlapping } from './health-check-flapping.ts';
import { hostEjections } from './host-ejections.ts';
import { hostOutlier } from './host-outlier.ts';
import { hostSkew } from './host-skew.ts';
import { l4Rehash } from './l4-rehash.ts';
import { noisyNeighbour } from './noisy-neighbour.ts';
import { retryStorm } from './retry-storm.ts';
import type { DetectorSettings } from './settings.ts';
import { stageTailShift } from './stage-tail-shift.ts';
import { streamSaturation } from './stream-saturation.ts';
import { telemetryLost } from './telemetry-lost.ts';
import { viewAt } from './tick-view.ts';
import { trafficStopped } from './traffic-stopped.ts';
import { upstreamErrors } from './upstream-errors.ts';
import { zoneSkew } from './zone-skew.ts';

/** The closed list. A new detector is one file, one line here, a runbook and an entry in detectors.yaml. */
export const DETECTORS: readonly Detector[] = [
  acceptQueueSaturation,
  balancerSaturation,
  certificateRenewalStalled,
  configPushRegression,
  configPushUnstaged,
  configDrift,
  configBudgetSpent,
  handshakeStorm,
  l4Rehash,
  hostEjections,
  stageTailShift,
  streamSaturation,
  telemetryLost,
  trafficStopped,
  upstreamErrors,
  ejectionCapReached,
  fastFailSinkhole,
  healthCheckCascade,
  healthCheckFlapping,
  drainCut,
  coldStart,
  hostOutlier,
  zoneSkew,
  hostSkew,
  balancerSkew,
  noisyNeighbour,
  retryStorm,
  admissionRejections,
];

const NO_SLOS: SloCells = {
  groups: () => [],
  feed: () => ({ watermark: null, coverage: 0, reporting: false, newestPointAt: null }),
};

const PREFIX = 'detect/';
const FIGURES_EVERY_MS = 60_000;

interface Firing {
  readonly since: EpochMs;
  readonly alert: Alert;
  readonly saidAt: EpochMs;
}

/** What is stored of a firing alert: enough to go on and to close it after a restart. */
interface StoredFiring {
  readonly since: number;
  readonly finding: Omit<Finding, 'identity'> & { readonly identity: readonly (readonly [string, string])[] };
}

/**
 * Runs the enabled detectors and turns what holds into alert changes: fired, changed (severity), updated (figures),
 * resolved.
 */
export function createDetectionEngine(settings: ReadonlyMap<string, DetectorSettings>): DetectionEngine {
  const enabled = DETECTORS.flatMap((detector) => {
    const own = settings.get(detector.name);
    return own?.enabled === true ? [{ detector, settings: own, firing: new Map<string, Firing>() }] : [];
  });

  /** Fired by detectors that have been switched off since: closed at the next tick, as nobody looks after them. */
  const orphans = new Map<string, Alert>();

  function* evaluateInSteps(cells: FeatureView, now: EpochMs, slos = NO_SLOS): Generator<void, DetectionTick> {
    const tick = { changes: [] as AlertChange[], stored: [] as DetectionRecord[], removed: [] as string[] };
    for (const [key, alert] of orphans) {
      tick.changes.push({ kind: 'resolved', at: now, alert, reason: 'removed' });
      tick.removed.push(key);
    }
    orphans.clear();
    const view = viewAt(cells, now);
    for (const one of enabled) {
      step(one, view, slos, now, tick);
      yield;
    }
    return tick;
  }

  const restore = (records: readonly DetectionRecord[]): void => {
    for (const { detector, settings: own, firing } of enabled) {
      const prefix = `${PREFIX}${detector.name}/`;
      for (const record of records) {
        if (!record.key.startsWith(prefix)) continue;
        const { alert, identity } = fromStored(detector.name, record, own);
        firing.set(labelsKey(identity), { since: alert.since, alert, saidAt: alert.since });
      }
    }
    for (const [name, own] of settings) {
      if (own.enabled) continue;
      const left = records.filter(({ key }) => key.startsWith(`${PREFIX}${name}/`));
      for (const record of left) orphans.set(record.key, fromStored(name, record, own).alert);
    }
  };

  return { evaluate: (view, now, slos) => drained(evaluateInSteps(view, now, slos)), evaluateInSteps, restore };
}

type Enabled = {
  readonly detector: Detector;
  readonly settings: DetectorSettings;
  readonly firing: Map<string, Firing>;
};
type Tick = { readonly changes: AlertChange[]; readonly stored: DetectionRecord[]; readonly removed: string[] };

function step(
  { detector, settings, firing }: Enabled,
  view: FeatureView,
  slos: SloCells,
  now: EpochMs,
  tick: Tick,
): void {
  const firingSince = new Map<string, EpochMs>();
  for (const [key, { since }] of firing) firingSince.set(key, since);
  const { holding, undecided } = detector.detect({ view, now, settings, firingSince, slos });
  const seen = new Set<string>();
  for (const finding of holding) {
    const key = labelsKey(finding.identity);
    seen.add(key);
    const before = firing.get(key);
    const since = before?.since ?? now;
    const alert = toAlert(detector.name, finding, settings, since);
    const kind = before === undefined ? 'fired' : before.alert.severity !== alert.severity ? 'changed' : 'updated';
    const isDue = now - (before?.saidAt ?? 0) >= FIGURES_EVERY_MS || isWider(finding, before?.alert);
    if (kind === 'updated' && !isDue) continue;
    firing.set(key, { since, alert, saidAt: now });
    tick.changes.push({ kind, at: now, alert });
    tick.stored.push({ key: recordKey(detector.name, key), value: JSON.stringify(toStored(since, finding)) });
  }
  for (const [key, { alert }] of firing) {
    if (seen.has(key) || undecided.has(key)) continue;
    firing.delete(key);
    tick.changes.push({ kind: 'resolved', at: now, alert, reason: 'recovered' });
    tick.removed.push(recordKey(detector.name, key));
  }
}

/** It is about clusters that it was not about before: what is correlated with them cannot wait for the next figures. */
const isWider = ({ clusters }: Finding, before: Alert | undefined): boolean =>
  clusters?.some((cluster) => before?.clusters?.includes(cluster) !== true) === true;

const recordKey = (name: string, key: string): string => `${PREFIX}${name}/${key}`;

const toStored = (since: EpochMs, finding: Finding): StoredFiring => ({
  since,
  finding: { ...finding, identity: [...finding.identity] },
});

function fromStored(name: string, record: DetectionRecord, settings: DetectorSettings) {
  const { since, finding } = JSON.parse(record.value) as StoredFiring;
  const identity = labelsOf(finding.identity);
  return { identity, alert: toAlert(name, { ...finding, identity }, settings, epochMs(since)) };
}

function toAlert(name: string, finding: Finding, settings: DetectorSettings, since: EpochMs): Alert {
  return {
    key: alertKey(name, finding.identity),
    name,
    labels: mergeLabels(finding.identity, placeLabels(finding)),
    place: finding.place,
    severity: finding.severity,
    tier: null,
    tiersHolding: [],
    since,
    owner: settings.owner,
    runbook: settings.runbook,
    summary: finding.summary,
    evidence: finding.evidence,
    burn: null,
    ...(finding.began === undefined ? {} : { began: finding.began }),
    ...(finding.clusters === undefined ? {} : { clusters: finding.clusters }),
  };
}

const placeLabels = ({ place }: Finding): Labels =>
  labelsOf(Object.entries(place).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
