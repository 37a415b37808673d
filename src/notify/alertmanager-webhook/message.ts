import { formatInstant } from '../../base/instant.ts';
import type { EpochMs } from '../../base/units.ts';
import type { IncidentMember, Notification, NotificationReason } from '../../model/incident.ts';
import { alertLabels, annotationsOf, fingerprint, type PlainLabels } from '../alertmanager/message.ts';
import { isClosing } from '../effect.ts';
import type { MessageContext } from '../notifier.ts';
import { cut } from '../text.ts';

/** Receivers of such bodies commonly take 1 MB, so fewer alerts are listed where that would be passed. */
const BYTES_MAX = 1_000_000;
const ALERTS_MAX = 100;
/** As Alertmanager writes a time that is not there. */
const NEVER = '0001-01-01T00:00:00Z';

/** Alertmanager's own words for why it sends. */
const REASONS: Readonly<Record<NotificationReason | 'merged', string>> = {
  opened: 'first notification',
  escalated: 'new alerts added',
  new_failure_domain: 'new alerts added',
  still_burning: 'repeat interval elapsed',
  ack_lapsed: 'repeat interval elapsed',
  unmuted: 'repeat interval elapsed',
  deescalated: 'some alerts resolved',
  resolved: 'all alerts resolved',
  merged: 'all alerts resolved',
};

/** The body of Alertmanager's webhook, version 4: the incident is the group, its alerts are the alerts. */
export function toAlertmanagerWebhookMessage(
  notification: Notification,
  context: MessageContext,
  receiver: string,
): string {
  const { incident, severity, reason, at } = notification;
  const closes = isClosing(reason);
  const group = { incident: String(incident.id), episode: String(incident.episode) };
  const members = [...incident.members].sort((a, b) => Number(a.state === 'resolved') - Number(b.state === 'resolved'));
  const annotations = annotationsOf(notification, context);
  const all = members.slice(0, ALERTS_MAX).map((member) => {
    const labels = alertLabels(member.alert, member.alert.severity, incident);
    const endedAt = endOf(member, closes, at);
    return {
      status: endedAt === null ? 'firing' : 'resolved',
      labels,
      annotations: { summary: cut(member.alert.summary, 2000), reason: cut(member.reason, 2000) },
      startsAt: formatInstant(member.alert.since),
      endsAt: endedAt === null ? NEVER : formatInstant(endedAt),
      generatorURL: context.links.incident,
      fingerprint: fingerprint(labels),
    };
  });
  const body = (alerts: readonly (typeof all)[number][]): string =>
    JSON.stringify({
      version: '4',
      groupKey: `{}:{episode="${group.episode}", incident="${group.incident}"}`,
      truncatedAlerts: incident.members.length - alerts.length,
      status: closes ? 'resolved' : 'firing',
      receiver,
      groupLabels: group,
      commonLabels: { ...common(alerts.map(({ labels }) => labels)), severity },
      commonAnnotations: annotations,
      externalURL: context.links.incident.replace(/\/incidents\/[^/]*$/, ''),
      notification_reason: REASONS[reason],
      alerts,
    });
  let shown = all;
  let text = body(shown);
  while (byteLength(text) > BYTES_MAX && shown.length > 1) {
    shown = shown.slice(0, Math.floor(shown.length / 2));
    text = body(shown);
  }
  return text;
}

/** When an alert ended as far as the receiver is concerned: with a closing message nothing fires there any more. */
function endOf({ state, resolvedAt }: IncidentMember, closes: boolean, at: EpochMs): EpochMs | null {
  if (state === 'resolved') return resolvedAt ?? at;
  return closes ? at : null;
}

function common(sets: readonly PlainLabels[]): PlainLabels {
  const [first, ...rest] = sets;
  return Object.fromEntries(
    Object.entries(first ?? {}).filter(([name, value]) => rest.every((labels) => labels[name] === value)),
  );
}

const byteLength = (text: string): number => new TextEncoder().encode(text).length;
