import { DASHBOARD } from '../../model/dashboards.ts';
import { ANY_IS_BAD, alertsPanel, increase, L, of, quantileOf, rate, sumBy, VARIABLE, YES_NO } from './parts.ts';
import type { Dashboard, Panel, Variable } from './spec.ts';

/** The process is scraped apart from the product, perhaps as another job. */
const JOB: Variable = { ...VARIABLE.job, metric: '{__name__=~"slowburn_build_info|process_uptime"}' };
const INSTANCE: Variable = {
  ...VARIABLE.instance,
  metric: '{__name__=~"slowburn_build_info|process_uptime", job=~"$job"}',
};
/** Names of the process's metrics are OpenTelemetry's own: only those of slowburn are meant. */
const own = (expr: string): string =>
  `(${expr} and on (job, instance) ${of('target_info', 'service_name="slowburn"')})`;
const TICK_S = 10;

const now: readonly Panel[] = [
  {
    kind: 'stat',
    title: 'Since the last evaluation',
    description: 'Seconds since the last evaluation; one is due every 10 s. From 30 on the service is not ready.',
    unit: 's',
    width: 6,
    height: 5,
    thresholds: [
      { value: null, color: 'green' },
      { value: 2 * TICK_S, color: 'yellow' },
      { value: 3 * TICK_S, color: 'red' },
    ],
    queries: [{ expr: `time() - min(${of('slowburn_last_tick_timestamp_seconds')})` }],
  },
  {
    kind: 'stat',
    title: 'Stale balancers',
    description: 'Balancers that pushed and do not any more.',
    unit: 'none',
    width: 6,
    height: 5,
    thresholds: ANY_IS_BAD,
    queries: [{ expr: `sum(${of('slowburn_balancers', 'state="stale"')})` }],
  },
  {
    kind: 'stat',
    title: 'Receivers fail',
    description: 'Whether messages to some receiver do not arrive or were given up.',
    width: 6,
    height: 5,
    mapping: YES_NO,
    thresholds: ANY_IS_BAD,
    queries: [{ expr: `max(${of('slowburn_receiver_failing')})` }],
  },
  {
    kind: 'stat',
    title: 'Series',
    description: 'Series of balancers that are held in memory.',
    unit: 'short',
    width: 6,
    height: 5,
    queries: [{ expr: `sum(${of('slowburn_series')})` }],
  },
];

const ingest: readonly Panel[] = [
  {
    kind: 'timeseries',
    title: 'OTLP requests by outcome',
    description: 'Requests of balancers per second: accepted, or why they were refused.',
    unit: 'reqps',
    queries: [
      {
        expr: sumBy(['transport', 'outcome'], rate('slowburn_otlp_requests_total')),
        legend: '{{transport}} {{outcome}}',
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Points by result',
    description: 'Data points per second, by what became of them. `points` is all of them.',
    unit: 'ops',
    log: true,
    queries: [{ expr: sumBy(['result'], rate('slowburn_otlp_points_total')), legend: '{{result}}' }],
  },
  {
    kind: 'timeseries',
    title: 'Bytes received and written',
    description: 'Bytes of OTLP requests as received, and of the ingest log as written.',
    unit: 'Bps',
    queries: [
      { expr: sumBy(['transport'], rate('slowburn_otlp_request_bytes_total')), legend: 'received, {{transport}}' },
      { expr: sumBy([], rate('slowburn_ingest_log_bytes_total')), legend: 'ingest log' },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Requests per sync of the ingest log',
    description: 'How many requests share one sync to disk: more under load, which is what keeps up.',
    unit: 'short',
    queries: [
      {
        expr:
          `${sumBy([], rate('slowburn_ingest_log_appends_total'))} / ` +
          sumBy([], rate('slowburn_ingest_log_syncs_total')),
        legend: 'requests per sync',
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Balancers heard last',
    description: 'Seconds since the newest point of the ten balancers that have been silent for longest.',
    unit: 's',
    queries: [
      {
        expr: `topk(10, time() - max by (${L.balancer}) (${of('slowburn_balancer_newest_point_timestamp_seconds')}))`,
        legend: `{{${L.balancer}}}`,
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Alerts of other systems',
    description: 'Alerts that other systems sent, by what became of them, and how many are held.',
    unit: 'short',
    queries: [
      { expr: sumBy(['result'], rate('slowburn_foreign_alerts_total')), legend: '{{result}}/s' },
      { expr: `sum(${of('slowburn_foreign_alerts')})`, legend: 'held' },
    ],
  },
];

const evaluation: readonly Panel[] = [
  {
    kind: 'timeseries',
    title: 'Evaluations',
    description: 'Evaluations per second by result; one in 10 s is due.',
    unit: 'ops',
    queries: [{ expr: sumBy(['result'], rate('slowburn_ticks_total')), legend: '{{result}}' }],
  },
  {
    kind: 'timeseries',
    title: 'Duration of evaluations',
    description: 'Time that an evaluation of everything takes: median and 99th percentile.',
    unit: 's',
    queries: [0.5, 0.99].map((quantile) => ({
      expr: quantileOf(quantile, 'slowburn_evaluation_duration_seconds', []),
      legend: `p${quantile * 100}`,
    })),
  },
  {
    kind: 'heatmap',
    title: 'Durations of evaluations',
    description: 'How many evaluations took how long.',
    unit: 's',
    queries: [{ expr: sumBy(['le'], increase('slowburn_evaluation_duration_seconds_bucket')), legend: '{{le}}' }],
  },
  {
    kind: 'timeseries',
    title: 'Messages by receiver',
    description: 'Attempts to send per second by receiver and result.',
    unit: 'ops',
    queries: [
      {
        expr: sumBy(['receiver', 'result'], rate('slowburn_notifications_total')),
        legend: '{{receiver}}, {{result}}',
      },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Messages that wait',
    description: 'Messages that wait for their receiver.',
    unit: 'none',
    min: 0,
    queries: [{ expr: sumBy(['receiver'], of('slowburn_receiver_pending')), legend: '{{receiver}}' }],
  },
  {
    kind: 'timeseries',
    title: 'Oldest message that waits',
    description: 'How long the oldest message has waited for its receiver.',
    unit: 's',
    min: 0,
    queries: [
      { expr: `max by (receiver) (${of('slowburn_receiver_oldest_pending_seconds')})`, legend: '{{receiver}}' },
    ],
  },
];

const runtime: readonly Panel[] = [
  {
    kind: 'timeseries',
    title: 'Delay of the event loop',
    description: 'How late the event loop is, since the last scrape. 50 ms is the promise.',
    unit: 's',
    queries: [
      { expr: `max(${own(of('nodejs_eventloop_delay_max'))})`, legend: 'longest' },
      { expr: `max(${own(of('nodejs_eventloop_delay_p99'))})`, legend: 'p99' },
    ],
  },
  {
    kind: 'timeseries',
    title: 'CPU and event loop',
    description: 'Cores that the process uses, and the share of time that its event loop was busy.',
    unit: 'short',
    min: 0,
    queries: [
      { expr: `sum(${own(rate('process_cpu_time_total'))})`, legend: 'cores' },
      { expr: `max(${own(of('nodejs_eventloop_utilization'))})`, legend: 'loop busy' },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Memory',
    description: 'Physical memory of the process, and heap in use.',
    unit: 'bytes',
    min: 0,
    queries: [
      { expr: `sum(${own(of('process_memory_usage'))})`, legend: 'physical' },
      { expr: `sum(${own(of('v8js_memory_heap_used'))})`, legend: 'heap' },
    ],
  },
  {
    kind: 'timeseries',
    title: 'Garbage collection',
    description: 'Share of time spent in garbage collection, by kind.',
    unit: 'percentunit',
    min: 0,
    queries: [{ expr: `sum by (v8js_gc_type) (${own(rate('v8js_gc_duration_sum'))})`, legend: '{{v8js_gc_type}}' }],
  },
];

/** Whether slowburn itself can be believed. */
export const healthDashboard: Dashboard = {
  place: DASHBOARD.health,
  description: 'Ingest, evaluation, messages and process of slowburn itself.',
  from: 'now-6h',
  variables: [JOB, INSTANCE],
  annotations: [],
  rows: [
    { title: 'Now', panels: now },
    { title: 'Ingest', panels: ingest },
    { title: 'Evaluation and messages', panels: evaluation },
    { title: 'Process (scrape /metrics/runtime)', panels: [...runtime, alertsPanel(DASHBOARD.health)] },
  ],
};
