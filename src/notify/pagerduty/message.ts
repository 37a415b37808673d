import { formatInstant } from '../../base/instant.ts';
import { leadAlert, type Notification } from '../../model/incident.ts';
import { labelsToObject } from '../../model/labels.ts';
import { isClosing } from '../effect.ts';
import type { MessageContext, Thread } from '../notifier.ts';
import { bundleHeadline, cut, mostUrgentBurn, partsOf, textOf } from '../text.ts';

/** Limits of the Events API v2. */
const SUMMARY_MAX = 1024;
const DETAIL_MAX = 4000;
const ALERTS_MAX = 50;
const BUNDLE_MAX = 100;
const URGENT_MS = 48 * 3_600_000;

export type PagerdutySeverity = 'critical' | 'error' | 'warning';

/** One request of the Events API v2, without the routing key: that is added when it is sent. */
export type PagerdutyEvent =
  | {
      readonly event_action: 'trigger';
      readonly dedup_key: string;
      readonly client: string;
      readonly client_url: string;
      readonly links: readonly { readonly href: string; readonly text: string }[];
      readonly payload: {
        readonly summary: string;
        readonly source: string;
        readonly severity: PagerdutySeverity;
        readonly timestamp: string;
        readonly component?: string;
        readonly group?: string;
        readonly class: string;
        readonly custom_details: Readonly<Record<string, unknown>>;
      };
    }
  | { readonly event_action: 'resolve'; readonly dedup_key: string };

/**
 * The events of one message, in the order in which they are sent. A trigger of an open key is only a line in its log,
 * so whatever calls a person again has a new key; the call before it is then resolved, after the new one stands.
 */
export function toPagerdutyMessage(
  notification: Notification,
  context: MessageContext,
  eventId: string,
  { key, ends }: Thread,
): string {
  const events: PagerdutyEvent[] = [];
  if (!isClosing(notification.reason)) events.push(toTrigger(notification, context, eventId, dedupKey(key)));
  for (const end of ends) events.push({ event_action: 'resolve', dedup_key: dedupKey(end) });
  return JSON.stringify({ events });
}

const dedupKey = (key: string): string => `slowburn/${key}`.slice(0, 255);

function toTrigger(
  notification: Notification,
  context: MessageContext,
  eventId: string,
  key: string,
): Extract<PagerdutyEvent, { event_action: 'trigger' }> {
  const { incident } = notification;
  const { links } = context;
  const lead = leadAlert(incident);
  const { headline, step } = partsOf(notification, context);
  const { service, cluster, host, balancer } = lead.place;
  const component = host ?? balancer ?? cluster;
  return {
    event_action: 'trigger',
    dedup_key: key,
    client: 'slowburn',
    client_url: links.incident,
    links: [
      { href: links.runbook, text: step === null ? 'Runbook' : cut(`Runbook: ${step}`, 255) },
      { href: links.dashboard, text: 'Figures' },
    ],
    payload: {
      summary: cut(headline, SUMMARY_MAX),
      source: service ?? cluster ?? balancer ?? 'slowburn',
      severity: severityOf(notification),
      timestamp: formatInstant(notification.at),
      ...(component === undefined ? {} : { component }),
      ...(cluster === undefined ? {} : { group: cluster }),
      class: lead.name,
      custom_details: {
        text: cut(textOf(notification, context), DETAIL_MAX),
        first_step: step,
        why: cut(notification.why, DETAIL_MAX),
        incident: incident.id,
        episode: incident.episode,
        reason: notification.reason,
        tier: notification.tier,
        lead: { name: lead.name, labels: labelsToObject(lead.labels), evidence: lead.evidence.map(({ text }) => text) },
        alerts: incident.members
          .slice(0, ALERTS_MAX)
          .map(({ alert, state }) => cut(`${alert.name} ${state}: ${alert.summary}`, 500)),
        alerts_total: incident.members.length,
        event_id: eventId,
      },
    },
  };
}

/** A page whose budget lasts more than 48 h is an error, any other critical; a ticket is a warning. */
function severityOf({ incident, severity }: Notification): PagerdutySeverity {
  if (severity === 'ticket') return 'warning';
  const until = mostUrgentBurn(incident)?.burn?.exhaustion.until ?? null;
  return until !== null && until >= URGENT_MS ? 'error' : 'critical';
}

/**
 * One call for several messages that were held back. It has the key of the bundle, which those messages have as theirs;
 * what they end is ended with it.
 */
export function toPagerdutyBundle(payloads: readonly string[], eventId: string): string {
  const events = payloads.flatMap((payload) => (JSON.parse(payload) as { readonly events: PagerdutyEvent[] }).events);
  const triggers = events.filter((event) => event.event_action === 'trigger');
  const [first] = triggers;
  const ends = new Map(
    events.filter(({ event_action }) => event_action === 'resolve').map((one) => [one.dedup_key, one]),
  );
  if (first === undefined) return JSON.stringify({ events: [...ends.values()] });
  const summaries = triggers.map(({ payload }) => payload.summary);
  const worst = triggers.some(({ payload }) => payload.severity === 'critical') ? 'critical' : first.payload.severity;
  const { component: _, group: __, ...rest } = first.payload;
  const bundle: PagerdutyEvent = {
    ...first,
    payload: {
      ...rest,
      summary: cut(`${bundleHeadline(triggers.length)} ${summaries.join('; ')}`, SUMMARY_MAX),
      severity: worst,
      custom_details: {
        messages: triggers
          .slice(0, BUNDLE_MAX)
          .map(({ payload, client_url }) => ({ summary: cut(payload.summary, 500), incident: client_url })),
        messages_total: triggers.length,
        event_id: eventId,
      },
    },
  };
  return JSON.stringify({ events: [bundle, ...ends.values()] });
}
