import { present } from '../../src/base/assert.ts';
import { parseDecimal } from '../../src/base/decimal.ts';
import { epochMs, type Ms } from '../../src/base/units.ts';
import type { GroupStatus } from '../../src/burn/status.ts';
import type { Budgeting, Slo } from '../../src/slo/slo.ts';
import { Fed } from './fed.ts';
import { type SloOptions, sloOf } from './raw-cells.ts';

export const timeslices = (width: number, text = '0.95'): Budgeting => ({
  kind: 'timeslices',
  width: width as Ms,
  target: { text, target: present(parseDecimal(text), text) },
});
export const ratioTimeslices = (width: number): Budgeting => ({ kind: 'ratio_timeslices', width: width as Ms });

export const slicedSlo = (budgeting: Budgeting, options: SloOptions = {}): Slo => ({ ...sloOf(options), budgeting });

/** One group of an SLO that counts slices. A balancer is heard only when a test says so. */
export class Sliced extends Fed {
  /** Whole events over (from, to], milliseconds since the epoch; of 0 events only that there were none. */
  add(from: number, to: number, bad: number, total: number): void {
    this.count(null, from, to, bad, total);
  }

  status(now: number): GroupStatus {
    return present(this.engine.evaluate(this.aggregate, epochMs(now)).statuses[0], 'status');
  }
}
