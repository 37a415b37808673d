import { epochMs } from '../base/units.ts';
import type { BalancerBook } from './balancer-book.ts';
import type { CertificateReading, LevelTarget } from './features.ts';

/** A later end by more than this is another certificate: a renewal. */
const RENEWED_MS_MIN = 3_600_000;
/** Ends outside of (now, +100 years) are no dates: 0 where none is served. */
const CENTURY_S = 3_155_760_000;

export interface CertificateState {
  readonly name: string;
  readonly balancer: string;
  readonly source: string;
  readonly firstSeenAt: number;
  readonly at: number;
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
  readonly renewedAt: number | null;
  readonly lifetimeMs: number | null;
}

type Entry = { -readonly [Key in keyof CertificateState]: CertificateState[Key] };

/** What balancers serve, since when, and when it was last replaced by one that ends later. */
export class CertificateStore {
  readonly #entries = new Map<string, Entry>();
  /** Renewals that the automation itself has counted, by name. */
  readonly #counted = new Map<string, number>();

  /** Takes ends in seconds since the epoch. `source` tells series of one balancer and name apart. */
  cell(name: string, source: string): LevelTarget {
    return { set: (at, balancer, value) => this.#saw(at, balancer, name, source, value) };
  }

  /** A counter of successful renewals: only that it grew matters. */
  renewals(name: string): { add(from: number, to: number, amount: number): void } {
    if (!this.#counted.has(name)) this.#counted.set(name, 0);
    return {
      add: (_from, to, amount) => {
        if (amount > 0) this.#counted.set(name, Math.max(to, this.#counted.get(name) ?? 0));
      },
    };
  }

  /** In the order of names, then balancers. What a balancer that is heard serves no longer is left out. */
  readings(now: number, book: BalancerBook): readonly CertificateReading[] {
    const found: CertificateReading[] = [];
    const known = new Map(book.known(epochMs(now)).map((record) => [record.id, record]));
    for (const [, entry] of [...this.#entries].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const record = known.get(entry.balancer);
      const stale = record === undefined || record.isStale(now);
      if (!stale && record.isSilentSince(entry.at, now)) continue;
      const { name, balancer, notAfter, firstSeenAt, renewedAt, lifetimeMs } = entry;
      const counted = this.#counted.get(name);
      found.push({
        ...{ name, balancer, stale, lifetimeMs },
        notAfter: epochMs(notAfter),
        firstSeenAt: epochMs(firstSeenAt),
        renewedAt: renewedAt === null ? null : epochMs(renewedAt),
        renewalCountedAt: counted === undefined ? null : epochMs(counted),
      });
    }
    return found;
  }

  forgetBefore(since: number): void {
    for (const [key, { at }] of this.#entries) if (at < since) this.#entries.delete(key);
  }

  snapshot(): {
    readonly entries: readonly CertificateState[];
    readonly counted: readonly (readonly [string, number])[];
  } {
    return { entries: [...this.#entries.values()].map((entry) => ({ ...entry })), counted: [...this.#counted] };
  }

  restore({ entries, counted }: ReturnType<CertificateStore['snapshot']>): void {
    for (const entry of entries) this.#entries.set(keyOf(entry), { ...entry });
    for (const [name, at] of counted) this.#counted.set(name, at);
  }

  #saw(at: number, balancer: string, name: string, source: string, seconds: number): void {
    if (!(seconds > 0 && seconds < at / 1000 + CENTURY_S)) return;
    const notAfter = seconds * 1000;
    const key = keyOf({ name, balancer, source });
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      const fresh = { name, balancer, source, firstSeenAt: at, at, notAfter, renewedAt: null, lifetimeMs: null };
      this.#entries.set(key, fresh);
      return;
    }
    if (at < entry.at) return;
    entry.at = at;
    if (notAfter > entry.notAfter + RENEWED_MS_MIN) {
      entry.renewedAt = at;
      entry.lifetimeMs = notAfter - at;
    }
    entry.notAfter = notAfter;
  }
}

const keyOf = ({ name, balancer, source }: Pick<CertificateState, 'name' | 'balancer' | 'source'>): string =>
  JSON.stringify([name, balancer, source]);
