import type { EpochMs } from '../base/units.ts';
import type { Incident, IncidentChange } from '../model/incident.ts';
import { type IncidentStore, type OutboxEntry, REOPENABLE_MS, type StoredState } from './store.ts';

/** The store of replays and tests: everything in memory, same contract as SQLite's. */
export function createMemoryStore(): IncidentStore {
  const states = new Map<string, string>();
  const incidents = new Map<number, Incident>();
  const changes = new Map<number, IncidentChange[]>();
  const outbox = new Map<string, OutboxEntry>();
  const sendsOf = new Map<number, string[]>();
  const pending = new Set<string>();

  const append = <K, V>(map: Map<K, V[]>, key: K, value: V): void => {
    const list = map.get(key);
    if (list === undefined) map.set(key, [value]);
    else list.push(value);
  };
  const put = (entry: OutboxEntry): void => {
    outbox.set(entry.eventId, entry);
    if (entry.state === 'pending') pending.add(entry.eventId);
    else pending.delete(entry.eventId);
  };
  /** The oldest pending entry per incident and receiver, oldest first. */
  const heads = (): OutboxEntry[] => {
    const oldest = new Map<string, OutboxEntry>();
    for (const entry of [...pending].flatMap((id) => outbox.get(id) ?? []).sort(byAge)) {
      const line = `${entry.incident} ${entry.receiver}`;
      if (!oldest.has(line)) oldest.set(line, entry);
    }
    return [...oldest.values()];
  };

  return {
    load(now): StoredState {
      const held = [...incidents.values()].filter((incident) => isHeld(incident, now));
      return {
        alertStates: [...states].map(([key, value]) => ({ key, value })).sort(byKey),
        incidents: held.sort((a, b) => a.id - b.id),
        nextIncidentId: Math.max(0, ...incidents.keys()) + 1,
      };
    },
    commit(commit) {
      for (const { key, value } of commit.alertStates) states.set(key, value);
      for (const key of commit.alertStatesRemoved) states.delete(key);
      for (const incident of commit.incidents) incidents.set(incident.id, incident);
      for (const change of commit.changes) {
        if (changes.get(change.incident)?.some(({ seq }) => seq === change.seq)) continue;
        append(changes, change.incident, change);
      }
      for (const entry of commit.outbox) {
        if (outbox.has(entry.eventId)) continue;
        put(entry);
        append(sendsOf, entry.incident, entry.eventId);
      }
    },
    incident: (id) => incidents.get(id) ?? null,
    listIncidents: ({ states: wanted, before, limit }) =>
      [...incidents.values()]
        .filter((incident) => wanted.includes(incident.state) && (before === null || incident.id < before))
        .sort((a, b) => b.id - a.id)
        .slice(0, limit),
    timeline: (id) => [...(changes.get(id) ?? [])].sort((a, b) => a.seq - b.seq),
    sends: (id) => (sendsOf.get(id) ?? []).flatMap((eventId) => outbox.get(eventId) ?? []).sort(byAge),
    dueSends: (now, limit, except = []) =>
      heads()
        .filter((entry) => entry.nextAttemptAt <= now && !except.includes(entry.receiver))
        .slice(0, limit),
    nextSendAt() {
      const times = heads().map((entry) => entry.nextAttemptAt);
      return times.length === 0 ? null : (Math.min(...times) as EpochMs);
    },
    recordAttempt(eventId, result) {
      const entry = outbox.get(eventId);
      if (entry === undefined) return;
      put({
        ...entry,
        state: result.state,
        attempts: entry.attempts + 1,
        nextAttemptAt: result.nextAttemptAt,
        deliveredAt: result.state === 'delivered' ? result.at : null,
        lastError: result.error,
      });
    },
    writable: () => true,
    close: () => undefined,
  };
}

const byKey = (a: { readonly key: string }, b: { readonly key: string }): number => (a.key < b.key ? -1 : 1);

const isHeld = (incident: Incident, now: EpochMs): boolean =>
  incident.state !== 'resolved' || incident.resolvedAt === null || now - incident.resolvedAt <= REOPENABLE_MS;

const byAge = (a: OutboxEntry, b: OutboxEntry): number =>
  a.at - b.at || a.incident - b.incident || a.seq - b.seq || (a.eventId < b.eventId ? -1 : 1);
