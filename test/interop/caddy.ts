import { setTimeout as sleep } from 'node:timers/promises';
import type { SloView } from '../../src/model/views.ts';
import { type Caddy, startCaddy } from '../support/caddy.ts';
import { type LiveService, ServiceDirectory } from '../support/live-service.ts';
import { compareRows, print, type Row } from '../support/rows.ts';
import { errorsOf, sloFile, within } from '../support/slo-file.ts';
import { startHost } from '../support/small-host.ts';
import { type Counts, fleetOf, NO_COUNTS, plus, runTroubledLoad, sideRows } from '../support/troubled-load.ts';

const IDENTITY = 'edge-caddy-1';
const HOSTS = 3;
const THRESHOLD_S = 0.25;
/** The service evaluates every 10 s. */
const SETTLE_MS_MAX = 30_000;
const DURATION = 'caddy_http_request_duration_seconds';
const SITE = { handler: 'subroute', server: 'srv0' };
const RULES = {
  'slos/clients.yaml': sloFile('clients', 'lb.listener', errorsOf('lb.requests', 'downstream')),
  'slos/latency.yaml': sloFile('latency', 'lb.listener', within('http.server.request.duration', THRESHOLD_S)),
};

/**
 * A real Caddy with the configuration of its setup page in front of small hosts, one of which fails and one of which is
 * slow for a moment, twice with a restart in between. What clients got must be counted as the generator and Caddy's own
 * Prometheus text count it.
 */
export async function run(): Promise<boolean> {
  const cleanup: (() => Promise<unknown>)[] = [];
  try {
    const hosts = await Promise.all(Array.from({ length: HOSTS }, startHost));
    for (const host of hosts) cleanup.push(() => host.close());
    const directory = new ServiceDirectory({ rules: RULES });
    cleanup.push(async () => directory.remove());
    const service = await directory.start();
    cleanup.push(() => service.stop());
    let generator = NO_COUNTS;
    let own = NO_COUNTS;
    for (const life of ['first', 'second']) {
      const hostPorts = hosts.map(({ port }) => port);
      const caddy = await startCaddy({ hostPorts, otlpHttpPort: service.ports.otlpHttp, identity: IDENTITY });
      cleanup.push(() => caddy.stop());
      print(`Caddy, its ${life} life, before ${HOSTS} hosts`);
      const [port, headers] = [caddy.listenerPort, { host: 'localhost' }];
      generator = plus(generator, await runTroubledLoad({ service, balancer: IDENTITY, port, hosts, headers }));
      own = plus(own, await ownCounts(caddy));
      await caddy.stop();
    }
    return compareRows(await rowsOf(service, generator, own));
  } finally {
    for (const step of cleanup.reverse()) await step();
  }
}

async function ownCounts(caddy: Caddy): Promise<Counts> {
  const total = await caddy.counter(`${DURATION}_count`, SITE);
  const requests = await caddy.counter('caddy_http_requests_total', SITE);
  if (requests !== total) throw new Error(`Caddy counts ${requests} requests and ${total} durations`);
  return {
    total,
    bad: await caddy.counter(`${DURATION}_count`, { ...SITE, code: '503' }),
    slow: total - (await caddy.counter(`${DURATION}_bucket`, { ...SITE, le: String(THRESHOLD_S) })),
  };
}

async function rowsOf(service: LiveService, generator: Counts, own: Counts): Promise<readonly Row[]> {
  const groups = async (slo: string) => (await service.json<SloView>(`/api/v1/slos/${slo}`)).groups;
  const until = Date.now() + SETTLE_MS_MAX;
  while (Date.now() < until && (await groups('clients'))[0]?.total !== own.total) await sleep(500);
  const clients = await groups('clients');
  const [timed] = await groups('latency');
  const slowburn = { total: clients[0]?.total ?? 0, bad: clients[0]?.bad ?? 0, slow: timed?.bad ?? 0 };
  const fleet = (await fleetOf(service)).map(({ id, flavor, zone }) => `${id} (${flavor}, ${zone})`);
  return [
    ...sideRows('clients', generator, own, slowburn),
    { what: 'durations: balancer and slowburn', expected: own.total, found: timed?.total ?? 0 },
    { what: 'listeners', expected: 'srv0', found: clients.map(({ labels }) => labels['lb.listener']).join(', ') },
    { what: 'the fleet', expected: `${IDENTITY} (caddy, a)`, found: fleet.join('; ') },
  ];
}
