import { setTimeout as sleep } from 'node:timers/promises';
import type { SloView } from '../../src/model/views.ts';
import { type LiveService, ServiceDirectory } from '../support/live-service.ts';
import { compareRows, print, type Row } from '../support/rows.ts';
import { errorsOf, sloFile, within } from '../support/slo-file.ts';
import { type SmallHost, startHost } from '../support/small-host.ts';
import { startTraefik, type Traefik } from '../support/traefik.ts';
import { type Counts, fleetOf, NO_COUNTS, plus, runTroubledLoad, sideRows } from '../support/troubled-load.ts';

const IDENTITY = 'edge-traefik-1';
const HOSTS = 5;
const THRESHOLD_S = 0.25;
/** The service evaluates every 10 s. */
const SETTLE_MS_MAX = 30_000;

const CLUSTER_AND_ZONE = 'lb.upstream.cluster,cloud.availability_zone';
const HOST = 'lb.upstream.host.name';
const slow = (metric: string): readonly string[] => within(metric, THRESHOLD_S);
const RULES = {
  'slos/clients.yaml': sloFile('clients', 'lb.listener', errorsOf('lb.requests', 'downstream')),
  'slos/clients-latency.yaml': sloFile('clients-latency', 'lb.listener', slow('http.server.request.duration')),
  'slos/clusters.yaml': sloFile('clusters', CLUSTER_AND_ZONE, errorsOf('lb.requests', 'upstream')),
  'slos/clusters-latency.yaml': sloFile('clusters-latency', CLUSTER_AND_ZONE, slow('lb.stage.backend.duration')),
  'slos/hosts.yaml': sloFile('hosts', HOST, errorsOf('lb.upstream.host.requests', 'upstream')),
  'slos/hosts-latency.yaml': sloFile('hosts-latency', HOST, slow('http.client.request.duration')),
};

/** Over all lives: the generator, and Traefik's own counters of clients and of the service. */
interface Witnesses {
  generator: Counts;
  clients: Counts;
  clusters: Counts;
}

/**
 * A real Traefik with the configuration of its setup page in front of five small hosts pushes OTLP/HTTP while one host
 * fails and another is slow for a moment; then it is started again under the same name, and the same comes once more.
 * Requests, errors and durations of clients, clusters and hosts must be what the generator, Traefik's Prometheus
 * endpoint and the hosts counted.
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
    const seen: Witnesses = { generator: NO_COUNTS, clients: NO_COUNTS, clusters: NO_COUNTS };
    const live = async (life: string): Promise<Traefik> => {
      const hostPorts = hosts.map(({ port }) => port);
      const traefik = await startTraefik({ hostPorts, otlpHttpPort: service.ports.otlpHttp, identity: IDENTITY });
      cleanup.push(() => traefik.stop());
      print(`Traefik ${traefik.version}, its ${life} life, before ${HOSTS} hosts`);
      const port = traefik.listenerPort;
      seen.generator = plus(seen.generator, await runTroubledLoad({ service, balancer: IDENTITY, port, hosts }));
      seen.clients = plus(seen.clients, await ownCounts(traefik, 'entrypoint', { entrypoint: 'web' }));
      seen.clusters = plus(seen.clusters, await ownCounts(traefik, 'service', { service: traefik.service }));
      await traefik.stop();
      return traefik;
    };
    await live('first');
    const traefik = await live('second');
    const rows = await countedRows(service, traefik, seen);
    return compareRows([...rows, ...(await hostRows(service, hosts)), ...(await fleetRows(service, traefik))]);
  } finally {
    for (const step of cleanup.reverse()) await step();
  }
}

async function ownCounts(traefik: Traefik, level: string, labels: Readonly<Record<string, string>>): Promise<Counts> {
  const requests = `traefik_${level}_requests_total`;
  const seconds = `traefik_${level}_request_duration_seconds`;
  const total = await traefik.counter(requests, labels);
  const durations = await traefik.counter(`${seconds}_count`, labels);
  if (durations !== total) throw new Error(`Traefik counts ${total} requests and ${durations} durations`);
  return {
    total,
    bad: await traefik.counter(requests, { ...labels, code: '503' }),
    slow: durations - (await traefik.counter(`${seconds}_bucket`, { ...labels, le: String(THRESHOLD_S) })),
  };
}

type Group = SloView['groups'][number];

const groupsOf = async (service: LiveService, slo: string): Promise<readonly Group[]> =>
  (await service.json<SloView>(`/api/v1/slos/${slo}`)).groups;

/** What the only group of an SLO that has these labels counted. */
async function groupOf(service: LiveService, slo: string, labels: Readonly<Record<string, string>>) {
  const fitting = (await groupsOf(service, slo)).filter((group) =>
    Object.entries(labels).every(([name, value]) => group.labels[name] === value),
  );
  if (fitting.length > 1) throw new Error(`${slo} has ${fitting.length} such groups`);
  return { total: fitting[0]?.total ?? 0, bad: fitting[0]?.bad ?? 0 };
}

async function countedRows(
  service: LiveService,
  { service: cluster, zone }: Traefik,
  { generator, clients, clusters }: Witnesses,
): Promise<readonly Row[]> {
  const inCluster = { 'lb.upstream.cluster': cluster, 'cloud.availability_zone': zone };
  const atListener = { 'lb.listener': 'web' };
  const until = Date.now() + SETTLE_MS_MAX;
  while (Date.now() < until && (await groupOf(service, 'clusters', inCluster)).total !== clusters.total) {
    await sleep(500);
  }
  const timedClients = await groupOf(service, 'clients-latency', atListener);
  const timedClusters = await groupOf(service, 'clusters-latency', inCluster);
  const ofClients = { ...(await groupOf(service, 'clients', atListener)), slow: timedClients.bad };
  const ofClusters = { ...(await groupOf(service, 'clusters', inCluster)), slow: timedClusters.bad };
  const durations = 'durations: balancer and slowburn';
  return [
    ...sideRows('clients', generator, clients, ofClients),
    { what: `clients, ${durations}`, expected: clients.total, found: timedClients.total },
    ...sideRows(`${cluster}, zone ${zone}`, generator, clusters, ofClusters),
    { what: `${cluster}, zone ${zone}, ${durations}`, expected: clusters.total, found: timedClusters.total },
    { what: 'groups of clusters', expected: 1, found: (await groupsOf(service, 'clusters')).length },
  ];
}

async function hostRows(service: LiveService, hosts: readonly SmallHost[]): Promise<readonly Row[]> {
  const rows: Row[] = [{ what: 'hosts', expected: HOSTS, found: (await groupsOf(service, 'hosts')).length }];
  for (const { port, good, bad } of hosts) {
    const label = { [HOST]: `127.0.0.1:${port}` };
    const counted = await groupOf(service, 'hosts', label);
    const timed = await groupOf(service, 'hosts-latency', label);
    const of = (what: string): string => `host ${port}, ${what}: host and slowburn`;
    rows.push({ what: of('requests'), expected: good + bad, found: counted.total });
    rows.push({ what: of('errors'), expected: bad, found: counted.bad });
    rows.push({ what: of('durations'), expected: good + bad, found: timed.total });
  }
  return rows;
}

async function fleetRows(service: LiveService, traefik: Traefik): Promise<readonly Row[]> {
  const fleet = await fleetOf(service);
  const found = fleet.map((one) => `${one.id} (${one.flavor} ${one.version}, ${one.zone}: ${one.clusters.join(', ')})`);
  const expected = `${IDENTITY} (traefik ${traefik.version}, ${traefik.zone}: ${traefik.service})`;
  return [
    { what: 'the fleet', expected, found: found.join('; ') },
    {
      what: 'stage backend',
      expected: 'includes_queue_and_retries',
      found: fleet.map(({ stages }) => stages.backend).join('; '),
    },
  ];
}
