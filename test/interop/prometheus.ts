import { setTimeout as sleep } from 'node:timers/promises';
import { FAST_TIERS, fastBurnDirectory, generatedRules } from '../support/fast-burn.ts';
import { incidentsOf, leftOpen, type Message, reasonsOf, toMessages } from '../support/incident-messages.ts';
import { eventually, type LiveService } from '../support/live-service.ts';
import { type Prometheus, startPrometheus } from '../support/prometheus.ts';
import { type RestartableHook, startRestartableHook } from '../support/restartable-hook.ts';
import { compareRows, print, type Row } from '../support/rows.ts';
import { type SteadyExporter, startExporter } from '../support/steady-exporter.ts';
import type { InteropOptions } from './run.ts';

const MINUTE_MS = 60_000;
const [CHECKOUT, SEARCH] = ['checkout', 'search'] as const;
/** Rules look once a minute at windows of up to three; then a tick, and the hold before the end. */
const NEWS_MS = 6 * MINUTE_MS;
/** The longest wait of a message that failed for long. */
const BACKOFF_MS = 6 * MINUTE_MS;
const DEAD_MS = 20_000;

interface Stage {
  readonly service: LiveService;
  readonly exporter: SteadyExporter;
  readonly prometheus: Prometheus;
  readonly hook: RestartableHook;
}

/**
 * A real Prometheus with the rules of `slowburn generate` takes the built service for its Alertmanager. Two clusters
 * fail one after the other; while on-call's receiver refuses connections, the second incident opens, Prometheus is
 * killed and comes back, and the first incident ends.
 */
export async function run({ downMs }: InteropOptions): Promise<boolean> {
  const cleanup: (() => Promise<unknown>)[] = [];
  try {
    const hook = await startRestartableHook();
    cleanup.push(() => hook.down());
    const directory = fastBurnDirectory(`${hook.url}/`);
    cleanup.push(async () => directory.remove());
    const ruleFile = await generatedRules(directory, 'prometheus');
    const service = await directory.start();
    cleanup.push(() => service.stop());
    const exporter = await startExporter([CHECKOUT, SEARCH], 20);
    cleanup.push(() => exporter.close());
    const alertmanager = `127.0.0.1:${service.ports.http}`;
    const options = { directory: directory.path, target: exporter.target, ruleFile, alertmanager };
    const prometheus = await startPrometheus(options);
    cleanup.push(() => prometheus.stop());
    print(`Prometheus ${prometheus.version}, the receiver down for ${downMs / MINUTE_MS} min`);
    return compareRows(await outage({ service, exporter, prometheus, hook }, downMs));
  } finally {
    for (const step of cleanup.reverse()) await step();
  }
}

async function outage({ service, exporter, prometheus, hook }: Stage, downMs: number): Promise<readonly Row[]> {
  const messages = (): readonly Message[] => toMessages(hook.bodies());
  const countOf = (reason: string, least: number) => async () =>
    messages().filter((message) => message.reason === reason).length >= least || null;
  await sleep(2 * MINUTE_MS);
  const healthy = (await incidentsOf(service)).length;
  exporter.setErrors(CHECKOUT, 0.5);
  await eventually('the first message', NEWS_MS, countOf('opened', 1));
  print('one cluster fails: told');

  await hook.down();
  const upAt = Date.now() + downMs;
  exporter.setErrors(SEARCH, 0.5);
  await eventually('the second incident', NEWS_MS, async () => (await burns(service)).length === 2 || null);
  await prometheus.stop('SIGKILL');
  const errorsBefore = await failedSends(service);
  await sleep(DEAD_MS);
  await prometheus.start();
  exporter.setErrors(CHECKOUT, 0);
  const firstIsOver = async () => (await burns(service))[0]?.state === 'resolved' || null;
  await eventually('the end of the first incident', NEWS_MS, firstIsOver);
  print('the receiver is down; the other cluster fails, Prometheus was killed and is back, the first has recovered');
  await sleep(Math.max(0, upAt - Date.now()));
  const whileDown = messages().length;
  await hook.up();
  await eventually('what waited', BACKOFF_MS, async () =>
    leftOpen(messages().filter(isBurn(await burns(service)))) === 1 && messages().length >= whileDown + 2 ? true : null,
  );
  print('the receiver is back: what waited has come');
  exporter.setErrors(SEARCH, 0);
  await eventually('the end of all', NEWS_MS + BACKOFF_MS, async () =>
    (await incidentsOf(service)).every(({ state }) => state === 'resolved') && leftOpen(messages()) === 0 ? true : null,
  );
  return [
    { what: 'incidents while all is well', expected: 0, found: healthy },
    { what: 'messages while the receiver was down, after the first', expected: 1, found: whileDown },
    { what: 'tries that failed meanwhile, some', expected: 'yes', found: errorsBefore > 0 ? 'yes' : 'no' },
    ...(await rowsOf(service, messages())),
    { what: 'errors of Prometheus at telling us', expected: 0, found: await sum(prometheus, 'errors') },
    { what: 'alerts that Prometheus dropped', expected: 0, found: await sum(prometheus, 'dropped') },
  ];
}

const burns = async (service: LiveService) =>
  (await incidentsOf(service)).filter(({ lead }) => lead.name === 'ErrorBudgetBurn');

const isBurn =
  (incidents: readonly { readonly id: number }[]) =>
  ({ incident }: Message): boolean =>
    incidents.some(({ id }) => id === incident.id);

const sum = (prometheus: Prometheus, what: string): Promise<number> =>
  prometheus.figure(`prometheus_notifications_${what}_total`);

async function failedSends(service: LiveService): Promise<number> {
  const sends = (await incidentsOf(service)).flatMap((incident) => incident.sends);
  return sends.filter(({ lastError }) => lastError !== null).length;
}

/** The two incidents, and that whatever else was told (the receiver's own failure) was closed too. */
async function rowsOf(service: LiveService, messages: readonly Message[]): Promise<readonly Row[]> {
  const incidents = await burns(service);
  const ids = messages.map(({ eventId }) => eventId);
  return [
    { what: 'incidents of burning budgets', expected: 2, found: incidents.length },
    ...incidents.flatMap(({ id, episode, members, lead }, index) => [
      {
        what: `incident ${id}: cluster`,
        expected: [CHECKOUT, SEARCH][index] ?? '',
        found: lead.matchedLabels['cluster'] ?? '',
      },
      { what: `incident ${id}: alerts`, expected: FAST_TIERS, found: members.length },
      { what: `incident ${id}: episodes`, expected: 1, found: episode },
      { what: `incident ${id}: messages`, expected: 'opened resolved', found: reasonsOf(messages, id) },
    ]),
    { what: 'messages that came twice', expected: 0, found: ids.length - new Set(ids).size },
    { what: 'left open at the receiver', expected: 0, found: leftOpen(messages) },
    { what: 'left open here', expected: 0, found: (await incidentsOf(service)).filter(isOpen).length },
  ];
}

const isOpen = ({ state }: { readonly state: string }): boolean => state !== 'resolved';
