import { formatInstant } from '../../base/instant.ts';
import type { Alert, BurnFigures } from '../../model/alert.ts';
import { blastRadius } from '../../model/blast-radius.ts';
import { type Incident, type IncidentMember, leadAlert, type Notification } from '../../model/incident.ts';
import { labelsToObject } from '../../model/labels.ts';
import type { MessageContext } from '../notifier.ts';
import { bundleText, mostUrgentBurn, textOf } from '../text.ts';

export const WEBHOOK_SCHEMA = 'slowburn.webhook/1';
const MEMBERS_MAX = 50;
const ATTACHMENTS_MAX = 20;

/**
 * The body of the generic webhook: everything that a receiver needs to show, route and close a message (design
 * section 11).
 */
export function toWebhookMessage(notification: Notification, context: MessageContext, eventId: string): string {
  const { incident } = notification;
  const burning = mostUrgentBurn(incident);
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
    text: textOf(notification, context),
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
    budgetSpent: burning?.burn ? toBudgetSpent(burning, burning.burn) : null,
    blastRadius: toBlastRadius(incident),
    firstStep: context.step?.text ?? null,
    why: [notification.why, ...members.map(({ alert, reason }) => `${alert.name}: ${reason}`)],
    links: context.links,
    attachments: (incident.attachments ?? []).slice(-ATTACHMENTS_MAX).map(({ title, link, at, by }) => ({
      title,
      link,
      at: formatInstant(at),
      by,
    })),
  });
}

/** What still fires must not be cut off behind what is over. */
const firingFirst = ({ members }: Incident): readonly IncidentMember[] => [
  ...members.filter(({ state }) => state === 'firing'),
  ...members.filter(({ state }) => state !== 'firing'),
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

/** What the burn that the message is about has cost so far: a share of the whole budget of the SLO window. */
const toBudgetSpent = (alert: Alert, burn: BurnFigures) => ({
  slo: alert.labels.get('slo') ?? null,
  share: burn.spent ?? null,
  window: burn.window ?? null,
  since: formatInstant(burn.burningSince ?? alert.since),
});

const NAMES_MAX = 50;

/** Lists are cut, `counts` are not. */
function toBlastRadius(incident: Incident) {
  const lists = Object.entries(blastRadius(incident));
  return {
    ...Object.fromEntries(lists.map(([name, list]) => [name, list.slice(0, NAMES_MAX)])),
    counts: Object.fromEntries(lists.map(([name, list]) => [name, list.length])),
  };
}

/** Several messages that were held back by a page budget, oldest first, each as it would have been sent by itself. */
export function toWebhookBundle(payloads: readonly string[], eventId: string): string {
  const messages = payloads.map((payload) => JSON.parse(payload) as { readonly at: string; readonly text: string });
  return JSON.stringify({
    schema: WEBHOOK_SCHEMA,
    eventId,
    at: messages.at(-1)?.at,
    reason: 'bundle',
    text: bundleText(messages.map(({ text }) => text)),
    messages,
  });
}
