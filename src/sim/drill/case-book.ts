import type { Outcome } from '../../app/evaluate.ts';
import type { Incident, Notification } from '../../model/incident.ts';
import { leadAlert } from '../../model/incident.ts';

const CLOSING: readonly Notification['reason'][] = ['resolved', 'deescalated'];

/** An incident as it stood at a moment. */
export interface Sighting {
  readonly atMs: number;
  readonly lead: string;
  readonly incident: Incident;
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
      known.sightings.push({ atMs: at, lead: leadAlert(incident).name, incident, pages: known.pages.length });
    }
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
