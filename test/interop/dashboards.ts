import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet } from '../../src/sim/fleet.ts';
import { HANDSHAKE, HANDSHAKE_KINDS } from '../../src/sim/measures.ts';
import { checkDashboard, dataProblems, typeProblems } from '../support/dashboard-checks.ts';
import { DRILL_MS, drillFleet, ROLLOUTS } from '../support/dashboard-drill.ts';
import { committedDashboards, type DashboardFile, substituted } from '../support/dashboard-files.ts';
import { ServiceDirectory } from '../support/live-service.ts';
import { type Prometheus, startScraper } from '../support/prometheus.ts';
import { parsePrometheusText } from '../support/prometheus-text.ts';
import { startRestartableHook } from '../support/restartable-hook.ts';
import { compareRows, print, type Row } from '../support/rows.ts';

const SCRAPE_S = 5;
const QUERY_MS_MAX = 500;
/** Targets of a dashboard. Grafana asks those in view, and again every minute. */
const TARGETS_MAX = 45;

/**
 * A real Prometheus scrapes the built service, to which a simulated fleet pushes in real time, with trouble of every
 * kind that a panel shows. Then every expression of every dashboard must have the right types for promtool and give data, as
 * an instant and as a range query; and expressions that are wrong on purpose must be found.
 */
export async function run(): Promise<boolean> {
  const cleanup: (() => Promise<unknown>)[] = [];
  try {
    const hook = await startRestartableHook();
    cleanup.push(() => hook.down());
    const directory = new ServiceDirectory({
      rules: { 'correlation.yaml': 'settings: { resolveHold: 1m }\n' },
      config: `receivers: [{ name: oncall, type: webhook, url: "${hook.url}/" }]\n`,
    });
    cleanup.push(async () => directory.remove());
    const service = await directory.start();
    cleanup.push(() => service.stop());
    const jobs = { slowburn: '/metrics', 'slowburn-runtime': '/metrics/runtime' };
    const prometheus = await startScraper(directory.path, `127.0.0.1:${service.ports.http}`, jobs, SCRAPE_S);
    cleanup.push(() => prometheus.stop());
    print(`Prometheus ${prometheus.version}; the fleet pushes for ${DRILL_MS / 1000} s`);
    const fleet = await drillFleet(`http://127.0.0.1:${service.ports.otlpHttp}`);
    await sleep(2 * SCRAPE_S * 1000);
    const text = await (await fetch(service.url('/metrics'))).text();
    return compareRows([
      ...countRows(text, fleet),
      ...(await dashboardRows(prometheus)),
      ...(await annotationRows(prometheus)),
      ...(await plantedRows(prometheus)),
    ]);
  } finally {
    for (const step of cleanup.reverse()) await step();
  }
}

const sumOf = (column: Float64Array): number => column.reduce((sum, one) => sum + one, 0);

/** Counters at /metrics beside what the fleet has counted itself. */
function countRows(text: string, { measures }: Fleet): readonly Row[] {
  const families = parsePrometheusText(text);
  const total = (family: string, ending: string, where: Readonly<Record<string, string>> = {}): number =>
    (families.get(family)?.samples ?? [])
      .filter(
        ({ name, labels }) =>
          name.endsWith(ending) && Object.entries(where).every(([key, value]) => labels[key] === value),
      )
      .reduce((sum, { value }) => sum + value, 0);
  const kinds = HANDSHAKE_KINDS.length;
  const handshakes = (kind: number): number => sumOf(measures.handshakes.filter((_, index) => index % kinds === kind));
  return [
    {
      what: 'requests of clients',
      expected: sumOf(measures.requests),
      found: total('lb_requests_total', '', { lb_side: 'downstream' }),
    },
    {
      what: 'requests to hosts',
      expected: sumOf(measures.attempts),
      found: total('lb_upstream_host_requests_total', ''),
    },
    {
      what: 'full handshakes',
      expected: handshakes(HANDSHAKE.full),
      found: total('lb_tls_handshakes_total', '', { tls_resumed: 'false' }),
    },
    {
      what: 'resumed handshakes',
      expected: handshakes(HANDSHAKE.resumed),
      found: total('lb_tls_handshakes_total', '', { tls_resumed: 'true' }),
    },
    {
      what: 'connections turned away',
      expected: sumOf(measures.acceptOverflows),
      found: total('lb_accept_queue_overflows_total', ''),
    },
    { what: 'ejections', expected: sumOf(measures.ejections), found: total('lb_upstream_ejections_total', '') },
    {
      what: 'times to first byte',
      expected: sumOf(measures.backend.counts),
      found: total('lb_stage_backend_duration_seconds', '_count'),
    },
  ];
}

async function dashboardRows({ url }: Prometheus): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const toS = Math.floor(Date.now() / 1000);
  for (const dashboard of committedDashboards()) {
    const report = await checkDashboard(url, dashboard, { fromS: toS - DRILL_MS / 1000, toS });
    for (const problem of report.problems) print(problem);
    const targets = dashboard.panels.reduce((sum, panel) => sum + (panel.targets?.length ?? 0), 0);
    print(
      `${dashboard.file}: ${dashboard.panels.length} panels and rows, ${targets} targets, ${report.expressions} expressions, ` +
        `${report.queries} queries, the slowest ${Math.round(report.slowestMs)} ms`,
    );
    rows.push(
      { what: `${dashboard.file}: problems`, expected: 0, found: report.problems.length },
      {
        what: `${dashboard.file}: no query slow`,
        expected: 'yes',
        found: report.slowestMs < QUERY_MS_MAX ? 'yes' : 'no',
      },
      {
        what: `${dashboard.file}: not too many`,
        expected: 'yes',
        found: targets <= TARGETS_MAX ? 'yes' : 'no',
      },
    );
  }
  return rows;
}

/** Each rollout is one event: the value is its time, and each time is there once. */
async function annotationRows({ url }: Prometheus): Promise<readonly Row[]> {
  const [dashboard] = committedDashboards().filter(({ uid }) => uid === 'slowburn-balancers') as [DashboardFile];
  const annotation = dashboard.annotations.list.find(({ useValueForTime }) => useValueForTime === true);
  const [query = ''] = substituted(annotation?.expr ?? '', dashboard.templating.list);
  const toS = Math.floor(Date.now() / 1000);
  const body = new URLSearchParams({ query, start: String(toS - DRILL_MS / 1000), end: String(toS), step: '15' });
  const answer = (await (await fetch(`${url}/api/v1/query_range`, { method: 'POST', body })).json()) as {
    readonly data: {
      readonly result: readonly {
        readonly metric: Readonly<Record<string, string>>;
        readonly values: readonly (readonly [number, string])[];
      }[];
    };
  };
  const events = answer.data.result.flatMap(({ metric, values }) =>
    [...new Set(values.map(([, value]) => value))].map((value) => ({
      version: metric['lb_config_version'] ?? '',
      at: Number(value) / 1000,
    })),
  );
  const inRange = events.every(({ at }) => at > toS - DRILL_MS / 1000 - SCRAPE_S * 4 && at < toS);
  return [
    {
      what: 'events of config rollouts',
      expected: ROLLOUTS.join(' '),
      found: events
        .map(({ version }) => version)
        .sort()
        .join(' '),
    },
    { what: 'each at a time of the drill', expected: 'yes', found: inRange ? 'yes' : 'no' },
  ];
}

/** A check that could not fail would prove nothing. */
async function plantedRows({ url }: Prometheus): Promise<readonly Row[]> {
  const toS = Math.floor(Date.now() / 1000);
  const range = { fromS: toS - 60, toS };
  const type = { where: 'planted', expr: 'sum(slowburn_series[5m])' };
  const gone = { where: 'planted', expr: 'sum(slowburn_no_such_metric)' };
  const nothing = { where: 'planted', expr: '0 * sum(slowburn_series) / (0 * sum(slowburn_series))' };
  return [
    {
      what: 'planted: a wrong type is found by promtool',
      expected: 1,
      found: (await typeProblems([gone, type, nothing])).length,
    },
    {
      what: 'planted: a metric that is not there',
      expected: 2,
      found: (await dataProblems(url, [gone], range)).problems.length,
    },
    {
      what: 'planted: nothing but NaN',
      expected: 2,
      found: (await dataProblems(url, [nothing], range)).problems.length,
    },
  ];
}
