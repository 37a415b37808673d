import type { Incident } from '../model/incident.ts';

const LEADS_MAX = 10_000;

/** The newest incident of each lead, so that one that comes back later names the last. Bounded, oldest out first. */
export class LeadHistory {
  readonly #last = new Map<string, number>();

  note({ id, lead }: Incident): void {
    const known = this.#last.get(lead);
    if (known !== undefined && known >= id) return;
    this.#last.delete(lead);
    this.#last.set(lead, id);
    for (const oldest of this.#last.keys()) {
      if (this.#last.size <= LEADS_MAX) break;
      this.#last.delete(oldest);
    }
  }

  lastOf(lead: string): number | null {
    return this.#last.get(lead) ?? null;
  }
}
