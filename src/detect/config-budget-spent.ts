import type { Rollout } from '../aggregate/rollout-book.ts';
import { type GroupView, STEP_MS, type WindowSums } from '../aggregate/view.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import { durationText } from '../model/phrases.ts';
import { budgetRatioOf, paddedTotal } from '../slo/budget.ts';
import { membersOf } from '../slo/composite.ts';
import { placeOfGroup } from '../slo/place.ts';
import { unitOf } from '../slo/slices.ts';
import { type Detection, type DetectionInput, type Detector, type Finding, threshold } from './detector.ts';
import { namesText } from './regions.ts';
import type { DetectorSettings } from './settings.ts';
import { counted, percent } from './words.ts';

/** Each group is looked at once in so many ticks: what it has spent in a month does not change in seconds. */
const TURNS = 6;
/** Steps of this length are kept for as long as an SLO window: spans end on them. */
const GRID_MS = 300_000;
/** With rollouts under way for more of the time than this, there is no other time to compare with. */
const SHARE_OF_TIME_MAX = 0.5;
const SETTLE_MS = 1_800_000;

/**
 * Config rollouts have used so much of an SLO's error budget that only emergencies may change anything now. What fails
 * while a rollout is under way, and for a while after, is counted, less what fails at other times.
 */
export const configBudgetSpent: Detector = {
  name: ALERT.configBudgetSpent,
  detect({ view, now, settings, firingSince, slos }: DetectionInput): Detection {
    const rollouts = view.rollouts();
    const holding: Finding[] = [];
    const undecided = new Set<string>();
    if (rollouts.length === 0 && firingSince.size === 0) return { holding, undecided };
    const turn = Math.floor(now / STEP_MS) % TURNS;
    let index = 0;
    for (const group of slos.groups()) {
      index += 1;
      const isDue = index % TURNS === turn;
      if (!isDue && firingSince.size === 0) continue;
      const identity = labelsOf([...group.labels, ['slo', group.slo.id]]);
      const key = labelsKey(identity);
      const { watermark, reporting } = slos.feed(group, now);
      if (!isDue || watermark === null || !reporting) {
        undecided.add(key);
        continue;
      }
      const spent = spentBy(group, watermark, rollouts, settings);
      const least = threshold(settings, firingSince.has(key) ? 'clearBelow' : 'share');
      if (spent !== null && spent.share >= least) holding.push(toFinding(group, identity, spent, watermark, settings));
    }
    return { holding, undecided };
  },
};

/** Of the budget of one group, in its SLO window. */
interface Spent {
  /** By rollouts, and in all. */
  readonly share: number;
  readonly inAll: number;
  readonly spans: readonly Span[];
  /** After which most of it went. */
  readonly worst: Span & { readonly share: number };
}

/** Rollouts that were under way, or had just been, without a break. */
interface Span {
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly versions: readonly string[];
}

/** Null where nothing can be said, or no rollout was of late. */
function spentBy(
  group: GroupView,
  to: EpochMs,
  rollouts: readonly Rollout[],
  settings: DetectorSettings,
): Spent | null {
  const budgeted = budgetOf(group, to);
  if (budgeted === null) return null;
  const { all, budget } = budgeted;
  if (all.bad < threshold(settings, 'minEvents') * unitOf(group.slo.budgeting)) return null;
  if (all.bad < threshold(settings, 'clearBelow') * budget) return null;
  const last = rollouts.reduce((latest, one) => Math.max(latest, one.to), 0);
  if (to - last > threshold(settings, 'tellFor')) return null;
  return spentIn(group, to, budgeted, rollouts, threshold(settings, 'settleFor'));
}

/** What a group may spend in its SLO window, and what it has; null where that cannot be said. */
interface Budgeted {
  readonly all: WindowSums;
  readonly budget: number;
  readonly observedFrom: EpochMs;
}

function budgetOf(group: GroupView, to: EpochMs): Budgeted | null {
  const { slo } = group;
  // What the members of a composite spend is weighted: their events cannot be added up.
  if (slo.budgeting.kind === 'occurrences' && membersOf(slo.indicator).length > 0) return null;
  const period = slo.window.rolling ? null : slo.window.calendar.periodAt(to);
  const from = period?.start ?? epochMs(to - slo.window.length);
  const lengthMs = period === null ? slo.window.length : period.end - period.start;
  const all = group.range(from, to);
  if (all.inconsistent) return null;
  const observedFrom = epochMs(Math.max(from, group.firstDataAt ?? to));
  const observedMs = Math.max(STEP_MS, to - observedFrom);
  const budget = budgetRatioOf(slo.objective).value * paddedTotal({ ...all, lengthMs, observedMs });
  return budget > 0 ? { all, budget, observedFrom } : null;
}

/** Null where rollouts were under way at no time, or nearly always. */
function spentIn(
  group: GroupView,
  to: EpochMs,
  { all, budget, observedFrom }: Budgeted,
  rollouts: readonly Rollout[],
  settleMs: number,
): Spent | null {
  const spans = rolloutSpans(rollouts, observedFrom, to, settleMs);
  const underWayMs = spans.reduce((sum, span) => sum + span.to - span.from, 0);
  if (spans.length === 0 || underWayMs > SHARE_OF_TIME_MAX * Math.max(STEP_MS, to - observedFrom)) return null;
  const sums = spans.map((span) => group.range(span.from, span.to));
  const sum = (part: 'bad' | 'total'): number => sums.reduce((total, one) => total + one[part], 0);
  const others = all.total - sum('total');
  const usual = others > 0 ? Math.max(0, all.bad - sum('bad')) / others : 0;
  const shares = sums.map(({ bad, total }) => Math.max(0, bad - usual * total) / budget);
  const most = shares.indexOf(Math.max(...shares));
  const worst = { ...(spans[most] as Span), share: shares[most] ?? 0 };
  return { share: shares.reduce((total, one) => total + one, 0), inAll: all.bad / budget, spans, worst };
}

/**
 * The part of its error budget that config rollouts have used in a group's SLO window up to `to`; null where it cannot
 * be told. Without any rollout it is 0.
 */
export function configShareOf(
  group: GroupView,
  to: EpochMs,
  rollouts: readonly Rollout[],
  settleMs: number,
): number | null {
  const budgeted = budgetOf(group, to);
  if (budgeted === null) return null;
  if (!rollouts.some((one) => one.to + settleMs > budgeted.observedFrom && one.from < to)) return 0;
  return spentIn(group, to, budgeted, rollouts, settleMs)?.share ?? null;
}

/** So long after a rollout what fails is still its; as the detector says, where it is known. */
export const settleMsOf = (settings: DetectorSettings | undefined): number =>
  settings === undefined ? SETTLE_MS : threshold(settings, 'settleFor');

/** When rollouts were under way in (from, to], each with `settleMs` after it, joined where they touch. */
export function rolloutSpans(
  rollouts: readonly Rollout[],
  from: EpochMs,
  to: EpochMs,
  settleMs: number,
): readonly Span[] {
  const found: { from: EpochMs; to: EpochMs; versions: string[] }[] = [];
  for (const rollout of [...rollouts].sort((a, b) => a.from - b.from)) {
    const start = Math.max(from, Math.floor(rollout.from / GRID_MS) * GRID_MS);
    const end = Math.min(to, Math.ceil((rollout.to + settleMs) / GRID_MS) * GRID_MS);
    if (end <= start) continue;
    const last = found.at(-1);
    if (last === undefined || start > last.to) {
      found.push({ from: epochMs(start), to: epochMs(end), versions: [rollout.version] });
      continue;
    }
    last.to = epochMs(Math.max(last.to, end));
    if (!last.versions.includes(rollout.version)) last.versions.push(rollout.version);
  }
  return found;
}

function toFinding(
  { slo, labels }: GroupView,
  identity: Labels,
  { share, inAll, spans, worst }: Spent,
  to: EpochMs,
  settings: DetectorSettings,
): Finding {
  const limit = threshold(settings, 'share');
  const underWayMs = spans.reduce((sum, span) => sum + span.to - span.from, 0);
  const used = `${percent(share)} of the error budget of ${slo.id}`;
  const evidence: Evidence[] = [
    {
      name: 'spent_in_rollouts',
      value: share,
      unit: '1',
      text: `config rollouts used ${used}, less what fails anyway`,
    },
    { name: 'spent', value: inAll, unit: '1', text: `${percent(inAll)} of it is used in all` },
    {
      name: 'rollouts',
      value: spans.length,
      unit: '{rollout}',
      text: `${counted(spans.length, 'time')} with rollouts under way, ${durationText(underWayMs)} of the ${slo.window.text}`,
    },
    {
      name: 'worst',
      value: worst.share,
      unit: '1',
      text: `${percent(worst.share)} with ${namesText(worst.versions)}, ${durationText(Math.max(STEP_MS, to - worst.from))} ago`,
    },
  ];
  return {
    identity,
    place: placeOfGroup(slo, labels),
    severity: settings.severity,
    summary: `Config rollouts used ${used}, ${percent(limit)} is the limit: freeze changes that are no emergency.`,
    evidence,
  };
}
