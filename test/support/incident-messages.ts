import type { IncidentDetailView, IncidentView, Page } from '../../src/model/views.ts';
import { eventually, type LiveService } from './live-service.ts';
import type { Body } from './restartable-hook.ts';

/** Our generic webhook, as far as checks look at it. */
export interface Message {
  readonly reason: string;
  readonly severity: string;
  readonly eventId: string;
  readonly incident: { readonly id: number; readonly episode: number; readonly key: string };
}

export const toMessages = (bodies: readonly Body[]): readonly Message[] => bodies as unknown as readonly Message[];

/** Incidents of the service, oldest first, in full. */
export async function incidentsOf(service: LiveService): Promise<readonly IncidentDetailView[]> {
  const { items } = await service.json<Page<IncidentView>>('/api/v1/incidents?limit=1000');
  const details = items.map(({ id }) => service.json<IncidentDetailView>(`/api/v1/incidents/${id}`));
  return (await Promise.all(details)).sort((a, b) => a.id - b.id);
}

/**
 * Waits until all messages about an incident are noted as delivered. A kill between the answer of a receiver and the
 * note sends one again, with the same event id.
 */
export const allDelivered = (service: LiveService, id: number): Promise<boolean> =>
  eventually('all messages to be noted as delivered', 10_000, async () => {
    const { sends } = await service.json<IncidentDetailView>(`/api/v1/incidents/${id}`);
    return sends.length > 0 && sends.every(({ state }) => state === 'delivered') ? true : null;
  });

/** Reasons of the messages about one incident, in order. */
export const reasonsOf = (messages: readonly Message[], id: number): string =>
  messages
    .filter(({ incident }) => incident.id === id)
    .map(({ reason }) => reason)
    .join(' ');

/** How many messages opened something, and were not followed by one that closed it. */
export function leftOpen(messages: readonly Message[]): number {
  const open = new Set<string>();
  for (const { reason, incident } of messages) {
    if (reason === 'resolved' || reason === 'merged') open.delete(incident.key);
    else open.add(incident.key);
  }
  return open.size;
}
