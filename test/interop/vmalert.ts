import { setTimeout as sleep } from 'node:timers/promises';
import { FAST_TIERS, fastBurnDirectory, generatedRules } from '../support/fast-burn.ts';
import { incidentsOf, leftOpen, type Message, reasonsOf, toMessages } from '../support/incident-messages.ts';
import { eventually, type LiveService } from '../support/live-service.ts';
import { type RestartableHook, startRestartableHook } from '../support/restartable-hook.ts';
import { compareRows, print, type Row } from '../support/rows.ts';
import { type SteadyExporter, startExporter } from '../support/steady-exporter.ts';
import { startVictoriaMetrics, startVmalert, type Vmalert } from '../support/victoria.ts';
import type { InteropOptions } from './run.ts';

const MINUTE_MS = 60_000;
const CLUSTER = 'checkout';
const REPLICAS = ['a', 'b'] as const;
/** Rules look once a minute at windows of up to three, at what is half a minute old; then a tick, and the hold. */
const NEWS_MS = 7 * MINUTE_MS;
/** Where an Alertmanager is told of alerts. */
const ALERTS = '/api/v2/alerts';

interface Stage {
  readonly service: LiveService;
  readonly exporter: SteadyExporter;
  readonly pair: readonly Vmalert[];
  readonly hook: RestartableHook;
  readonly tap: RestartableHook;
}

/**
 * Two real vmalerts on one VictoriaMetrics evaluate the rules of `slowburn generate --engine victoriametrics` and both
 * tell the built service, each with a label `replica` of its own. One of them is killed while the alerts fire, is away
 * for longer than its alerts count without news, and comes back; later the other is killed too.
 */
export async function run({ downMs }: InteropOptions): Promise<boolean> {
  const cleanup: (() => Promise<unknown>)[] = [];
  try {
    const [hook, tap] = [await startRestartableHook(), await startRestartableHook()];
    cleanup.push(
      () => hook.down(),
      () => tap.down(),
    );
    const directory = fastBurnDirectory(`${hook.url}/`);
    cleanup.push(async () => directory.remove());
    const ruleFile = await generatedRules(directory, 'victoriametrics');
    const service = await directory.start();
    cleanup.push(() => service.stop());
    const exporter = await startExporter([CLUSTER], 20);
    cleanup.push(() => exporter.close());
    const victoria = await startVictoriaMetrics(directory.path, exporter.target);
    cleanup.push(() => victoria.stop());
    const pair: Vmalert[] = [];
    for (const replica of REPLICAS) {
      const alertmanagers = [`127.0.0.1:${service.ports.http}`, `127.0.0.1:${tap.port}`];
      const options = { directory: directory.path, victoria: victoria.url, ruleFile, alertmanagers, replica };
      const vmalert = await startVmalert(options);
      pair.push(vmalert);
      cleanup.push(() => vmalert.stop());
    }
    print(`two vmalerts on one VictoriaMetrics, one of them away for ${downMs / MINUTE_MS} min`);
    return compareRows(await outage({ service, exporter, pair, hook, tap }, downMs));
  } finally {
    for (const step of cleanup.reverse()) await step();
  }
}

async function outage({ service, exporter, pair, hook, tap }: Stage, downMs: number): Promise<readonly Row[]> {
  const messages = (): readonly Message[] => toMessages(hook.bodies());
  const [first, second] = pair;
  await sleep(3 * MINUTE_MS);
  const healthy = (await incidentsOf(service)).length;
  exporter.setErrors(CLUSTER, 0.5);
  await eventually('the first message', NEWS_MS, async () => messages().length > 0 || null);
  await eventually('news of both', NEWS_MS, async () => replicasAt(tap) === REPLICAS.join(' ') || null);
  print('told by both');
  await first?.stop('SIGKILL');
  await sleep(downMs);
  const whileAway = summaryOf(await incidentsOf(service));
  await first?.start();
  print('the first was killed, and is back');
  await sleep(2 * MINUTE_MS);
  await second?.stop('SIGKILL');
  exporter.setErrors(CLUSTER, 0);
  await eventually('the end', 2 * NEWS_MS, async () => messages().some(({ reason }) => reason === 'resolved') || null);
  // The other finds its alerts of before, and that they are over.
  await second?.start();
  await sleep(2 * MINUTE_MS);
  const incidents = await incidentsOf(service);
  const ids = messages().map(({ eventId }) => eventId);
  return [
    { what: 'incidents while all is well', expected: 0, found: healthy },
    { what: 'replicas that told of alerts', expected: REPLICAS.join(' '), found: replicasAt(tap) },
    { what: 'while one is away', expected: `open, ${FAST_TIERS} alerts, episode 1`, found: whileAway },
    { what: 'at the end', expected: `resolved, ${FAST_TIERS} alerts, episode 1`, found: summaryOf(incidents) },
    { what: 'messages', expected: 'opened resolved', found: reasonsOf(messages(), incidents[0]?.id ?? 0) },
    { what: 'messages in all', expected: 2, found: messages().length },
    { what: 'messages that came twice', expected: 0, found: ids.length - new Set(ids).size },
    { what: 'left open at the receiver', expected: 0, found: leftOpen(messages()) },
  ];
}

const summaryOf = (incidents: Awaited<ReturnType<typeof incidentsOf>>): string =>
  incidents.map(({ state, members, episode }) => `${state}, ${members.length} alerts, episode ${episode}`).join('; ');

/** Values of the label `replica` in what the vmalerts told a second Alertmanager, which keeps all. */
function replicasAt(tap: RestartableHook): string {
  const alerts = tap.bodies(ALERTS) as unknown as readonly { readonly labels: Readonly<Record<string, string>> }[][];
  return [...new Set(alerts.flat().map(({ labels }) => labels['replica'] ?? 'none'))].sort().join(' ');
}
