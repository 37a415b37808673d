import { formatInstant } from '../../base/instant.ts';
import { type EpochMs, epochMs, MINUTE } from '../../base/units.ts';
import { type Alert, type AlertChange, NO_DATA, type Place } from '../../model/alert.ts';
import { labelsKey } from '../../model/labels.ts';
import { type ForeignNews, type ForeignRecord, lapsed, merge, RESOLVE_TIMEOUT } from './record.ts';
import type { Telemetry } from './telemetry.ts';

/** Alerts held, ended ones included; more are refused. */
export const FOREIGN_ALERTS_MAX = 10_000;
/** An alert that ended is remembered for longer than senders tell its end, so that old news of it is known as old. */
const REMEMBERED_MS = 30 * MINUTE;

/** What a batch would change: stored first, then taken in. */
export interface Intake {
  /** By their ids, as they are after the batch. */
  readonly records: ReadonlyMap<string, ForeignRecord>;
  /** Ids that make room. */
  readonly dropped: readonly string[];
  /** What became of each alert of the batch. */
  readonly fates: readonly IntakeFate[];
}

/**
 * `news` changed something; `stale` is older than what is known; `stray` ends what nobody knows; `full` found no room.
 */
export type IntakeFate = 'news' | 'stale' | 'stray' | 'full';

/** What a tick makes of what is held. */
export interface ForeignDue {
  readonly changes: readonly AlertChange[];
  /** Records to store again: their last end turned out to be none. */
  readonly continued: readonly ForeignRecord[];
  /** Ids that need not be remembered any more. */
  readonly forgotten: readonly string[];
}

/** An end that does not count yet. */
interface Wait {
  /** The subject fell silent meanwhile. */
  wasLost: boolean;
  /** Since when it is heard again; null while it is not. */
  backAt: EpochMs | null;
}

interface Variant {
  readonly record: ForeignRecord;
  readonly telemetry: Telemetry | null;
  readonly isActive: boolean;
  /** When it was last over; null = not since the correlator was told of it. */
  readonly lastEnd: EpochMs | null;
  /** It waited for telemetry of a subject that is now given up. */
  readonly isRetired: boolean;
}

/**
 * Alerts raised elsewhere, over all who tell of them. What the correlator must hear is the difference between what is
 * held here and what it was last told, so that a crash between the two loses nothing.
 */
export class ForeignBook {
  readonly #records = new Map<string, ForeignRecord>();
  readonly #waits = new Map<string, Wait>();
  readonly #capacity: number;

  constructor(capacity = FOREIGN_ALERTS_MAX) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#records.size;
  }

  knows(id: string): boolean {
    return this.#records.has(id);
  }

  restore(records: Iterable<ForeignRecord>): void {
    for (const record of records) this.#records.set(record.id, record);
  }

  /** What these news would change; changes nothing yet. */
  plan(batch: readonly ForeignNews[], now: EpochMs): Intake {
    const records = new Map<string, ForeignRecord>();
    const dropped: string[] = [];
    let free = this.#capacity - this.#records.size;
    let past: Iterator<string> | null = null;
    const fates = batch.map((news): IntakeFate => {
      const known = records.get(news.id) ?? this.#records.get(news.id);
      const merged = merge(known, news, now);
      if (merged === 'stray' || merged === 'stale') return merged;
      if (known === undefined) {
        if (free <= 0) {
          past ??= this.#past(now);
          const { value, done } = past.next();
          if (done === true) return 'full';
          dropped.push(value);
          free += 1;
        }
        free -= 1;
      }
      records.set(news.id, merged);
      return 'news';
    });
    return { records, dropped: dropped.filter((id) => !records.has(id)), fates };
  }

  take({ records, dropped }: Omit<Intake, 'fates'>): void {
    for (const id of dropped) this.#records.delete(id);
    for (const [id, record] of records) this.#records.set(id, record);
  }

  /** `told` = foreign alerts that the correlator has as firing, by their keys. */
  due(told: ReadonlyMap<string, Alert>, telemetryOf: (place: Place) => Telemetry | null, now: EpochMs): ForeignDue {
    const changes: AlertChange[] = [];
    const forgotten: string[] = [];
    const continued: ForeignRecord[] = [];
    const byKey = new Map<string, Variant[]>();
    for (const held of this.#records.values()) {
      const { key } = held.alert;
      const isTold = told.has(key);
      const record = this.#continued(lapsed(held, now), told.get(key));
      if (record.alert !== held.alert) continued.push(record);
      if (!record.isFiring && !isTold && now - record.endsAt > REMEMBERED_MS + record.validFor)
        forgotten.push(record.id);
      const variant = this.#variantOf(record, isTold, telemetryOf, now);
      const known = byKey.get(key);
      if (known === undefined) byKey.set(key, [variant]);
      else known.push(variant);
    }
    for (const [key, variants] of byKey) changes.push(...changesOf(told.get(key), variants, now));
    for (const [key, alert] of told) {
      if (!byKey.has(key)) changes.push({ kind: 'resolved', at: now, alert, reason: 'removed' });
    }
    return { changes, continued, forgotten };
  }

  /** An end that did not count was none: what fires again goes on, since the start that the correlator knows. */
  #continued(record: ForeignRecord, told: Alert | undefined): ForeignRecord {
    if (!record.isFiring || !this.#waits.delete(record.id) || told === undefined) return record;
    const since = epochMs(Math.min(record.alert.since, told.since));
    return { ...record, alert: { ...record.alert, since }, endedBefore: null };
  }

  #variantOf(
    record: ForeignRecord,
    isTold: boolean,
    telemetryOf: (place: Place) => Telemetry | null,
    now: EpochMs,
  ): Variant {
    if (record.isFiring) {
      const telemetry = telemetryOf(record.alert.place);
      return { record, telemetry, isActive: true, lastEnd: record.endedBefore, isRetired: false };
    }
    const lastEnd = record.endsAt;
    if (!isTold) return { record, telemetry: null, isActive: false, lastEnd, isRetired: false };
    const telemetry = telemetryOf(record.alert.place);
    const isRetired = telemetry === null && this.#waits.has(record.id);
    const isActive = telemetry !== null && this.#mustWait(record, telemetry, now);
    if (!isActive) this.#waits.delete(record.id);
    return { record, telemetry, isActive, lastEnd: isActive ? null : lastEnd, isRetired };
  }

  /**
   * No data is not recovery: an end counts once its subject is heard after it. Where the subject fell silent meanwhile,
   * an end that was evaluated since it is heard again counts, or any once the sender had time for such an evaluation.
   */
  #mustWait(record: ForeignRecord, telemetry: Telemetry, now: EpochMs): boolean {
    const { id, endsAt, evaluatedAt, validFor } = record;
    const wait = this.#waits.get(id) ?? { wasLost: false, backAt: null };
    this.#waits.set(id, wait);
    if (telemetry.isLost) {
      wait.wasLost = true;
      wait.backAt = null;
      return true;
    }
    if (!wait.wasLost) return telemetry.newestPointAt <= endsAt;
    wait.backAt ??= now;
    if (evaluatedAt >= endsAt && evaluatedAt >= wait.backAt) return false;
    return now - wait.backAt < Math.max(validFor, RESOLVE_TIMEOUT);
  }

  /** Ended alerts, longest ago first: these make room. */
  #past(now: EpochMs): Iterator<string> {
    const past = [...this.#records.values()].filter((record) => !lapsed(record, now).isFiring);
    return past
      .sort((a, b) => a.endsAt - b.endsAt)
      .map(({ id }) => id)
      [Symbol.iterator]();
  }
}

/** What one alert, in all its severities, makes the correlator hear. */
function changesOf(told: Alert | undefined, variants: readonly Variant[], now: EpochMs): readonly AlertChange[] {
  const active = variants.filter(({ isActive }) => isActive).sort(byWeight);
  const [heaviest] = active;
  if (heaviest === undefined) {
    if (told === undefined) return [];
    const reason = variants.some(({ isRetired }) => isRetired) ? 'retired' : 'recovered';
    return [{ kind: 'resolved', at: now, alert: told, reason }];
  }
  const since = Math.min(...active.map(({ record }) => record.alert.since));
  const isNew = told !== undefined && since > told.since && since > lastEndOf(variants);
  const alert = withTelemetry(heaviest, epochMs(told === undefined || isNew ? since : Math.min(since, told.since)));
  if (told === undefined) return [{ kind: 'fired', at: now, alert }];
  if (isNew) {
    return [
      { kind: 'resolved', at: now, alert: told, reason: 'recovered' },
      { kind: 'fired', at: now, alert },
    ];
  }
  if (told.severity !== alert.severity) return [{ kind: 'changed', at: now, alert }];
  return isSameText(told, alert) ? [] : [{ kind: 'updated', at: now, alert }];
}

const byWeight = ({ record: a }: Variant, { record: b }: Variant): number =>
  Number(b.alert.severity === 'page') - Number(a.alert.severity === 'page') || (a.id < b.id ? -1 : 1);

/** When the alert was last over in all severities; infinite where one of them never was. */
const lastEndOf = (variants: readonly Variant[]): number =>
  Math.max(...variants.map(({ lastEnd }) => lastEnd ?? Number.POSITIVE_INFINITY));

function withTelemetry({ record, telemetry }: Variant, since: EpochMs): Alert {
  const { alert } = record;
  if (telemetry === null || !telemetry.isLost) return { ...alert, since };
  const text = `no data: ${telemetry.what} has sent no telemetry since ${formatInstant(telemetry.newestPointAt)}`;
  return { ...alert, since, evidence: [...alert.evidence, { name: NO_DATA, value: true, text }] };
}

const isSameText = (a: Alert, b: Alert): boolean =>
  a.since === b.since &&
  a.summary === b.summary &&
  a.owner === b.owner &&
  a.runbook === b.runbook &&
  a.foreign?.link === b.foreign?.link &&
  a.evidence.length === b.evidence.length &&
  a.evidence.every(({ text }, index) => text === b.evidence[index]?.text) &&
  labelsKey(a.labels) === labelsKey(b.labels);
