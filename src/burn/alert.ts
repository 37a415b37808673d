import type { GroupView } from '../aggregate/view.ts';
import { formatDuration } from '../base/duration.ts';
import { type EpochMs, ratio } from '../base/units.ts';
import { type Alert, alertKey, type Evidence, type Exhaustion, type Place } from '../model/alert.ts';
import { ALERT, ATTRIBUTE } from '../model/conventions.ts';
import { type Labels, labelsOf, mergeLabels } from '../model/labels.ts';
import { burnText, durationText, exhaustionText, percentText } from '../model/phrases.ts';
import {
  type BudgetRatio,
  type BudgetWindow,
  budgetRemaining,
  burnOf,
  errorRatio,
  paddedTotal,
} from '../slo/budget.ts';
import type { Slo } from '../slo/slo.ts';
import type { GroupAlertState } from './group-state.ts';
import { readWindow } from './window.ts';

type Firing = Extract<GroupAlertState, { kind: 'firing' }>;

/** One alert per SLO and group, whatever tiers hold. */
export const burnAlertKey = (slo: Slo, labels: Labels): string =>
  alertKey(ALERT.errorBudgetBurn, labelsOf([...labels, ['slo', slo.id]]));

/** The alert of a firing group, with its figures of this tick. `alerting` is the long window of the highest holding tier. */
export function toBurnAlert(input: {
  readonly group: GroupView;
  readonly state: Firing;
  readonly budget: BudgetRatio;
  readonly alerting: BudgetWindow;
  readonly sloWindow: BudgetWindow;
  readonly exhaustion: Exhaustion;
  readonly now: EpochMs;
}): Alert {
  const { group, state, budget, alerting, sloWindow, exhaustion, now } = input;
  const { slo, labels } = group;
  const share = errorRatio(alerting);
  const remaining = budgetRemaining(sloWindow, budget);
  const spent = spentSince(group, state.since, now, budget, sloWindow);
  return {
    key: burnAlertKey(slo, labels),
    name: ALERT.errorBudgetBurn,
    labels: mergeLabels(slo.labels, labelsOf([...labels, ['slo', slo.id], ['service', slo.service]])),
    place: placeOf(slo, labels),
    severity: state.severity,
    tier: state.tier,
    tiersHolding: state.holding,
    since: state.since,
    owner: 'service',
    runbook: slo.runbook,
    summary: summaryOf(slo, share, exhaustion),
    evidence: evidenceOf(input, share, spent),
    burn: {
      exhaustion,
      budgetRemaining: remaining === null ? null : ratio(remaining),
      errorRatio: share === null ? null : ratio(share),
      spentSince: spent === null ? null : ratio(spent),
    },
  };
}

const PLACES: readonly (readonly [string, keyof Place])[] = [
  [ATTRIBUTE.cluster, 'cluster'],
  [ATTRIBUTE.zone, 'zone'],
  [ATTRIBUTE.host, 'host'],
  [ATTRIBUTE.listener, 'listener'],
  [ATTRIBUTE.region, 'region'],
  [ATTRIBUTE.configVersion, 'configVersion'],
];

function placeOf(slo: Slo, labels: Labels): Place {
  const found = PLACES.flatMap(([label, part]) => {
    const value = labels.get(label);
    return value === undefined || value === '' ? [] : [[part, value] as const];
  });
  return { service: slo.service, ...Object.fromEntries(found) };
}

function summaryOf({ indicator }: Slo, share: number | null, exhaustion: Exhaustion): string {
  if (share === null) return 'Nothing is measured right now; the alert is held.';
  const what =
    indicator.kind === 'latency'
      ? `${percentText(share)} of requests take longer than ${durationText(indicator.threshold * 1000)}`
      : `Errors ${percentText(share)} of requests`;
  return `${what}; ${exhaustionText(exhaustion)}.`;
}

/** Share of the whole budget that bad events since the alert began have used. */
function spentSince(
  group: GroupView,
  since: EpochMs,
  now: EpochMs,
  budget: BudgetRatio,
  sloWindow: BudgetWindow,
): number | null {
  if (sloWindow.total === 0) return null;
  const { bad, inconsistent } = readWindow(group, now, Math.max(10_000, now - since));
  return inconsistent ? null : bad / (budget.value * paddedTotal(sloWindow));
}

function evidenceOf(
  input: Parameters<typeof toBurnAlert>[0],
  share: number | null,
  spent: number | null,
): readonly Evidence[] {
  const { group, state, budget, alerting, sloWindow } = input;
  const burn = burnOf(alerting, budget);
  const remaining = budgetRemaining(sloWindow, budget);
  const evidence: Evidence[] = [];
  if (burn !== null) {
    const length = formatDuration(alerting.lengthMs as Parameters<typeof formatDuration>[0]);
    evidence.push({ name: 'burn', value: burn, unit: '1', text: `burns ${burnText(burn)} over ${length}` });
  }
  if (share !== null) {
    const events = `${alerting.bad} of ${alerting.total} events were bad`;
    evidence.push({ name: 'error_ratio', value: share, unit: '1', text: events });
  }
  if (remaining !== null) {
    const text = `${percentText(Math.abs(remaining))} of the ${group.slo.window.text} budget ${remaining < 0 ? 'overspent' : 'left'}`;
    evidence.push({ name: 'budget_remaining', value: remaining, unit: '1', text });
  }
  if (spent !== null) {
    evidence.push({
      name: 'spent_since',
      value: spent,
      unit: '1',
      text: `${percentText(spent)} of it spent since the alert began`,
    });
  }
  evidence.push({ name: 'tiers', value: state.holding.join(', '), text: `tiers holding: ${state.holding.join(', ')}` });
  return evidence;
}
