import { setTimeout as sleep } from 'node:timers/promises';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import { planOf } from '../../src/sim/drill/drill-run.ts';
import { rehearse } from '../../src/sim/drill/rehearse.ts';
import { judge, type Verdict } from '../../src/sim/drill/verdict.ts';
import { IncidentWatch } from '../../src/sim/drill/wire.ts';
import { named } from '../../src/sim/scenarios/expectations.ts';
import type { Expectation, IncidentExpected, Plan, Scenario, Size } from '../../src/sim/scenarios/scenario.ts';
import { type DrillEnvoy, pathOf, startDrillEnvoy } from './drill-envoy.ts';
import { type DrillHost, startDrillHost } from './drill-host.ts';
import { freePort } from './free-port.ts';
import { type Hook, type LiveService, ServiceDirectory, startHook } from './live-service.ts';
import { type OpenLoad, startOpenLoad, startTlsLoad } from './open-load.ts';
import { print } from './rows.ts';
import { shippedRules } from './shipped-rules.ts';
import { startListener, writePast } from './told-past.ts';

/** Pushes that are recorded before the service starts: they make its past. */
const PUSHES = 7;
/** Of good health with the service, and after the incident is as expected: what comes late would be seen. */
const QUIET_MS = 30_000;
const AFTERMATH_MS = 60_000;
const LOOK_MS = 2000;
/** How much later than the simulated fleet's limit is still waited for, to say when it came. */
const PATIENCE_MS = 60_000;

/** What is running while a failure is done for real. */
export interface Stage extends DrillEnvoy {
  /** By cluster. */
  readonly hosts: readonly (readonly DrillHost[])[];
}

/** A failure of the catalog, and how it is done to real hosts and a real Envoy. */
export interface RealDrill {
  readonly scenario: Scenario;
  readonly size: Size;
  /** Set: clients come by TLS, so many connections a second, a share of them new. */
  readonly tls: { readonly connectionsPerS: number; readonly newShare: number } | null;
  /** Breaks it; resolves when the cause is gone again, or at once where it stays until the end. */
  readonly fail: (stage: Stage) => Promise<void>;
}

/** What the simulation and the real Envoy made of a failure. */
export interface Outcome {
  readonly drill: RealDrill;
  readonly expected: IncidentExpected;
  readonly simulated: Verdict;
  readonly real: Verdict;
  readonly differences: readonly string[];
}

const expectedOf = (expectation: Expectation): IncidentExpected => {
  if (expectation.kind !== 'incident') throw new Error('an Envoy cannot tell of this failure');
  return expectation;
};

/**
 * The failure as the simulated fleet of Envoys lives through it, in virtual time; fluid, as every request by itself would
 * take minutes here.
 */
export function simulate({ scenario, size }: RealDrill): { readonly plan: Plan; readonly verdict: Verdict } {
  const plan: Plan = { ...planOf({ ...scenario, size }, 1).plan, engine: 'fluid' };
  return { plan, verdict: rehearse({ plan, rules: shippedRules(), flavor: 'envoy' }).verdict };
}

/** Does it for real, and compares. */
export async function runReal(
  drill: RealDrill,
  { plan, verdict: simulated }: ReturnType<typeof simulate>,
): Promise<Outcome> {
  const expected = expectedOf(plan.expectedOfEnvoy);
  const cleanup: (() => Promise<unknown>)[] = [];
  try {
    const real = await rehearseReal(drill, plan, expected, cleanup);
    return { drill, expected, simulated, real, differences: differencesOf(simulated, real) };
  } finally {
    for (const step of cleanup.reverse()) await step();
  }
}

function differencesOf(simulated: Verdict, real: Verdict): readonly string[] {
  const other = (what: string, a: unknown, b: unknown): string[] =>
    a === b ? [] : [`${what}: ${String(a)} in the simulation, ${String(b)} with Envoy`];
  return [
    ...simulated.misses.map((miss) => `the simulation itself: ${miss}`),
    ...real.misses,
    ...other('lead', simulated.seen?.lead, real.seen?.lead),
    ...other('severity', simulated.seen?.severity, real.seen?.severity),
    ...other('pages', simulated.pages, real.pages),
    ...other('incidents', simulated.incidents, real.incidents),
  ];
}

async function rehearseReal(
  drill: RealDrill,
  plan: Plan,
  expected: IncidentExpected,
  cleanup: (() => Promise<unknown>)[],
): Promise<Verdict> {
  const { name } = drill.scenario;
  const { clusters } = plan.fleet;
  const hosts = await Promise.all(
    clusters.map((spec) => Promise.all(spec.hosts.map(({ serviceMs }) => startDrillHost(serviceMs)))),
  );
  for (const host of hosts.flat()) cleanup.push(() => host.close());
  const otlpGrpcPort = await freePort();
  const listener = await startListener(otlpGrpcPort);
  cleanup.push(() => listener.close());
  const startedAt = epochMs(Date.now());
  const tlsPort = drill.tls === null ? null : await freePort();
  const served = clusters.map((spec, index) => ({ spec, ports: (hosts[index] ?? []).map(({ port }) => port) }));
  const running = await startDrillEnvoy({ clusters: served, otlpGrpcPort, identity: `edge-${name}`, tlsPort });
  cleanup.push(() => running.envoy.stop());
  const load = startLoad(drill, plan, running);
  cleanup.push(() => load.stop());
  while (listener.heard.length < PUSHES) await sleep(LOOK_MS);
  await listener.close();
  const lives = Math.ceil(plan.faultAtMs / ((listener.heard.at(-1)?.at ?? startedAt) - startedAt));
  const { service, hook } = await startService(otlpGrpcPort, cleanup, (data) =>
    writePast(data, listener.heard, { startedAt, lives }),
  );
  const since = epochMs(Date.now());
  await sleep(QUIET_MS);
  const heard = namedHosts(expected, hosts);
  const verdict = await watchIt(drill, heard, { service, since, stage: { ...running, hosts } });
  for (const { reason, text } of hook.bodies) print(`  ${name}: ${String(reason)}: ${String(text)}`);
  print(`  ${name}: ${load.good} requests answered well, ${load.bad} not`);
  return verdict;
}

function startLoad({ tls }: RealDrill, { fleet }: Plan, { envoy }: DrillEnvoy): OpenLoad {
  if (tls !== null) return startTlsLoad(envoy.listenerPort, tls.connectionsPerS, tls.newShare);
  const perSecond = fleet.clusters.reduce((sum, { requestsPerS }) => sum + requestsPerS, 0);
  return startOpenLoad(envoy.listenerPort, perSecond, fleet.clusters.map(pathOf));
}

/** The built product with its shipped rules, on a data directory that already holds the past. */
async function startService(
  otlpGrpcPort: number,
  cleanup: (() => Promise<unknown>)[],
  fill: (dataDirectory: string) => Promise<void>,
): Promise<{ readonly service: LiveService; readonly hook: Hook }> {
  const hook = await startHook();
  cleanup.push(() => hook.close());
  const directory = new ServiceDirectory({ rules: {} });
  cleanup.push(async () => directory.remove());
  const listen = `{ http: 127.0.0.1:0, otlpHttp: 127.0.0.1:0, otlpGrpc: 127.0.0.1:${otlpGrpcPort} }`;
  const receiver = `{ name: oncall, type: webhook, url: "${hook.url}" }`;
  directory.write('slowburn.yaml', `listen: ${listen}\ndata: ./data\nreceivers: [${receiver}]\n`);
  await fill(`${directory.path}/data`);
  const service = await directory.start();
  cleanup.push(() => service.stop());
  return { service, hook };
}

/** Hosts are named by their addresses: the host that fails is the first of the first cluster. */
function namedHosts(expected: IncidentExpected, hosts: Stage['hosts']): IncidentExpected {
  const address = new RegExp(`\\b127\\.0\\.0\\.1:${hosts[0]?.[0]?.port}\\b`);
  const evidence = expected.evidence.map((one) => (one.what === 'the host' ? named(one.what, address) : one));
  // Judged while it lasts, or minutes later: nothing may be called over by then.
  return { ...expected, evidence, ends: 'lasting' };
}

/** Looks at the incidents until they are as expected and have stayed so, or it is too late. */
async function watchIt(
  drill: RealDrill,
  expected: IncidentExpected,
  { service, since, stage }: { readonly service: LiveService; readonly since: EpochMs; readonly stage: Stage },
): Promise<Verdict> {
  const watch = new IncidentWatch(service.url(''), since);
  await watch.look(epochMs(Date.now()));
  const faultAtMs = Date.now();
  print(`${drill.scenario.name}: fails now`);
  const failing = drill.fail(stage);
  for (;;) {
    await sleep(LOOK_MS);
    const now = epochMs(Date.now());
    await watch.look(now);
    const verdict = judge(watch.cases(), expected, expected, { faultAtMs, overAtMs: now + LOOK_MS });
    const { detectedAfterMs } = verdict;
    const since = now - faultAtMs;
    const isDone = detectedAfterMs !== null && since > detectedAfterMs + AFTERMATH_MS;
    if (!isDone && (detectedAfterMs !== null || since < expected.withinMs + PATIENCE_MS)) continue;
    await failing;
    return verdict;
  }
}
