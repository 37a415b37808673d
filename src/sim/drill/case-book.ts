import type { Outcome } from '../../app/evaluate.ts';
import type { Severity } from '../../model/alert.ts';
import { CLOSING, type Incident, type IncidentState, leadAlert, type Notification } from '../../model/incident.ts';

/** An incident as it stood at a moment. */
export interface Sighting {
  readonly atMs: number;
  /** Name of the leading alert. */
  readonly lead: string;
  readonly severity: Severity;
  readonly tier: string | null;
  readonly state: IncidentState;
  readonly runbook: string;
  /** Names of the alerts in it, those that have resolved too. */
  readonly members: readonly string[];
  /** What a person can read of it: title, summaries, evidence. */
  readonly texts: () => readonly string[];
  /** Pages sent about it up to then. */
  readonly pages: number;
}

export interface Case {
  readonly id: number;
  readonly openedAtMs: number;
  /** At each of its changes, oldest first. */
  readonly sightings: readonly Sighting[];
  readonly pages: readonly PageSent[];
}

export interface PageSent {
  readonly atMs: number;
  readonly reason: Notification['reason'];
}

/** Keeps what an engine said about incidents during a drill. */
export class CaseBook {
  readonly #cases = new Map<number, { openedAtMs: number; sightings: Sighting[]; pages: PageSent[] }>();

  hear({ at, result }: Outcome): void {
    for (const { incident, reason, severity } of result.notifications) {
      if (severity === 'page' && !CLOSING.includes(reason)) this.#of(incident, at).pages.push({ atMs: at, reason });
    }
    for (const incident of result.incidents) {
      const known = this.#of(incident, at);
      known.sightings.push(sightingOf(incident, at, known.pages.length));
    }
  }

  /** Since when every incident that there was has been resolved; null while one is open, or there was none. */
  restingSince(): number | null {
    let since: number | null = null;
    for (const { sightings } of this.#cases.values()) {
      const last = sightings.at(-1);
      if (last === undefined || last.state !== 'resolved') return null;
      since = Math.max(since ?? 0, last.atMs);
    }
    return since;
  }

  cases(): readonly Case[] {
    return [...this.#cases].map(([id, one]) => ({ id, ...one })).sort((a, b) => a.id - b.id);
  }

  #of(incident: Incident, at: number) {
    const known = this.#cases.get(incident.id) ?? { openedAtMs: at, sightings: [], pages: [] };
    this.#cases.set(incident.id, known);
    return known;
  }
}

function sightingOf(incident: Incident, atMs: number, pages: number): Sighting {
  const { severity, tier, state, runbook, title, members } = incident;
  const texts = (): string[] => [
    title,
    ...members.flatMap(({ alert }) => [alert.summary, ...alert.evidence.map(({ text }) => text)]),
  ];
  return {
    atMs,
    lead: leadAlert(incident).name,
    severity,
    tier,
    state,
    runbook,
    members: members.map(({ alert }) => alert.name),
    texts,
    pages,
  };
}
