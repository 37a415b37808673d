import { formatInstant } from '../../base/instant.ts';
import type { Alert } from '../../model/alert.ts';
import { type Incident, type IncidentMember, leadAlert, type Notification } from '../../model/incident.ts';
import { labelsToObject } from '../../model/labels.ts';
import { durationText, exhaustionText, percentText } from '../../model/phrases.ts';
import type { MessageLinks } from '../notifier.ts';

export const WEBHOOK_SCHEMA = 'slowburn.webhook/1';
const MEMBERS_MAX = 50;

/**
 * The body of the generic webhook: everything that a receiver needs to show, route and close a message (design
 * section 11).
 */
export function toWebhookMessage(notification: Notification, links: MessageLinks, eventId: string): string {
  const { incident } = notification;
  const lead = leadAlert(incident);
  const members = firingFirst(incident).slice(0, MEMBERS_MAX);
  return JSON.stringify({
    schema: WEBHOOK_SCHEMA,
    eventId,
    seq: notification.seq,
    at: formatInstant(notification.at),
    reason: notification.reason,
    severity: notification.severity,
    tier: notification.tier,
    text: textOf(notification),
    incident: {
      id: incident.id,
      episode: incident.episode,
      /** Open and close of one episode carry the same key. */
      key: `${incident.id}/${incident.episode}`,
      state: incident.state,
      title: incident.title,
      openedAt: formatInstant(incident.openedAt),
      resolvedAt: incident.resolvedAt === null ? null : formatInstant(incident.resolvedAt),
      runbook: incident.runbook,
      previous: incident.previous,
    },
    lead: toWire(lead),
    alerts: members.map(({ alert, state, reason }) => ({ ...toWire(alert), state, joined: reason })),
    alertsTotal: incident.members.length,
    why: [notification.why, ...members.map(({ alert, reason }) => `${alert.name}: ${reason}`)],
    links,
  });
}

/** What still fires must not be cut off behind what is over. */
const firingFirst = ({ members }: Incident): readonly IncidentMember[] => [
  ...members.filter(({ state }) => state === 'firing'),
  ...members.filter(({ state }) => state === 'resolved'),
];

const toWire = (alert: Alert) => ({
  name: alert.name,
  severity: alert.severity,
  tier: alert.tier,
  tiersHolding: alert.tiersHolding,
  labels: labelsToObject(alert.labels),
  place: alert.place,
  since: formatInstant(alert.since),
  owner: alert.owner,
  summary: alert.summary,
  evidence: alert.evidence.map(({ name, value, unit, text }) => ({ name, value, unit: unit ?? null, text })),
  budgetRemaining: alert.burn?.budgetRemaining ?? null,
  exhaustionSeconds:
    alert.burn === null || alert.burn.exhaustion.until === null ? null : alert.burn.exhaustion.until / 1000,
  errorRatio: alert.burn?.errorRatio ?? null,
  spentSince: alert.burn?.spentSince ?? null,
});

/** The message as a person reads it on a phone: what, how bad, since when, why, the first step, which incident. */
export function textOf({ incident, at, reason, severity, tier }: Notification): string {
  const lead = leadAlert(incident);
  if (reason === 'resolved') {
    const lasted = durationText(at - incident.episodeAt);
    return `RESOLVED ${incident.title}, after ${lasted}. Incident ${incident.id}.`;
  }
  const burning = mostUrgentBurn(incident);
  const head = `${severity.toUpperCase()} ${subjectOf(burning ?? lead)}`;
  const sentences = [
    `${head}${burning?.burn ? `: ${exhaustionText(burning.burn.exhaustion)}` : ''}${tier === null ? '' : ` (tier ${tier})`}.`,
  ];
  if (burning?.burn) sentences.push(impactOf(burning, at));
  if (burning === null || burning.key !== lead.key) sentences.push(lead.summary);
  const rest = lead.evidence.slice(0, 2).map(({ text }) => text);
  if (burning?.key !== lead.key && rest.length > 0) sentences.push(`${rest.join(', ')}.`);
  sentences.push(`First step: runbook ${incident.runbook}, Diagnosis step 1.`);
  const count = incident.members.length;
  sentences.push(`Incident ${incident.id}, ${count} alert${count === 1 ? '' : 's'}.`);
  return sentences.join(' ');
}

function impactOf(alert: Alert, at: number): string {
  const { errorRatio = null, spentSince = null } = alert.burn ?? {};
  const errors = errorRatio === null ? 'Nothing measured' : `Bad events ${percentText(errorRatio)}`;
  const since = at - alert.since < 1000 ? 'from now on' : `for ${durationText(at - alert.since)}`;
  const spent = spentSince === null ? '' : `, ${percentText(spentSince)} of the budget spent since`;
  return `${errors} ${since}${spent}.`;
}

/** The firing burn with the least time left, else any burn. */
function mostUrgentBurn(incident: Incident): Alert | null {
  const burning = incident.members.filter(({ alert }) => alert.burn !== null);
  const firing = burning.filter(({ state }) => state === 'firing');
  const left = (alert: Alert): number => alert.burn?.exhaustion.until ?? Number.POSITIVE_INFINITY;
  const [first] = (firing.length > 0 ? firing : burning).map(({ alert }) => alert).sort((a, b) => left(a) - left(b));
  return first ?? null;
}

function subjectOf(alert: Alert): string {
  const { cluster, zone, host, balancer } = alert.place;
  const place = [cluster, zone === undefined ? undefined : `zone ${zone}`, host, balancer].filter(
    (part) => part !== undefined,
  );
  const what = alert.labels.get('slo') ?? alert.name;
  return place.length === 0 ? what : `${what} in ${place.join(', ')}`;
}
