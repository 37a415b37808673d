import { ALERT } from './conventions.ts';

/** One of the shipped Grafana dashboards: what a link needs, and which alerts lead to it. */
export interface DashboardPlace {
  /** Stable: links in messages, in alerts and between dashboards depend on it. */
  readonly uid: string;
  readonly slug: string;
  readonly title: string;
  readonly alerts: readonly string[];
}

/** Every alert leads to exactly one of them, which has a panel of its own alerts. */
export const DASHBOARD = {
  fleet: {
    uid: 'slowburn-fleet',
    slug: 'slowburn-fleet-slos',
    title: 'slowburn / Fleet SLOs',
    alerts: [ALERT.trafficStopped, ALERT.telemetryLost],
  },
  slo: {
    uid: 'slowburn-slo',
    slug: 'slowburn-slo-detail',
    title: 'slowburn / SLO detail',
    alerts: [ALERT.errorBudgetBurn, ALERT.configBudgetSpent],
  },
  balancers: {
    uid: 'slowburn-balancers',
    slug: 'slowburn-balancer-stages-and-red',
    title: 'slowburn / Balancer stages and RED',
    alerts: [
      ALERT.upstreamErrors,
      ALERT.hostEjections,
      ALERT.ejectionCapReached,
      ALERT.healthCheckCascade,
      ALERT.healthCheckFlapping,
      ALERT.admissionRejections,
      ALERT.balancerSaturation,
      ALERT.stageTailShift,
      ALERT.acceptQueueSaturation,
      ALERT.configPushRegression,
      ALERT.configPushUnstaged,
      ALERT.configDrift,
      ALERT.l4Rehash,
      ALERT.retryStorm,
      ALERT.streamSaturation,
      ALERT.drainCut,
    ],
  },
  skew: {
    uid: 'slowburn-skew',
    slug: 'slowburn-skew-and-weekly-review',
    title: 'slowburn / Skew and weekly review',
    alerts: [
      ALERT.zoneSkew,
      ALERT.hostSkew,
      ALERT.balancerSkew,
      ALERT.noisyNeighbour,
      ALERT.fastFailSinkhole,
      ALERT.hostOutlier,
      ALERT.coldStart,
    ],
  },
  tls: {
    uid: 'slowburn-tls',
    slug: 'slowburn-tls-and-certificates',
    title: 'slowburn / TLS and certificates',
    alerts: [ALERT.handshakeStorm, ALERT.certificateRenewalStalled],
  },
  health: {
    uid: 'slowburn-health',
    slug: 'slowburn-own-health',
    title: 'slowburn / Own health',
    alerts: [ALERT.notificationsFailing, ALERT.watchdog],
  },
} as const satisfies Readonly<Record<string, DashboardPlace>>;

export type DashboardKey = keyof typeof DASHBOARD;

const BY_ALERT: ReadonlyMap<string, DashboardPlace> = new Map(
  Object.values<DashboardPlace>(DASHBOARD).flatMap((place) => place.alerts.map((alert) => [alert, place])),
);

/** Where an alert's figures are seen; of alerts that others raise the fleet. */
export const dashboardOf = (alert: string): DashboardPlace => BY_ALERT.get(alert) ?? DASHBOARD.fleet;

/** `grafanaUrl` without a trailing slash; values of variables that are unknown are left out. */
export function dashboardUrl(
  grafanaUrl: string,
  { uid, slug }: DashboardPlace,
  variables: Readonly<Record<string, string | undefined>> = {},
): string {
  const query = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [`var-${name}=${encodeURIComponent(value)}`],
  );
  return `${grafanaUrl}/d/${uid}/${slug}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}
