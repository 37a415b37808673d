import { type Aggregate, createAggregate } from '../../src/aggregate/cells.ts';
import type { SloGroup } from '../../src/aggregate/slo-group.ts';
import { present } from '../../src/base/assert.ts';
import { epochMs } from '../../src/base/units.ts';
import { type BurnEngine, createBurnEngine } from '../../src/burn/engine.ts';
import { labelsOf } from '../../src/model/labels.ts';
import type { Slo } from '../../src/slo/slo.ts';

const NO_RESOURCE = new Map<string, { readonly text: string }>();
const LABELS = labelsOf([['lb.upstream.cluster', 'checkout']]);

/** The real cells and the engine over one group of any SLO, fed by one balancer. */
export class Fed {
  readonly slo: Slo;
  readonly engine: BurnEngine = createBurnEngine();
  aggregate: Aggregate;
  group: SloGroup;

  constructor(slo: Slo) {
    this.slo = slo;
    [this.aggregate, this.group] = this.#create();
    this.#bind();
  }

  #create(): [Aggregate, SloGroup] {
    const aggregate = createAggregate();
    aggregate.replaceSlos([this.slo]);
    return [aggregate, aggregate.group(this.slo, LABELS)];
  }

  #bind(): void {
    this.aggregate.addFeeder(this.group, this.aggregate.balancer('lb-1'));
  }

  /** Whole events of a member, or of all there is, over (from, to]; milliseconds since the epoch. */
  count(member: number | null, from: number, to: number, bad: number, total: number): void {
    const group = member === null ? this.group : present(this.group.members[member], `member ${member}`);
    group.total.add(epochMs(from), epochMs(to), total);
    group.part.add(epochMs(from), epochMs(to), bad);
  }

  hear(at: number): void {
    this.aggregate.heard('lb-1', NO_RESOURCE, epochMs(at), epochMs(at));
  }

  /** A process that ends, and another that goes on from its snapshot. */
  restart(): void {
    const state = structuredClone(this.aggregate.snapshot());
    [this.aggregate, this.group] = this.#create();
    this.aggregate.restore(state);
    this.#bind();
  }
}
