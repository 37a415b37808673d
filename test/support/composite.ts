import { present } from '../../src/base/assert.ts';
import { parseDecimal } from '../../src/base/decimal.ts';
import { epochMs } from '../../src/base/units.ts';
import type { BurnTick } from '../../src/burn/engine.ts';
import type { GroupStatus } from '../../src/burn/status.ts';
import { compositeObjective } from '../../src/slo/composite.ts';
import type { Member, Slo } from '../../src/slo/slo.ts';
import { Fed } from './fed.ts';
import { type SloOptions, sloOf } from './raw-cells.ts';

export function memberOf(name: string, target: string, weight = '1'): Member {
  const where = [{ kind: 'equals', attribute: 'lb.route', value: name }] as const;
  const query = { metric: 'lb.requests', where };
  return {
    name,
    indicator: { kind: 'events', counts: 'bad', part: query, total: query },
    objective: { text: target, target: present(parseDecimal(target), target) },
    weight: present(parseDecimal(weight), weight),
    sliceTarget: null,
  };
}

/** A composite that counts events; its policy is fitted to its own objective. */
export function compositeSlo(members: readonly Member[], options: SloOptions = {}): Slo {
  const objective = compositeObjective(members);
  const fitted = sloOf({ ...options, target: objective.text });
  return { ...fitted, objective, indicator: { kind: 'composite', members } };
}

/** One group of a composite, or of the SLO of one of its members. */
export class Journey extends Fed {
  tick(now: number): BurnTick {
    this.hear(now);
    return this.engine.evaluate(this.aggregate, epochMs(now));
  }

  status(now: number): GroupStatus {
    return present(this.tick(now).statuses[0], 'status');
  }
}
