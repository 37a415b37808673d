import { type Aggregate, createAggregate } from '../../src/aggregate/cells.ts';
import type { SloGroup } from '../../src/aggregate/slo-group.ts';
import { present } from '../../src/base/assert.ts';
import { parseDecimal } from '../../src/base/decimal.ts';
import { epochMs, type Ms } from '../../src/base/units.ts';
import { createBurnEngine } from '../../src/burn/engine.ts';
import type { GroupStatus } from '../../src/burn/status.ts';
import { labelsOf } from '../../src/model/labels.ts';
import type { Budgeting, Slo } from '../../src/slo/slo.ts';
import { type SloOptions, sloOf } from './raw-cells.ts';

const NO_RESOURCE = new Map<string, { readonly text: string }>();
const LABELS = labelsOf([['lb.upstream.cluster', 'checkout']]);

export const timeslices = (width: number, text = '0.95'): Budgeting => ({
  kind: 'timeslices',
  width: width as Ms,
  target: { text, target: present(parseDecimal(text), text) },
});
export const ratioTimeslices = (width: number): Budgeting => ({ kind: 'ratio_timeslices', width: width as Ms });

export const slicedSlo = (budgeting: Budgeting, options: SloOptions = {}): Slo => ({ ...sloOf(options), budgeting });

/** The real cells and the engine over one group of an SLO that counts slices, fed by one balancer. */
export class Sliced {
  readonly slo: Slo;
  readonly engine = createBurnEngine();
  aggregate: Aggregate;
  group: SloGroup;

  constructor(slo: Slo) {
    this.slo = slo;
    [this.aggregate, this.group] = this.#create();
    this.bind();
  }

  #create(): [Aggregate, SloGroup] {
    const aggregate = createAggregate();
    aggregate.replaceSlos([this.slo]);
    return [aggregate, aggregate.group(this.slo, LABELS)];
  }

  bind(): void {
    this.aggregate.addFeeder(this.group, this.aggregate.balancer('lb-1'));
  }

  /** Whole events over (from, to], milliseconds since the epoch; of 0 events only that there were none. */
  add(from: number, to: number, bad: number, total: number): void {
    this.group.total.add(epochMs(from), epochMs(to), total);
    this.group.part.add(epochMs(from), epochMs(to), bad);
  }

  /** The balancer says something, be it of others. */
  hear(at: number): void {
    this.aggregate.heard('lb-1', NO_RESOURCE, epochMs(at), epochMs(at));
  }

  /** A process that ends, and another that goes on from its snapshot. */
  restart(): void {
    const state = structuredClone(this.aggregate.snapshot());
    [this.aggregate, this.group] = this.#create();
    this.aggregate.restore(state);
    this.bind();
  }

  status(now: number): GroupStatus {
    return present(this.engine.evaluate(this.aggregate, epochMs(now)).statuses[0], 'status');
  }
}
