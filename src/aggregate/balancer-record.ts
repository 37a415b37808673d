import { median } from '../base/median.ts';
import { type EpochMs, epochMs, type Ms, ms } from '../base/units.ts';
import {
  betterFidelity,
  type Fidelity,
  type StageFidelity,
  type StageName,
  toStageFidelities,
} from '../model/stages.ts';
import { type BracketState, Brackets } from './brackets.ts';
import type { BalancerState } from './features.ts';

const UNKNOWN_INTERVAL_MS = 60_000;
const GAPS_KEPT = 5;
/** Three pushes have two gaps between them. */
const GAPS_NEEDED = 2;
/** Points this close together are one push that came in several requests. */
const SAME_PUSH_MS = 1000;
const STALE_MS_MIN = 60_000;
const STALE_INTERVALS = 3;
const LEFT_OUT_INTERVALS = 2;
const LEFT_OUT_MS_MAX = 90_000;
const RETIRED_MS = 86_400_000;
const NAMES_MAX = 500;

/** What a balancer says of itself in its resource; absent parts are null. */
export interface BalancerFacts {
  readonly zone: string | null;
  readonly region: string | null;
  readonly flavor: string | null;
  readonly version: string | null;
  readonly service?: string | null;
}

/**
 * A record as plain data. Which SLOs it feeds stands with their groups; series are counted when they are bound again.
 */
export interface BalancerRecordState {
  readonly id: string;
  readonly zone: string | null;
  readonly region: string | null;
  readonly flavor: string | null;
  readonly version: string | null;
  readonly service?: string | null;
  readonly firstSeenAt: number;
  readonly newestPointAt: number;
  readonly pushedAt: number;
  readonly gaps: readonly number[];
  readonly clusters: readonly string[];
  readonly understood: readonly string[];
  readonly ignored: readonly string[];
  readonly brackets?: readonly BracketState[];
}

/**
 * One balancer: when it was heard, how often it pushes, and what it feeds. Freshness is judged here (design section 8).
 */
export class BalancerRecord {
  readonly id: string;
  zone: string | null = null;
  region: string | null = null;
  flavor: string | null = null;
  version: string | null = null;
  service: string | null = null;
  /** -Infinity before the first request. */
  newestPointAt = Number.NEGATIVE_INFINITY;
  readonly slos = new Set<string>();
  readonly clusters = new Set<string>();
  /** Thresholds of SLOs that are no bounds of its histograms. */
  readonly brackets = new Brackets();
  seriesCount = 0;
  readonly #stages = new Map<StageName, StageFidelity>();
  readonly #understood = new NameSet();
  readonly #ignored = new NameSet();
  #firstSeenAt = Number.POSITIVE_INFINITY;
  #pushedAt = Number.NEGATIVE_INFINITY;
  #gaps: number[] = [];
  #intervalMs = UNKNOWN_INTERVAL_MS;

  constructor(id: string) {
    this.id = id;
  }

  /** Median of the last gaps between pushes; 60 s until three pushes are known. */
  get interval(): Ms {
    return ms(this.#intervalMs);
  }

  /** A request whose newest point has this time. A sender whose points run ahead is taken at arrival. */
  heard(newestPointAt: number, receivedAt: number): void {
    const at = Math.min(newestPointAt, receivedAt);
    if (!Number.isFinite(at)) return;
    this.#firstSeenAt = Math.min(this.#firstSeenAt, receivedAt);
    if (at <= this.newestPointAt) return;
    this.newestPointAt = at;
    const gap = at - this.#pushedAt;
    if (gap < SAME_PUSH_MS) return;
    this.#pushedAt = at;
    if (gap === Number.POSITIVE_INFINITY) return;
    this.#gaps = [...this.#gaps.slice(1 - GAPS_KEPT), gap];
    this.#intervalMs = intervalOf(this.#gaps);
  }

  /** Facts that are known replace older ones; unknown ones change nothing. */
  learn(facts: BalancerFacts): void {
    this.zone = facts.zone ?? this.zone;
    this.region = facts.region ?? this.region;
    this.flavor = facts.flavor ?? this.flavor;
    this.version = facts.version ?? this.version;
    this.service = facts.service ?? this.service;
  }

  /** A series of it was bound. Names beyond 500 of a kind are not kept. */
  bound(metric: string, understood: boolean): void {
    this.seriesCount += 1;
    const names = understood ? this.#understood : this.#ignored;
    names.add(metric);
  }

  /** A series of it tells a stage; the best of several counts. */
  reportsStage(stage: StageName, fidelity: Fidelity): void {
    this.#stages.set(stage, betterFidelity(this.#stages.get(stage) ?? 'absent', fidelity));
  }

  /** Before all its series are bound again, so that none is counted twice. */
  resetSeries(): void {
    this.seriesCount = 0;
    this.#stages.clear();
  }

  /** Silent for 3 own intervals, at least 60 s. */
  isStale(now: number): boolean {
    return this.isSilentSince(this.newestPointAt, now);
  }

  /** Whether something of it that was last seen at `at` has been missing for as long. */
  isSilentSince(at: number, now: number): boolean {
    return now - at >= Math.max(STALE_MS_MIN, STALE_INTERVALS * this.#intervalMs);
  }

  /**
   * Since when its newest point tells of it: since the one before, or of a longer silence its last own interval only.
   */
  heardSince(newestBefore: number): number {
    const { newestPointAt } = this;
    return this.isSilentSince(newestBefore, newestPointAt) ? newestPointAt - this.#intervalMs : newestBefore;
  }

  /** More than 2 own intervals, at most 90 s, behind now: watermarks do not wait for it. */
  isLeftOut(now: number): boolean {
    return now - this.newestPointAt > Math.min(LEFT_OUT_INTERVALS * this.#intervalMs, LEFT_OUT_MS_MAX);
  }

  /** Never heard, or not for 24 h. */
  isRetired(now: number): boolean {
    return now - this.newestPointAt >= RETIRED_MS;
  }

  toState(now: EpochMs): BalancerState {
    return {
      id: this.id,
      zone: this.zone,
      region: this.region,
      flavor: this.flavor ?? 'unknown',
      version: this.version,
      ...(this.service !== null && { service: this.service }),
      firstSeenAt: epochMs(this.#firstSeenAt),
      newestPointAt: epochMs(this.newestPointAt),
      interval: this.interval,
      stale: this.isStale(now),
      slos: [...this.slos].sort(),
      clusters: [...this.clusters].sort(),
      seriesCount: this.seriesCount,
      stages: toStageFidelities(this.#stages),
      metricsUnderstood: this.#understood.ordered,
      metricsIgnored: this.#ignored.ordered,
      brackets: this.brackets.list(this.newestPointAt).filter(({ slo }) => this.slos.has(slo)),
    };
  }

  snapshot(): BalancerRecordState {
    const { id, zone, region, flavor, version, service, newestPointAt } = this;
    return {
      ...{ id, zone, region, flavor, version, service, newestPointAt },
      firstSeenAt: this.#firstSeenAt,
      pushedAt: this.#pushedAt,
      gaps: [...this.#gaps],
      clusters: [...this.clusters],
      understood: this.#understood.names,
      ignored: this.#ignored.names,
      brackets: this.brackets.snapshot(),
    };
  }

  restore(state: BalancerRecordState): void {
    this.learn(state);
    this.newestPointAt = state.newestPointAt;
    this.#firstSeenAt = state.firstSeenAt;
    this.#pushedAt = state.pushedAt;
    this.#gaps = [...state.gaps];
    this.#intervalMs = intervalOf(this.#gaps);
    for (const cluster of state.clusters) this.clusters.add(cluster);
    for (const name of state.understood) this.#understood.add(name);
    for (const name of state.ignored) this.#ignored.add(name);
    this.brackets.restore(state.brackets ?? []);
  }
}

/** Up to 500 names. */
class NameSet {
  readonly #names = new Set<string>();
  #ordered: readonly string[] | null = null;

  add(name: string): void {
    if (this.#names.size >= NAMES_MAX || this.#names.has(name)) return;
    this.#names.add(name);
    this.#ordered = null;
  }

  /** As they came. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  get ordered(): readonly string[] {
    this.#ordered ??= [...this.#names].sort();
    return this.#ordered;
  }
}

const intervalOf = (gaps: readonly number[]): number =>
  gaps.length < GAPS_NEEDED ? UNKNOWN_INTERVAL_MS : median(gaps);
