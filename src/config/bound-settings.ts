/** How one balancer's histogram bounds are set, as its page in docs/balancers says. */
interface BoundSetting {
  /** As `flavor` of the fleet view has it. */
  readonly flavor: string;
  readonly name: string;
  readonly setting: string;
  /** The unit that the setting counts in. */
  readonly unit: 'ms' | 's';
}

export const BOUND_SETTINGS: readonly BoundSetting[] = [
  { flavor: 'envoy', name: 'Envoy', setting: 'stats_config.histogram_bucket_settings', unit: 'ms' },
  { flavor: 'istio', name: 'Istio', setting: 'annotation sidecar.istio.io/statsHistogramBuckets', unit: 'ms' },
  { flavor: 'traefik', name: 'Traefik', setting: 'metrics.otlp.explicitBoundaries', unit: 's' },
  { flavor: 'ingress_nginx', name: 'ingress-nginx', setting: '--time-buckets', unit: 's' },
];

const OTHERS = 'a view with explicit boundaries in its OpenTelemetry SDK';

/** Where bounds are set, for all balancers in one line. */
export const WHERE_BOUNDS_ARE_SET = [
  ...BOUND_SETTINGS.map(({ name, setting, unit }) => `${name}: ${setting} in ${unit}`),
  'OpenTelemetry SDK: a view with explicit boundaries',
  'Caddy: nowhere, its bounds are fixed',
].join('; ');

/** What makes a threshold (seconds) a bound of a balancer's histograms, or what else to do. */
export function boundFix(flavor: string, threshold: number): string {
  if (flavor === 'caddy') return "Caddy's bounds are fixed: choose a threshold that is one of them";
  const known = BOUND_SETTINGS.find((one) => one.flavor === flavor);
  if (known === undefined) return `add the bound ${threshold} s: ${OTHERS}`;
  const { setting, unit } = known;
  return `add ${unit === 'ms' ? Number((threshold * 1000).toPrecision(12)) : threshold} to ${setting} (${unit})`;
}
