import { setTimeout as sleep } from 'node:timers/promises';
import { type AlertSender, createAlertSender } from '../support/alert-sender.ts';
import { type Alertmanager, amtool, amtoolJson, startAlertmanager } from '../support/alertmanager.ts';
import { incidentsOf, leftOpen, reasonsOf, toMessages } from '../support/incident-messages.ts';
import { eventually, type LiveService, ServiceDirectory } from '../support/live-service.ts';
import { type Body, type RestartableHook, startRestartableHook } from '../support/restartable-hook.ts';
import { compareRows, print, type Row } from '../support/rows.ts';
import type { InteropOptions } from './run.ts';

const MINUTE_MS = 60_000;
/** A tick, the hold before the end, and a group of the Alertmanager. */
const NEWS_MS = 2 * MINUTE_MS;
const BACKOFF_MS = 6 * MINUTE_MS;
/** An alert that we send ends by itself four minutes after the last time. */
const BEYOND_TIMEOUT_MS = 5.5 * MINUTE_MS;
const QUIET_MS = 30_000;
/** Where messages go: the Alertmanager's, ours in its form, and our own form. */
const [THEIRS, OURS, PLAIN] = ['/theirs', '/ours', '/plain'] as const;
/** Named by later Alertmanagers only. */
const NEWER_FIELDS = ['notification_reason'];

interface Stage {
  readonly service: LiveService;
  readonly alertmanager: Alertmanager;
  readonly sender: AlertSender;
  readonly hook: RestartableHook;
  readonly url: string;
}

/** An alert as Alertmanager's API lists it. */
interface Listed {
  readonly labels: Readonly<Record<string, string>>;
  readonly status: { readonly state: string; readonly silencedBy: readonly string[] };
}

/**
 * A real Alertmanager hears of the incidents of the built service and passes them on to a webhook; amtool, real as
 * well, looks at the service and silences there. The Alertmanager is away while one incident opens and another ends.
 */
export async function run({ downMs }: InteropOptions): Promise<boolean> {
  const cleanup: (() => Promise<unknown>)[] = [];
  try {
    const hook = await startRestartableHook();
    cleanup.push(() => hook.down());
    const directory = new ServiceDirectory({ rules: {} });
    cleanup.push(async () => directory.remove());
    const options = { directory: directory.path, hookUrl: `${hook.url}${THEIRS}`, resolveTimeout: '1m' };
    const alertmanager = await startAlertmanager(options);
    cleanup.push(() => alertmanager.stop());
    directory.write('rules/correlation.yaml', 'settings: { resolveHold: 20s }\n');
    directory.write('rules/routes.yaml', routesTo(alertmanager.url, hook.url));
    const service = await directory.start();
    cleanup.push(() => service.stop());
    const url = service.url('');
    const sender = createAlertSender(url);
    cleanup.push(async () => sender.close());
    print(`Alertmanager ${alertmanager.version}, away for ${downMs / MINUTE_MS} min`);
    const stage = { service, alertmanager, sender, hook, url };
    const seenByAmtool = await silences(stage);
    return compareRows([...seenByAmtool, ...(await incidents(stage, downMs))]);
  } finally {
    for (const step of cleanup.reverse()) await step();
  }
}

const routesTo = (alertmanager: string, hook: string): string => `receivers:
  - { name: am, type: alertmanager, url: "${alertmanager}" }
  - { name: am-hook, type: alertmanager-webhook, url: "${hook}${OURS}" }
  - { name: hook, type: webhook, url: "${hook}${PLAIN}" }
routes: [{ receiver: am }, { receiver: am-hook }, { receiver: hook }]
`;

/** amtool at the service: alerts are added and listed; a silence mutes a page, is listed and changed, and ends. */
async function silences({ service, sender, hook, url }: Stage): Promise<readonly Row[]> {
  const plain = () => toMessages(hook.bodies(PLAIN));
  const list = async (...args: readonly string[]): Promise<string> => {
    const alerts = await amtoolJson<readonly Listed[]>(url, 'alert', 'query', ...args);
    return alerts.map(({ labels, status }) => `${labels['alertname']} ${status.state}`).join(', ');
  };
  const silenceIds = async (...args: readonly string[]): Promise<string> =>
    (await amtoolJson<readonly { readonly id: string }[]>(url, 'silence', 'query', ...args)).map(({ id }) => id).join();
  const silence = ['alertname=Muted', 'cluster=search', '--duration=1h', '--author=ada', '--comment=planned'];
  const id = await amtool(url, 'silence', 'add', ...silence);
  const rows: Row[] = [{ what: 'amtool silence query', expected: id, found: await silenceIds() }];
  rows.push({ what: 'the same by a matcher', expected: id, found: await silenceIds('cluster=search') });
  rows.push({ what: 'the same by another', expected: '', found: await silenceIds('cluster=other') });

  await sender.fire('Muted', 'search');
  await eventually('the incident', NEWS_MS, async () => (await incidentsOf(service)).length === 1 || null);
  await sleep(QUIET_MS);
  rows.push({ what: 'messages under the silence', expected: 0, found: plain().length });
  rows.push({ what: 'amtool alert query', expected: '', found: await list() });
  rows.push({ what: 'amtool alert query --silenced', expected: 'Muted suppressed', found: await list('--silenced') });
  const updated = await amtoolJson<readonly { readonly id: string }[]>(url, 'silence', 'update', '--duration=2h', id);
  rows.push({ what: 'amtool silence update keeps the id', expected: id, found: updated.map((one) => one.id).join() });

  await amtool(url, 'silence', 'expire', id);
  await eventually('the message', NEWS_MS, async () => plain().length > 0 || null);
  rows.push({ what: 'amtool silence query, expired', expected: '', found: await silenceIds() });
  rows.push({ what: 'amtool silence query --expired', expected: id, found: await silenceIds('--expired') });
  rows.push({ what: 'amtool alert query, expired', expected: 'Muted active', found: await list() });
  const added = ['alertname=Added', 'cluster=added', 'severity=page', `--end=${inMs(20_000)}`];
  await amtool(url, 'alert', 'add', ...added);
  await eventually('the alert of amtool', NEWS_MS, async () => (await list()).includes('Added') || null);
  rows.push({ what: 'amtool alert add, query', expected: 'Added active', found: await list('alertname=Added') });
  const shown = (await amtool(url, 'config', 'show')).includes('slowburn');
  rows.push({ what: 'amtool config show', expected: 'yes', found: shown ? 'yes' : 'no' });
  await sender.end('Muted');
  await eventually('both ends', 2 * NEWS_MS, async () => (leftOpen(plain()) === 0 && plain().length >= 4) || null);
  rows.push({ what: 'messages once it expired', expected: 'unmuted resolved', found: reasonsOf(plain(), 1) });
  rows.push({ what: 'messages of the alert added', expected: 'opened resolved', found: reasonsOf(plain(), 2) });
  print('amtool has added, listed, silenced and expired');
  return rows;
}

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** Four incidents: one over all, one that ends while the Alertmanager is away, one that opens then, one within. */
async function incidents({ service, alertmanager, sender, hook, url }: Stage, downMs: number): Promise<readonly Row[]> {
  const told = (name: string): string => statusesOf(hook.bodies(THEIRS), name);
  const saying = (name: string, statuses: string) => async () => told(name) === statuses || null;
  await sender.fire('Steady', 'one');
  await sender.fire('Ends', 'two');
  await eventually(
    'both at the Alertmanager',
    NEWS_MS,
    async () => (told('Steady') !== '' && told('Ends') !== '') || null,
  );
  print('two incidents are open');
  await sleep(BEYOND_TIMEOUT_MS);
  const beyond = await activeAt(alertmanager);

  await alertmanager.stop();
  const upAt = Date.now() + downMs;
  await sender.end('Ends');
  await sender.fire('Opens', 'three');
  await sender.fire('Within', 'four');
  await eventually('the incidents', NEWS_MS, async () => (await incidentsOf(service)).length === 6 || null);
  await sleep(MINUTE_MS);
  await sender.end('Within');
  print('the Alertmanager is away: one incident ends, one opens, one does both');
  await sleep(Math.max(0, upAt - Date.now()));
  await alertmanager.start();
  await eventually('the incident that opened', BACKOFF_MS, saying('Opens', 'firing'));
  await eventually('the end of the one that ended', BACKOFF_MS, saying('Ends', 'firing resolved'));
  await sleep(NEWS_MS);
  const back = await activeAt(alertmanager);
  print('the Alertmanager is back');
  await sender.end('Steady');
  await sender.end('Opens');
  await eventually('the last ends', NEWS_MS, saying('Opens', 'firing resolved'));
  await eventually('the last ends', NEWS_MS, saying('Steady', 'firing resolved'));
  await sleep(QUIET_MS);
  const open = (await incidentsOf(service)).filter(({ state }) => state !== 'resolved').length;
  return [
    { what: 'active at the Alertmanager beyond all time-outs', expected: 'Ends, Steady', found: beyond },
    { what: 'active once it was away and is back', expected: 'Opens, Steady', found: back },
    ...['Steady', 'Ends', 'Opens'].map((name) => ({
      what: `messages of the Alertmanager: ${name}`,
      expected: 'firing resolved',
      found: told(name),
    })),
    { what: 'Within is left firing', expected: 'no', found: told('Within').endsWith('firing') ? 'yes' : 'no' },
    { what: 'active at the end', expected: '', found: await activeAt(alertmanager) },
    { what: 'open here at the end', expected: 0, found: open },
    { what: 'amtool alert query here at the end', expected: '[]', found: await amtool(url, '-o', 'json', 'alert') },
    ...formRows(hook),
  ];
}

async function activeAt({ url }: Alertmanager): Promise<string> {
  const alerts = await amtoolJson<readonly Listed[]>(url, 'alert', 'query');
  return alerts
    .map(({ labels }) => labels['alertname'] ?? '')
    .sort()
    .join(', ');
}

const alertsOf = (body: Body) => body['alerts'] as readonly (Body & { readonly labels: Listed['labels'] })[];

const statusesOf = (bodies: readonly Body[], name: string): string =>
  bodies
    .filter((body) => alertsOf(body).some(({ labels }) => labels['alertname'] === name))
    .map(({ status }) => String(status))
    .join(' ');

/** The fields of one message of theirs beside one of ours about the same incident, opening and end. */
function formRows(hook: RestartableHook): readonly Row[] {
  return ['firing', 'resolved'].flatMap((status) => {
    const [theirs, ours] = [THEIRS, OURS].map((path) => hook.bodies(path).find((body) => isSteady(body, status)) ?? {});
    return [
      { what: `fields of a webhook, ${status}`, expected: fieldsOf(theirs ?? {}), found: fieldsOf(ours ?? {}) },
      { what: `fields of its alert, ${status}`, expected: alertFieldsOf(theirs), found: alertFieldsOf(ours) },
      {
        what: `its fingerprint, ${status}`,
        expected: textOf(theirs, 'fingerprint'),
        found: textOf(ours, 'fingerprint'),
      },
      { what: `its labels, ${status}`, expected: textOf(theirs, 'labels'), found: textOf(ours, 'labels') },
    ];
  });
}

const isSteady = (body: Body, status: string): boolean =>
  body['status'] === status && alertsOf(body).some(({ labels }) => labels['alertname'] === 'Steady');

const alertFieldsOf = (body: Body = {}): string => fieldsOf(alertsOf(body)[0] ?? {});
const textOf = (body: Body = {}, field: string): string => JSON.stringify(alertsOf(body)[0]?.[field]);

/** Names and kinds, by name; a time that is none is told from one. */
const fieldsOf = (body: Body): string =>
  Object.entries(body)
    .filter(([name]) => !NEWER_FIELDS.includes(name))
    .map(([name, value]) => `${name}:${kindOf(value)}`)
    .sort()
    .join(' ');

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (value === '0001-01-01T00:00:00Z') return 'never';
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(value)) return 'time';
  return typeof value;
}
