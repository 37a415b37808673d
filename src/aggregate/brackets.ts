import type { EpochMs } from '../base/units.ts';

/** Histograms come at every push; one whose bounds were put right is forgotten after this long. */
const KEPT_MS = 3_600_000;

/** The bounds around an SLO's threshold in the histograms of one balancer, in seconds. `above` is Infinity past the last. */
export interface BracketState {
  readonly slo: string;
  readonly threshold: number;
  readonly below: number;
  readonly above: number;
  /** Time of the newest point that had them. */
  readonly at: number;
}

/** The last bounds that were seen around one threshold; of several at one time the widest, whatever their order. */
class SeenBracket {
  readonly slo: string;
  readonly threshold: number;
  #below = 0;
  #above = 0;
  #at = Number.NEGATIVE_INFINITY;

  constructor(slo: string, threshold: number) {
    this.slo = slo;
    this.threshold = threshold;
  }

  note(at: number, below: number, above: number): void {
    if (at < this.#at) return;
    const isNewer = at > this.#at;
    this.#below = isNewer ? below : Math.min(below, this.#below);
    this.#above = isNewer ? above : Math.max(above, this.#above);
    this.#at = at;
  }

  toState(): BracketState {
    return { slo: this.slo, threshold: this.threshold, below: this.#below, above: this.#above, at: this.#at };
  }
}

/** Thresholds that lie between two bounds of one balancer's histograms, by SLO. */
export class Brackets {
  readonly #seen = new Map<string, SeenBracket>();

  /** Another threshold begins anew. */
  of(slo: string, threshold: number): SeenBracket {
    let seen = this.#seen.get(slo);
    if (seen?.threshold !== threshold) {
      seen = new SeenBracket(slo, threshold);
      this.#seen.set(slo, seen);
    }
    return seen;
  }

  /** Those seen up to an hour before the newest point. */
  list(newestPointAt: number): readonly BracketState[] {
    const states = [...this.#seen.values()].map((seen) => seen.toState());
    return states.filter(({ at }) => newestPointAt - at <= KEPT_MS).sort((a, b) => (a.slo < b.slo ? -1 : 1));
  }

  snapshot(): readonly BracketState[] {
    return [...this.#seen.values()].map((seen) => seen.toState());
  }

  restore(states: readonly BracketState[]): void {
    for (const { slo, threshold, at, below, above } of states) this.of(slo, threshold).note(at, below, above);
  }
}

/** Who is told of events between bounds: their number goes to the group, the bounds to the balancer. */
export class BracketTarget {
  readonly #group: { addBetween(from: number, to: number, amount: number): void };
  readonly #seen: SeenBracket;

  constructor(group: { addBetween(from: number, to: number, amount: number): void }, seen: SeenBracket) {
    this.#group = group;
    this.#seen = seen;
  }

  /** As BracketCell. */
  add(from: EpochMs, to: EpochMs, amount: number, below: number, above: number): void {
    this.#group.addBetween(from, to, amount);
    this.#seen.note(to, below, above);
  }
}
