import type { Notification } from '../../src/model/incident.ts';
import type { Receiver, Route } from '../../src/model/receiver.ts';
import type { MessageContext, Notifier } from '../../src/notify/notifier.ts';
import { toOutboxEntries } from '../../src/notify/outbox.ts';
import type { IncidentStore, OutboxEntry } from '../../src/store/store.ts';

export const CONTEXT: MessageContext = {
  links: {
    incident: 'https://slowburn.example.com/incidents/1',
    runbook: 'https://slowburn.example.com/runbooks/ErrorBudgetBurn?incident=1#first-minutes-step-1',
    dashboard: 'https://slowburn.example.com/slos?cluster=checkout',
  },
  step: { anchor: 'first-minutes-step-1', text: 'Which hosts, how often, why' },
};

/** Decides and stores notifications one after the other, as the evaluator does; returns what was put into the outbox. */
export function commitAll(
  store: IncidentStore,
  notifications: readonly Notification[],
  receivers: readonly Receiver[],
  notifiers: ReadonlyMap<string, Notifier>,
  routes: readonly Route[] = receivers.map(({ name }) => ({ receiver: name, severity: [], matchers: [] })),
): readonly OutboxEntry[] {
  const all: OutboxEntry[] = [];
  for (const notification of notifications) {
    const outbox = toOutboxEntries([notification], {
      routes,
      receivers,
      notifiers,
      context: ({ id }) => ({
        ...CONTEXT,
        links: { ...CONTEXT.links, incident: `https://slowburn.example.com/incidents/${id}` },
      }),
      sent: (incident) => store.sends(incident),
      sentTo: (receiver, since) => store.sendsTo(receiver, since),
    });
    store.commit({
      at: notification.at,
      alertStates: [],
      alertStatesRemoved: [],
      incidents: [],
      changes: [],
      outbox,
    });
    all.push(...outbox);
  }
  return all;
}
