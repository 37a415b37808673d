import type { GroupStatus } from '../burn/status.ts';
import { ATTRIBUTE } from '../model/conventions.ts';
import type { Labels } from '../model/labels.ts';
import type { GroupState } from '../model/views.ts';
import { type Family, labelText, type Sample } from './exposition.ts';

const GROUP_STATES: readonly GroupState[] = ['measured', 'no_traffic', 'no_data'];

/** The SLOs as metrics, read from what the last tick found. One call per scrape: all families show the same tick. */
export function sloFamilies(statuses: readonly GroupStatus[]): readonly Family[] {
  const groups = statuses.map((status) => ({ status, labels: groupLabels(status) }));

  /** One series per group, none where the value is null. */
  const perGroup = (name: string, help: string, value: (status: GroupStatus) => number | null): Family => ({
    name,
    type: 'gauge',
    help,
    *samples() {
      for (const { status, labels } of groups) {
        const number = value(status);
        if (number !== null) yield [labels, number] satisfies Sample;
      }
    },
  });
  /** Several series per group, told apart by one label more. */
  const perGroupAnd = (
    name: string,
    help: string,
    label: string,
    values: (status: GroupStatus) => Iterable<readonly [string, number | null]>,
  ): Family => ({
    name,
    type: 'gauge',
    help,
    *samples() {
      for (const { status, labels } of groups) {
        for (const [which, number] of values(status)) {
          if (number !== null) yield [`${labels},${labelText({ [label]: which })}`, number] satisfies Sample;
        }
      }
    },
  });

  return [
    sloInfo(statuses),
    perGroupAnd('slowburn_slo_burn_rate', 'Burn rate by alert window; absent without events.', 'window', (s) => s.burn),
    perGroup(
      'slowburn_slo_budget_remaining_ratio',
      'Share of the error budget that is left; below 0 when overspent.',
      (s) => s.budgetRemaining,
    ),
    perGroup('slowburn_slo_sli_ratio', 'Share of good events in the SLO window; absent without events.', (s) => s.sli),
    perGroup(
      'slowburn_slo_exhaustion_seconds',
      'Time until the budget is gone on this course: 0 when it is, absent when it never will be.',
      (s) => (s.exhaustion.until === null ? null : s.exhaustion.until / 1000),
    ),
    perGroupAnd('slowburn_slo_window_events', 'Events, or slices, observed in the SLO window.', 'outcome', (s) => [
      ['good', s.good],
      ['bad', s.bad],
    ]),
    perGroup(
      'slowburn_slo_slice_coverage_ratio',
      'Slices with data / all slices of the SLO window; absent where events are counted.',
      ({ slices }) => (slices === null || slices.expected === 0 ? null : slices.observed / slices.expected),
    ),
    perGroup('slowburn_slo_coverage_ratio', 'Share of the SLO window that has data.', (s) => s.coverage),
    perGroupAnd('slowburn_slo_state', '1 for the state that the group is in, 0 for the others.', 'state', (s) =>
      GROUP_STATES.map((state) => [state, s.state === state ? 1 : 0]),
    ),
    perGroupAnd('slowburn_slo_tier_holding', '1 for each tier that holds; the others are absent.', 'tier', (s) =>
      s.tiersHolding.map((tier) => [tier, 1]),
    ),
    perGroup('slowburn_slo_inconsistent', '1 when input contradicted itself in the SLO window.', (s) =>
      s.inconsistent ? 1 : 0,
    ),
  ];
}

const sloInfo = (statuses: readonly GroupStatus[]): Family => ({
  name: 'slowburn_slo_info',
  type: 'gauge',
  help: 'Always 1: service, objective, window and policy of an SLO.',
  *samples() {
    const slos = new Map(statuses.map(({ slo }) => [slo.id, slo]));
    for (const { id, service, objective, window, policy } of slos.values()) {
      const labels = { slo: id, service, objective: objective.text, window: window.text, policy: policy.name };
      yield [labelText(labels), 1] satisfies Sample;
    }
  },
});

/** `slo`, the whole group as one label, and its cluster and zone for those who join on them ("" where it has none). */
function groupLabels({ slo, labels }: GroupStatus): string {
  const cluster = labels.get(ATTRIBUTE.cluster) ?? '';
  const zone = labels.get(ATTRIBUTE.zone) ?? '';
  return labelText({ slo: slo.id, group: groupText(labels), cluster, zone });
}

/**
 * `lb.upstream.cluster=checkout,lb.upstream.zone=b`; `,`, `=` and `\` are escaped, so that two groups never look the
 * same.
 */
function groupText(labels: Labels): string {
  const escaped = (text: string): string => text.replace(/[\\,=]/g, '\\$&');
  return [...labels].map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join(',');
}
