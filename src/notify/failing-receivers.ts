import type { EpochMs } from '../base/units.ts';
import { type Alert, type AlertChange, alertKey, type Owner, type Severity } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { labelsOf } from '../model/labels.ts';
import { durationText } from '../model/phrases.ts';
import type { ReceiverHealth } from './delivery-book.ts';

export interface FailingSettings {
  readonly enabled: boolean;
  readonly severity: Severity;
  readonly owner: Owner;
  readonly runbook: string;
}

/**
 * What has changed about the alerts on receivers that fail, given those that fire now. The receiver itself may be the
 * only one that would be told: its messages are in the outbox all the same, and the page of the incident shows them.
 */
export function failingReceivers(
  health: readonly ReceiverHealth[],
  firing: readonly Alert[],
  settings: FailingSettings,
  now: EpochMs,
): readonly AlertChange[] {
  const own = firing.filter(({ name }) => name === ALERT.notificationsFailing);
  const failing = settings.enabled ? health.filter((one) => one.failing !== null) : [];
  const keys = new Map(failing.map((one) => [keyOf(one.receiver), one]));
  const fired = [...keys]
    .filter(([key]) => !own.some((alert) => alert.key === key))
    .map(([, one]): AlertChange => ({ kind: 'fired', at: now, alert: toAlert(one, settings, now) }));
  const known = new Set(health.map(({ receiver }) => keyOf(receiver)));
  const resolved = own
    .filter((alert) => !keys.has(alert.key))
    .map((alert): AlertChange => {
      const reason = settings.enabled && known.has(alert.key) ? 'recovered' : 'removed';
      return { kind: 'resolved', at: now, alert, reason };
    });
  return [...fired, ...resolved];
}

const identityOf = (receiver: string) => labelsOf([['receiver', receiver]]);
const keyOf = (receiver: string): string => alertKey(ALERT.notificationsFailing, identityOf(receiver));

function toAlert(health: ReceiverHealth, { severity, owner, runbook }: FailingSettings, now: EpochMs): Alert {
  const { receiver, failing, pending, oldestPendingAt, lastError } = health;
  const waited = oldestPendingAt === null ? '' : ` for ${durationText(now - oldestPendingAt)}`;
  const summary =
    failing === 'given_up'
      ? `A message to receiver ${receiver} was given up.`
      : `Messages to receiver ${receiver} have not arrived${waited}.`;
  return {
    key: keyOf(receiver),
    name: ALERT.notificationsFailing,
    labels: identityOf(receiver),
    place: {},
    severity,
    tier: null,
    tiersHolding: [],
    since: now,
    owner,
    runbook,
    summary,
    evidence: [
      { name: 'pending', value: pending, unit: '{message}', text: `${pending} messages wait` },
      ...(lastError === null ? [] : [{ name: 'last_error', value: lastError, text: `last error: ${lastError}` }]),
    ],
    burn: null,
  };
}
