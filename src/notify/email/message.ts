import type { Notification } from '../../model/incident.ts';
import { isClosing } from '../effect.ts';
import type { MessageContext, MessageLinks, Thread } from '../notifier.ts';
import { bundleHeadline, cut, partsOf } from '../text.ts';

const SUBJECT_MAX = 200;

export interface EmailPayload {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The same at every attempt, so that mail systems can tell a copy. */
  readonly messageId: string;
  /** The first mail about the episode; null in that one. */
  readonly inReplyTo: string | null;
}

/** `domain` is that of the sender's address. */
export function toEmailMessage(
  notification: Notification,
  context: MessageContext,
  eventId: string,
  { isFirst, episode }: Thread,
  receiver: string,
  domain: string,
): string {
  const { headline, details, step, number } = partsOf(notification, context);
  const { links } = context;
  const root = messageIdOf(`incident-${episode}-${encodeURIComponent(receiver)}`, domain);
  const why = `Why: ${notification.why}.`;
  const body = details.join(' ');
  const firstStep = step === null ? null : `First step: ${step}.`;
  const payload: EmailPayload = {
    subject: cut(headline, SUBJECT_MAX),
    text: [headline, body, firstStep, linkLines(links), `${number} ${why}`].filter(Boolean).join('\n\n'),
    html: page(colorOf(notification), headline, [
      paragraph(body),
      ...(firstStep === null ? [] : [`<p><strong>${escaped(firstStep)}</strong></p>`]),
      `<p>${linkTags(links)}</p>`,
      `<p style="color:#666">${escaped(`${number} ${why}`)}</p>`,
    ]),
    messageId: isFirst ? root : messageIdOf(eventId, domain),
    inReplyTo: isFirst ? null : root,
  };
  return JSON.stringify(payload);
}

/** Several mails that were held back, in one. */
export function toEmailBundle(payloads: readonly string[], eventId: string, domain: string): string {
  const mails = payloads.map((payload) => JSON.parse(payload) as EmailPayload);
  const headline = bundleHeadline(mails.length);
  const payload: EmailPayload = {
    subject: cut(`${headline} ${mails.map(({ subject }) => subject).join('; ')}`, SUBJECT_MAX),
    text: [headline, ...mails.map(({ text }) => text)].join('\n\n----\n\n'),
    html: mails.map(({ html }) => html).join('\n<hr>\n'),
    messageId: messageIdOf(`bundle-${eventId}`, domain),
    inReplyTo: null,
  };
  return JSON.stringify(payload);
}

const messageIdOf = (local: string, domain: string): string =>
  `<${local.replace(/[^A-Za-z0-9._~%-]/g, '_')}@${domain}>`;

const linkLines = ({ incident, runbook, dashboard }: MessageLinks): string =>
  `Incident: ${incident}\nRunbook: ${runbook}\nFigures: ${dashboard}`;

const linkTags = ({ incident, runbook, dashboard }: MessageLinks): string =>
  [
    ['Incident', incident],
    ['Runbook', runbook],
    ['Figures', dashboard],
  ]
    .map(([text = '', href = '']) => `<a href="${escaped(href)}">${text}</a>`)
    .join(' &middot; ');

const paragraph = (text: string): string => (text === '' ? '' : `<p>${escaped(text)}</p>`);

/** Red, amber, green, dark enough for white letters. */
function colorOf({ severity, reason }: Notification): string {
  if (isClosing(reason)) return '#1a7f37';
  return severity === 'page' ? '#b42318' : '#8a5a00';
}

const page = (color: string, headline: string, parts: readonly string[]): string =>
  `<div style="font:16px/1.5 sans-serif;max-width:40em">
<h1 style="font-size:18px;padding:12px;margin:0;color:#fff;background:${color}">${escaped(headline)}</h1>
${parts.filter((part) => part !== '').join('\n')}
</div>`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
