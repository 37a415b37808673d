import type { Notification } from '../../model/incident.ts';
import { effectOf, isClosing } from '../effect.ts';
import type { MessageContext, Thread } from '../notifier.ts';
import { bundleHeadline, cut, partsOf, textOf } from '../text.ts';

/**
 * Limits of Block Kit; the whole message stays below 8,000 characters, as Slack refuses some 10,000 without naming a
 * limit.
 */
const HEADER_MAX = 150;
const SECTION_MAX = 3000;
const TEXT_MAX = 3000;
const BUNDLE_SHOWN = 20;

type Plain = { readonly type: 'plain_text'; readonly text: string };
type Markdown = { readonly type: 'mrkdwn'; readonly text: string };

export type SlackBlock =
  | { readonly type: 'header'; readonly text: Plain }
  | { readonly type: 'section'; readonly text: Markdown }
  | { readonly type: 'context'; readonly elements: readonly Markdown[] };

export interface SlackBody {
  /** What a phone shows of it before it is opened. */
  readonly text: string;
  readonly blocks: readonly SlackBlock[];
}

export interface SlackPayload {
  /** The state as it is now: posted first, edited later. */
  readonly main: SlackBody;
  /** The news, for the thread; null where the message itself is the news. */
  readonly reply: SlackBody | null;
  /** Whether the news is shown in the channel, too: a thread calls nobody. */
  readonly broadcast: boolean;
}

export function toSlackMessage(
  notification: Notification,
  context: MessageContext,
  _eventId: string,
  { isFirst }: Thread,
): string {
  const payload: SlackPayload = {
    main: mainOf(notification, context),
    reply: isFirst ? null : replyOf(notification, context),
    broadcast: effectOf(notification.reason) === 'rings',
  };
  return JSON.stringify(payload);
}

function mainOf(notification: Notification, context: MessageContext): SlackBody {
  const { headline, details, step, number } = partsOf(notification, context);
  const { links } = context;
  const buttons = [
    `<${links.incident}|Incident ${notification.incident.id}>`,
    `<${links.runbook}|Runbook>`,
    `<${links.dashboard}|Figures>`,
  ].join('  |  ');
  return {
    text: escaped(cut(headline, TEXT_MAX)),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(`${markOf(notification)} ${headline}`, HEADER_MAX) } },
      ...(details.length === 0 ? [] : [section(details.join(' '))]),
      ...(step === null ? [] : [section(`First step: ${step}.`)]),
      section('', buttons),
      {
        type: 'context',
        elements: [{ type: 'mrkdwn', text: escaped(cut(`${number} Why: ${notification.why}.`, 1000)) }],
      },
    ],
  };
}

function replyOf(notification: Notification, context: MessageContext): SlackBody {
  const text = escaped(cut(textOf(notification, context), SECTION_MAX));
  return {
    text: escaped(cut(partsOf(notification, context).headline, TEXT_MAX)),
    blocks: [{ type: 'section', text: { type: 'mrkdwn', text } }],
  };
}

const section = (plain: string, markdown = escaped(cut(plain, SECTION_MAX / 2))): SlackBlock => ({
  type: 'section',
  text: { type: 'mrkdwn', text: markdown },
});

/** Seen from afar, before a word is read. */
function markOf({ severity, reason }: Notification): string {
  if (isClosing(reason)) return '\u2705';
  return severity === 'page' ? '\u{1F534}' : '\u{1F7E1}';
}

/** The three characters that mean something to Slack. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Several messages in one post. None of them has a message of its own: what comes later of each is posted anew. */
export function toSlackBundle(payloads: readonly string[]): string {
  const bodies = payloads.map((payload) => (JSON.parse(payload) as SlackPayload).main);
  const headline = bundleHeadline(bodies.length);
  const lines = bodies.slice(0, BUNDLE_SHOWN).map(({ text }) => `• ${cut(text, 280)}`);
  if (bodies.length > BUNDLE_SHOWN) lines.push(`And ${bodies.length - BUNDLE_SHOWN} more.`);
  const halves = [lines.slice(0, 10), lines.slice(10)].filter((half) => half.length > 0);
  const main: SlackBody = {
    text: `${headline} ${cut(bodies.map(({ text }) => text).join('; '), 1000)}`,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(headline, HEADER_MAX) } },
      ...halves.map((half): SlackBlock => ({ type: 'section', text: { type: 'mrkdwn', text: half.join('\n') } })),
    ],
  };
  const payload: SlackPayload = { main, reply: null, broadcast: false };
  return JSON.stringify(payload);
}
