import { parseInstant } from '../base/instant.ts';
import { type EpochMs, epochMs, type Ms, ms } from '../base/units.ts';
import type { CorrelationSettings } from '../correlate/settings.ts';
import { type Alert, type AlertChange, alertKey, type Place } from '../model/alert.ts';
import { type Labels, labelsOf } from '../model/labels.ts';

/** Prometheus sets endsAt itself; a sender that does not gets this much before its alert is taken as over. */
const RESOLVE_TIMEOUT: Ms = ms(5 * 60_000);

/** Alerts raised elsewhere (Prometheus, vmalert, Mimir) that are correlated with our own. */
export interface ForeignAlerts {
  /** Takes a body of POST /api/v2/alerts received at `now`. One bad alert does not fail the others; returns what was wrong, or null. */
  receive(alerts: readonly unknown[], now: EpochMs): string | null;
  /** Changes since the last call, ends by time included. */
  due(now: EpochMs): readonly AlertChange[];
}

interface Held {
  alert: Alert;
  endsAt: EpochMs;
}

export function createForeignAlerts(settings: CorrelationSettings): ForeignAlerts {
  const held = new Map<string, Held>();
  let changes: AlertChange[] = [];

  const receiveOne = (value: unknown, now: EpochMs): string | null => {
    const read = readAlert(value, settings, now);
    if (typeof read === 'string') return read;
    const known = held.get(read.alert.key);
    if (read.endsAt <= now) {
      if (known === undefined) return null;
      held.delete(read.alert.key);
      changes.push({ kind: 'resolved', at: now, alert: known.alert, reason: 'recovered' });
      return null;
    }
    if (known === undefined) {
      held.set(read.alert.key, read);
      changes.push({ kind: 'fired', at: now, alert: read.alert });
      return null;
    }
    known.endsAt = read.endsAt;
    if (known.alert.severity !== read.alert.severity) {
      known.alert = { ...read.alert, since: known.alert.since };
      changes.push({ kind: 'changed', at: now, alert: known.alert });
    }
    return null;
  };

  return {
    receive(alerts, now) {
      const wrong = alerts.map((alert) => receiveOne(alert, now)).filter((problem) => problem !== null);
      return wrong.length === 0 ? null : wrong.join('; ');
    },
    due(now) {
      for (const [key, { alert, endsAt }] of held) {
        if (endsAt > now) continue;
        held.delete(key);
        changes.push({ kind: 'resolved', at: now, alert, reason: 'recovered' });
      }
      const due = changes;
      changes = [];
      return due;
    },
  };
}

function readAlert(value: unknown, settings: CorrelationSettings, now: EpochMs): Held | string {
  if (typeof value !== 'object' || value === null) return 'an alert is a JSON object';
  const fields = value as Readonly<Record<string, unknown>>;
  const labels = readLabels(fields['labels']);
  if (labels === null || labels.size === 0) return 'an alert needs at least one label, all values strings';
  const time = (name: string): EpochMs | undefined =>
    typeof fields[name] === 'string' ? parseInstant(fields[name]) : undefined;
  const endsAt = time('endsAt');
  const ended = endsAt !== undefined && endsAt > 0 ? endsAt : undefined;
  const since = time('startsAt') ?? ended ?? now;
  const annotations = readLabels(fields['annotations']) ?? labelsOf([]);
  const name = labels.get('alertname') ?? 'unnamed';
  const severity = labels.get('severity');
  const identity = labelsOf([...labels].filter(([label]) => label !== 'severity' && label !== 'alertname'));
  const alert: Alert = {
    key: alertKey(name, identity),
    name,
    labels,
    place: placeOf(labels, settings.subjects),
    severity: severity === 'page' || severity === 'critical' ? 'page' : 'ticket',
    tier: null,
    tiersHolding: [],
    since,
    owner: 'service',
    runbook: annotations.get('runbook_url') ?? name,
    summary: annotations.get('summary') ?? name,
    evidence: [],
    burn: null,
  };
  return { alert, endsAt: ended ?? epochMs(now + RESOLVE_TIMEOUT) };
}

function readLabels(value: unknown): Labels | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const pairs: [string, string][] = [];
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string') return null;
    if (text !== '') pairs.push([name, text]);
  }
  return labelsOf(pairs);
}

/** The place that foreign labels name: for each kind of place the first of its labels that is present. */
function placeOf(labels: Labels, subjects: CorrelationSettings['subjects']): Place {
  const place: Record<string, string> = {};
  for (const [kind, names] of subjects) {
    const found = names.map((name) => labels.get(name)).find((value) => value !== undefined);
    if (found !== undefined) place[kind] = found;
  }
  return place;
}
