import { type EpochMs, epochMs } from '../base/units.ts';
import { type BalancerFacts, BalancerRecord, type BalancerRecordState } from './balancer-record.ts';
import { STEP_MS } from './view.ts';

/** Records silent for longer are dropped; until then a returning balancer still feeds what its series were bound to. */
const FORGOTTEN_MS = 14 * 86_400_000;

/** All balancers by identity. */
export class BalancerBook {
  readonly #records = new Map<string, BalancerRecord>();

  /** The record of a balancer, made when first asked for. */
  record(id: string): BalancerRecord {
    let record = this.#records.get(id);
    if (record === undefined) {
      record = new BalancerRecord(id);
      this.#records.set(id, record);
    }
    return record;
  }

  /** As BalancerListener, with the facts already read from the resource. */
  heard(id: string, facts: BalancerFacts, newestPointAt: EpochMs, receivedAt: EpochMs): void {
    const record = this.record(id);
    record.learn(facts);
    record.heard(newestPointAt, receivedAt);
  }

  /** Before all series are bound again, so that none is counted twice. What a balancer has fed stays. */
  resetSeriesCounts(): void {
    for (const record of this.#records.values()) record.resetSeries();
  }

  isStale(id: string, now: EpochMs): boolean {
    return this.#records.get(id)?.isStale(now) ?? true;
  }

  /** Balancers that have been heard and are not retired, in the order of their ids. */
  known(now: EpochMs): readonly BalancerRecord[] {
    const known = [...this.#records.values()].filter((record) => !record.isRetired(now));
    return known.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Drops records unheard for 14 days; returns them. */
  forgetSilent(now: EpochMs): ReadonlySet<BalancerRecord> {
    const gone = new Set<BalancerRecord>();
    for (const record of this.#records.values()) {
      const silentMs = now - record.newestPointAt;
      if (silentMs > FORGOTTEN_MS && Number.isFinite(silentMs)) gone.add(record);
    }
    for (const { id } of gone) this.#records.delete(id);
    return gone;
  }

  snapshot(): readonly BalancerRecordState[] {
    return [...this.#records.values()].map((record) => record.snapshot());
  }

  restore(states: readonly BalancerRecordState[]): void {
    for (const state of states) this.record(state.id).restore(state);
  }
}

/** Newest point time of any of the balancers; null where none was ever heard. */
export function newestPointAt(records: Iterable<BalancerRecord>): EpochMs | null {
  let newest = Number.NEGATIVE_INFINITY;
  for (const record of records) newest = Math.max(newest, record.newestPointAt);
  return Number.isFinite(newest) ? epochMs(newest) : null;
}

/**
 * Where alert windows of what these balancers feed end: the oldest newest-point time of those that are not left out;
 * where all are, the newest of any. Floored to a 10 s step edge. Null where none was ever heard.
 */
export function watermarkOf(records: Iterable<BalancerRecord>, now: EpochMs): EpochMs | null {
  let oldest = Number.POSITIVE_INFINITY;
  for (const record of records) {
    if (!record.isLeftOut(now)) oldest = Math.min(oldest, record.newestPointAt);
  }
  const at = Number.isFinite(oldest) ? oldest : newestPointAt(records);
  return at === null ? null : floorToStep(at);
}

export const floorToStep = (at: number): EpochMs => epochMs(Math.floor(at / STEP_MS) * STEP_MS);
