import type { EpochMs } from '../base/units.ts';
import type { HookCall } from '../model/hook.ts';
import type { Incident, IncidentChange } from '../model/incident.ts';
import { labelsKey } from '../model/labels.ts';
import type { HourlyFigures } from '../model/measure.ts';
import {
  type Backlog,
  HOURLY_KEPT_MS,
  type IncidentStore,
  type OutboxEntry,
  type Outcomes,
  REOPENABLE_MS,
  type StoredState,
} from './store.ts';

/** The store of replays and tests: everything in memory, same contract as SQLite's. */
export function createMemoryStore(): IncidentStore {
  const states = new Map<string, string>();
  const incidents = new Map<number, Incident>();
  const changes = new Map<number, IncidentChange[]>();
  const outbox = new Map<string, OutboxEntry>();
  const sendsOf = new Map<number, string[]>();
  const pending = new Set<string>();
  const hookCalls = new Map<string, HookCall>();
  /** By hour, then subject. */
  const hourly = new Map<number, Map<string, HourlyFigures>>();

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
      for (const call of commit.hookCalls ?? []) hookCalls.set(call.id, call);
      for (const row of commit.hourly ?? []) {
        const rows = hourly.get(row.hour) ?? new Map<string, HourlyFigures>();
        hourly.set(row.hour, rows);
        const key = labelsKey(row.subject);
        if (!rows.has(key)) rows.set(key, row);
      }
      if (commit.hourly !== undefined) {
        for (const hour of hourly.keys()) if (hour <= commit.at - HOURLY_KEPT_MS) hourly.delete(hour);
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
        .sort((a, b) => a.nextAttemptAt - b.nextAttemptAt || byAge(a, b))
        .slice(0, limit),
    sendsTo: (receiver, since) =>
      [...outbox.values()].filter((entry) => entry.receiver === receiver && entry.at > since).sort(byAge),
    heldSends: (receiver, heldUntil) =>
      [...outbox.values()].filter((entry) => entry.receiver === receiver && entry.heldUntil === heldUntil).sort(byAge),
    nextSendAt(except = []) {
      const times = heads()
        .filter((entry) => !except.includes(entry.receiver))
        .map((entry) => entry.nextAttemptAt);
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
        handle: result.handle ?? entry.handle,
      });
    },
    backlogs: () => byReceiver([...pending].flatMap((id) => outbox.get(id) ?? [])).map(toBacklog),
    outcomes: () => byReceiver([...outbox.values()].filter(({ state }) => state !== 'pending')).map(toOutcomes),
    hookCalls: (id) => [...hookCalls.values()].filter(({ incident }) => incident === id).sort(byTime),
    hookCallsSince: (since) => [...hookCalls.values()].filter(({ at }) => at >= since).sort(byTime),
    hourly: (from, to) =>
      [...hourly]
        .filter(([hour]) => hour > from && hour <= to)
        .sort(([a], [b]) => a - b)
        .flatMap(([, rows]) => [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)),
    newestHour: () => (hourly.size === 0 ? null : (Math.max(...hourly.keys()) as EpochMs)),
    writable: () => true,
    close: () => undefined,
  };
}

const byKey = (a: { readonly key: string }, b: { readonly key: string }): number => (a.key < b.key ? -1 : 1);

const byTime = (a: HookCall, b: HookCall): number => a.at - b.at || (a.id < b.id ? -1 : 1);

const isHeld = (incident: Incident, now: EpochMs): boolean =>
  incident.state !== 'resolved' || incident.resolvedAt === null || now - incident.resolvedAt <= REOPENABLE_MS;

const byAge = (a: OutboxEntry, b: OutboxEntry): number =>
  a.at - b.at || a.incident - b.incident || a.seq - b.seq || (a.eventId < b.eventId ? -1 : 1);

type OfReceiver = readonly [receiver: string, entries: readonly OutboxEntry[]];

function byReceiver(entries: readonly OutboxEntry[]): readonly OfReceiver[] {
  const names = [...new Set(entries.map(({ receiver }) => receiver))].sort();
  return names.map((name) => [name, entries.filter(({ receiver }) => receiver === name)]);
}

const toBacklog = ([receiver, entries]: OfReceiver): Backlog => {
  const late = entries.filter(({ heldUntil, attempts }) => heldUntil === null || attempts > 0).map(({ at }) => at);
  return { receiver, pending: entries.length, oldestAt: late.length === 0 ? null : (Math.min(...late) as EpochMs) };
};

function toOutcomes([receiver, entries]: OfReceiver): Outcomes {
  const last = (times: readonly (EpochMs | null)[]): EpochMs | null => {
    const known = times.filter((time) => time !== null);
    return known.length === 0 ? null : (Math.max(...known) as EpochMs);
  };
  const dead = entries.filter(({ state }) => state === 'dead');
  return {
    receiver,
    delivered: entries.length - dead.length,
    dead: dead.length,
    lastDeliveredAt: last(entries.map(({ deliveredAt }) => deliveredAt)),
    lastDeadAt: last(dead.map(({ nextAttemptAt }) => nextAttemptAt)),
  };
}
