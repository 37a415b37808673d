import { formatDuration } from '../base/duration.ts';
import type { Alert, BurnFigures } from '../model/alert.ts';
import { blastRadius, blastRadiusText, presentAlerts } from '../model/blast-radius.ts';
import { type Incident, leadAlert, type Notification } from '../model/incident.ts';
import { budgetText, durationText, exhaustionText, latencyText, percentText } from '../model/phrases.ts';
import { isClosing } from './effect.ts';
import type { MessageContext } from './notifier.ts';

/**
 * The message as a person reads it on a phone: what, how bad, since when, at what cost, why, how far, the first step,
 * which incident.
 */
export function textOf(notification: Notification, context: Pick<MessageContext, 'step'>): string {
  const { headline, details, step, number } = partsOf(notification, context);
  return [`${headline}.`, ...details, ...(step === null ? [] : [`First step: ${step}.`]), number].join(' ');
}

/** The same in parts, for receivers that lay them out. */
export interface MessageParts {
  /** What a watch shows: tier, subject, time left. */
  readonly headline: string;
  /** Sentences, in order. */
  readonly details: readonly string[];
  /** The first step; null once there is nothing to do. */
  readonly step: string | null;
  /** Which incident, of how many alerts. */
  readonly number: string;
}

export function partsOf(notification: Notification, { step }: Pick<MessageContext, 'step'>): MessageParts {
  const { incident, reason, why, at } = notification;
  if (reason === 'merged') return mergedParts(notification);
  if (isClosing(reason)) return closingParts(notification);
  const lead = leadAlert(incident);
  const burning = mostUrgentBurn(incident);
  const details: string[] = [];
  if (reason !== 'opened') details.push(`Why now: ${why}.`);
  if (burning?.burn) details.push(impactOf(burning, burning.burn, at));
  if (burning?.key !== lead.key) {
    details.push(lead.summary);
    if (burning === null && at - lead.since >= 1000) details.push(`For ${durationText(at - lead.since)}.`);
  }
  const evidence = lead.evidence.slice(0, 2).map(({ text }) => text);
  if (evidence.length > 0) details.push(`${capitalised(evidence.join(', '))}.`);
  details.push(...attachmentTexts(incident));
  const touched = blastRadiusText(blastRadius(incident));
  if (touched !== '') details.push(`Touches ${touched}.`);
  return {
    headline: headlineOf(notification),
    details,
    step:
      step === null
        ? `open runbook ${incident.runbook}`
        : `${uncapitalised(step.text)} (runbook ${incident.runbook}, step 1)`,
    number: incidentText(incident),
  };
}

function headlineOf({ incident, severity, tier }: Notification): string {
  const burning = mostUrgentBurn(incident);
  const left = burning?.burn ? `: ${exhaustionText(burning.burn.exhaustion)}` : '';
  const subject = incident.storm ? stormSubjectOf(incident, burning) : subjectOf(burning ?? leadAlert(incident));
  return `${severity.toUpperCase()} ${subject}${left}${tier === null ? '' : `, tier ${tier}`}`;
}

const ATTACHMENTS_MAX = 2;

/** The newest of what hooks brought to look at. */
const attachmentTexts = ({ attachments = [] }: Incident): readonly string[] =>
  attachments.slice(-ATTACHMENTS_MAX).map(({ title, link }) => `${title}: ${link}`);

/** The end, or where only pages are told: that it goes on as a ticket. */
function closingParts({ incident, at, why }: Notification): MessageParts {
  const burning = mostUrgentBurn(incident);
  const cost = burning?.burn ? spentText(burning.burn) : null;
  const touched = blastRadiusText(blastRadius(incident));
  const after = `after ${durationText(at - incident.episodeAt)}`;
  const isOver = incident.state === 'resolved';
  return {
    headline: isOver
      ? `RESOLVED ${incident.title}, ${after}`
      : `RESOLVED as a page, ${after}; it goes on as a ticket: ${incident.title}`,
    details: [
      ...(isOver ? [`${capitalised(why)}.`] : []),
      ...attachmentTexts(incident),
      ...(cost === null ? [] : [`It cost ${cost}.`]),
      ...(touched === '' ? [] : [`${isOver ? 'Touched' : 'Touches'} ${touched}.`]),
    ],
    step: null,
    number: incidentText(incident),
  };
}

/** It is not over: another incident goes on with it. */
const mergedParts = ({ incident, at, why }: Notification): MessageParts => ({
  headline: `MERGED, not over: ${incident.title}, after ${durationText(at - incident.episodeAt)}`,
  details: [`${capitalised(why)}.`],
  step: null,
  number: incidentText(incident),
});

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
export function mostUrgentBurn(incident: Incident): Alert | null {
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

/** The place of one alert would hide that many clusters are concerned. */
const stormSubjectOf = ({ title }: Incident, burning: Alert | null): string =>
  burning === null ? title : `${title}; ${subjectOf(burning)}`;

const BUNDLE_SHOWN = 5;

/** Several messages at once: how many, then each; of many the first ones. */
export function bundleText(texts: readonly string[]): string {
  const shown = texts.slice(0, BUNDLE_SHOWN).map((text, index) => `${index + 1}. ${text}`);
  const more = texts.length - shown.length;
  return [bundleHeadline(texts.length), ...shown, ...(more > 0 ? [`And ${more} more.`] : [])].join(' ');
}

export const bundleHeadline = (count: number): string =>
  `${count} MESSAGES held back by the page budget${count === 1 ? '' : ', in one'}:`;

/** At most `length` characters, cut at a word where that loses little. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = text.slice(0, length - 4);
  const word = start.replace(/\s+\S*$/, '');
  return `${(word.length > length * 0.8 ? word : start).replace(/[\uD800-\uDBFF]$/, '')} ...`;
}
