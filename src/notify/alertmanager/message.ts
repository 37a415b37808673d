import { formatInstant } from '../../base/instant.ts';
import type { Alert, Severity } from '../../model/alert.ts';
import { leadAlert, type Notification } from '../../model/incident.ts';
import { durationText } from '../../model/phrases.ts';
import { isClosing } from '../effect.ts';
import type { MessageContext } from '../notifier.ts';
import { cut, mostUrgentBurn, partsOf, textOf } from '../text.ts';

const ANNOTATION_MAX = 4000;

export type PlainLabels = Readonly<Record<string, string>>;

/** An alert as POST /api/v2/alerts takes it; `endsAt` is filled in when it is sent while it fires. */
export interface PostableAlert {
  readonly labels: PlainLabels;
  readonly annotations: PlainLabels;
  readonly startsAt: string;
  readonly endsAt: string | null;
  readonly generatorURL: string;
}

/** What one message makes of an incident: an Alertmanager groups and routes it as one alert. */
export interface AlertmanagerPayload {
  readonly at: string;
  readonly alert: PostableAlert;
}

export function toAlertmanagerMessage(notification: Notification, context: MessageContext): string {
  const { incident, severity, at, reason } = notification;
  const payload: AlertmanagerPayload = {
    at: formatInstant(at),
    alert: {
      labels: alertLabels(leadAlert(incident), severity, incident),
      annotations: annotationsOf(notification, context),
      startsAt: formatInstant(incident.episodeAt),
      endsAt: isClosing(reason) ? formatInstant(at) : null,
      generatorURL: context.links.incident,
    },
  };
  return JSON.stringify(payload);
}

export function annotationsOf(notification: Notification, context: MessageContext): PlainLabels {
  const { headline, step } = partsOf(notification, context);
  const burn = mostUrgentBurn(notification.incident)?.burn;
  const until = isClosing(notification.reason) ? null : (burn?.exhaustion.until ?? null);
  return {
    summary: cut(headline, ANNOTATION_MAX),
    description: cut(textOf(notification, context), ANNOTATION_MAX),
    ...(step === null ? {} : { first_step: step }),
    ...(until === null ? {} : { exhausted_in: durationText(until) }),
    runbook_url: context.links.runbook,
    dashboard_url: context.links.dashboard,
  };
}

/**
 * Labels of an alert inside an incident, in Prometheus' alphabet. Incident and episode are among them, so that another
 * life of the same incident is another alert.
 */
export function alertLabels(
  alert: Alert,
  severity: Severity,
  { id, episode }: { readonly id: number; readonly episode: number },
): PlainLabels {
  const { service } = alert.place;
  const labels = new Map<string, string>();
  for (const [name, value] of alert.labels) if (value !== '') labels.set(prometheusName(name), value);
  if (service !== undefined && !labels.has('service')) labels.set('service', service);
  labels.set('owner', alert.owner);
  labels.set('alertname', alert.name);
  labels.set('severity', severity);
  labels.set('incident', String(id));
  labels.set('episode', String(episode));
  return Object.fromEntries([...labels].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const prometheusName = (name: string): string => name.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?=[0-9])/, '_');

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;
const SEPARATOR = 0xff;

/**
 * The fingerprint that Prometheus and Alertmanager give a label set: 64-bit FNV-1a over names and values in order of
 * the names, each followed by a byte 255.
 */
export function fingerprint(labels: PlainLabels): string {
  const encoder = new TextEncoder();
  let hash = FNV_OFFSET;
  const add = (byte: number): void => {
    hash = ((hash ^ BigInt(byte)) * FNV_PRIME) & 0xffffffffffffffffn;
  };
  for (const [name, value] of Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const text of [name, value]) {
      for (const byte of encoder.encode(text)) add(byte);
      add(SEPARATOR);
    }
  }
  return hash.toString(16).padStart(16, '0');
}
