import type { BalancerState, ConfigRun } from '../aggregate/features.ts';
import type { EpochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { labelsKey } from '../model/labels.ts';
import { durationText } from '../model/phrases.ts';
import { type ConfigPush, goneFrom, pushesOf, pushIdentity, rolloutOf } from './config-health.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { balancersText, placeOf } from './regions.ts';
import type { DetectorSettings } from './settings.ts';
import { counted, percent } from './words.ts';

/** A balancer that was not heard for longer may have changed at any time since. */
const UNHEARD_MS = 300_000;

/**
 * A new config version is on more balancers than its canaries before anything could have been seen on those, whatever
 * kind of change it is. A version that the fleet has run before is a roll-back, which must not wait.
 */
export const configPushUnstaged: Detector = {
  name: ALERT.configPushUnstaged,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const all = view.balancers(now);
    const runs = view.configs(now);
    const holding: Finding[] = [];
    const known = new Set<string>();
    for (const push of pushesOf(view, now)) {
      known.add(labelsKey(pushIdentity(push)));
      const haste = hasteOf(push, runs, all, end, settings);
      if (haste !== null) holding.push(toFinding(push, haste, all, settings));
    }
    const gone = goneFrom(view, now, firingSince.keys());
    const isOpen = (key: string): boolean => !known.has(key) && !gone.has(key);
    return { holding, undecided: new Set([...firingSince.keys()].filter(isOpen)) };
  },
};

/** Balancers that had the version too early. */
interface Haste {
  readonly early: readonly BalancerState[];
  /** Of so many that are heard, and how many of them are canaries at most. */
  readonly fleet: number;
  readonly canaries: number;
  /** From the first balancer to the last of these. */
  readonly tookMs: number;
}

function hasteOf(
  push: ConfigPush,
  runs: readonly ConfigRun[],
  all: readonly BalancerState[],
  end: EpochMs,
  settings: DetectorSettings,
): Haste | null {
  const stageFor = threshold(settings, 'stageFor');
  const own = runs.filter(({ kind, version }) => kind === push.kind && version === push.version);
  const firstSeenAt = Math.min(...own.map(({ since }) => since));
  if (end - firstSeenAt > threshold(settings, 'tellFor')) return null;
  const early = push.runs.filter((run) => run.since - firstSeenAt < stageFor && isSeen(run, runs));
  const fleet = all.filter(({ stale }) => !stale).length;
  const canaries = Math.max(1, Math.floor(threshold(settings, 'canaryShare') * fleet));
  if (early.length <= canaries) return null;
  const ids = new Set(early.map(({ balancer }) => balancer));
  return {
    early: all.filter(({ id }) => ids.has(id)),
    fleet,
    canaries,
    tookMs: Math.max(...early.map(({ since }) => since)) - firstSeenAt,
  };
}

/** Whether the balancer was heard shortly before its change, so that its time is known; a new one has no change. */
function isSeen(run: ConfigRun, runs: readonly ConfigRun[]): boolean {
  const before = runs.findLast(
    (one) => one.balancer === run.balancer && one.kind === run.kind && one.since < run.since,
  );
  return before === undefined || run.since - before.lastAt <= UNHEARD_MS;
}

function toFinding(
  push: ConfigPush,
  { early, fleet, canaries, tookMs }: Haste,
  all: readonly BalancerState[],
  settings: DetectorSettings,
): Finding {
  const { version, kind, previous } = push;
  const stageFor = threshold(settings, 'stageFor');
  const rollout = rolloutOf(push, all);
  const reached = `${early.length} of ${fleet} balancers within ${durationText(Math.max(tookMs, 1000))}`;
  const evidence: Evidence[] = [
    { name: 'rollout', value: rollout, text: `${rollout}: ${balancersText(push.balancers)} run it` },
    { name: 'early', value: early.length, unit: '{balancer}', text: `${reached} of the first` },
    {
      name: 'canaries',
      value: canaries,
      unit: '{balancer}',
      text: `${counted(canaries, 'canary balancer')} at most in the first ${durationText(stageFor)}`,
    },
    {
      name: 'exposed',
      value: early.length / Math.max(1, fleet),
      unit: '1',
      text: `${percent(early.length / Math.max(1, fleet))} of the balancers had it before a canary could show a fault`,
    },
  ];
  if (previous !== null) evidence.push({ name: 'previous', value: previous, text: `they ran ${previous} before` });
  return {
    identity: pushIdentity(push),
    place: { configVersion: version, ...placeOf(early) },
    began: push.since,
    severity: settings.severity,
    summary:
      `Config ${kind === '' ? '' : `${kind} `}version ${version} went to ${reached}: ` +
      `no canary had it for ${durationText(stageFor)} first.`,
    evidence,
  };
}
