import { formatDuration } from '../../base/duration.ts';
import { formatInstant } from '../../base/instant.ts';
import type { Alert, BurnFigures } from '../../model/alert.ts';
import { blastRadius, blastRadiusText, presentAlerts } from '../../model/blast-radius.ts';
import { type Incident, type IncidentMember, leadAlert, type Notification } from '../../model/incident.ts';
import { labelsToObject } from '../../model/labels.ts';
import { budgetText, durationText, exhaustionText, latencyText, percentText } from '../../model/phrases.ts';
import type { MessageContext } from '../notifier.ts';

export const WEBHOOK_SCHEMA = 'slowburn.webhook/1';
const MEMBERS_MAX = 50;

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

/**
 * The message as a person reads it on a phone: what, how bad, since when, at what cost, why, how far, the first step,
 * which incident.
 */
export function textOf(notification: Notification, { step }: Pick<MessageContext, 'step'>): string {
  const { incident, reason, severity, tier, why, at } = notification;
  if (reason === 'resolved') return resolvedText(notification);
  if (reason === 'merged') return mergedText(notification);
  const lead = leadAlert(incident);
  const burning = mostUrgentBurn(incident);
  const left = burning?.burn ? `: ${exhaustionText(burning.burn.exhaustion)}` : '';
  const sentences = [
    `${severity.toUpperCase()} ${subjectOf(burning ?? lead)}${left}${tier === null ? '' : `, tier ${tier}`}.`,
  ];
  if (reason !== 'opened') sentences.push(`Why now: ${why}.`);
  if (burning?.burn) sentences.push(impactOf(burning, burning.burn, at));
  if (burning?.key !== lead.key) {
    sentences.push(lead.summary);
    if (burning === null && at - lead.since >= 1000) sentences.push(`For ${durationText(at - lead.since)}.`);
  }
  const evidence = lead.evidence.slice(0, 2).map(({ text }) => text);
  if (evidence.length > 0) sentences.push(`${capitalised(evidence.join(', '))}.`);
  const touched = blastRadiusText(blastRadius(incident));
  if (touched !== '') sentences.push(`Touches ${touched}.`);
  sentences.push(
    step === null
      ? `First step: open runbook ${incident.runbook}.`
      : `First step: ${uncapitalised(step.text)} (runbook ${incident.runbook}, step 1).`,
  );
  sentences.push(incidentText(incident));
  return sentences.join(' ');
}

/** The end, or where only pages are told: that it goes on as a ticket. */
function resolvedText({ incident, at, why }: Notification): string {
  const burning = mostUrgentBurn(incident);
  const cost = burning?.burn ? spentText(burning.burn) : null;
  const touched = blastRadiusText(blastRadius(incident));
  const after = `after ${durationText(at - incident.episodeAt)}`;
  const isOver = incident.state === 'resolved';
  return [
    isOver
      ? `RESOLVED ${incident.title}, ${after}.`
      : `RESOLVED as a page, ${after}; it goes on as a ticket: ${incident.title}.`,
    ...(isOver ? [`${capitalised(why)}.`] : []),
    ...(cost === null ? [] : [`It cost ${cost}.`]),
    ...(touched === '' ? [] : [`${isOver ? 'Touched' : 'Touches'} ${touched}.`]),
    incidentText(incident),
  ].join(' ');
}

/** It is not over: another incident goes on with it. */
function mergedText({ incident, at, why }: Notification): string {
  const after = `after ${durationText(at - incident.episodeAt)}`;
  return `MERGED, not over: ${incident.title}, ${after}. ${capitalised(why)}. ${incidentText(incident)}`;
}

function incidentText({ id, members }: Incident): string {
  return `Incident ${id}, ${members.length} alert${members.length === 1 ? '' : 's'}.`;
}

/** Where the first word is an ordinary one. */
const uncapitalised = (text: string): string =>
  /^[A-Z][a-z]* /.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `2.0 % of the month`; null where nothing is known or nothing to speak of. */
function spentText({ spent, window }: BurnFigures): string | null {
  return (spent ?? 0) < 0.0001 ? null : `${percentText(spent ?? 0)} of ${budgetText(window)}`;
}

function impactOf(alert: Alert, burn: BurnFigures, at: number): string {
  const { burningSince } = burn;
  const what = whatIsBad(burn);
  const lasted = at - (burningSince ?? alert.since);
  const spent = spentText(burn);
  const since = lasted < 1000 ? 'from now on' : `for ${durationText(lasted)}`;
  return `${what} ${since}${spent === null ? '' : `, ${spent} spent`}.`;
}

function whatIsBad({ errorRatio, slowerThan, slices }: BurnFigures): string {
  if (errorRatio === null) return 'Nothing measured';
  const share = percentText(errorRatio);
  const width = slices ? formatDuration(slices.width) : '';
  if (slices && !slices.byRatio) return `${share} of slices of ${width} bad`;
  const mean = slices ? ` (mean of slices of ${width})` : '';
  return slowerThan ? `${share} slower than ${latencyText(slowerThan)}${mean}` : `Errors ${share}${mean}`;
}

/** The firing burn with the least time left, else any burn. */
function mostUrgentBurn(incident: Incident): Alert | null {
  const burning = presentAlerts(incident).filter(({ burn }) => burn !== null);
  const some =
    burning.length > 0 ? burning : incident.members.map(({ alert }) => alert).filter(({ burn }) => burn !== null);
  const left = (alert: Alert): number => alert.burn?.exhaustion.until ?? Number.POSITIVE_INFINITY;
  return [...some].sort((a, b) => left(a) - left(b))[0] ?? null;
}

function subjectOf(alert: Alert): string {
  const { cluster, zone, host, balancer } = alert.place;
  const place = [cluster, zone === undefined ? undefined : `zone ${zone}`, host, balancer].filter(
    (part) => part !== undefined,
  );
  const what = alert.labels.get('slo') ?? alert.name;
  return place.length === 0 ? what : `${what} in ${place.join(', ')}`;
}
