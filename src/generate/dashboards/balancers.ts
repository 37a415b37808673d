import { ATTRIBUTE } from '../../model/conventions.ts';
import { DASHBOARD } from '../../model/dashboards.ts';
import { STAGES } from '../../model/stages.ts';
import {
  alertsPanel,
  CHOSEN,
  configAndKernelRow,
  ERROR_SHARE,
  increase,
  L,
  of,
  quantileOf,
  ROLLOUT_EVENTS,
  rate,
  sumBy,
  VARIABLE,
} from './parts.ts';
import type { Dashboard, Panel } from './spec.ts';

const { balancer, cluster, downstream, upstream, errors } = CHOSEN;
const BALANCER = `{{${L.balancer}}}`;
const CLUSTER = `{{${L.cluster}}}`;
/** In braces: more of a name follows it. */
const CHOSEN_STAGE = `\${stage}`;
const stageOf = (stage: string): string => `lb_stage_${stage}_duration_seconds`;

const red: readonly Panel[] = [
  {
    kind: 'timeseries',
    title: 'Requests by balancer',
    description: 'Requests of clients per second that each balancer answered.',
    unit: 'reqps',
    queries: [{ expr: sumBy([L.balancer], rate('lb_requests_total', downstream, balancer)), legend: BALANCER }],
  },
  {
    kind: 'timeseries',
    title: 'Server errors by balancer',
    description: 'Share of requests of clients that a balancer answered with 5xx, whoever caused it.',
    unit: 'percentunit',
    min: 0,
    thresholds: ERROR_SHARE,
    queries: [
      {
        expr:
          `${sumBy([L.balancer], rate('lb_requests_total', downstream, balancer, errors))} / ` +
          sumBy([L.balancer], rate('lb_requests_total', downstream, balancer)),
        legend: BALANCER,
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Request duration by balancer',
    description: 'Whole request as clients see it, at the chosen quantile.',
    unit: 's',
    queries: [
      {
        expr: quantileOf('$quantile', 'http_server_request_duration_seconds', [L.balancer], balancer),
        legend: BALANCER,
      },
    ],
  },
  {
    kind: 'heatmap',
    title: 'Request duration',
    description: 'How many requests took how long: two humps are two kinds of answers, such as fast failures.',
    unit: 's',
    queries: [
      {
        expr: sumBy(['le'], increase('http_server_request_duration_seconds_bucket', balancer)),
        legend: '{{le}}',
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Requests to hosts by cluster',
    description: 'Requests per second that balancers sent to the hosts of each cluster.',
    unit: 'reqps',
    queries: [{ expr: sumBy([L.cluster], rate('lb_requests_total', upstream, cluster)), legend: CLUSTER }],
  },
  {
    kind: 'timeseries',
    title: 'Requests by response class',
    description: 'Requests of clients by the class of the answer.',
    unit: 'reqps',
    stack: true,
    queries: [
      {
        expr: sumBy([L.responseClass], rate('lb_requests_total', downstream, balancer)),
        legend: `{{${L.responseClass}}}`,
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Server errors of hosts by cluster',
    description: 'Share of requests to hosts of a cluster that ended in 5xx.',
    unit: 'percentunit',
    min: 0,
    thresholds: ERROR_SHARE,
    queries: [
      {
        expr:
          `${sumBy([L.cluster], rate('lb_requests_total', upstream, cluster, errors))} / ` +
          sumBy([L.cluster], rate('lb_requests_total', upstream, cluster)),
        legend: CLUSTER,
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Time to first byte by cluster',
    description: 'Request sent to a host until its first response byte, at the chosen quantile.',
    unit: 's',
    queries: [{ expr: quantileOf('$quantile', stageOf('backend'), [L.cluster], cluster, balancer), legend: CLUSTER }],
  },
];

const stages: readonly Panel[] = [
  {
    kind: 'timeseries',
    title: 'Stages of a request',
    description: 'Each stage at the chosen quantile over the chosen balancers. A stage that none reports has no line.',
    unit: 's',
    log: true,
    queries: STAGES.map((stage) => ({ expr: quantileOf('$quantile', stageOf(stage), [], balancer), legend: stage })),
  },
  {
    kind: 'timeseries',
    title: 'Chosen stage',
    description: 'Median, 95th and 99th percentile of the chosen stage over the chosen balancers.',
    unit: 's',
    queries: [0.5, 0.95, 0.99].map((quantile) => ({
      expr: quantileOf(quantile, stageOf(CHOSEN_STAGE), [], balancer),
      legend: `p${quantile * 100}`,
    })),
  },
  {
    kind: 'timeseries',
    title: 'Chosen stage by balancer',
    description: 'The chosen stage at the chosen quantile, one line for each balancer.',
    unit: 's',
    queries: [{ expr: quantileOf('$quantile', stageOf(CHOSEN_STAGE), [L.balancer], balancer), legend: BALANCER }],
  },
  {
    kind: 'timeseries',
    title: 'Time added by balancers',
    description: 'Request time less the time of hosts and clients, at the chosen quantile.',
    unit: 's',
    queries: [{ expr: quantileOf('$quantile', 'lb_added_duration_seconds', [L.balancer], balancer), legend: BALANCER }],
  },
  {
    kind: 'table',
    title: 'How stages are known',
    description: 'How faithfully balancers tell each stage: what is absent is missing above, not zero.',
    unit: 'none',
    width: 24,
    columns: [
      { field: 'stage', title: 'Stage' },
      { field: 'fidelity', title: 'Fidelity' },
      { field: 'Value', title: 'Balancers', unit: 'none' },
    ],
    sortBy: { title: 'Stage', descending: false },
    queries: [{ expr: `count by (stage, fidelity) (${of('slowburn_balancer_stage_info', balancer)})` }],
  },
];

const load: readonly Panel[] = [
  {
    kind: 'timeseries',
    title: 'CPU by balancer',
    description: 'CPU that a balancer uses, mean of a minute. From 90 % on latency grows fast.',
    unit: 'percentunit',
    min: 0,
    max: 1,
    thresholds: [
      { value: null, color: 'green' },
      { value: 0.9, color: 'red' },
    ],
    queries: [{ expr: `max by (${L.balancer}) (${of('lb_cpu_utilization_ratio', balancer)})`, legend: BALANCER }],
  },
  {
    kind: 'timeseries',
    title: 'Connections by balancer',
    description: 'Connections that clients hold open.',
    unit: 'none',
    min: 0,
    queries: [{ expr: sumBy([L.balancer], of('lb_connections_active', balancer)), legend: BALANCER }],
  },
  {
    kind: 'timeseries',
    title: 'Connections opened and reset',
    description:
      'Connections that clients opened, streams that were reset by side, and packets of flows that an L4 node did not know.',
    unit: 'cps',
    queries: [
      { expr: sumBy([], rate('lb_connections_opened_total', balancer)), legend: 'opened' },
      { expr: sumBy([L.side], rate('lb_stream_resets_total', balancer)), legend: `resets, {{${L.side}}}` },
      { expr: sumBy([], rate('lb_l4_flow_table_misses_total', balancer)), legend: 'L4 misses' },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Updates of the configuration refused',
    description: 'Updates of the configuration that balancers refused: they go on with an older one.',
    unit: 'ops',
    queries: [{ expr: sumBy([L.balancer], rate('lb_config_rejected_total', balancer)), legend: BALANCER }],
  },
];

const hosts: readonly Panel[] = [
  {
    kind: 'timeseries',
    title: 'Hosts by state',
    description: 'Hosts of the chosen clusters, as the balancer that sees most of them sees them.',
    unit: 'none',
    min: 0,
    queries: [
      {
        expr: sumBy([L.cluster, L.hostState], of('lb_upstream_hosts', cluster)),
        legend: `${CLUSTER} {{${L.hostState}}}`,
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Ejections',
    description: 'Hosts ejected by reason, and those whose ejection was refused (enforced = false).',
    unit: 'ops',
    queries: [
      {
        expr: sumBy([L.cluster, L.reason, L.enforced], rate('lb_upstream_ejections_total', cluster)),
        legend: `${CLUSTER} {{${L.reason}}}, enforced {{${L.enforced}}}`,
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Retries and failed checks',
    description: 'Retries by the layer that makes them and their outcome, and failed health checks.',
    unit: 'ops',
    queries: [
      {
        expr: sumBy([L.layer, L.retryOutcome], rate('lb_retries_total', cluster)),
        legend: `{{${L.layer}}} {{${L.retryOutcome}}}`,
      },
      {
        expr: sumBy([L.cluster], rate('lb_upstream_health_checks_failed_total', cluster)),
        legend: `checks failed, ${CLUSTER}`,
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Requests that no healthy host took',
    description: 'Requests routed in panic mode, that found no healthy host, or that the balancer rejected itself.',
    unit: 'reqps',
    queries: [
      { expr: sumBy([L.cluster], rate('lb_upstream_panic_requests_total', cluster)), legend: `panic, ${CLUSTER}` },
      {
        expr: sumBy([L.cluster], rate('lb_upstream_no_healthy_requests_total', cluster)),
        legend: `no host, ${CLUSTER}`,
      },
      {
        expr: sumBy([L.cluster, L.rejection], rate('lb_rejections_total', cluster)),
        legend: `{{${L.rejection}}}, ${CLUSTER}`,
      },
    ],
  },
];

/** What balancers do: rate, errors, duration, and where the time of a request goes. */
export const balancersDashboard: Dashboard = {
  place: DASHBOARD.balancers,
  description: `Rate, errors and duration, the five stages of a request, config versions and kernel counters (${ATTRIBUTE.instance} names a balancer).`,
  from: 'now-6h',
  variables: [VARIABLE.job, VARIABLE.instance, VARIABLE.balancer, VARIABLE.cluster, VARIABLE.stage, VARIABLE.quantile],
  annotations: [ROLLOUT_EVENTS],
  rows: [
    { title: 'Rate, errors, duration', panels: red },
    { title: 'Stages', panels: stages },
    configAndKernelRow(),
    { title: 'Load', panels: load },
    { title: 'Hosts', panels: [...hosts, alertsPanel(DASHBOARD.balancers)] },
  ],
};
