import { setTimeout as sleep } from 'node:timers/promises';
import type { BalancerView, IncidentDetailView, IncidentView, Page, SloView } from '../../src/model/views.ts';
import { type Envoy, startEnvoy } from '../support/envoy.ts';
import { eventually, type Hook, type LiveService, ServiceDirectory, startHook } from '../support/live-service.ts';
import { type Load, startLoad } from '../support/load.ts';
import { availabilitySlo } from '../support/replay-file.ts';
import { compareRows, print, type Row } from '../support/rows.ts';
import { type SmallHost, startHost } from '../support/small-host.ts';

const CLUSTER = 'checkout';
const IDENTITY = 'edge-envoy-1';
const HOSTS = 5;
const REQUESTS_PER_SECOND = 100;
const QUIET_MS = 30_000;
const OUTAGE_MS_MAX = 120_000;
const HEAL_MS_MAX = 240_000;

const TIERS = `policies:
  quick:
    confidence: 0.98
    tiers:
      - { name: 6h,  severity: page, exhaustsWithin: 6h,  long: 60s,  short: 20s, minBurn: full, minBadEvents: 2 }
      - { name: 50h, severity: page, exhaustsWithin: 50h, long: 120s, short: 40s, minBurn: half, minBadEvents: 2 }
`;
/** Every answer of loopback is below a bound of Envoy's default buckets. */
const LATENCY_SLO = `apiVersion: openslo/v1
kind: SLO
metadata:
  name: checkout-latency
  annotations: { slowburn/group-by: lb.upstream.cluster, slowburn/policy: workbook }
spec:
  service: checkout
  indicator:
    metadata: { name: checkout-latency }
    spec:
      ratioMetric:
        counter: true
        good:  { metricSource: { type: slowburn, spec: { metric: lb.stage.backend.duration, threshold: 10 } } }
        total: { metricSource: { type: slowburn, spec: { metric: lb.stage.backend.duration } } }
  timeWindow: [{ duration: 30d, isRolling: true }]
  budgetingMethod: Occurrences
  objectives: [{ target: 0.99 }]
`;
const CORRELATION = 'settings: { resolveHold: 20s }\n';
const DETECTORS = `HostEjections: { roundsWithin: 1m }
UpstreamErrors: { holdFor: 1m }
EjectionCapReached: { refusedWithin: 1m }
HostOutlier: { longWindow: 1m }
FastFailSinkhole: { ejectionsWithin: 1m }
`;
/** What has to be in the incident. The host that goes on failing may be named too, as far as it lasts long enough. */
const KINDS = ['EjectionCapReached', 'ErrorBudgetBurn', 'HostEjections', 'UpstreamErrors'];

/**
 * A real Envoy with the bootstrap of its setup page in front of five small hosts pushes OTLP/gRPC to the service while two hosts fail fast and heal again.
 * Outlier detection may eject one of them; the other goes on failing. It must be one incident that names the cluster
 * and holds burn, 5xx and ejection, opened once and closed once, and every request must be counted as Envoy counts it.
 */
export async function run(): Promise<boolean> {
  const cleanup: (() => Promise<unknown>)[] = [];
  try {
    const hook = await startHook();
    cleanup.push(() => hook.close());
    const hosts = await Promise.all(Array.from({ length: HOSTS }, startHost));
    for (const host of hosts) cleanup.push(() => host.close());
    const directory = new ServiceDirectory({
      rules: {
        'slos/checkout.yaml': availabilitySlo('quick').replaceAll('downstream', 'upstream'),
        'slos/latency.yaml': LATENCY_SLO,
        'tiers.yaml': TIERS,
        'correlation.yaml': CORRELATION,
        'detectors.yaml': DETECTORS,
      },
      config: `receivers: [{ name: oncall, type: webhook, url: "${hook.url}" }]\n`,
    });
    cleanup.push(async () => directory.remove());
    const service = await directory.start();
    cleanup.push(() => service.stop());
    const start = async (): Promise<Envoy> => {
      const envoy = await startEnvoy({
        cluster: CLUSTER,
        hostPorts: hosts.map(({ port }) => port),
        otlpGrpcPort: service.ports.otlpGrpc,
        identity: IDENTITY,
      });
      cleanup.push(() => envoy.stop());
      return envoy;
    };
    const envoy = await start();
    print(`Envoy ${envoy.version}, ${HOSTS} hosts, ${REQUESTS_PER_SECOND} requests a second`);
    const rows = await rehearse({ hook, hosts, service, envoy });
    await envoy.stop();
    print('Envoy is started again');
    rows.push(...(await afterRestart({ hook, hosts, service, envoy: await start() }, countsOf(rows))));
    return compareRows(rows);
  } finally {
    for (const step of cleanup.reverse()) await step();
  }
}

interface Stage {
  readonly hook: Hook;
  readonly hosts: readonly SmallHost[];
  readonly service: LiveService;
  readonly envoy: Envoy;
}

async function rehearse(stage: Stage): Promise<Row[]> {
  const { hosts, service, envoy, hook } = stage;
  const load = startLoad(envoy.listenerPort, REQUESTS_PER_SECOND);
  const rows: Row[] = [];
  try {
    await sleep(QUIET_MS);
    rows.push({ what: 'incidents on a healthy fleet', expected: 0, found: (await incidents(service)).length });

    print('two hosts fail fast');
    for (const host of hosts.slice(0, 2)) host.broken = true;
    const broken = await eventually('one incident with burn, 5xx and ejection', OUTAGE_MS_MAX, async () => {
      const [first] = await incidents(service);
      const detail =
        first === undefined ? null : await service.json<IncidentDetailView>(`/api/v1/incidents/${first.id}`);
      return detail !== null && kindsJoined(detail).length === KINDS.length ? detail : null;
    });
    rows.push(...(await outageRows(stage, broken)));

    print('both heal');
    for (const host of hosts) host.broken = false;
    await eventually('a message that it is resolved', HEAL_MS_MAX, async () =>
      hook.bodies.find(({ reason }) => reason === 'resolved'),
    );
  } finally {
    await load.stop();
  }
  // Two flushes and a tick: what was answered last is counted, and a second message would have come.
  await sleep(15_000);
  rows.push(...(await endRows(stage, load)));
  return rows;
}

interface Counts {
  readonly total: number;
  readonly bad: number;
}
const NONE: Counts = { total: 0, bad: 0 };
const TOTAL = 'requests: Envoy and slowburn';
const BAD = 'errors: Envoy and slowburn';

/** What the first Envoy has counted, which its successor does not know. */
function countsOf(rows: readonly Row[]): Counts {
  const expected = (what: string): number => Number(rows.find((row) => row.what === what)?.expected);
  return { total: expected(TOTAL), bad: expected(BAD) };
}

/** A second life under the same name: its counters begin at 0, ours go on. */
async function afterRestart(stage: Stage, before: Counts): Promise<readonly Row[]> {
  const ledger = stage.hosts.map(({ good, bad }) => good + bad).reduce((sum, count) => sum + count, 0);
  // The exporter is up before the load.
  await sleep(3000);
  const [host] = stage.hosts;
  const load = startLoad(stage.envoy.listenerPort, REQUESTS_PER_SECOND);
  await sleep(2000);
  if (host !== undefined) host.broken = true;
  await sleep(200);
  if (host !== undefined) host.broken = false;
  await sleep(5000);
  await load.stop();
  await sleep(15_000);
  const rows = await counterRows(stage, load, before, ledger);
  return rows.map((row) => ({ ...row, what: `${row.what}, after a restart` }));
}

const incidents = async (service: LiveService): Promise<readonly IncidentView[]> =>
  (await service.json<Page<IncidentView>>('/api/v1/incidents')).items;

const kindsOf = (incident: IncidentDetailView): readonly string[] =>
  [...new Set(incident.members.map(({ alert }) => alert.name))].sort();

async function outageRows({ service, envoy, hook }: Stage, incident: IncidentDetailView): Promise<readonly Row[]> {
  const outliers = await envoy.stats(`cluster.${CLUSTER}.outlier_detection`);
  const stat = (name: string): number => outliers.get(`cluster.${CLUSTER}.outlier_detection.${name}`) ?? 0;
  const [opened] = hook.bodies;
  const runbook = (opened?.['links'] as { readonly runbook: string } | undefined)?.runbook ?? '';
  for (const { reason, text } of hook.bodies) print(`  ${String(reason)}: ${String(text)}`);
  for (const { alert, reason } of incident.members) print(`  member ${alert.name}: ${reason}`);
  return [
    { what: 'hosts that Envoy has out, at most', expected: 1, found: Math.max(1, stat('ejections_active')) },
    {
      what: 'ejections refused (the other goes on failing)',
      expected: 'some',
      found: some(stat('ejections_overflow')),
    },
    {
      what: 'kinds of alert joined',
      expected: KINDS.join(', '),
      found: kindsJoined(incident).join(', '),
    },
    { what: 'severity', expected: 'page', found: incident.severity },
    { what: 'cluster named by lead and title', expected: CLUSTER, found: clusterOf(incident) },
    { what: 'runbook of the message answers', expected: 200, found: (await fetch(runbook)).status },
    { what: 'incidents', expected: 1, found: (await incidents(service)).length },
  ];
}

const kindsJoined = (incident: IncidentDetailView): readonly string[] =>
  kindsOf(incident).filter((kind) => KINDS.includes(kind));

const some = (count: number): string => (count > 0 ? 'some' : 'none');

function clusterOf(incident: IncidentDetailView): string {
  const isNamed = incident.title.includes(CLUSTER) && incident.lead.summary.includes(CLUSTER);
  return isNamed ? CLUSTER : `${incident.title}: ${incident.lead.summary}`;
}

async function endRows({ service, envoy, hook, hosts }: Stage, load: Load): Promise<readonly Row[]> {
  const reasons = hook.bodies.map(({ reason }) => String(reason));
  for (const { reason, at, text } of hook.bodies) print(`  ${String(at)} ${String(reason)}: ${String(text)}`);
  const count = (reason: string): number => reasons.filter((one) => one === reason).length;
  // Tickets about hosts look back further than the page and may outlive it.
  const others = reasons.filter((reason) => !['opened', 'escalated', 'deescalated', 'resolved'].includes(reason));
  return [
    { what: 'messages opened', expected: 1, found: count('opened') },
    { what: 'the first message', expected: 'opened', found: reasons[0] ?? 'none' },
    { what: 'messages escalated, at most one', expected: 1, found: Math.max(1, count('escalated')) },
    { what: 'messages deescalated, at most one', expected: 1, found: Math.max(1, count('deescalated')) },
    { what: 'messages resolved', expected: 1, found: count('resolved') },
    { what: 'other messages', expected: '', found: others.join(', ') },
    { what: 'incidents', expected: 1, found: (await incidents(service)).length },
    ...(await counterRows({ service, envoy, hosts }, load, NONE, 0)),
    ...(await fleetRows(service, envoy)),
  ];
}

/**
 * The generator, Envoy's admin interface and the SLOs, side by side. `before` and `answered` are what an earlier Envoy
 * and the hosts had counted when this one began.
 */
async function counterRows(
  { service, envoy, hosts }: Omit<Stage, 'hook'>,
  load: Load,
  before: Counts,
  answered: number,
): Promise<readonly Row[]> {
  const stats = await envoy.stats(`^cluster\\.${CLUSTER}\\.upstream_rq_[1-5]xx$`);
  const total = [...stats.values()].reduce((sum, value) => sum + value, 0);
  const bad = stats.get(`cluster.${CLUSTER}.upstream_rq_5xx`) ?? 0;
  const { groups } = await service.json<SloView>('/api/v1/slos/checkout-availability');
  const group = groups.find(({ labels }) => labels['lb.upstream.cluster'] === CLUSTER);
  const latency = await service.json<SloView>('/api/v1/slos/checkout-latency');
  const byHosts = hosts.reduce((sum, host) => sum + host.good + host.bad, 0) - answered;
  const all: Counts = { total: before.total + total, bad: before.bad + bad };
  return [
    { what: 'groups', expected: 1, found: groups.length },
    { what: 'requests: generator and Envoy', expected: load.good + load.bad, found: total },
    { what: 'requests: hosts and Envoy', expected: byHosts, found: total },
    { what: TOTAL, expected: all.total, found: group?.total ?? 0 },
    { what: 'durations: Envoy and slowburn', expected: all.total, found: latency.groups[0]?.total ?? 0 },
    { what: 'errors: generator and Envoy', expected: load.bad, found: bad },
    { what: BAD, expected: all.bad, found: group?.bad ?? 0 },
    { what: 'good: Envoy and slowburn', expected: all.total - all.bad, found: group?.good ?? 0 },
  ];
}

async function fleetRows(service: LiveService, { zone: where }: Envoy): Promise<readonly Row[]> {
  const { items } = await service.json<Page<BalancerView>>('/api/v1/fleet');
  const balancers = items.map(
    ({ id, flavor, zone, clusters }) => `${id} (${flavor}, zone ${zone}: ${clusters.join(', ')})`,
  );
  return [
    { what: 'the fleet', expected: `${IDENTITY} (envoy, zone ${where}: ${CLUSTER})`, found: balancers.join('; ') },
  ];
}
