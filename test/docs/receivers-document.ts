import type { AlertmanagerPayload, PlainLabels } from '../../src/notify/alertmanager/message.ts';
import type { EmailPayload } from '../../src/notify/email/message.ts';
import type { PagerdutyEvent } from '../../src/notify/pagerduty/message.ts';
import type { SlackPayload } from '../../src/notify/slack/message.ts';
import type { OutboxEntry } from '../../src/store/store.ts';
import { exampleMessages } from '../notify/receiver-examples.ts';

/**
 * The parts of docs/receivers.md that are made: between `<!-- made: NAME -->` and `<!-- end -->` stand the messages of
 * one receiver about an incident that opens, escalates and closes.
 */
export function madeParts(): ReadonlyMap<string, string> {
  const entries = exampleMessages();
  const names = [...new Set(entries.map(({ receiver }) => receiver))];
  return new Map(names.map((name) => [name, partOf(entries.filter(({ receiver }) => receiver === name))]));
}

/** The document with every made part as it must be. */
export function withMadeParts(document: string): string {
  let text = document;
  for (const [name, part] of madeParts()) {
    const start = `<!-- made: ${name} -->`;
    const from = text.indexOf(start);
    const to = text.indexOf('<!-- end -->', from);
    if (from < 0 || to < 0) throw new Error(`docs/receivers.md has no part ${start}`);
    text = `${text.slice(0, from + start.length)}\n\n${part}\n${text.slice(to)}`;
  }
  return text;
}

const TITLES: Readonly<Record<string, string>> = { opened: 'Opening', escalated: 'Escalation', resolved: 'Closing' };

const partOf = (entries: readonly OutboxEntry[]): string =>
  entries.map((entry) => `${TITLES[entry.reason] ?? entry.reason}:\n\n\`\`\`\n${shown(entry)}\n\`\`\`\n`).join('\n');

function shown({ receiver, payload }: OutboxEntry): string {
  const value: unknown = JSON.parse(payload);
  if (receiver === 'hook') return wrapped((value as { text: string }).text);
  if (receiver === 'mail') {
    const { subject, messageId, inReplyTo, text } = value as EmailPayload;
    const reply = inReplyTo === null ? [] : [`In-Reply-To: ${inReplyTo}`];
    return [`Subject: ${subject}`, `Message-ID: ${messageId}`, ...reply, '', wrapped(text)].join('\n');
  }
  if (receiver === 'chat') {
    const { main, reply, broadcast } = value as SlackPayload;
    const lines = main.blocks.map((block) =>
      block.type === 'context' ? block.elements.map(({ text }) => text).join(' ') : block.text.text,
    );
    const thread =
      reply === null ? [] : ['', `In its thread${broadcast ? ', and in the channel' : ''}: ${replyText(reply)}`];
    return [`${reply === null ? 'Posted' : 'Edited'}:`, ...lines, ...thread].map(wrapped).join('\n');
  }
  if (receiver === 'pager') {
    return (value as { events: PagerdutyEvent[] }).events.map(eventLines).join('\n\n');
  }
  if (receiver === 'am-hook') {
    const { status, groupKey, notification_reason: why, commonAnnotations, alerts } = value as GroupBody;
    const lines = alerts.map((alert) => `${alert.fingerprint} ${alert.status} ${labelText(alert.labels)}`);
    return [`${status} ${groupKey}, ${why}`, commonAnnotations['description'] ?? '', ...lines].map(wrapped).join('\n');
  }
  const { alert } = value as AlertmanagerPayload;
  const ends = `startsAt ${alert.startsAt}, endsAt ${alert.endsAt ?? 'four minutes from now'}`;
  return [labelText(alert.labels), ends, alert.annotations['description'] ?? ''].map(wrapped).join('\n');
}

interface GroupBody {
  readonly status: string;
  readonly groupKey: string;
  readonly notification_reason: string;
  readonly commonAnnotations: Readonly<Record<string, string>>;
  readonly alerts: readonly { readonly fingerprint: string; readonly status: string; readonly labels: PlainLabels }[];
}

const labelText = (labels: PlainLabels): string =>
  `{${Object.entries(labels)
    .map(([name, text]) => `${name}="${text}"`)
    .join(', ')}}`;

const replyText = (reply: SlackPayload['main']): string =>
  reply.blocks.map((block) => (block.type === 'context' ? '' : block.text.text)).join(' ');

function eventLines(event: PagerdutyEvent): string {
  const head = `${event.event_action} ${event.dedup_key}`;
  if (event.event_action === 'resolve') return head;
  const { summary, severity, source, custom_details: details } = event.payload;
  return [head, `${severity}: ${summary}`, `source: ${source}`, String(details['text'])].map(wrapped).join('\n');
}

/** At most 120 columns, broken between words. */
function wrapped(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/(.{1,118})(?:\s+|$)/g, '$1\n').trimEnd())
    .join('\n');
}
