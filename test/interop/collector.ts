import type { SloView } from '../../src/model/views.ts';
import { type Collector, collectorRefusal, startCollector } from '../support/collector.ts';
import { COUNTED_SLO, TIMED_SLO } from '../support/counted-slos.ts';
import { type Envoy, startEnvoy } from '../support/envoy.ts';
import { compareRows, print, type Row } from '../support/rows.ts';
import { type RunningService, startService } from '../support/service.ts';
import { blockOf } from '../support/setup-page.ts';
import { type Counts, shortOutage } from '../support/short-outage.ts';
import { startHost } from '../support/small-host.ts';

const CLUSTER = 'checkout';
/** Two exports and a tick. */
const SETTLE_MS = 15_000;
/** Setup pages that show a Collector's configuration. */
const PAGES = ['collector', 'haproxy', 'istio', 'nginx'] as const;
const VARIANTS = ['cumulative over gRPC', 'delta over HTTP'] as const;

/**
 * A real OpenTelemetry Collector between a real Envoy and two services: it passes cumulative points on over gRPC, and
 * the same made into deltas over HTTP. The balancer is started again in the middle. Both services must count what the
 * two lives of Envoy, the generator and the hosts have counted. Before, the Collector reads what the setup pages show.
 */
export async function run(): Promise<boolean> {
  for (const page of PAGES) {
    const refusal = await collectorRefusal(blockOf(page, 'collector'));
    print(`the Collector takes the configuration of ${page}.md: ${refusal === '' ? 'yes' : refusal}`);
    if (refusal !== '') return false;
  }
  const cleanup: (() => Promise<unknown>)[] = [];
  try {
    const hosts = await Promise.all([startHost(), startHost()]);
    for (const host of hosts) cleanup.push(() => host.close());
    const services: RunningService[] = [];
    for (const _ of VARIANTS) {
      const service = await startService({ counted: COUNTED_SLO, timed: TIMED_SLO });
      services.push(service);
      cleanup.push(() => service.stop());
    }
    const collector = await betweenBoth(services);
    cleanup.push(() => collector.stop());

    const [byEnvoy, byLoad]: [Counts, Counts] = [
      { total: 0, bad: 0 },
      { total: 0, bad: 0 },
    ];
    for (let life = 1; life <= 2; life += 1) {
      const hostPorts = hosts.map(({ port }) => port);
      const otlpGrpcPort = collector.otlpGrpcPort;
      const envoy = await startEnvoy({ cluster: CLUSTER, hostPorts, otlpGrpcPort, identity: 'edge-1' });
      cleanup.push(() => envoy.stop());
      print(`Envoy ${envoy.version}, life ${life}, behind a Collector`);
      await shortOutage(envoy.listenerPort, hosts, byLoad, { upMs: 3000, settleMs: SETTLE_MS });
      await addCounts(envoy, byEnvoy);
      await envoy.stop();
    }
    const byHosts = hosts.reduce((sum, { good, bad }) => sum + good + bad, 0);
    const rows: Row[] = [
      { what: 'requests: generator and Envoy', expected: byLoad.total, found: byEnvoy.total },
      { what: 'requests: hosts and Envoy', expected: byHosts, found: byEnvoy.total },
      { what: 'errors: generator and Envoy', expected: byLoad.bad, found: byEnvoy.bad },
    ];
    for (const [index, service] of services.entries()) rows.push(...(await rowsOf(service, index, byEnvoy)));
    return compareRows(rows);
  } finally {
    for (const step of cleanup.reverse()) await step();
  }
}

function betweenBoth([first, second]: readonly RunningService[]): Promise<Collector> {
  const grpcPort = first?.ports.otlpGrpc ?? 0;
  const httpPort = second?.ports.otlpHttp ?? 0;
  return startCollector({
    processors: {
      batch: { timeout: '200ms' },
      // `auto` would drop the first value of a counter that is born late, and an error counter is.
      cumulativetodelta: { initial_value: 'keep' },
    },
    exporters: {
      otlp: { endpoint: `127.0.0.1:${grpcPort}`, tls: { insecure: true }, compression: 'gzip' },
      otlphttp: { endpoint: `http://127.0.0.1:${httpPort}`, compression: 'gzip' },
    },
    pipelines: {
      'metrics/cumulative': { receivers: ['otlp'], processors: ['batch'], exporters: ['otlp'] },
      'metrics/delta': { receivers: ['otlp'], processors: ['cumulativetodelta', 'batch'], exporters: ['otlphttp'] },
    },
  });
}

async function addCounts(envoy: Envoy, counts: Counts): Promise<void> {
  const stats = await envoy.stats(`^cluster\\.${CLUSTER}\\.upstream_rq_[1-5]xx$`);
  for (const [name, value] of stats) {
    counts.total += value;
    if (name.endsWith('_5xx')) counts.bad += value;
  }
}

async function rowsOf(service: RunningService, index: number, counts: Counts): Promise<readonly Row[]> {
  const slo = async (id: string): Promise<SloView> => {
    const answer = await fetch(`http://127.0.0.1:${service.ports.http}/api/v1/slos/${id}`);
    return (await answer.json()) as SloView;
  };
  const [counted, timed] = [(await slo('counted')).groups, (await slo('timed')).groups];
  const variant = VARIANTS[index] ?? '';
  return [
    { what: `requests: Envoy and slowburn, ${variant}`, expected: counts.total, found: counted[0]?.total ?? 0 },
    { what: `errors: Envoy and slowburn, ${variant}`, expected: counts.bad, found: counted[0]?.bad ?? 0 },
    { what: `durations: Envoy and slowburn, ${variant}`, expected: counts.total, found: timed[0]?.total ?? 0 },
    { what: `groups, ${variant}`, expected: 1, found: counted.length },
  ];
}
