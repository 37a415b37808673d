import { DASHBOARD } from '../../model/dashboards.ts';
import { ANY_IS_BAD, alertsPanel, BUDGET, BURN, CHOSEN, L, of, rate, sumBy, TIME_LEFT, VARIABLE } from './parts.ts';
import type { Column, Dashboard, DataLink, Panel } from './spec.ts';

const DETAIL: DataLink = {
  title: 'SLO detail',
  to: DASHBOARD.slo,
  fields: { slo: 'SLO', group: 'Group' },
};
const GROUP = ['slo', 'group'];
const worst = (metric: string, ...matchers: readonly string[]): string =>
  `max by (${GROUP.join(', ')}) (${of(metric, ...matchers)})`;
const least = (metric: string): string => `min by (${GROUP.join(', ')}) (${of(metric)})`;

const stat = (title: string, description: string, expr: string, over: Partial<Panel> = {}): Panel =>
  ({
    kind: 'stat',
    title,
    description,
    unit: 'none',
    width: 4,
    height: 5,
    queries: [{ expr }],
    ...over,
  }) as Panel;

const COLUMNS: readonly Column[] = [
  { field: 'slo', title: 'SLO', link: DETAIL },
  { field: 'group', title: 'Group' },
  { field: 'Value #A', title: 'Budget left', unit: 'percentunit', thresholds: BUDGET },
  { field: 'Value #B', title: 'Good events', unit: 'percentunit' },
  { field: 'Value #C', title: 'Burn 5m', unit: 'short', thresholds: BURN },
  { field: 'Value #D', title: 'Burn 1h', unit: 'short', thresholds: BURN },
  { field: 'Value #E', title: 'Burn 6h', unit: 'short', thresholds: BURN },
  { field: 'Value #F', title: 'Budget gone in', unit: 'dtdurations', thresholds: TIME_LEFT },
  { field: 'Value #G', title: 'Window with data', unit: 'percentunit' },
];

const now: readonly Panel[] = [
  stat(
    'Incidents that page',
    'Open or acknowledged incidents of severity page.',
    `sum(${of('slowburn_incidents', 'severity="page"')})`,
    { thresholds: ANY_IS_BAD },
  ),
  stat(
    'Tickets',
    'Open or acknowledged incidents of severity ticket.',
    `sum(${of('slowburn_incidents', 'severity="ticket"')})`,
    {
      thresholds: [
        { value: null, color: 'green' },
        { value: 1, color: 'yellow' },
      ],
    },
  ),
  stat(
    'Least budget left',
    'Error budget left of the SLO group that has spent most; below 0 it is overspent.',
    `min(${of('slowburn_slo_budget_remaining_ratio')})`,
    { unit: 'percentunit', thresholds: BUDGET },
  ),
  stat(
    'Next budget gone in',
    'Shortest time to exhaustion over all SLO groups on their present course; no value while no budget would ever run out.',
    `min(${of('slowburn_slo_exhaustion_seconds')})`,
    { unit: 'dtdurations', thresholds: TIME_LEFT },
  ),
  stat(
    'Groups without data',
    'SLO groups none of whose balancers reports: neither good nor bad, unknown.',
    `sum(${of('slowburn_slo_state', 'state="no_data"')})`,
    { thresholds: ANY_IS_BAD },
  ),
  stat(
    'Stale balancers',
    'Balancers that pushed and do not any more.',
    `sum(${of('slowburn_balancers', 'state="stale"')})`,
    {
      thresholds: ANY_IS_BAD,
    },
  ),
];

const table: Panel = {
  kind: 'table',
  title: 'SLOs, the least budget first',
  description: 'Every SLO group with its budget, burn and time to exhaustion. A click on an SLO opens its detail.',
  unit: 'short',
  width: 24,
  height: 12,
  columns: COLUMNS,
  sortBy: { title: 'Budget left', descending: false },
  queries: [
    { expr: least('slowburn_slo_budget_remaining_ratio') },
    { expr: least('slowburn_slo_sli_ratio') },
    { expr: worst('slowburn_slo_burn_rate', 'window="5m"') },
    { expr: worst('slowburn_slo_burn_rate', 'window="1h"') },
    { expr: worst('slowburn_slo_burn_rate', 'window="6h"') },
    { expr: least('slowburn_slo_exhaustion_seconds') },
    { expr: least('slowburn_slo_coverage_ratio') },
  ],
};

const course: readonly Panel[] = [
  {
    kind: 'timeseries',
    title: 'Budget left by SLO',
    description: 'Error budget left of the worst group of each SLO. Below 0 it is overspent; it is never clamped.',
    unit: 'percentunit',
    lines: true,
    thresholds: BUDGET,
    queries: [{ expr: `min by (slo) (${of('slowburn_slo_budget_remaining_ratio')})`, legend: '{{slo}}' }],
  },
  {
    kind: 'timeseries',
    title: 'Burn over 1 h, the ten fastest',
    description:
      'Burn rate over the last hour; 1 spends the budget in exactly its window, 14.4 in 50 hours of 30 days.',
    unit: 'short',
    lines: true,
    thresholds: BURN,
    queries: [{ expr: `topk(10, ${worst('slowburn_slo_burn_rate', 'window="1h"')})`, legend: '{{slo}} {{group}}' }],
  },
  {
    kind: 'timeseries',
    title: 'Incidents',
    description: 'Incidents that are not resolved, by severity and state.',
    unit: 'none',
    stack: true,
    min: 0,
    queries: [{ expr: `sum by (severity, state) (${of('slowburn_incidents')})`, legend: '{{severity}}, {{state}}' }],
  },
  {
    kind: 'timeseries',
    title: 'Tiers that hold',
    description: 'SLO groups by alert tier (its name is the time within which the budget would be gone).',
    unit: 'none',
    min: 0,
    queries: [{ expr: `count by (tier) (${of('slowburn_slo_tier_holding')})`, legend: '{{tier}}' }],
  },
];

const fleet: readonly Panel[] = [
  {
    kind: 'timeseries',
    title: 'Requests by zone',
    description: 'Requests of clients by the zone of the balancer that takes them.',
    unit: 'reqps',
    stack: true,
    queries: [
      { expr: sumBy([L.balancerZone], rate('lb_requests_total', CHOSEN.downstream)), legend: `{{${L.balancerZone}}}` },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Server errors by cluster',
    description: 'Share of requests to hosts of a cluster that ended in 5xx.',
    unit: 'percentunit',
    min: 0,
    queries: [
      {
        expr:
          `${sumBy([L.cluster], rate('lb_requests_total', CHOSEN.upstream, CHOSEN.errors))} / ` +
          sumBy([L.cluster], rate('lb_requests_total', CHOSEN.upstream)),
        legend: `{{${L.cluster}}}`,
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Balancers',
    description: 'Balancers that push, and those that do not any more.',
    unit: 'none',
    min: 0,
    queries: [{ expr: `sum by (state) (${of('slowburn_balancers')})`, legend: '{{state}}' }],
  },
  {
    kind: 'timeseries',
    title: 'Hosts by state',
    description: 'Hosts of all clusters, as the balancer that sees most of them sees them.',
    unit: 'none',
    min: 0,
    queries: [{ expr: sumBy([L.hostState], of('lb_upstream_hosts')), legend: `{{${L.hostState}}}` }],
  },
];

/** All SLOs at a glance: which one is worst, and how the fleet does. */
export const fleetDashboard: Dashboard = {
  place: DASHBOARD.fleet,
  description: 'All SLOs of the fleet, the worst first.',
  from: 'now-6h',
  variables: [VARIABLE.job, VARIABLE.instance],
  annotations: [],
  rows: [
    { title: 'Now', panels: [...now, table] },
    { title: 'Course', panels: course },
    { title: 'Fleet', panels: [...fleet, alertsPanel(DASHBOARD.fleet)] },
  ],
};
