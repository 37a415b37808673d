import { balancersDashboard } from './balancers.ts';
import { fleetDashboard } from './fleet.ts';
import { healthDashboard } from './health.ts';
import { skewDashboard } from './skew.ts';
import { sloDashboard } from './slo.ts';
import type { Dashboard } from './spec.ts';
import { tlsDashboard } from './tls.ts';
import { toGrafana } from './to-grafana.ts';

const DASHBOARDS: readonly Dashboard[] = [
  fleetDashboard,
  sloDashboard,
  balancersDashboard,
  skewDashboard,
  tlsDashboard,
  healthDashboard,
];

/** Every dashboard as the text of its file, by the file's name. */
export const dashboardFiles = (): ReadonlyMap<string, string> =>
  new Map(
    DASHBOARDS.map((dashboard) => [
      `${dashboard.place.uid}.json`,
      `${JSON.stringify(toGrafana(dashboard), null, 2)}\n`,
    ]),
  );
