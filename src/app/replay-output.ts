import { formatInstant } from '../base/instant.ts';
import type { EpochMs } from '../base/units.ts';
import type { GroupStatus } from '../burn/status.ts';
import type { AlertChange } from '../model/alert.ts';
import { type Incident, type IncidentChange, type IncidentMember, leadAlert } from '../model/incident.ts';
import { labelsToObject } from '../model/labels.ts';
import type { OutboxEntry } from '../store/store.ts';
import type { Outcome } from './evaluate.ts';
import { toSloView } from './to-views.ts';

/** Hears what a replay gives: each tick and action, and at the end every group, by SLO and labels. */
export interface ReplaySink {
  outcome(outcome: Outcome): void;
  close(at: EpochMs, statuses: readonly GroupStatus[]): void;
}

/** The JSON Lines of a replay; `write` gets finished lines in their final order. */
export const createLineSink = (write: (line: string) => void): ReplaySink => ({
  outcome: createOutcomeWriter(write),
  close(at, statuses) {
    for (const status of statuses) {
      write(JSON.stringify({ at: formatInstant(at), type: 'slo', slo: toSloView(status.slo, [status]) }));
    }
  },
});

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Writes what a tick or an action did as JSON Lines: alerts by name and labels, then incidents, then notifications,
 * each by
 * id and order of change. An alert line is written only when its state, tier or severity changed.
 */
function createOutcomeWriter(write: (line: string) => void): (outcome: Outcome) => void {
  const lastSaid = new Map<string, string>();

  const isNews = ({ kind, alert }: AlertChange): boolean => {
    if (kind === 'resolved') return lastSaid.delete(alert.key);
    const said = `${alert.severity} ${alert.tier}`;
    if (lastSaid.get(alert.key) === said) return false;
    lastSaid.set(alert.key, said);
    return true;
  };

  return ({ at, alerts, result, outbox }) => {
    const line = (type: string, fields: object): void =>
      write(JSON.stringify({ at: formatInstant(at), type, ...fields }));
    const byName = (a: AlertChange, b: AlertChange): number =>
      compareText(a.alert.name, b.alert.name) || compareText(a.alert.key, b.alert.key);
    for (const change of [...alerts].sort(byName)) {
      if (isNews(change)) line('alert', alertLine(change));
    }
    for (const change of [...result.changes].sort((a, b) => a.incident - b.incident || a.seq - b.seq)) {
      line('incident', incidentLine(change, membersOf(change, result.incidents)));
    }
    const sends = [...outbox].sort(
      (a, b) => a.incident - b.incident || a.seq - b.seq || compareText(a.receiver, b.receiver),
    );
    for (const entry of sends) line('notification', notificationLine(entry, result.notifications));
  };
}

const alertLine = ({ kind, alert }: AlertChange) => ({
  name: alert.name,
  state: kind === 'resolved' ? 'resolved' : 'firing',
  severity: alert.severity,
  tier: alert.tier,
  tiersHolding: alert.tiersHolding,
  labels: labelsToObject(alert.labels),
  since: formatInstant(alert.since),
});

/** Those that the incident had right after the change. */
const membersOf = ({ incident, members }: IncidentChange, touched: readonly Incident[]): readonly IncidentMember[] =>
  touched.find(({ id }) => id === incident)?.members.slice(0, members) ?? [];

const incidentLine = (
  { after, change, reason, incident, episode }: IncidentChange,
  members: readonly IncidentMember[],
) => ({
  id: incident,
  episode,
  change,
  state: after.state,
  severity: after.severity,
  tier: after.tier,
  title: after.title,
  lead: leadAlert({ ...after, members }).name,
  alerts: members.map((member) => member.alert.name),
  runbook: after.runbook,
  reason,
});

function notificationLine(entry: OutboxEntry, notifications: Outcome['result']['notifications']) {
  const said = notifications.find(({ incident, seq }) => incident.id === entry.incident && seq === entry.seq);
  return {
    incident: entry.incident,
    episode: entry.episode,
    receiver: entry.receiver,
    reason: entry.reason,
    severity: said?.severity ?? null,
    tier: said?.tier ?? null,
  };
}
