import { present } from '../base/assert.ts';
import type { EpochMs } from '../base/units.ts';
import { type Labels, labelsOf } from '../model/labels.ts';
import type { Slo } from '../slo/slo.ts';
import { newestPointAt, watermarkOf } from './balancer-book.ts';
import type { BalancerRecord } from './balancer-record.ts';
import { type GroupState, groupKey, SloGroup } from './slo-group.ts';
import type { FeedView, GroupView, SloCells } from './view.ts';

/** One SLO's groups, and every balancer that feeds any of them. */
interface Member {
  slo: Slo;
  readonly feeders: Set<BalancerRecord>;
  /** Of the tick at `now`; several groups ask for it in turn. */
  watermark: { readonly now: EpochMs; readonly at: EpochMs | null } | null;
}

/** The groups of all SLOs. */
export class SloCellStore implements SloCells {
  readonly #members = new Map<string, Member>();
  readonly #groups = new Map<string, SloGroup>();
  /** Groups that count slices, by the balancers that feed them. */
  readonly #sliced = new Map<BalancerRecord, Set<SloGroup>>();
  #ordered: readonly SloGroup[] | null = null;

  /** Keeps groups of SLOs with the same id and generation (labels, target, policy may differ) and drops all others. */
  replace(slos: readonly Slo[]): void {
    const before = new Map(this.#members);
    this.#members.clear();
    for (const slo of slos) {
      const kept = before.get(slo.id);
      const same = kept !== undefined && kept.slo.generation === slo.generation;
      this.#members.set(slo.id, { slo, feeders: same ? kept.feeders : new Set(), watermark: null });
      if (same) before.delete(slo.id);
    }
    for (const { slo, feeders } of before.values()) for (const balancer of feeders) balancer.slos.delete(slo.id);
    for (const [key, group] of this.#groups) {
      const member = this.#members.get(group.slo.id);
      if (member === undefined || member.slo.generation !== group.slo.generation) this.#drop(key, group);
      else group.slo = member.slo;
    }
    this.#ordered = null;
  }

  /** The group with these labels, made when first asked for. The SLO must be one of those given to `replace`. */
  group(slo: Slo, labels: Labels): SloGroup {
    const key = groupKey(slo, labels);
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = new SloGroup(present(this.#members.get(slo.id), `SLO ${slo.id}`).slo, labels);
      this.#groups.set(key, group);
      this.#ordered = null;
    }
    return group;
  }

  /** Notes that a series of this balancer feeds the group. */
  addFeeder(group: SloGroup, balancer: BalancerRecord): void {
    group.feeders.add(balancer);
    if (group.slices !== null) {
      const sliced = this.#sliced.get(balancer) ?? new Set();
      this.#sliced.set(balancer, sliced.add(group));
    }
    balancer.slos.add(group.slo.id);
    const member = present(this.#members.get(group.slo.id), `SLO ${group.slo.id}`);
    member.feeders.add(balancer);
    member.watermark = null;
  }

  /**
   * Told when a balancer was heard, with its newest point before: watermarks of this tick are no longer what they were,
   * and slices since then have data.
   */
  noteHeard(balancer: BalancerRecord, newestBefore: number): void {
    for (const member of this.#members.values()) member.watermark = null;
    const groups = this.#sliced.get(balancer);
    const { newestPointAt } = balancer;
    if (groups === undefined || newestPointAt <= newestBefore) return;
    const from = balancer.heardSince(newestBefore);
    for (const group of groups) group.noteHeard(from, newestPointAt);
  }

  forgetFeeders(gone: ReadonlySet<BalancerRecord>): void {
    for (const { feeders } of [...this.#members.values(), ...this.#groups.values()]) {
      for (const balancer of gone) feeders.delete(balancer);
    }
    for (const balancer of gone) this.#sliced.delete(balancer);
  }

  groups(): Iterable<SloGroup> {
    this.#ordered ??= [...this.#groups.values()].sort(byIdAndLabels);
    return this.#ordered;
  }

  feed(group: GroupView, now: EpochMs): FeedView {
    const feeders = this.#groups.get(group.key)?.feeders ?? new Set<BalancerRecord>();
    let known = 0;
    let fresh = 0;
    for (const balancer of feeders) {
      if (balancer.isRetired(now)) continue;
      known += 1;
      if (!balancer.isStale(now)) fresh += 1;
    }
    return {
      watermark: this.#watermark(group.slo.id, now),
      coverage: known === 0 ? 0 : fresh / known,
      reporting: fresh > 0,
      newestPointAt: newestPointAt(feeders),
    };
  }

  releaseExpired(now: EpochMs): void {
    for (const group of this.#groups.values()) group.releaseIfExpired(now);
  }

  snapshot(): readonly GroupState[] {
    return [...this.#groups.values()].map((group) => group.snapshot());
  }

  /** Groups of SLOs that are gone or ask something else are left out. */
  restore(states: readonly GroupState[], balancerOf: (id: string) => BalancerRecord): void {
    for (const state of states) {
      const slo = this.#members.get(state.slo)?.slo;
      if (slo?.generation !== state.generation) continue;
      const group = this.group(slo, labelsOf(state.labels));
      group.restore(state);
      for (const id of state.feeders) this.addFeeder(group, balancerOf(id));
    }
  }

  #drop(key: string, group: SloGroup): void {
    this.#groups.delete(key);
    for (const balancer of group.feeders) this.#sliced.get(balancer)?.delete(group);
  }

  #watermark(sloId: string, now: EpochMs): EpochMs | null {
    const member = this.#members.get(sloId);
    if (member === undefined) return null;
    if (member.watermark?.now !== now) member.watermark = { now, at: watermarkOf(member.feeders, now) };
    return member.watermark.at;
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function byIdAndLabels(a: SloGroup, b: SloGroup): number {
  const order = compare(a.slo.id, b.slo.id);
  if (order !== 0) return order;
  const others = [...b.labels];
  let index = 0;
  for (const [name, value] of a.labels) {
    const [otherName = '', otherValue = ''] = others[index++] ?? [];
    const difference = compare(name, otherName) || compare(value, otherValue);
    if (difference !== 0) return difference;
  }
  return a.labels.size - b.labels.size;
}
