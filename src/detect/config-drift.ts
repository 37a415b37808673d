import {
  BALANCER_HISTOGRAM,
  type BalancerState,
  type ConfigRun,
  type FeatureSeries,
  type FeatureView,
} from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence, Place } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import { durationText } from '../model/phrases.ts';
import { byBalancer } from './by-balancer.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { distributionOf } from './distribution.ts';
import { balancersText, namesText, placeOf } from './regions.ts';
import type { DetectorSettings } from './settings.ts';
import { counted, timeText } from './words.ts';

const STEP_MS = 10_000;
const PROPAGATION = labelsOf([['drift', 'endpoints']]);

/**
 * Balancers do not run what the control plane wants them to: they refuse an update, stay behind the others of their
 * stage, or hear of changed hosts late. Traffic is served on the last good configuration meanwhile, so that nobody is
 * woken; the next change does not reach everybody either.
 */
export const configDrift: Detector = {
  name: ALERT.configDrift,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const holding: Finding[] = [];
    const undecided = new Set<string>();
    const balancers = new Map(view.balancers(now).map((balancer) => [balancer.id, balancer]));
    const runs = view.configs(now);
    const drifts = driftsOf(view, now, end, runs, balancers, settings);
    for (const drift of drifts) {
      const isHeard = [...drift.refusing, ...drift.behind].some(({ stale }) => !stale);
      if (isHeard) holding.push(toFinding(drift, settings));
      // Those that are silent had drifted when they were heard last.
      else undecided.add(labelsKey(identityOf(drift.kind)));
    }
    const late = lateEndpoints(view, end, settings);
    if (late === 'late') holding.push(propagationFinding(view, end, settings));
    else if (late === 'unknown') undecided.add(labelsKey(PROPAGATION));
    if ([...balancers.values()].every(({ stale }) => stale)) for (const key of firingSince.keys()) undecided.add(key);
    return { holding, undecided };
  },
};

const identityOf = (kind: string): Labels =>
  labelsOf([kind === '' ? (['drift', 'config'] as const) : (['configKind', kind] as const)]);

/** Balancers of one kind of configuration that do not run what they should. */
interface Drift {
  readonly kind: string;
  readonly refusing: readonly BalancerState[];
  readonly behind: readonly BalancerState[];
  /** What the others run by now, and since when most of them do; null where nobody is behind. */
  readonly target: { readonly version: string; readonly forMs: number } | null;
}

function driftsOf(
  view: FeatureView,
  now: EpochMs,
  end: EpochMs,
  runs: readonly ConfigRun[],
  balancers: ReadonlyMap<string, BalancerState>,
  settings: DetectorSettings,
): readonly Drift[] {
  const rejected = [...view.features('config.rejected')];
  const kinds = new Set([...runs.map(({ kind }) => kind), ...rejected.map(({ labels }) => labels.get('kind') ?? '')]);
  const stages = stagesOf(view, now);
  const found: Drift[] = [];
  for (const kind of [...kinds].sort()) {
    const own = runs.filter((run) => run.kind === kind);
    const refusing = refusingOf(rejected, kind, own, end, balancers, settings);
    const { behind, target } = behindOf(own, stages, end, balancers, settings);
    if (refusing.length + behind.length > 0) found.push({ kind, refusing, behind, target });
  }
  return found;
}

function stagesOf(view: FeatureView, now: EpochMs): ReadonlyMap<string, number> {
  const stages = new Map<string, number>();
  for (const { labels, value } of view.gauges('config.stage', now)) stages.set(labels.get('balancer') ?? '', value);
  return stages;
}

/** Balancers that refused an update and have taken none since. */
function refusingOf(
  rejected: readonly FeatureSeries[],
  kind: string,
  runs: readonly ConfigRun[],
  end: EpochMs,
  balancers: ReadonlyMap<string, BalancerState>,
  settings: DetectorSettings,
): readonly BalancerState[] {
  const series = byBalancer(rejected.filter(({ labels }) => (labels.get('kind') ?? '') === kind));
  const from = end - threshold(settings, 'rejectedWithin');
  const currentSince = new Map(runs.filter(({ current }) => current).map(({ balancer, since }) => [balancer, since]));
  const found: BalancerState[] = [];
  for (const [id, own] of series) {
    const balancer = balancers.get(id);
    const since = epochMs(Math.ceil(Math.max(from, currentSince.get(id) ?? from) / STEP_MS) * STEP_MS);
    if (balancer !== undefined && own.some((one) => one.range(since, end) > 0)) found.push(balancer);
  }
  return found;
}

interface Current {
  readonly run: ConfigRun;
  readonly balancer: BalancerState;
  /** What it ran before; null where it has not changed since it is known. */
  readonly previous: string | null;
}

/**
 * Balancers that still run what the others of their stage (of their zone, where no stages are told) have left behind.
 * The version that was taken up last is what the control plane wants, be it new or rolled back to.
 */
function behindOf(
  runs: readonly ConfigRun[],
  stages: ReadonlyMap<string, number>,
  end: EpochMs,
  balancers: ReadonlyMap<string, BalancerState>,
  settings: DetectorSettings,
): Pick<Drift, 'behind' | 'target'> {
  const current = currentOf(runs, balancers);
  const changed = current.filter(({ previous, balancer }) => previous !== null && !balancer.stale);
  const [newest] = [...changed].sort((a, b) => b.run.since - a.run.since);
  if (newest === undefined) return { behind: [], target: null };
  const { version } = newest.run;
  const arrived = changed.filter(({ run }) => run.version === version);
  const groups = new Map<string, Current[]>();
  for (const one of current) {
    const stage = stages.get(one.balancer.id);
    const group = stage === undefined ? `zone ${one.balancer.zone}` : `stage ${stage}`;
    groups.set(group, [...(groups.get(group) ?? []), one]);
  }
  const behind: BalancerState[] = [];
  let forMs = 0;
  for (const members of groups.values()) {
    const have = members.filter(({ run }) => run.version === version).sort((a, b) => a.run.since - b.run.since);
    const most = have[Math.floor(members.length / 2)];
    if (most === undefined) continue;
    for (const { run, balancer } of members) {
      const lateForMs = end - Math.max(most.run.since, leftSince(run, arrived));
      if (run.version === version || lateForMs < threshold(settings, 'behindFor')) continue;
      behind.push(balancer);
      forMs = Math.max(forMs, lateForMs);
    }
  }
  return { behind, target: behind.length === 0 ? null : { version, forMs } };
}

/**
 * When the first balancer went from what `run` still runs to what is wanted, after `run` began: canaries that are rolled
 * back one after the other are not behind since their stage got the version. Infinity = nobody did.
 */
function leftSince(run: ConfigRun, arrived: readonly Current[]): number {
  const from = arrived.filter(({ previous, run: { since } }) => previous === run.version && since >= run.since);
  return Math.min(...from.map(({ run: { since } }) => since));
}

function currentOf(runs: readonly ConfigRun[], balancers: ReadonlyMap<string, BalancerState>): readonly Current[] {
  const found: Current[] = [];
  let last: ConfigRun | null = null;
  for (const run of runs) {
    const previous = last !== null && last.balancer === run.balancer ? last.version : null;
    last = run;
    const balancer = balancers.get(run.balancer);
    if (run.current && balancer !== undefined) found.push({ run, balancer, previous });
  }
  return found;
}

function lateEndpoints(view: FeatureView, end: EpochMs, settings: DetectorSettings): 'late' | 'fine' | 'unknown' {
  const from = epochMs(end - threshold(settings, 'propagationWindow'));
  const durations = distributionOf(view.histograms(BALANCER_HISTOGRAM.endpoints), from, end);
  if (durations.count < threshold(settings, 'minEvents')) return durations.count > 0 ? 'unknown' : 'fine';
  return (durations.quantile(0.99) ?? 0) * 1000 > threshold(settings, 'propagationP99') ? 'late' : 'fine';
}

function propagationFinding(view: FeatureView, end: EpochMs, settings: DetectorSettings): Finding {
  const window = threshold(settings, 'propagationWindow');
  const limitMs = threshold(settings, 'propagationP99');
  const from = epochMs(end - window);
  const durations = distributionOf(view.histograms(BALANCER_HISTOGRAM.endpoints), from, end);
  const p99 = durations.quantile(0.99) ?? 0;
  const slow = [...byBalancer(view.histograms(BALANCER_HISTOGRAM.endpoints))]
    .filter(([, own]) => distributionOf(own, from, end).above(limitMs / 1000) > 0)
    .map(([balancer]) => balancer)
    .sort();
  const within = `99 % of ${counted(Math.round(durations.count), 'change')} within ${timeText(p99)}`;
  return {
    identity: PROPAGATION,
    place: slow.length === 1 && slow[0] !== undefined ? { balancer: slow[0] } : {},
    severity: settings.severity,
    summary: `Balancers hear of changed hosts late: ${within}, ${durationText(limitMs)} is the limit.`,
    evidence: [
      { name: 'propagation_p99', value: p99, unit: 's', text: `${within}, in the last ${durationText(window)}` },
      { name: 'late', value: slow.length, unit: '{balancer}', text: `late on ${namesText(slow)}` },
    ],
  };
}

function toFinding({ kind, refusing, behind, target }: Drift, settings: DetectorSettings): Finding {
  const what = kind === '' ? 'configuration' : `${kind} configuration`;
  const all = [...new Map([...refusing, ...behind].map((one) => [one.id, one])).values()];
  const said: string[] = [];
  const evidence: Evidence[] = [];
  const names = (balancers: readonly BalancerState[]): string => namesText(balancers.map(({ id }) => id).sort());
  if (refusing.length > 0) {
    said.push(`${balancersText(refusing)} refuse${refusing.length === 1 ? 's' : ''} the update`);
    const text = `${names(refusing)} refused an update and took none since`;
    evidence.push({ name: 'refusing', value: refusing.length, unit: '{balancer}', text });
  }
  if (target !== null) {
    const since = `that most of their stage have had for ${durationText(target.forMs)}`;
    said.push(`${balancersText(behind)} without version ${target.version} ${since}`);
    evidence.push(
      { name: 'behind', value: behind.length, unit: '{balancer}', text: `${names(behind)} run an older version` },
      { name: 'target', value: target.version, text: `version ${target.version}, ${since}` },
    );
  }
  evidence.push({ name: 'served', value: true, text: 'they serve on with the configuration that they have' });
  const place: Place = placeOf(all);
  return {
    identity: identityOf(kind),
    place: target === null ? place : { ...place, configVersion: target.version },
    severity: settings.severity,
    summary: `The ${what} does not reach all balancers: ${said.join('; ')}.`,
    evidence,
  };
}
