import { ManualClock } from '../../src/base/clock.ts';
import { epochMs, ratio } from '../../src/base/units.ts';
import type { Alert } from '../../src/model/alert.ts';
import type { Notification } from '../../src/model/incident.ts';
import { labelsOf } from '../../src/model/labels.ts';
import type { Receiver } from '../../src/model/receiver.ts';
import { createNotifiers } from '../../src/notify/registry.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import type { OutboxEntry } from '../../src/store/store.ts';
import { CHECKOUT, minuteOf, pageOf, Scene } from '../correlate/scene.ts';
import { alertOf, T0 } from '../support/alerts.ts';
import { commitAll } from './scenes.ts';

/** One of each type, with the texts that examples in docs carry. */
export const EXAMPLE_RECEIVERS: readonly Receiver[] = [
  { name: 'hook', type: 'webhook', url: 'http://127.0.0.1:9/', secret: 'key', sendResolved: true },
  { name: 'am-hook', type: 'alertmanager-webhook', url: 'http://127.0.0.1:9/', secret: null, sendResolved: true },
  { name: 'alertmanager', type: 'alertmanager', url: 'http://127.0.0.1:9', sendResolved: true },
  { name: 'pager', type: 'pagerduty', url: 'http://127.0.0.1:9/', routingKey: 'key', sendResolved: true },
  {
    name: 'chat',
    type: 'slack',
    access: { kind: 'bot', apiUrl: 'http://127.0.0.1:9', token: 'xoxb-1', channel: 'C0123' },
    sendResolved: true,
  },
  {
    name: 'mail',
    type: 'email',
    host: '127.0.0.1',
    port: 9,
    tls: 'none',
    login: null,
    from: 'slowburn <slowburn@example.com>',
    to: ['oncall@example.com'],
    sendResolved: true,
  },
];

/** A ticket with a host behind it that becomes a page after ten minutes and is over after forty. */
export function exampleNotifications(): readonly Notification[] {
  const burn = pageOf();
  const page: Alert = {
    ...burn,
    labels: labelsOf([...burn.labels, ['slo', 'checkout-availability']]),
    evidence: [],
    burn: burn.burn === null ? null : { ...burn.burn, burningSince: minuteOf(-32), spent: ratio(0.02) },
  };
  const host: Alert = {
    ...alertOf('HostEjections', { ...CHECKOUT, zone: 'b', host: '10.0.3.7' }),
    summary: '89 % of the errors come from host 10.0.3.7 in zone b.',
    evidence: [
      { name: 'failing_fast', value: true, text: 'fails fast: 503 in 2 ms, its peers take 40 ms' },
      { name: 'ejections', value: 2, text: 'ejected twice' },
    ],
  };
  const scene = new Scene()
    .at(0, ['fired', host], ['fired', { ...page, severity: 'ticket', tier: '10d', tiersHolding: ['10d'] }])
    .at(10, ['changed', page])
    .at(40, ['resolved', page], ['resolved', host])
    .ticks(41, 46);
  return scene.notifications;
}

/** What each receiver is sent of it: opening, escalation, closing. */
export function exampleMessages(receivers: readonly Receiver[] = EXAMPLE_RECEIVERS): readonly OutboxEntry[] {
  const notifiers = createNotifiers(receivers, new ManualClock(epochMs(T0)));
  return commitAll(createMemoryStore(), exampleNotifications(), receivers, notifiers);
}
