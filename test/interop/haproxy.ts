import type { BalancerView, Page, SloView } from '../../src/model/views.ts';
import { startCollector } from '../support/collector.ts';
import { COUNTED_SLO } from '../support/counted-slos.ts';
import { freePort } from '../support/free-port.ts';
import { type Haproxy, startHaproxy } from '../support/haproxy.ts';
import { eventually } from '../support/live-service.ts';
import { compareRows, print, type Row } from '../support/rows.ts';
import { type RunningService, startService } from '../support/service.ts';
import { type Counts, shortOutage } from '../support/short-outage.ts';
import { startHost } from '../support/small-host.ts';

const BACKEND = 'checkout';
/** Three scrapes, the Collector's batch, and a tick. */
const SETTLE_MS = 16_000;

/**
 * A real HAProxy whose Prometheus exporter a real Collector scrapes and sends on by OTLP. HAProxy is started again in
 * the middle, under the same address. The service must count what both lives, the generator and the hosts have counted.
 */
export async function run(): Promise<boolean> {
  const cleanup: (() => Promise<unknown>)[] = [];
  try {
    const hosts = await Promise.all([startHost(), startHost(), startHost()]);
    for (const host of hosts) cleanup.push(() => host.close());
    const service = await startService({ counted: COUNTED_SLO });
    cleanup.push(() => service.stop());
    const metricsPort = await freePort();
    const byHaproxy: Counts = { total: 0, bad: 0 };
    const byLoad: Counts = { total: 0, bad: 0 };
    for (let life = 1; life <= 2; life += 1) {
      const hostPorts = hosts.map(({ port }) => port);
      const haproxy = await startHaproxy({ backend: BACKEND, hostPorts, metricsPort });
      cleanup.push(() => haproxy.stop());
      if (life === 1) cleanup.push(await scrape(service, metricsPort));
      await eventually('a scrape', 30_000, async () => ((await fleet(service)).length > 0 ? true : null));
      print(`HAProxy ${haproxy.version}, life ${life}, scraped by a Collector`);
      await shortOutage(haproxy.listenerPort, hosts, byLoad, { upMs: 5000, settleMs: SETTLE_MS });
      await addCounts(haproxy, byHaproxy);
      await haproxy.stop();
    }
    const byHosts = hosts.reduce((sum, { good, bad }) => sum + good + bad, 0);
    return compareRows([
      { what: 'requests: generator and HAProxy', expected: byLoad.total, found: byHaproxy.total },
      { what: 'requests: hosts and HAProxy', expected: byHosts, found: byHaproxy.total },
      { what: 'errors: generator and HAProxy', expected: byLoad.bad, found: byHaproxy.bad },
      ...(await rowsOf(service, byHaproxy)),
    ]);
  } finally {
    for (const step of cleanup.reverse()) await step();
  }
}

async function scrape(service: RunningService, metricsPort: number): Promise<() => Promise<void>> {
  const job = {
    job_name: 'haproxy',
    scrape_interval: '1s',
    static_configs: [{ targets: [`127.0.0.1:${metricsPort}`] }],
  };
  const collector = await startCollector({
    receivers: { prometheus: { config: { scrape_configs: [job] } } },
    processors: { batch: { timeout: '200ms' } },
    exporters: { otlp: { endpoint: `127.0.0.1:${service.ports.otlpGrpc}`, tls: { insecure: true } } },
    pipelines: { metrics: { receivers: ['prometheus'], processors: ['batch'], exporters: ['otlp'] } },
  });
  return () => collector.stop();
}

async function addCounts(haproxy: Haproxy, counts: Counts): Promise<void> {
  const rows = await haproxy.rows();
  const backend = rows.find((row) => row.get('pxname') === BACKEND && row.get('svname') === 'BACKEND');
  const field = (name: string): number => Number(backend?.get(name) ?? 0);
  counts.total += field('req_tot');
  counts.bad += field('hrsp_5xx');
}

async function get<T>(service: RunningService, path: string): Promise<T> {
  const answer = await fetch(`http://127.0.0.1:${service.ports.http}/api/v1/${path}`);
  return (await answer.json()) as T;
}

const fleet = async (service: RunningService): Promise<readonly BalancerView[]> =>
  (await get<Page<BalancerView>>(service, 'fleet')).items;

async function rowsOf(service: RunningService, counts: Counts): Promise<readonly Row[]> {
  const { groups } = await get<SloView>(service, 'slos/counted');
  const group = groups.find(({ labels }) => labels['lb.upstream.cluster'] === BACKEND);
  const balancers = await fleet(service);
  const balancer = balancers.find(({ flavor }) => flavor === 'haproxy');
  return [
    { what: 'requests: HAProxy and slowburn', expected: counts.total, found: group?.total ?? 0 },
    { what: 'errors: HAProxy and slowburn', expected: counts.bad, found: group?.bad ?? 0 },
    { what: 'groups', expected: 1, found: groups.length },
    { what: 'balancers', expected: 1, found: balancers.length },
    { what: 'clusters of the balancer', expected: BACKEND, found: balancer?.clusters.join(', ') ?? '' },
    // It has no histogram: averages say something about stages, and feed no latency SLO.
    { what: 'fidelity of the backend stage', expected: 'average_only', found: balancer?.stages.backend ?? '' },
  ];
}
