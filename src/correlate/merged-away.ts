import type { Incident } from '../model/incident.ts';

const MERGED_MAX = 10_000;

/** Where incidents went that were merged into others. Bounded, oldest out first. */
export class MergedAway {
  readonly #into = new Map<number, number>();

  /** Whether it was merged away. */
  note({ id, mergedInto }: Pick<Incident, 'id' | 'mergedInto'>): boolean {
    if (typeof mergedInto !== 'number') return false;
    this.#into.set(id, mergedInto);
    for (const oldest of this.#into.keys()) {
      if (this.#into.size <= MERGED_MAX) break;
      this.#into.delete(oldest);
    }
    return true;
  }

  /** The incident in which it goes on now. */
  into(id: number): number | null {
    const next = this.#into.get(id);
    return next === undefined ? null : (this.into(next) ?? next);
  }
}
