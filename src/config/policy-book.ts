import type { Decimal } from '../base/decimal.ts';
import type { Ms } from '../base/units.ts';
import type { Budgeting } from '../slo/slo.ts';
import { buildTiers } from './build-tiers.ts';
import type { BuiltPolicy, PolicyBook, PolicyData } from './policies.ts';

const tierKey = (policy: PolicyData): string => JSON.stringify([policy.confidence, policy.tiers]);

/**
 * The shipped policies and those of the user's tiers.yaml, which win by name. A shipped one fits itself to the SLO
 * (shorter windows, tiers that cannot fire or hold no whole slices are left out); a custom one is taken as written,
 * and such a tier is an error. A user's policy that repeats the shipped one word for word is the shipped one.
 */
export function createPolicyBook(shipped: readonly PolicyData[], own: readonly PolicyData[]): PolicyBook {
  const shippedByName = new Map(shipped.map((policy) => [policy.name, policy]));
  const custom = new Map(
    own
      .filter((policy) => {
        const same = shippedByName.get(policy.name);
        return same === undefined || tierKey(same) !== tierKey(policy);
      })
      .map((policy) => [policy.name, policy]),
  );
  const build = (
    name: string,
    sloWindow: Ms,
    target: Decimal,
    budgeting: Budgeting = { kind: 'occurrences' },
  ): BuiltPolicy => {
    const mine = custom.get(name);
    if (mine !== undefined) return buildTiers(mine, { sloWindow, target, budgeting }, 'strict');
    const theirs = shippedByName.get(name);
    return theirs === undefined ? { kind: 'unknown' } : buildTiers(theirs, { sloWindow, target, budgeting }, 'fit');
  };
  return { names: [...new Set([...shippedByName.keys(), ...custom.keys()])], build };
}
