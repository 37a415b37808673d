import { type EpochMs, epochMs } from '../base/units.ts';
import type { Severity } from '../model/alert.ts';
import type { Policy, Tier } from '../slo/slo.ts';

/** What is remembered of one group between ticks. JSON-serialisable. */
export type GroupAlertState =
  | { readonly kind: 'inactive' }
  | {
      readonly kind: 'firing';
      readonly since: EpochMs;
      /** Highest of this episode. */
      readonly tier: string;
      /** All holding at the last evaluation, fastest first. */
      readonly holding: readonly string[];
      readonly severity: Severity;
      readonly pageHeldAt: EpochMs | null;
      /** Share of the group's balancers that reported when it fired: nothing clears below it. */
      readonly coverage: number;
    };

export const INACTIVE: GroupAlertState = { kind: 'inactive' };

/** A page goes on being one for this long after its last page tier, while a ticket tier still holds. */
const PAGE_LINGERS_MS = 300_000;

/**
 * The next state. `holding` are the tiers that hold now; with less coverage than it fired on, a firing alert keeps those that
 * held. With no tier holding it ends at once.
 */
export function nextState(
  state: GroupAlertState,
  policy: Policy,
  holding: readonly Tier[],
  coverage: number,
  now: EpochMs,
): GroupAlertState {
  const rank = (name: string): number => policy.tiers.findIndex((tier) => tier.name === name);
  const kept = state.kind === 'firing' && coverage < state.coverage ? state.holding : [];
  const names = policy.tiers
    .map(({ name }) => name)
    .filter((name) => holding.some((tier) => tier.name === name) || kept.includes(name));
  const [fastest] = names;
  if (fastest === undefined) return INACTIVE;
  const holdsPage = policy.tiers.some((tier) => tier.severity === 'page' && names.includes(tier.name));
  if (state.kind === 'inactive') {
    return {
      kind: 'firing',
      since: now,
      tier: fastest,
      holding: names,
      severity: holdsPage ? 'page' : 'ticket',
      pageHeldAt: holdsPage ? now : null,
      coverage,
    };
  }
  const pageHeldAt = holdsPage ? now : state.pageHeldAt;
  const lingers = state.severity === 'page' && pageHeldAt !== null && now - pageHeldAt < PAGE_LINGERS_MS;
  const before = rank(state.tier);
  return {
    kind: 'firing',
    since: state.since,
    tier: before === -1 || rank(fastest) < before ? fastest : state.tier,
    holding: names,
    severity: holdsPage || lingers ? 'page' : 'ticket',
    pageHeldAt,
    coverage: Math.max(state.coverage, coverage),
  };
}

/** Reads a stored state; anything else is inactive. */
export function parseState(text: string): GroupAlertState {
  const value = JSON.parse(text) as GroupAlertState;
  return value.kind === 'firing' ? { ...value, since: epochMs(value.since) } : INACTIVE;
}
