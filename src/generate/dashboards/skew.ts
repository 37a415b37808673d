import { DASHBOARD } from '../../model/dashboards.ts';
import {
  alertsPanel,
  BUDGET,
  CHOSEN,
  configAndKernelRow,
  L,
  of,
  quantileOf,
  ROLLOUT_EVENTS,
  rate,
  sumBy,
  VARIABLE,
} from './parts.ts';
import type { Dashboard, Panel, Threshold } from './spec.ts';

const { balancer, cluster, downstream, slo } = CHOSEN;
const CLUSTER = `{{${L.cluster}}}`;
const PLACE = `${CLUSTER} {{${L.zone}}}`;
const UNEVEN: readonly Threshold[] = [
  { value: null, color: 'green' },
  { value: 1.3, color: 'yellow' },
  { value: 2, color: 'red' },
];

const byHost = sumBy([L.cluster, L.zone, L.host], rate('lb_upstream_host_requests_total', cluster));
/** Requests of a zone by its hosts that take any. */
const perHost = (by: readonly string[]): string => `avg by (${by.join(', ')}) (${byHost} > 0)`;
const byBalancer = (metric: string, ...matchers: readonly string[]): string =>
  sumBy([L.balancer], rate(metric, balancer, ...matchers));
const skewOf = (expr: string): string => `max(${expr}) / avg(${expr})`;

const now: readonly Panel[] = [
  {
    kind: 'timeseries',
    title: 'Skew of zones',
    description:
      'Requests per host of the busiest zone beside the mean host of the cluster. Alerts from 1.3 held for 6 h; 1 = even.',
    unit: 'short',
    lines: true,
    thresholds: UNEVEN,
    queries: [
      {
        expr: `max by (${L.cluster}) (${perHost([L.cluster, L.zone])}) / on (${L.cluster}) ${perHost([L.cluster])}`,
        legend: CLUSTER,
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Skew of hosts',
    description: 'Requests of the busiest host beside the mean host of its cluster. Alerts above 2.',
    unit: 'short',
    lines: true,
    thresholds: UNEVEN,
    queries: [
      { expr: `max by (${L.cluster}) (${byHost}) / on (${L.cluster}) ${perHost([L.cluster])}`, legend: CLUSTER },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Load by zone',
    description: 'Requests per second and host of each zone; hosts that take none are left out.',
    unit: 'reqps',
    queries: [{ expr: perHost([L.cluster, L.zone]), legend: PLACE }],
  },
  {
    kind: 'timeseries',
    title: 'Server errors by zone',
    description: 'Share of requests to hosts of a zone that ended in 5xx.',
    unit: 'percentunit',
    min: 0,
    queries: [
      {
        expr:
          `${sumBy([L.cluster, L.zone], rate('lb_upstream_host_requests_total', cluster, CHOSEN.errors))} / ` +
          sumBy([L.cluster, L.zone], rate('lb_upstream_host_requests_total', cluster)),
        legend: PLACE,
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'The ten busiest hosts',
    description:
      'Requests per second of the hosts that take most. One whose share rises while its errors do is a sinkhole.',
    unit: 'reqps',
    queries: [{ expr: `topk(10, ${byHost})`, legend: `${PLACE} {{${L.host}}}` }],
  },
  {
    kind: 'timeseries',
    title: 'The ten hosts with most server errors',
    description: 'Requests per second to a host that ended in 5xx, of the ten hosts that have most.',
    unit: 'reqps',
    queries: [
      {
        expr: `topk(10, ${sumBy([L.cluster, L.zone, L.host], rate('lb_upstream_host_requests_total', cluster, CHOSEN.errors))})`,
        legend: `${PLACE} {{${L.host}}}`,
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Skew of balancers',
    description:
      'Busiest balancer beside the mean one, by what they share. Alerts above 2: sources behind one address, or weights of L4.',
    unit: 'short',
    lines: true,
    thresholds: UNEVEN,
    queries: [
      { expr: skewOf(byBalancer('lb_requests_total', downstream)), legend: 'requests' },
      { expr: skewOf(sumBy([L.balancer], of('lb_connections_active', balancer))), legend: 'connections' },
      { expr: skewOf(byBalancer('lb_tls_handshakes_total')), legend: 'handshakes' },
      { expr: skewOf(sumBy([L.balancer], of('lb_cpu_utilization_ratio', balancer))), legend: 'CPU' },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Time to first byte by cluster',
    description: 'Request sent to a host until its first response byte, 99th percentile: what the skew costs.',
    unit: 's',
    queries: [
      { expr: quantileOf(0.99, 'lb_stage_backend_duration_seconds', [L.cluster], cluster, balancer), legend: CLUSTER },
    ],
  },
];

const DAY = '1d';
const growth = (metric: string, ...matchers: readonly string[]): string =>
  `increase(${of(metric, ...matchers)}[${DAY}])`;

const week: readonly Panel[] = [
  {
    kind: 'timeseries',
    title: 'Budget left, the week',
    description: 'Error budget left of the worst group of each SLO.',
    unit: 'percentunit',
    lines: true,
    thresholds: BUDGET,
    queries: [{ expr: `min by (slo) (${of('slowburn_slo_budget_remaining_ratio', slo)})`, legend: '{{slo}}' }],
  },
  {
    kind: 'timeseries',
    title: 'Budget left, the week before',
    description: 'The same, seven days earlier: how this week compares.',
    unit: 'percentunit',
    lines: true,
    shift: '7d',
    thresholds: BUDGET,
    queries: [{ expr: `min by (slo) (${of('slowburn_slo_budget_remaining_ratio', slo)})`, legend: '{{slo}}' }],
  },
  {
    kind: 'timeseries',
    title: 'Budget gained and spent in a day',
    description: 'Change of the budget left over the day before each moment, worst group of each SLO; below 0 = spent.',
    unit: 'percentunit',
    queries: [
      { expr: `min by (slo) (delta(${of('slowburn_slo_budget_remaining_ratio', slo)}[${DAY}]))`, legend: '{{slo}}' },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Churn in a day',
    description:
      'Ejections and failed health checks over the day before each moment, by cluster: pools that never rest.',
    unit: 'short',
    queries: [
      { expr: sumBy([L.cluster], growth('lb_upstream_ejections_total', cluster)), legend: `ejections, ${CLUSTER}` },
      {
        expr: sumBy([L.cluster], growth('lb_upstream_health_checks_failed_total', cluster)),
        legend: `checks failed, ${CLUSTER}`,
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Messages in a day',
    description: 'Messages that receivers took over the day before each moment: pages and tickets together.',
    unit: 'short',
    queries: [
      {
        expr: sumBy(['receiver'], growth('slowburn_notifications_total', 'result="delivered"')),
        legend: '{{receiver}}',
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Alerts by name',
    description:
      'How many alerts fire at the same time, by name: what fires every night is noise, or a cause that stays.',
    unit: 'none',
    stack: true,
    min: 0,
    queries: [{ expr: `topk(10, sum by (alert) (${of('slowburn_alerts_firing')}))`, legend: '{{alert}}' }],
  },
];

/** How even load is over zones, hosts and balancers, now and over the week. */
export const skewDashboard: Dashboard = {
  place: DASHBOARD.skew,
  description: 'How even load is over zones, hosts and balancers, and what a weekly review looks at.',
  from: 'now-7d',
  variables: [VARIABLE.job, VARIABLE.instance, VARIABLE.cluster, VARIABLE.balancer, VARIABLE.slo],
  annotations: [ROLLOUT_EVENTS],
  rows: [
    { title: 'Skew', panels: now },
    configAndKernelRow(),
    { title: 'Week', panels: [...week, alertsPanel(DASHBOARD.skew)] },
  ],
};
