import type { CertificateReading, FeatureView } from '../aggregate/features.ts';
import type { GroupView, SloCells } from '../aggregate/view.ts';
import { DAY, type EpochMs, epochMs, HOUR } from '../base/units.ts';
import { GroupWindows } from '../burn/window.ts';
import { configShareOf, settleMsOf } from '../detect/config-budget-spent.ts';
import type { DetectorSettings } from '../detect/settings.ts';
import type { Incident } from '../model/incident.ts';
import { labelsOf } from '../model/labels.ts';
import { type BurnSpan, type HourBudget, type HourlyFigures, PARTS_PER_HOUR } from '../model/measure.ts';
import { budgetRatioOf, paddedTotal } from '../slo/budget.ts';
import { unitOf } from '../slo/slices.ts';

const PART_MS = HOUR / PARTS_PER_HOUR;

export interface ReviewSource {
  /** With what corrections take out. */
  readonly slos: SloCells;
  /** Those that can still change. */
  readonly incidents: () => readonly Incident[];
  /** Thresholds of ConfigBudgetSpent. */
  readonly configBudget: DetectorSettings | undefined;
}

/**
 * What the weekly review needs of the hour that ends at `hour` beside the measures of trends: of each SLO group that had
 * bad events its budget, and of all of them at the end of a day; which incidents burned what; certificates once a day.
 */
export function* reviewRows(
  { slos, incidents, configBudget }: ReviewSource,
  features: FeatureView,
  hour: EpochMs,
): Generator<HourlyFigures> {
  const isDayEnd = hour % DAY === 0;
  for (const group of slos.groups()) {
    if (group.firstDataAt === null || group.firstDataAt >= hour) continue;
    if (!isDayEnd && group.range(epochMs(hour - HOUR), hour).bad <= 0) continue;
    const subject = labelsOf([...group.labels, ['slo', group.slo.id]]);
    yield { hour, subject, figures: {}, notes: {}, budget: budgetOf(group, features, configBudget, hour) };
  }
  for (const incident of incidents()) {
    const burning = spansOf(incident, hour);
    const subject = labelsOf([['incident', String(incident.id)]]);
    if (burning.length > 0) yield { hour, subject, figures: {}, notes: {}, burning };
  }
  if (isDayEnd) yield* certificates(features.certificates(hour), hour);
}

/** The group as if nothing had come after `hour`. */
function until(group: GroupView, hour: EpochMs): GroupView {
  const { slo, labels, key, firstDataAt, members, corrected } = group;
  return {
    slo,
    labels,
    key,
    firstDataAt,
    lastEventAt: group.lastEventAt === null ? null : epochMs(Math.min(group.lastEventAt, hour)),
    ...(members === undefined ? {} : { members: members.map((member) => until(member, hour)) }),
    ...(corrected === undefined ? {} : { corrected }),
    range: (from, to) => group.range(from, to),
    ...(group.contradicts === undefined ? {} : { contradicts: (from, to) => group.contradicts?.(from, to) ?? false }),
  };
}

function budgetOf(
  group: GroupView,
  features: FeatureView,
  configBudget: DetectorSettings | undefined,
  hour: EpochMs,
): HourBudget {
  const { slo } = group;
  // Of a calendar window, the period that ends with the hour and not the one that begins there.
  const windows = new GroupWindows(until(group, hour), hour, undefined, epochMs(hour - 1));
  const unit = unitOf(slo.budgeting);
  const budget = budgetRatioOf(slo.objective).value * paddedTotal(windows.slo);
  const sums = windows.group.range(epochMs(hour - HOUR), hour);
  const parts: [number, number][] = [];
  for (let part = 0; part < PARTS_PER_HOUR && sums.bad > 0; part += 1) {
    const from = hour - HOUR + part * PART_MS;
    const { bad, inconsistent } = windows.group.range(epochMs(from), epochMs(from + PART_MS));
    if (bad > 0 && !inconsistent) parts.push([part, bad / unit]);
  }
  return {
    bad: parts.reduce((sum, [, bad]) => sum + bad, 0),
    total: sums.inconsistent ? 0 : sums.total / unit,
    parts,
    budget: budget / unit,
    left: budget > 0 && !windows.slo.inconsistent ? 1 - windows.slo.bad / budget : null,
    byConfig: configShareOf(group, hour, features.rollouts(), settleMsOf(configBudget)),
    window: slo.window.text,
    objective: slo.objective.text,
  };
}

function spansOf({ members }: Incident, hour: EpochMs): readonly BurnSpan[] {
  return members.flatMap(({ alert, state, resolvedAt }) => {
    const { burn } = alert;
    const isOver = resolvedAt !== null && resolvedAt <= hour - HOUR;
    if (burn === null || state === 'moved' || burn.burningSince >= hour || isOver) return [];
    const to = resolvedAt === null || resolvedAt > hour ? null : resolvedAt;
    return [{ alert: alert.key, from: burn.burningSince, to }];
  });
}

/** The end that is nearest, whoever serves it. */
function* certificates(readings: readonly CertificateReading[], hour: EpochMs): Generator<HourlyFigures> {
  const soonest = new Map<string, CertificateReading & { balancers: number }>();
  for (const one of readings) {
    if (one.stale) continue;
    const known = soonest.get(one.name);
    const balancers = (known?.balancers ?? 0) + 1;
    const isSooner = known === undefined || one.notAfter < known.notAfter;
    soonest.set(one.name, isSooner ? { ...one, balancers } : { ...known, balancers });
  }
  for (const [name, { notAfter, balancers, renewedAt, renewalCountedAt }] of soonest) {
    const renewed = Math.max(renewedAt ?? 0, renewalCountedAt ?? 0);
    const notes = { not_after: notAfter, balancers, ...(renewed > 0 ? { renewed_at: renewed } : {}) };
    yield { hour, subject: labelsOf([['certificate', name]]), figures: {}, notes };
  }
}
