import { DAY } from '../base/units.ts';
import type { PageBudget, Receiver, SlackAccess } from '../model/receiver.ts';
import type { Report } from './report.ts';
import { resolveDuration } from './resolve-window.ts';
import { booleanOf, child, entries, items, numberOf, type SourceNode, textOf } from './source.ts';
import { reportDuplicates } from './validate.ts';

const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';
const SLACK_URL = 'https://slack.com/api';

type Type = Receiver['type'];

/** Keys of each type beside name, type and sendResolved; those that it cannot do without come first. */
const KEYS: Readonly<Record<Type, { readonly needs: readonly string[]; readonly takes: readonly string[] }>> = {
  webhook: { needs: ['url'], takes: ['secret', 'pageBudget'] },
  'alertmanager-webhook': { needs: ['url'], takes: ['secret'] },
  alertmanager: { needs: ['url'], takes: [] },
  pagerduty: { needs: ['routingKey'], takes: ['url', 'pageBudget'] },
  slack: { needs: [], takes: ['url', 'token', 'channel', 'pageBudget'] },
  email: { needs: ['host', 'from', 'to'], takes: ['tls', 'user', 'password', 'pageBudget'] },
};
const COMMON = ['name', 'type', 'sendResolved'];

/**
 * The receivers under `receivers` of a file that has passed its schema. Names must differ. `offline` does not ask for
 * sound URLs and addresses: their secrets were not read.
 */
export function resolveReceivers(root: SourceNode, report: Report, offline = false): readonly Receiver[] {
  const nodes = items(child(root, 'receivers'));
  reportDuplicates(
    nodes.map((node) => ({ name: textOf(child(node, 'name')) ?? '', at: child(node, 'name')?.at ?? node.at })),
    'receiver',
    report,
  );
  return nodes.map((node) => {
    const type = textOf(child(node, 'type')) as Type;
    checkKeys(node, type, report);
    if (!offline) checkValues(node, report);
    return toReceiver(node, type, report);
  });
}

function checkKeys(node: SourceNode, type: Type, report: Report): void {
  const { needs, takes } = KEYS[type];
  for (const key of needs) if (child(node, key) === undefined) reportMissing(node, type, key, report);
  for (const [key, { keyAt }] of entries(node)) {
    if ([...COMMON, ...needs, ...takes].includes(key)) continue;
    report.error(keyAt, {
      code: 'CONFIG_RECEIVER_KEY',
      message: `a receiver of type ${type} has no ${key}`,
      fix: `remove it; ${type} takes ${[...needs, ...takes, 'sendResolved'].join(', ')}`,
    });
  }
  if (type === 'slack') checkSlack(node, report);
  if (type === 'email' && (child(node, 'user') === undefined) !== (child(node, 'password') === undefined)) {
    reportMissing(node, type, child(node, 'user') === undefined ? 'user' : 'password', report);
  }
}

function checkSlack(node: SourceNode, report: Report): void {
  const hasBot = child(node, 'token') !== undefined || child(node, 'channel') !== undefined;
  if (!hasBot && child(node, 'url') === undefined) {
    report.error(node.at, {
      code: 'CONFIG_KEY_MISSING',
      message: 'a receiver of type slack has neither a token nor a url',
      fix: 'add token and channel of a bot, or the url of an incoming webhook',
    });
  }
  if (!hasBot) return;
  for (const key of ['token', 'channel']) if (child(node, key) === undefined) reportMissing(node, 'slack', key, report);
}

function reportMissing(node: SourceNode, type: Type, key: string, report: Report): void {
  report.error(node.at, {
    code: 'CONFIG_KEY_MISSING',
    message: `a receiver of type ${type} lacks ${key}`,
    fix: `add ${key}`,
  });
}

function checkValues(node: SourceNode, report: Report): void {
  const url = child(node, 'url');
  if (url !== undefined && !isHttpUrl(textOf(url) ?? '')) {
    report.error(url.at, {
      code: 'CONFIG_URL_INVALID',
      message: 'the url of a receiver is not an absolute http or https URL',
      fix: 'write for example http://127.0.0.1:9000/hook',
    });
  }
  const host = child(node, 'host');
  if (host !== undefined && readHost(textOf(host) ?? '') === null) {
    report.error(host.at, {
      code: 'CONFIG_ADDRESS_INVALID',
      message: `${JSON.stringify(textOf(host) ?? '')} is no host:port`,
      fix: 'write for example mail.example.com:587',
    });
  }
  for (const address of [child(node, 'from'), ...items(child(node, 'to'))]) {
    if (address === undefined || ADDRESS.test(textOf(address) ?? '')) continue;
    report.error(address.at, {
      code: 'CONFIG_ADDRESS_INVALID',
      message: `${JSON.stringify(textOf(address) ?? '')} is no address`,
      fix: 'write oncall@example.com or "slowburn <slowburn@example.com>"',
    });
  }
}

const ADDRESS = /^(?:[^<>\r\n]*<[^\s@<>,;]+@[^\s@<>,;]+>|[^\s@<>,;]+@[^\s@<>,;]+)$/;

function readHost(text: string): { readonly host: string; readonly port: number } | null {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[^\s:/@[\]]+):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2] ?? 0);
  if (match === null || port < 1 || port > 65_535) return null;
  return { host: (match[1] ?? '').replace(/^\[|\]$/g, ''), port };
}

function toReceiver(node: SourceNode, type: Type, report: Report): Receiver {
  const text = (key: string): string => textOf(child(node, key)) ?? '';
  const budget = resolveBudget(child(node, 'pageBudget'), report);
  const base = {
    name: text('name'),
    sendResolved: booleanOf(child(node, 'sendResolved')) ?? true,
    ...(budget === null ? {} : { pageBudget: budget }),
  };
  const url = text('url').replace(/\/+$/, '');
  switch (type) {
    case 'webhook':
    case 'alertmanager-webhook':
      return { ...base, type, url: text('url'), secret: textOf(child(node, 'secret')) ?? null };
    case 'alertmanager':
      return { ...base, type, url: url.replace(/\/api\/v2(\/alerts)?$/, '') };
    case 'pagerduty':
      return { ...base, type, url: url === '' ? PAGERDUTY_URL : url, routingKey: text('routingKey') };
    case 'slack':
      return { ...base, type, access: slackAccess(text, url) };
    case 'email': {
      const { host, port } = readHost(text('host')) ?? { host: '', port: 0 };
      const login = text('user') === '' ? null : { user: text('user'), password: text('password') };
      const tls = text('tls') === '' ? 'starttls' : (text('tls') as 'starttls' | 'implicit' | 'none');
      const to = items(child(node, 'to')).map((item) => textOf(item) ?? '');
      return { ...base, type, host, port, tls, login, from: text('from'), to };
    }
  }
}

/** With a token, url is that of Slack's API (a proxy, a test); without, that of an incoming webhook. */
function slackAccess(text: (key: string) => string, url: string): SlackAccess {
  if (text('token') === '' && text('channel') === '') return { kind: 'incoming_webhook', url };
  return { kind: 'bot', apiUrl: url === '' ? SLACK_URL : url, token: text('token'), channel: text('channel') };
}

function resolveBudget(node: SourceNode | undefined, report: Report): PageBudget | null {
  if (node === undefined) return null;
  const per = resolveDuration(child(node, 'per'), 'per', report);
  if (per === undefined) return null;
  if (per > DAY || per < 1000) {
    report.error((child(node, 'per') ?? node).at, {
      code: 'CONFIG_DURATION_INVALID',
      message: 'a page budget is for at least a second and at most a day',
      fix: 'write for example 15m',
    });
  }
  return { pages: numberOf(child(node, 'pages')) ?? 1, per };
}

/** An absolute http or https URL with a host and, if any, a port in range. */
export function isHttpUrl(text: string): boolean {
  const match = /^https?:\/\/(?:[^\s/?#@]*@)?(?:\[[0-9A-Fa-f:.]+\]|[^\s/?#@:[\]]+)(?::(\d{1,5}))?(?:[/?#]\S*)?$/.exec(
    text,
  );
  return match !== null && Number(match[1] ?? '1') <= 65_535;
}
