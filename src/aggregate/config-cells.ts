import { epochMs } from '../base/units.ts';
import type { BalancerBook } from './balancer-book.ts';
import type { ConfigRun, LevelTarget } from './features.ts';
import { RolloutBook } from './rollout-book.ts';

/** Points of one push whose times differ by less were said at once. */
const SAME_PUSH_MS = 5000;
/** Versions kept per balancer and kind. */
const RUNS_MAX = 20;

export interface ConfigRunState {
  readonly balancer: string;
  readonly kind: string;
  readonly version: string;
  readonly firstAt: number;
  readonly lastAt: number;
}

interface Run {
  readonly version: string;
  readonly firstAt: number;
  lastAt: number;
}

/**
 * Which config version each balancer has said it runs, and since when. A version that was missing from a push and comes
 * again is a new run: a roll-back. A sender that goes on saying its old version beside the new one runs the new one.
 */
export class ConfigStore {
  readonly rollouts = new RolloutBook();
  readonly #runs = new Map<string, { readonly balancer: string; readonly kind: string; readonly runs: Run[] }>();

  cell(kind: string, version: string): LevelTarget {
    return { set: (at, balancer, value) => (value > 0 ? this.#saw(at, balancer, kind, version) : undefined) };
  }

  /** Oldest first per balancer and kind; all of balancers that were heard in the last day. */
  runs(now: number, book: BalancerBook): readonly ConfigRun[] {
    const found: ConfigRun[] = [];
    const known = new Map(book.known(epochMs(now)).map((record) => [record.id, record]));
    for (const [, { balancer, kind, runs }] of [...this.#runs].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const record = known.get(balancer);
      if (record === undefined) continue;
      const newest = Math.max(...runs.map(({ lastAt }) => lastAt));
      const current = runs.filter(({ lastAt }) => lastAt >= newest - SAME_PUSH_MS).at(-1);
      for (const run of runs) {
        const { version, firstAt, lastAt } = run;
        const times = { since: epochMs(firstAt), lastAt: epochMs(lastAt) };
        found.push({ balancer, kind, version, ...times, current: run === current, stale: record.isStale(now) });
      }
    }
    return found;
  }

  forgetBefore(since: number): void {
    for (const [key, { runs }] of this.#runs) if (runs.every(({ lastAt }) => lastAt < since)) this.#runs.delete(key);
  }

  snapshot(): readonly ConfigRunState[] {
    return [...this.#runs.values()].flatMap(({ balancer, kind, runs }) =>
      runs.map((run) => ({ balancer, kind, ...run })),
    );
  }

  restore(states: readonly ConfigRunState[]): void {
    for (const { balancer, kind, version, firstAt, lastAt } of states) {
      this.#of(balancer, kind).push({ version, firstAt, lastAt });
    }
  }

  #saw(at: number, balancer: string, kind: string, version: string): void {
    const runs = this.#of(balancer, kind);
    const known = runs.findLast((run) => run.version === version);
    // Another one was said in a push in between, in which this one was not.
    const isBetween = (lastAt: number, from: number): boolean =>
      lastAt > from + SAME_PUSH_MS && lastAt < at - SAME_PUSH_MS;
    const hasEnded = known !== undefined && runs.some(({ lastAt }) => isBetween(lastAt, known.lastAt));
    if (known !== undefined && (!hasEnded || at <= known.lastAt)) {
      known.lastAt = Math.max(known.lastAt, at);
      return;
    }
    // What comes late says nothing of what runs now.
    if (runs.some(({ lastAt }) => lastAt > at + SAME_PUSH_MS)) return;
    const before = runs.at(-1);
    if (before !== undefined) this.rollouts.changed(kind, version, Math.min(at, before.lastAt), at);
    runs.push({ version, firstAt: at, lastAt: at });
    if (runs.length > RUNS_MAX) runs.shift();
  }

  #of(balancer: string, kind: string): Run[] {
    const key = JSON.stringify([balancer, kind]);
    let entry = this.#runs.get(key);
    if (entry === undefined) {
      entry = { balancer, kind, runs: [] };
      this.#runs.set(key, entry);
    }
    return entry.runs;
  }
}
