import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BalancerView, IncidentDetailView, IncidentView, Page, SloView } from '../../src/model/views.ts';
import { type Envoy, startEnvoy } from '../support/envoy.ts';
import { eventually, type Hook, type LiveService, ServiceDirectory, startHook } from '../support/live-service.ts';
import { availabilitySlo } from '../support/replay-file.ts';

const CLUSTER = 'checkout';
const IDENTITY = 'edge-envoy-1';
const HOSTS = 5;
/** Requests that are begun per second, and how many may be open at once. */
const RATE = 100;
const OPEN_MAX = 32;
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
const CORRELATION = 'settings: { resolveHold: 20s }\n';
const DETECTORS = `HostEjections: { roundsWithin: 1m }
UpstreamErrors: { holdFor: 1m }
`;

interface Host {
  readonly server: Server;
  readonly port: number;
  broken: boolean;
  /** Answers given: the third witness, beside Envoy's counters and ours. */
  good: number;
  bad: number;
}

/** One line of the table that is printed at the end. */
interface Row {
  readonly what: string;
  readonly expected: number | string;
  readonly found: number | string;
}

/**
 * A real Envoy in front of five small hosts pushes OTLP/gRPC to the service while two hosts fail fast and heal again.
 * Outlier detection may eject one of them; the other goes on failing. It must be one incident that names the cluster
 * and holds burn, 5xx and ejection, opened once and closed once, and every request must be counted as Envoy counts it.
 */
export async function run(): Promise<boolean> {
  const cleanup: (() => Promise<unknown>)[] = [];
  try {
    const hook = await startHook();
    cleanup.push(() => hook.close());
    const hosts = await Promise.all(Array.from({ length: HOSTS }, startHost));
    for (const { server } of hosts) cleanup.push(async () => closeServer(server));
    const directory = new ServiceDirectory({
      rules: {
        'slos/checkout.yaml': availabilitySlo('quick').replaceAll('downstream', 'upstream'),
        'tiers.yaml': TIERS,
        'correlation.yaml': CORRELATION,
        'detectors.yaml': DETECTORS,
      },
      config: `receivers: [{ name: oncall, type: webhook, url: "${hook.url}" }]\n`,
    });
    cleanup.push(async () => directory.remove());
    const service = await directory.start();
    cleanup.push(() => service.stop());
    const envoy = await startEnvoy({
      cluster: CLUSTER,
      hostPorts: hosts.map(({ port }) => port),
      otlpGrpcPort: service.ports.otlpGrpc,
      identity: IDENTITY,
    });
    cleanup.push(() => envoy.stop());
    print(`Envoy ${envoy.version}, ${HOSTS} hosts, ${RATE} requests a second`);
    return await rehearse({ hook, hosts, service, envoy });
  } finally {
    for (const step of cleanup.reverse()) await step();
  }
}

interface Stage {
  readonly hook: Hook;
  readonly hosts: readonly Host[];
  readonly service: LiveService;
  readonly envoy: Envoy;
}

async function rehearse(stage: Stage): Promise<boolean> {
  const { hosts, service, envoy, hook } = stage;
  const load = startLoad(envoy.listenerPort);
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
      return detail !== null && kindsOf(detail).length >= 3 ? detail : null;
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
  return compare(rows);
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
      expected: 'ErrorBudgetBurn, HostEjections, UpstreamErrors',
      found: kindsOf(incident).join(', '),
    },
    { what: 'severity', expected: 'page', found: incident.severity },
    { what: 'cluster named by lead and title', expected: CLUSTER, found: clusterOf(incident) },
    { what: 'runbook of the message answers', expected: 200, found: (await fetch(runbook)).status },
    { what: 'incidents', expected: 1, found: (await incidents(service)).length },
  ];
}

const some = (count: number): string => (count > 0 ? 'some' : 'none');

function clusterOf(incident: IncidentDetailView): string {
  const isNamed = incident.title.includes(CLUSTER) && incident.lead.summary.includes(CLUSTER);
  return isNamed ? CLUSTER : `${incident.title}: ${incident.lead.summary}`;
}

async function endRows({ service, envoy, hook, hosts }: Stage, load: Load): Promise<readonly Row[]> {
  const reasons = hook.bodies.map(({ reason }) => String(reason));
  for (const { reason, at, text } of hook.bodies) print(`  ${String(at)} ${String(reason)}: ${String(text)}`);
  const count = (reason: string): number => reasons.filter((one) => one === reason).length;
  const others = reasons.filter((reason) => !['opened', 'escalated', 'resolved'].includes(reason));
  return [
    { what: 'messages opened', expected: 1, found: count('opened') },
    { what: 'the first message', expected: 'opened', found: reasons[0] ?? 'none' },
    { what: 'messages escalated, at most one', expected: 1, found: Math.max(1, count('escalated')) },
    { what: 'messages resolved', expected: 1, found: count('resolved') },
    { what: 'other messages', expected: '', found: others.join(', ') },
    { what: 'incidents', expected: 1, found: (await incidents(service)).length },
    ...(await counterRows({ service, envoy, hosts }, load)),
    ...(await fleetRows(service)),
  ];
}

/** The generator, Envoy's admin interface and the SLO, side by side. */
async function counterRows({ service, envoy, hosts }: Omit<Stage, 'hook'>, load: Load): Promise<readonly Row[]> {
  const stats = await envoy.stats(`^cluster\\.${CLUSTER}\\.upstream_rq_[1-5]xx$`);
  const total = [...stats.values()].reduce((sum, value) => sum + value, 0);
  const bad = stats.get(`cluster.${CLUSTER}.upstream_rq_5xx`) ?? 0;
  const { groups } = await service.json<SloView>('/api/v1/slos/checkout-availability');
  const group = groups.find(({ labels }) => labels['lb.upstream.cluster'] === CLUSTER);
  return [
    { what: 'groups', expected: 1, found: groups.length },
    { what: 'requests: generator and Envoy', expected: load.good + load.bad, found: total },
    {
      what: 'requests: hosts and Envoy',
      expected: hosts.reduce((sum, host) => sum + host.good + host.bad, 0),
      found: total,
    },
    { what: 'requests: Envoy and slowburn', expected: total, found: group?.total ?? 0 },
    { what: 'errors: generator and Envoy', expected: load.bad, found: bad },
    { what: 'errors: Envoy and slowburn', expected: bad, found: group?.bad ?? 0 },
    { what: 'good: Envoy and slowburn', expected: total - bad, found: group?.good ?? 0 },
  ];
}

async function fleetRows(service: LiveService): Promise<readonly Row[]> {
  const { items } = await service.json<Page<BalancerView>>('/api/v1/fleet');
  const balancers = items.map(({ id, flavor, clusters }) => `${id} (${flavor}: ${clusters.join(', ')})`);
  return [{ what: 'the fleet', expected: `${IDENTITY} (envoy: ${CLUSTER})`, found: balancers.join('; ') }];
}

function compare(rows: readonly Row[]): boolean {
  const width = Math.max(...rows.map(({ what }) => what.length));
  let matched = true;
  for (const { what, expected, found } of rows) {
    const same = expected === found;
    if (!same) matched = false;
    print(`${same ? 'same ' : 'OTHER'} ${what.padEnd(width)} ${expected} ${found}`);
  }
  return matched;
}

async function startHost(): Promise<Host> {
  const server = createServer((_request, response) => {
    if (host.broken) host.bad += 1;
    else host.good += 1;
    response.writeHead(host.broken ? 503 : 200).end(host.broken ? 'out of order' : 'ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const host: Host = { server, port, broken: false, good: 0, bad: 0 };
  return host;
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

interface Load {
  readonly good: number;
  readonly bad: number;
  /** Ends the load and waits for what is open. */
  stop(): Promise<void>;
}

/** Sends at a steady pace, never more than `OPEN_MAX` at once, and keeps a ledger of the answers. */
function startLoad(port: number): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: OPEN_MAX });
  const ledger = { good: 0, bad: 0 };
  const open = new Set<Promise<void>>();
  const ask = async (): Promise<void> => {
    const sent = request({ host: '127.0.0.1', port, path: '/', agent });
    sent.end();
    const [answer] = await once(sent, 'response');
    answer.resume();
    await once(answer, 'end');
    if (answer.statusCode < 500) ledger.good += 1;
    else ledger.bad += 1;
  };
  const timer = setInterval(() => {
    if (open.size >= OPEN_MAX) return;
    const asking = ask().finally(() => open.delete(asking));
    open.add(asking);
    // Seen again in stop(), which fails with it.
    asking.catch(() => undefined);
  }, 1000 / RATE);
  return {
    get good() {
      return ledger.good;
    },
    get bad() {
      return ledger.bad;
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
      agent.destroy();
    },
  };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
