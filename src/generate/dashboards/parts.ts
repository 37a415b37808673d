import { ATTRIBUTE } from '../../model/conventions.ts';
import type { DashboardPlace } from '../../model/dashboards.ts';
import { labelName } from '../../model/prometheus-names.ts';
import type { Annotation, Mapping, Panel, Row, Threshold, Variable } from './spec.ts';

/** Labels of the fleet's metrics. */
export const L = {
  balancer: labelName(ATTRIBUTE.instance),
  balancerZone: labelName(ATTRIBUTE.balancerZone),
  cluster: labelName(ATTRIBUTE.cluster),
  zone: labelName(ATTRIBUTE.zone),
  host: labelName(ATTRIBUTE.host),
  side: labelName(ATTRIBUTE.side),
  responseClass: labelName(ATTRIBUTE.responseClass),
  version: labelName(ATTRIBUTE.configVersion),
  kind: labelName(ATTRIBUTE.configKind),
  hostState: labelName(ATTRIBUTE.hostState),
  reason: labelName(ATTRIBUTE.ejectionReason),
  enforced: labelName(ATTRIBUTE.ejectionEnforced),
  resumed: labelName(ATTRIBUTE.tlsResumed),
  keyType: labelName(ATTRIBUTE.tlsKeyType),
  error: labelName(ATTRIBUTE.errorType),
  retryOutcome: labelName(ATTRIBUTE.retryOutcome),
  layer: labelName(ATTRIBUTE.layer),
  rejection: labelName(ATTRIBUTE.rejectionReason),
  certificate: labelName(ATTRIBUTE.certificate),
} as const;

/** A selector of what the chosen slowburn tells. */
export const of = (metric: string, ...matchers: readonly string[]): string =>
  `${metric}{${['job=~"$job"', 'instance=~"$instance"', ...matchers].join(', ')}}`;

export const rate = (metric: string, ...matchers: readonly string[]): string =>
  `rate(${of(metric, ...matchers)}[$__rate_interval])`;

export const increase = (metric: string, ...matchers: readonly string[]): string =>
  `increase(${of(metric, ...matchers)}[$__rate_interval])`;

export const sumBy = (labels: readonly string[], expr: string): string =>
  labels.length === 0 ? `sum(${expr})` : `sum by (${labels.join(', ')}) (${expr})`;

/** `quantile` of a histogram (its name without the part), in seconds. */
export const quantileOf = (
  quantile: number | string,
  histogram: string,
  by: readonly string[],
  ...matchers: readonly string[]
): string => `histogram_quantile(${quantile}, ${sumBy([...by, 'le'], rate(`${histogram}_bucket`, ...matchers))})`;

export const CHOSEN = {
  balancer: `${L.balancer}=~"$balancer"`,
  cluster: `${L.cluster}=~"$cluster"`,
  slo: 'slo=~"$slo"',
  group: 'group=~"$group"',
  downstream: `${L.side}="downstream"`,
  upstream: `${L.side}="upstream"`,
  errors: `${L.responseClass}="5xx"`,
} as const;

export const VARIABLE = {
  job: { kind: 'query', name: 'job', label: 'job', metric: 'slowburn_build_info', labelName: 'job' },
  instance: {
    kind: 'query',
    name: 'instance',
    label: 'instance',
    metric: 'slowburn_build_info{job=~"$job"}',
    labelName: 'instance',
  },
  balancer: {
    kind: 'query',
    name: 'balancer',
    label: 'Balancer',
    metric: of('slowburn_balancer_info'),
    labelName: L.balancer,
  },
  cluster: {
    kind: 'query',
    name: 'cluster',
    label: 'Cluster',
    metric: of('lb_requests_total', `${L.side}="upstream"`),
    labelName: L.cluster,
  },
  slo: { kind: 'query', name: 'slo', label: 'SLO', metric: of('slowburn_slo_info'), labelName: 'slo' },
  group: {
    kind: 'query',
    name: 'group',
    label: 'Group',
    metric: of('slowburn_slo_coverage_ratio', 'slo=~"$slo"'),
    labelName: 'group',
  },
  quantile: { kind: 'custom', name: 'quantile', label: 'Quantile', values: ['0.5', '0.95', '0.99'], chosen: '0.99' },
  stage: {
    kind: 'custom',
    name: 'stage',
    label: 'Stage',
    values: ['accept_queue', 'tls', 'connect', 'backend', 'write'],
    chosen: 'backend',
  },
} as const satisfies Readonly<Record<string, Variable>>;

/** When the first balancer took up a config version: one event per rollout, at its own time. */
export const ROLLOUT_EVENTS: Annotation = {
  name: 'Config rollouts',
  expr: `max by (${L.kind}, ${L.version}) (${of('slowburn_config_rollout_timestamp_seconds')}) * 1000`,
  color: 'purple',
  title: 'Config {{lb_config_version}}',
  text: 'The first balancer took up {{lb_config_kind}} {{lb_config_version}}',
  tagKeys: `${L.kind},${L.version}`,
  valueIsTime: true,
};

export const BURN: readonly Threshold[] = [
  { value: null, color: 'green' },
  { value: 1, color: 'yellow' },
  { value: 3, color: 'yellow' },
  { value: 6, color: 'orange' },
  { value: 14.4, color: 'red' },
];
/** Overspent is red; a tenth left is a warning. */
export const BUDGET: readonly Threshold[] = [
  { value: null, color: 'red' },
  { value: 0, color: 'orange' },
  { value: 0.1, color: 'yellow' },
  { value: 0.5, color: 'green' },
];
export const ANY_IS_BAD: readonly Threshold[] = [
  { value: null, color: 'green' },
  { value: 1, color: 'red' },
];
export const TIME_LEFT: readonly Threshold[] = [
  { value: null, color: 'red' },
  { value: 50 * 3600, color: 'orange' },
  { value: 5 * 86_400, color: 'yellow' },
  { value: 30 * 86_400, color: 'green' },
];
export const ERROR_SHARE: readonly Threshold[] = [
  { value: null, color: 'green' },
  { value: 0.001, color: 'yellow' },
  { value: 0.01, color: 'red' },
];

export const YES_NO: Mapping = { 0: { text: 'no', color: 'green' }, 1: { text: 'yes', color: 'red' } };

/** The alerts that lead to this dashboard: which of them fire, and since when. 0 where none does. */
export function alertsPanel({ alerts }: DashboardPlace): Panel {
  const firing = of('slowburn_alerts_firing', `alert=~"${alerts.join('|')}"`);
  return {
    kind: 'timeseries',
    title: 'Alerts that lead here',
    description: `Alerts that fire, of those whose links open this dashboard: ${alerts.join(', ')}. 0 while none does.`,
    unit: 'none',
    width: 24,
    height: 6,
    min: 0,
    queries: [{ expr: `sum by (alert, severity) (${firing})`, legend: '{{alert}} ({{severity}})' }],
  };
}

const perBalancer = (metric: string): string => sumBy([L.balancer], rate(metric, CHOSEN.balancer));

/** What a balancer runs and what its kernel counts, on the time axis of all else: dashboards of balancers have it. */
export const configAndKernelRow = (): Row => ({
  title: 'Config and kernel',
  panels: [
    {
      kind: 'timeseries',
      title: 'Requests by config version',
      description:
        'Requests of clients by the config version that their balancer runs; a rollout moves one into the other.',
      unit: 'reqps',
      stack: true,
      queries: [
        {
          expr:
            `sum by (${L.kind}, ${L.version}) (${of('lb_config_info', CHOSEN.balancer)} * on (${L.balancer}) ` +
            `group_left () ${sumBy([L.balancer], rate('lb_requests_total', CHOSEN.downstream, CHOSEN.balancer))})`,
          legend: `{{${L.kind}}} {{${L.version}}}`,
        },
      ],
    },
    {
      kind: 'timeseries',
      title: 'Kernel: accept queue',
      description:
        'Connections that wait to be accepted beside the limit, and those that the kernel dropped while listening.',
      unit: 'none',
      queries: [
        { expr: `max(${of('lb_accept_queue_length', CHOSEN.balancer)})`, legend: 'longest queue' },
        { expr: `min(${of('lb_accept_queue_limit', CHOSEN.balancer)})`, legend: 'smallest limit' },
        { expr: sumBy([], rate('lb_host_tcp_listen_drops_total', CHOSEN.balancer)), legend: 'listen drops/s' },
      ],
    },
    {
      kind: 'timeseries',
      title: 'Kernel: accept queue overflows by balancer',
      description: 'Connections that a full accept queue turned away: clients wait and try again, or give up.',
      unit: 'cps',
      queries: [{ expr: perBalancer('lb_accept_queue_overflows_total'), legend: `{{${L.balancer}}}` }],
    },
    {
      kind: 'timeseries',
      title: 'Kernel: TCP',
      description:
        'Segments and openings sent again, timers that ran out, resets and SYN cookies sent, as the machines count them.',
      unit: 'ops',
      queries: [
        { expr: sumBy([], rate('lb_host_tcp_retransmits_total', CHOSEN.balancer)), legend: 'retransmits' },
        { expr: sumBy([], rate('lb_host_tcp_syn_retransmits_total', CHOSEN.balancer)), legend: 'SYN retransmits' },
        { expr: sumBy([], rate('lb_host_tcp_timeouts_total', CHOSEN.balancer)), legend: 'timeouts' },
        { expr: sumBy([], rate('lb_host_tcp_resets_sent_total', CHOSEN.balancer)), legend: 'resets sent' },
        { expr: sumBy([], rate('lb_host_tcp_syncookies_sent_total', CHOSEN.balancer)), legend: 'SYN cookies' },
      ],
    },
  ],
});
