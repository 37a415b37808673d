import { DASHBOARD } from '../../model/dashboards.ts';
import { alertsPanel, BUDGET, BURN, CHOSEN, of, ROLLOUT_EVENTS, TIME_LEFT, VARIABLE, YES_NO } from './parts.ts';
import type { Dashboard, Panel } from './spec.ts';

const GROUP = '{{slo}} {{group}}';
const each = (how: 'min' | 'max', metric: string, ...matchers: readonly string[]): string =>
  `${how} by (slo, group) (${of(metric, CHOSEN.slo, CHOSEN.group, ...matchers)})`;
const all = (how: 'min' | 'max' | 'sum', metric: string, ...matchers: readonly string[]): string =>
  `${how}(${of(metric, CHOSEN.slo, CHOSEN.group, ...matchers)})`;

const now: readonly Panel[] = [
  {
    kind: 'table',
    title: 'Objective',
    description: 'What the chosen SLOs promise, over which window, and by which policy they alert.',
    unit: 'none',
    width: 8,
    height: 5,
    columns: [
      { field: 'slo', title: 'SLO' },
      { field: 'objective', title: 'Objective' },
      { field: 'window', title: 'Window' },
      { field: 'policy', title: 'Policy' },
      { field: 'service', title: 'Service' },
      { field: 'Value', title: 'Info', hidden: true },
    ],
    queries: [{ expr: `max by (slo, objective, window, policy, service) (${of('slowburn_slo_info', CHOSEN.slo)})` }],
  },
  {
    kind: 'stat',
    title: 'Good events',
    description: 'Share of good events in the SLO window, of the worst of the chosen groups.',
    unit: 'percentunit',
    decimals: 3,
    width: 4,
    height: 5,
    queries: [{ expr: all('min', 'slowburn_slo_sli_ratio') }],
  },
  {
    kind: 'stat',
    title: 'Budget left',
    description: 'Error budget left of the worst of the chosen groups; below 0 it is overspent.',
    unit: 'percentunit',
    width: 4,
    height: 5,
    thresholds: BUDGET,
    queries: [{ expr: all('min', 'slowburn_slo_budget_remaining_ratio') }],
  },
  {
    kind: 'stat',
    title: 'Budget gone in',
    description: 'Time to exhaustion on the present course; no value while the budget would never run out.',
    unit: 'dtdurations',
    width: 4,
    height: 5,
    thresholds: TIME_LEFT,
    queries: [{ expr: all('min', 'slowburn_slo_exhaustion_seconds') }],
  },
  {
    kind: 'stat',
    title: 'Input contradicts itself',
    description:
      'Whether input of the SLO window contradicts itself, such as more good events than there were. It is left out.',
    width: 4,
    height: 5,
    mapping: YES_NO,
    thresholds: [
      { value: null, color: 'green' },
      { value: 1, color: 'red' },
    ],
    queries: [{ expr: all('max', 'slowburn_slo_inconsistent') }],
  },
];

const budget: readonly Panel[] = [
  {
    kind: 'timeseries',
    title: 'Budget left',
    description: 'Error budget left over time. 1 = untouched, 0 = all spent, below 0 = overspent; it is never clamped.',
    unit: 'percentunit',
    lines: true,
    thresholds: BUDGET,
    queries: [{ expr: each('min', 'slowburn_slo_budget_remaining_ratio'), legend: GROUP }],
  },
  {
    kind: 'timeseries',
    title: 'Budget gone in',
    description: 'Time to exhaustion over time, as the alert tiers see it; a gap = it would never be gone.',
    unit: 'dtdurations',
    log: true,
    queries: [{ expr: each('min', 'slowburn_slo_exhaustion_seconds'), legend: GROUP }],
  },
  {
    kind: 'timeseries',
    title: 'Burn by alert window',
    description:
      'Burn rate of the fastest of the chosen groups, by alert window. Lines at 1 (budget spent in exactly its window), 3, 6 and 14.4 (tiers of 10 d, 5 d and 50 h on 30 days).',
    unit: 'short',
    lines: true,
    thresholds: BURN,
    queries: [
      {
        expr: `max by (window) (${of('slowburn_slo_burn_rate', CHOSEN.slo, CHOSEN.group)})`,
        legend: '{{window}}',
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Burn hour by hour',
    description: 'Burn rate over the hour before each moment, by group: which hours have eaten the budget.',
    unit: 'short',
    bars: true,
    thresholds: BURN,
    queries: [{ expr: each('max', 'slowburn_slo_burn_rate', 'window="1h"'), legend: GROUP }],
  },
  {
    kind: 'state-timeline',
    title: 'Tiers that hold',
    description: 'Alert tiers by the time within which the budget would be gone: when which of them held.',
    mapping: { 1: { text: 'holds', color: 'red' } },
    width: 24,
    queries: [
      {
        expr: `max by (slo, group, tier) (${of('slowburn_slo_tier_holding', CHOSEN.slo, CHOSEN.group)})`,
        legend: '{{tier}}: {{slo}} {{group}}',
      },
    ],
  },
];

const events: readonly Panel[] = [
  {
    kind: 'timeseries',
    title: 'Events in the SLO window',
    description: 'Good and bad events, or slices, observed in the SLO window.',
    unit: 'short',
    log: true,
    queries: [
      {
        expr: `sum by (outcome) (${of('slowburn_slo_window_events', CHOSEN.slo, CHOSEN.group)})`,
        legend: '{{outcome}}',
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Bad events by group',
    description: 'Bad events in the SLO window by group: who has spent the budget, the ten largest.',
    unit: 'short',
    queries: [
      {
        expr: `topk(10, ${each('max', 'slowburn_slo_window_events', 'outcome="bad"')})`,
        legend: GROUP,
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Groups by state',
    description: 'Groups that are measured, have no traffic, or no data. Neither of the last two is 100 %.',
    unit: 'none',
    stack: true,
    min: 0,
    queries: [
      {
        expr: `sum by (state) (${of('slowburn_slo_state', CHOSEN.slo, CHOSEN.group)})`,
        legend: '{{state}}',
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Window with data',
    description: 'Share of the SLO window that has data: how much the figures above rest on.',
    unit: 'percentunit',
    min: 0,
    max: 1,
    queries: [{ expr: each('min', 'slowburn_slo_coverage_ratio'), legend: GROUP }],
  },
];

/** One SLO: its budget, how fast it burns, and who burns it. */
export const sloDashboard: Dashboard = {
  place: DASHBOARD.slo,
  description: 'Budget, burn and events of one SLO and its groups.',
  from: 'now-24h',
  variables: [VARIABLE.job, VARIABLE.instance, VARIABLE.slo, VARIABLE.group],
  annotations: [ROLLOUT_EVENTS],
  rows: [
    { title: 'Now', panels: now },
    { title: 'Budget and burn', panels: budget },
    { title: 'Events', panels: [...events, alertsPanel(DASHBOARD.slo)] },
  ],
};
