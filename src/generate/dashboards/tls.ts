import { DASHBOARD } from '../../model/dashboards.ts';
import {
  alertsPanel,
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

const { balancer, downstream } = CHOSEN;
const BALANCER = `{{${L.balancer}}}`;
const HANDSHAKES = 'lb_tls_handshakes_total';
const FULL = `${L.resumed}="false"`;
const RESUMED = `${L.resumed}="true"`;
const OK = `${L.error}=""`;
const DAY_S = 86_400;
/** Tickets at 30 and 14 days, a page at 7. */
const DAYS_LEFT: readonly Threshold[] = [
  { value: null, color: 'red' },
  { value: 7 * DAY_S, color: 'orange' },
  { value: 14 * DAY_S, color: 'yellow' },
  { value: 30 * DAY_S, color: 'green' },
];
const left = `min by (${L.certificate}) (${of('lb_tls_certificate_not_after_seconds')}) - time()`;

const certificates: readonly Panel[] = [
  {
    kind: 'stat',
    title: 'Next certificate ends in',
    description: 'Time until the first certificate that some balancer serves ends; below 0 it has ended.',
    unit: 'dtdurations',
    width: 6,
    thresholds: DAYS_LEFT,
    queries: [{ expr: `min(${of('lb_tls_certificate_not_after_seconds')}) - time()` }],
  },
  {
    kind: 'table',
    title: 'Certificates',
    description:
      'Certificates by name, the first to end on top; of several balancers the one whose certificate ends first.',
    unit: 'dtdurations',
    width: 18,
    columns: [
      { field: L.certificate, title: 'Certificate' },
      { field: 'Value', title: 'Ends in', unit: 'dtdurations', thresholds: DAYS_LEFT },
    ],
    sortBy: { title: 'Ends in', descending: false },
    queries: [{ expr: left }],
  },
  {
    kind: 'timeseries',
    title: 'Time to the end of certificates',
    description: 'A line that only falls is a renewal that has stalled; each renewal is a jump upwards.',
    unit: 'dtdurations',
    width: 24,
    lines: true,
    thresholds: DAYS_LEFT,
    queries: [{ expr: left, legend: `{{${L.certificate}}}` }],
  },
];

const handshakes: readonly Panel[] = [
  {
    kind: 'timeseries',
    title: 'Handshakes, full and resumed',
    description:
      'Successful handshakes with clients per second. A full one costs some ten times the CPU of a resumed one.',
    unit: 'ops',
    stack: true,
    queries: [
      { expr: sumBy([], rate(HANDSHAKES, balancer, FULL, OK)), legend: 'full' },
      { expr: sumBy([], rate(HANDSHAKES, balancer, RESUMED, OK)), legend: 'resumed' },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Share of handshakes that resume',
    description:
      'Resumed of all successful handshakes by balancer. A fall while connections stay flat is lost ticket keys.',
    unit: 'percentunit',
    min: 0,
    max: 1,
    queries: [
      {
        expr:
          `${sumBy([L.balancer], rate(HANDSHAKES, balancer, RESUMED, OK))} / ` +
          sumBy([L.balancer], rate(HANDSHAKES, balancer, OK)),
        legend: BALANCER,
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Failed handshakes',
    description: 'Handshakes that failed, by what went wrong: failures before any request exists.',
    unit: 'ops',
    queries: [{ expr: sumBy([L.error], rate(HANDSHAKES, balancer, `${L.error}!=""`)), legend: `{{${L.error}}}` }],
  },
  {
    kind: 'timeseries',
    title: 'Full handshakes by balancer',
    description: 'Full handshakes per second: one balancer far above the others has lost its ticket keys.',
    unit: 'ops',
    queries: [{ expr: sumBy([L.balancer], rate(HANDSHAKES, balancer, FULL, OK)), legend: BALANCER }],
  },
  {
    kind: 'timeseries',
    title: 'Duration of handshakes',
    description: 'Connection accepted until its handshake finished or failed, over the chosen balancers.',
    unit: 's',
    queries: [0.5, 0.95, 0.99].map((quantile) => ({
      expr: quantileOf(quantile, 'lb_stage_tls_duration_seconds', [], balancer),
      legend: `p${quantile * 100}`,
    })),
  },
  {
    kind: 'timeseries',
    title: 'Duration of handshakes by balancer',
    description: 'Connection accepted until its handshake finished or failed, at the chosen quantile.',
    unit: 's',
    queries: [
      { expr: quantileOf('$quantile', 'lb_stage_tls_duration_seconds', [L.balancer], balancer), legend: BALANCER },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Handshakes by key type',
    description:
      'Successful handshakes by the type of the certificate key: one that is RSA only costs several times the CPU.',
    unit: 'ops',
    stack: true,
    queries: [{ expr: sumBy([L.keyType], rate(HANDSHAKES, balancer, OK)), legend: `{{${L.keyType}}}` }],
  },
  {
    kind: 'timeseries',
    title: 'Requests per connection',
    description:
      'Requests of clients by connections that they opened: a fall means more handshakes for the same traffic.',
    unit: 'short',
    queries: [
      {
        expr:
          `${sumBy([], rate('lb_requests_total', downstream, balancer))} / ` +
          sumBy([], rate('lb_connections_opened_total', balancer)),
        legend: 'requests per connection',
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Connections opened by balancer',
    description: 'Connections that clients opened per second.',
    unit: 'cps',
    queries: [{ expr: sumBy([L.balancer], rate('lb_connections_opened_total', balancer)), legend: BALANCER }],
  },
  {
    kind: 'timeseries',
    title: 'CPU by balancer',
    description: 'CPU that a balancer uses, mean of a minute: what handshakes cost.',
    unit: 'percentunit',
    min: 0,
    max: 1,
    queries: [{ expr: `max by (${L.balancer}) (${of('lb_cpu_utilization_ratio', balancer)})`, legend: BALANCER }],
  },
];

/** Handshakes and what they cost, and when certificates end. */
export const tlsDashboard: Dashboard = {
  place: DASHBOARD.tls,
  description: 'Handshakes, what they cost, and when certificates end.',
  from: 'now-24h',
  variables: [VARIABLE.job, VARIABLE.instance, VARIABLE.balancer, VARIABLE.quantile],
  annotations: [ROLLOUT_EVENTS],
  rows: [
    { title: 'Certificates', panels: certificates },
    { title: 'Handshakes', panels: handshakes },
    configAndKernelRow(),
    { title: 'Alerts', panels: [alertsPanel(DASHBOARD.tls)] },
  ],
};
