import type { Ms } from '../base/units.ts';
import type { ZoneRules } from '../base/zone.ts';
import type { Owner, Severity } from './alert.ts';
import type { Matcher } from './matcher.ts';

/** How many pages may ring at a receiver in a time; further ones are bundled into one message, none is dropped. */
export interface PageBudget {
  readonly pages: number;
  readonly per: Ms;
}

interface ReceiverBase {
  readonly name: string;
  readonly sendResolved: boolean;
  /** Null or absent = no limit. */
  readonly pageBudget?: PageBudget | null;
}

/** Our own JSON, signed. */
export interface WebhookReceiver extends ReceiverBase {
  readonly type: 'webhook';
  readonly url: string;
  /** Key of the HMAC-SHA256 signature header; null = unsigned. */
  readonly secret: string | null;
}

/** The body that Alertmanager posts to its webhooks, version 4. */
export interface AlertmanagerWebhookReceiver extends ReceiverBase {
  readonly type: 'alertmanager-webhook';
  readonly url: string;
  readonly secret: string | null;
}

/** The alerts API of an Alertmanager. */
export interface AlertmanagerReceiver extends ReceiverBase {
  readonly type: 'alertmanager';
  /** Base URL, without /api/v2/alerts and without a final slash. */
  readonly url: string;
}

/** PagerDuty Events API v2. */
export interface PagerdutyReceiver extends ReceiverBase {
  readonly type: 'pagerduty';
  readonly url: string;
  readonly routingKey: string;
}

/** Slack: with a bot token messages are edited and have threads, with an incoming webhook they are only posted. */
export interface SlackReceiver extends ReceiverBase {
  readonly type: 'slack';
  readonly access: SlackAccess;
}

export type SlackAccess =
  | { readonly kind: 'bot'; readonly apiUrl: string; readonly token: string; readonly channel: string }
  | { readonly kind: 'incoming_webhook'; readonly url: string };

export interface EmailReceiver extends ReceiverBase {
  readonly type: 'email';
  readonly host: string;
  readonly port: number;
  /** `starttls` refuses a server without it; `implicit` is TLS from the first byte. */
  readonly tls: 'starttls' | 'implicit' | 'none';
  readonly login: { readonly user: string; readonly password: string } | null;
  readonly from: string;
  readonly to: readonly string[];
}

/** Where notifications go. */
export type Receiver =
  | WebhookReceiver
  | AlertmanagerWebhookReceiver
  | AlertmanagerReceiver
  | PagerdutyReceiver
  | SlackReceiver
  | EmailReceiver;

/** Times of the week on the clocks of a zone. */
export interface WeekTimes {
  /** 0 = Monday to 6 = Sunday: the days on which a span starts. */
  readonly weekdays: readonly number[];
  /** Minutes after midnight, `from` included, `to` not; where `to` is not above `from` it lies on the next day. */
  readonly from: number;
  readonly to: number;
  readonly zone: ZoneRules;
}

/** Chooses receivers: every route that matches sends. Without routes everything goes to the first receiver. */
export interface Route {
  readonly receiver: string;
  /** Empty = both. */
  readonly severity: readonly Severity[];
  /** On the labels of the lead alert and `alertname`, `owner`, `service`. */
  readonly matchers: readonly Matcher[];
  /** Of the lead alert; absent = any. */
  readonly owners?: readonly Owner[];
  /** Absent = any. */
  readonly services?: readonly string[];
  /** Null or absent = always. */
  readonly times?: WeekTimes | null;
}
