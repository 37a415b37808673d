import type { ExclusionSource } from '../aggregate/exclusion.ts';
import { formatDuration } from '../base/duration.ts';
import { type EpochMs, epochMs, HOUR, type Ms, ms, ratio } from '../base/units.ts';
import { type Alert, alertKey, type Evidence, type Exhaustion, type SliceFigures } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsOf, mergeLabels } from '../model/labels.ts';
import { burnText, exhaustionText, latencyText, percentText } from '../model/phrases.ts';
import { type BudgetRatio, budgetRemaining, burnOf, errorRatio, paddedTotal } from '../slo/budget.ts';
import { placeOfGroup } from '../slo/place.ts';
import { sideOf } from '../slo/side.ts';
import { sliceWidthOf } from '../slo/slices.ts';
import type { Slo, Tier } from '../slo/slo.ts';
import { countedIn } from './bounds.ts';
import { memberWindows } from './composite.ts';
import type { GroupAlertState } from './group-state.ts';
import { type GroupWindows, type ReadWindow, readWindow } from './window.ts';

type Firing = Extract<GroupAlertState, { kind: 'firing' }>;

/** One alert per SLO and group, whatever tiers hold. */
export const burnAlertKey = (slo: Slo, labels: Labels): string =>
  alertKey(ALERT.errorBudgetBurn, labelsOf([...labels, ['slo', slo.id]]));

export interface BurnAlertInput {
  readonly key: string;
  readonly state: Firing;
  readonly windows: GroupWindows;
  readonly budget: BudgetRatio;
  readonly exhaustion: Exhaustion;
  /** When the burn set in. */
  readonly onset: EpochMs;
}

/** The highest of the tiers that hold; null when none does. */
export function leadingTier(slo: Slo, state: GroupAlertState): Tier | null {
  if (state.kind === 'inactive') return null;
  return slo.policy.tiers.find(({ name }) => state.holding.includes(name)) ?? null;
}

/** The alert of a firing group, with its figures of this tick. */
export function toBurnAlert(input: BurnAlertInput): Alert {
  const { key, state, windows, budget, exhaustion, onset } = input;
  const { slo, labels } = windows.group;
  const tier = leadingTier(slo, state);
  const long = windows.read(tier?.long ?? HOUR);
  const share = errorRatio(long);
  const remaining = budgetRemaining(windows.slo, budget);
  const spent = spentFrom(state.since, input);
  const spentInAll = spentFrom(onset, input);
  const { indicator, window } = slo;
  const side = sideOf(indicator);
  return {
    key,
    name: ALERT.errorBudgetBurn,
    labels: mergeLabels(slo.labels, labelsOf([...labels, ['slo', slo.id], ['service', slo.service]])),
    place: placeOfGroup(slo, labels),
    severity: state.severity,
    tier: state.tier,
    tiersHolding: state.holding,
    since: state.since,
    owner: 'service',
    runbook: slo.runbook,
    summary: summaryOf(slo, share, exhaustion),
    evidence: evidenceOf(input, tier, long, spent),
    burn: {
      exhaustion,
      budgetRemaining: remaining === null ? null : ratio(remaining),
      errorRatio: share === null ? null : ratio(share),
      spentSince: spent === null ? null : ratio(spent),
      burningSince: onset,
      spent: spentInAll === null ? null : ratio(spentInAll),
      window: window.text,
      slowerThan: indicator.kind === 'latency' ? ms(indicator.threshold * 1000) : null,
      slices: sliceFigures(slo),
    },
    began: onset,
    ...(side === null ? {} : { side }),
  };
}

/** What is said last of an alert: no tier holds it any more. */
export function toResolvedAlert(
  alert: Alert,
  reason: 'recovered' | 'corrected' | 'retired' | 'removed',
  corrections: readonly ExclusionSource[] = [],
): Alert {
  const spent = alert.burn?.spentSince ?? null;
  const cost = spent === null ? '' : `; ${percentText(spent)} of the budget spent while it fired`;
  const why = {
    recovered: `The budget no longer burns too fast${cost}.`,
    corrected: `Left out of the budget by ${correctionsText(corrections)}: nothing else burns too fast.`,
    retired: 'Nothing was heard of it for 24 h: its state is unknown.',
    removed: 'Its SLO is no longer in force.',
  };
  return { ...alert, tiersHolding: [], summary: why[reason] };
}

const correctionsText = (corrections: readonly ExclusionSource[]): string =>
  corrections.length === 0
    ? 'a correction'
    : corrections.map(({ id, reason }) => `correction ${id} (${reason})`).join(', ');

function sliceFigures({ budgeting }: Slo): SliceFigures | null {
  if (budgeting.kind === 'occurrences') return null;
  return { width: budgeting.width, byRatio: budgeting.kind === 'ratio_timeslices' };
}

function summaryOf(slo: Slo, share: number | null, exhaustion: Exhaustion): string {
  if (share === null) return 'Nothing is measured right now; the alert is held.';
  return `${whatIsBad(slo, percentText(share))}; ${exhaustionText(exhaustion)}.`;
}

function whatIsBad({ indicator, budgeting }: Slo, share: string): string {
  const isLatency = indicator.kind === 'latency';
  const slower = isLatency ? `take longer than ${latencyText(indicator.threshold * 1000)}` : '';
  if (budgeting.kind === 'timeslices') {
    const width = formatDuration(budgeting.width);
    if (indicator.kind === 'composite') return `${share} of slices of ${width} are bad for one or more of its members`;
    const good = `${budgeting.target.text} of requests ${isLatency ? 'in time' : 'good'}`;
    return `${share} of slices of ${width} are bad (fewer than ${good})`;
  }
  const mean = budgeting.kind === 'ratio_timeslices' ? `, mean of slices of ${formatDuration(budgeting.width)}` : '';
  if (indicator.kind === 'composite') {
    const how = mean === '' ? 'as weighted' : 'added up';
    return `${share} of requests to its ${indicator.members.length} members are bad, ${how}${mean}`;
  }
  return isLatency ? `${share} of requests${mean} ${slower}` : `Errors ${share} of requests${mean}`;
}

/** `12 of 3600 events`, `2.35 of 60 slices of 1m`. */
function countText(window: ReadWindow, { budgeting }: Slo): string {
  const { bad, total } = countedIn(window, budgeting);
  const figure = (value: number): number => Number(value.toFixed(2));
  const width = sliceWidthOf(budgeting);
  const what = width === null ? 'events' : `slices of ${formatDuration(width)}`;
  return `${figure(bad)} of ${figure(total)} ${what}`;
}

/** Which member of a composite eats the budget, over the leading tier's long window, the greediest first. */
function membersText(windows: GroupWindows, lengthMs: number): string | null {
  const { counted, to } = windows;
  const found = memberWindows(counted, (member) => readWindow(member, to, lengthMs)).flatMap(
    ({ name, share, window }) => {
      const own = errorRatio(window);
      return own === null || own <= 0 ? [] : [{ name, own, weighted: own * share }];
    },
  );
  if (found.length === 0) return null;
  const whole = found.reduce((sum, { weighted }) => sum + weighted, 0);
  const parts = found
    .sort((a, b) => b.weighted - a.weighted)
    .map(({ name, own, weighted }) => `${name} ${percentText(weighted / whole)} (${percentText(own)} bad)`);
  return `of the burn: ${parts.join(', ')}`;
}

/**
 * Share of the whole budget that bad events from `from` on have used, what came past the watermark included; of a
 * calendar budget, those of this period.
 */
function spentFrom(from: EpochMs, { windows, budget }: BurnAlertInput): number | null {
  const { group, slo } = windows;
  const whole = budget.value * paddedTotal(slo);
  if (whole === 0) return null;
  const start = epochMs(Math.max(from, slo.from));
  if (start >= slo.end) return 0;
  const { bad, inconsistent } = group.range(start, slo.end);
  return inconsistent ? null : bad / whole;
}

/** The leading tier's burns, then what they rest on. The first two stand in a page. */
function evidenceOf(input: BurnAlertInput, tier: Tier | null, long: ReadWindow, spent: number | null): Evidence[] {
  const { state, windows, budget } = input;
  const evidence: Evidence[] = [];
  const add = (name: string, value: number | null, text: (value: number) => string): void => {
    if (value !== null) evidence.push({ name, value, unit: '1', text: text(value) });
  };
  const length = tier?.long ?? HOUR;
  const burns = (over: Ms) => (burn: number) => `burns ${burnText(burn)} over ${formatDuration(over)}`;
  add('burn', burnOf(long, budget), burns(length));
  add('error_ratio', errorRatio(long), () => `${countText(long, windows.group.slo)} were bad`);
  const { indicator } = windows.group.slo;
  if (long.between > 0 && indicator.kind === 'latency') {
    const around = latencyText(indicator.threshold * 1000);
    const text = `${long.between} of those lie between two histogram bounds around ${around}: they may be good`;
    evidence.push({ name: 'between_bounds', value: long.between, unit: '{event}', text });
  }
  if (tier !== null) {
    const short = windows.read(tier.short);
    add('burn_short', burnOf(short, budget), burns(tier.short));
  }
  const members = membersText(windows, length);
  if (members !== null) evidence.push({ name: 'members', value: members, text: members });
  const { text: windowText } = windows.group.slo.window;
  add('budget_remaining', budgetRemaining(windows.slo, budget), (value) => {
    const share = percentText(Math.abs(value));
    return `${share} of the ${windowText} budget ${value < 0 ? 'overspent' : 'left'}`;
  });
  const spentText = (value: number): string => `${percentText(value)} of the budget spent since the alert began`;
  add('spent_since', spent === 0 ? null : spent, spentText);
  const names = state.holding.join(', ');
  evidence.push({ name: 'tiers', value: names, text: `tiers holding: ${names}` });
  return evidence;
}
