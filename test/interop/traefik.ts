import { setTimeout as sleep } from 'node:timers/promises';
import type { BalancerView, Page, SloView } from '../../src/model/views.ts';
import { eventually, type LiveService, ServiceDirectory } from '../support/live-service.ts';
import { startLoad } from '../support/load.ts';
import { compareRows, print, type Row } from '../support/rows.ts';
import { type SmallHost, startHost } from '../support/small-host.ts';
import { startTraefik, type Traefik } from '../support/traefik.ts';

const IDENTITY = 'edge-traefik-1';
const HOSTS = 5;
const REQUESTS_PER_SECOND = 100;
const THRESHOLD_S = 0.25;
const QUIET_MS = 6000;
const TROUBLE_MS = 2000;
/** Two pushes and one evaluation of the service. */
const SETTLE_MS_MAX = 30_000;

const sloFile = (name: string, groupBy: string, ratio: readonly string[]): string => `apiVersion: openslo/v1
kind: SLO
metadata:
  name: ${name}
  annotations: { slowburn/group-by: "${groupBy}" }
spec:
  service: interop
  indicator:
    metadata: { name: ${name} }
    spec:
      ratioMetric:
        counter: true
${ratio.map((line) => `        ${line}`).join('\n')}
  timeWindow: [{ duration: 30d, isRolling: true }]
  budgetingMethod: Occurrences
  objectives: [{ target: 0.99 }]
`;
const source = (role: string, spec: string): string =>
  `${role}: { metricSource: { type: slowburn, spec: { ${spec} } } }`;
const errors = (metric: string, side: string): readonly string[] => [
  source('bad', `metric: ${metric}, where: { lb.side: ${side}, lb.response.class: 5xx }`),
  source('total', `metric: ${metric}, where: { lb.side: ${side} }`),
];
const within = (metric: string): readonly string[] => [
  source('good', `metric: ${metric}, threshold: ${THRESHOLD_S}`),
  source('total', `metric: ${metric}`),
];
const RULES = {
  'slos/clients.yaml': sloFile('clients', 'lb.listener', errors('lb.requests', 'downstream')),
  'slos/clients-latency.yaml': sloFile('clients-latency', 'lb.listener', within('http.server.request.duration')),
  'slos/clusters.yaml': sloFile(
    'clusters',
    'lb.upstream.cluster,cloud.availability_zone',
    errors('lb.requests', 'upstream'),
  ),
  'slos/clusters-latency.yaml': sloFile('clusters-latency', 'lb.upstream.cluster', within('lb.stage.backend.duration')),
  'slos/hosts.yaml': sloFile('hosts', 'lb.upstream.host.name', errors('lb.upstream.host.requests', 'upstream')),
  'slos/hosts-latency.yaml': sloFile('hosts-latency', 'lb.upstream.host.name', within('http.client.request.duration')),
};

/** What one witness counted. */
interface Counts {
  total: number;
  bad: number;
  slow: number;
}
const none = (): Counts => ({ total: 0, bad: 0, slow: 0 });

/** The generator, and Traefik's own counters of clients and of the service; over both lives. */
interface Witnesses {
  readonly generator: Counts;
  readonly clients: Counts;
  readonly clusters: Counts;
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
    const witnesses: Witnesses = { generator: none(), clients: none(), clusters: none() };
    let traefik: Traefik | null = null;
    for (const life of ['first', 'second']) {
      traefik = await startTraefik({
        hostPorts: hosts.map(({ port }) => port),
        otlpHttpPort: service.ports.otlpHttp,
        identity: IDENTITY,
      });
      const { stop } = traefik;
      cleanup.push(stop);
      print(`Traefik ${traefik.version}, its ${life} life: ${HOSTS} hosts, ${REQUESTS_PER_SECOND} requests a second`);
      await live(service, traefik, hosts, witnesses);
      await stop();
    }
    if (traefik === null) return false;
    return compareRows([
      ...(await countedRows(service, traefik, hosts, witnesses)),
      ...(await fleetRows(service, traefik)),
    ]);
  } finally {
    for (const step of cleanup.reverse()) await step();
  }
}

/** From start to stop: the exporter is heard before the load, and once more after it. */
async function live(
  service: LiveService,
  traefik: Traefik,
  hosts: readonly SmallHost[],
  { generator, clients, clusters }: Witnesses,
): Promise<void> {
  await nextPush(service);
  const load = startLoad(traefik.listenerPort, REQUESTS_PER_SECOND);
  const [failing, slow] = hosts;
  const slowBefore = slow?.good ?? 0;
  let slowed = 0;
  try {
    await sleep(QUIET_MS);
    if (failing !== undefined) failing.broken = true;
    await sleep(TROUBLE_MS);
    if (failing !== undefined) failing.broken = false;
    await sleep(QUIET_MS);
    if (slow !== undefined) {
      const before = slow.good;
      slow.slow = true;
      await sleep(TROUBLE_MS);
      slow.slow = false;
      slowed = slow.good - before;
    }
    await sleep(QUIET_MS);
  } finally {
    await load.stop();
  }
  if (slowed === 0 || slowBefore === slow?.good) throw new Error('the slow host was never asked');
  await nextPush(service);
  add(generator, { total: load.good + load.bad, bad: load.bad, slow: slowed });
  add(clients, await ownCounts(traefik, 'entrypoint', { entrypoint: 'web' }));
  add(clusters, await ownCounts(traefik, 'service', { service: traefik.service }));
}

function add(to: Counts, { total, bad, slow }: Counts): void {
  to.total += total;
  to.bad += bad;
  to.slow += slow;
}

/** Waits for two more points of the balancer: the first may have been on its way. */
async function nextPush(service: LiveService): Promise<void> {
  const lastSeen = async () => (await fleet(service)).find(({ id }) => id === IDENTITY)?.lastSeen;
  for (const _ of [1, 2]) {
    const before = await lastSeen();
    await eventually('a push', SETTLE_MS_MAX, async () => ((await lastSeen()) === before ? null : true));
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

async function countedRows(
  service: LiveService,
  { service: cluster, zone }: Traefik,
  hosts: readonly SmallHost[],
  { generator, clients, clusters }: Witnesses,
): Promise<readonly Row[]> {
  const slo = async (id: string) => (await service.json<SloView>(`/api/v1/slos/${id}`)).groups;
  // The service evaluates every 10 s: what came last is in the figures when they agree, or after the longest wait.
  const until = Date.now() + SETTLE_MS_MAX;
  while (Date.now() < until && (await slo('clusters'))[0]?.total !== clusters.total) await sleep(500);
  const of = async (id: string, labels: Readonly<Record<string, string>>): Promise<Counts> => {
    const group = (await slo(id)).find((one) =>
      Object.entries(labels).every(([name, value]) => one.labels[name] === value),
    );
    return { total: group?.total ?? 0, bad: group?.bad ?? 0, slow: group?.bad ?? 0 };
  };
  const inCluster = { 'lb.upstream.cluster': cluster };
  const rows: Row[] = [
    ...sideRows('clients', generator, clients, {
      ...(await of('clients', { 'lb.listener': 'web' })),
      slow: (await of('clients-latency', { 'lb.listener': 'web' })).slow,
    }),
    ...sideRows(`${cluster}, zone ${zone}`, generator, clusters, {
      ...(await of('clusters', { ...inCluster, 'cloud.availability_zone': zone })),
      slow: (await of('clusters-latency', inCluster)).slow,
    }),
    {
      what: 'durations of clients: Traefik and slowburn',
      expected: clients.total,
      found: (await of('clients-latency', { 'lb.listener': 'web' })).total,
    },
    {
      what: 'durations of clusters: Traefik and slowburn',
      expected: clusters.total,
      found: (await of('clusters-latency', inCluster)).total,
    },
  ];
  for (const { port, good, bad } of hosts) {
    const host = { 'lb.upstream.host.name': `127.0.0.1:${port}` };
    const counted = await of('hosts', host);
    const what = `host ${port}`;
    rows.push({ what: `${what}, requests: host and slowburn`, expected: good + bad, found: counted.total });
    rows.push({ what: `${what}, errors: host and slowburn`, expected: bad, found: counted.bad });
    rows.push({ what: `${what}, durations`, expected: good + bad, found: (await of('hosts-latency', host)).total });
  }
  rows.push({ what: 'groups of clusters', expected: 1, found: (await slo('clusters')).length });
  rows.push({ what: 'groups of hosts', expected: HOSTS, found: (await slo('hosts')).length });
  return rows;
}

function sideRows(side: string, generator: Counts, traefik: Counts, slowburn: Counts): readonly Row[] {
  return (['total', 'bad', 'slow'] as const).flatMap((key) => {
    const name = { total: 'requests', bad: 'errors', slow: 'slower than 250 ms' }[key];
    return [
      { what: `${side}, ${name}: generator and Traefik`, expected: generator[key], found: traefik[key] },
      { what: `${side}, ${name}: Traefik and slowburn`, expected: traefik[key], found: slowburn[key] },
    ];
  });
}

const fleet = async (service: LiveService): Promise<readonly BalancerView[]> =>
  (await service.json<Page<BalancerView>>('/api/v1/fleet')).items;

async function fleetRows(service: LiveService, { service: cluster, zone, version }: Traefik): Promise<readonly Row[]> {
  const found = (await fleet(service)).map(
    (one) => `${one.id} (${one.flavor} ${one.version}, zone ${one.zone}: ${one.clusters.join(', ')})`,
  );
  const stages = (await fleet(service)).map((one) => one.stages.backend);
  return [
    {
      what: 'the fleet',
      expected: `${IDENTITY} (traefik ${version}, zone ${zone}: ${cluster})`,
      found: found.join('; '),
    },
    { what: 'stage backend', expected: 'includes_queue_and_retries', found: stages.join('; ') },
  ];
}
