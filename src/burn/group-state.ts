import type { EpochMs } from '../base/units.ts';
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
      /** When a page tier held last; null = not known, so that it is taken to have held until now. */
      readonly pageHeldAt: EpochMs | null;
      /** Largest share of the group's balancers that reported while it fired: nothing clears below it. */
      readonly coverage: number;
    };

type Firing = Extract<GroupAlertState, { kind: 'firing' }>;

export const INACTIVE: GroupAlertState = { kind: 'inactive' };

/** A page goes on being one for this long after its last page tier, while a ticket tier still holds. */
const PAGE_LINGERS_MS = 300_000;

/**
 * The next state. `holding` are the tiers that hold now; with less coverage than it fired on, a firing alert keeps
 * those that held. With no tier holding it ends at once.
 */
export function nextState(
  state: GroupAlertState,
  policy: Policy,
  holding: readonly Tier[],
  coverage: number,
  now: EpochMs,
): GroupAlertState {
  if (state.kind === 'inactive' && holding.length === 0) return state;
  const kept = state.kind === 'firing' && coverage < state.coverage ? state.holding : [];
  const tiers = policy.tiers.filter((tier) => holding.includes(tier) || kept.includes(tier.name));
  const [fastest] = tiers;
  if (fastest === undefined) return INACTIVE;
  const names = tiers.map(({ name }) => name);
  const holdsPage = tiers.some(({ severity }) => severity === 'page');
  if (state.kind === 'inactive') {
    const severity = holdsPage ? 'page' : 'ticket';
    const pageHeldAt = holdsPage ? now : null;
    return { kind: 'firing', since: now, tier: fastest.name, holding: names, severity, pageHeldAt, coverage };
  }
  const heldAt = holdsPage ? now : (state.pageHeldAt ?? now);
  const isPage = holdsPage || (state.severity === 'page' && now - heldAt < PAGE_LINGERS_MS);
  return {
    kind: 'firing',
    since: state.since,
    tier: higher(policy, fastest.name, state.tier),
    holding: names,
    severity: isPage ? 'page' : 'ticket',
    pageHeldAt: isPage ? heldAt : null,
    coverage: Math.max(state.coverage, coverage),
  };
}

/** A tier that the policy no longer has gives way. */
function higher(policy: Policy, fastest: string, before: string): string {
  const rank = (name: string): number => policy.tiers.findIndex((tier) => tier.name === name);
  return rank(before) === -1 || rank(fastest) < rank(before) ? fastest : before;
}

/** Whether nothing is to be stored anew: all but the time at which a page tier held last. */
export function isSameState(a: GroupAlertState, b: GroupAlertState): boolean {
  if (a.kind === 'inactive' || b.kind === 'inactive') return a.kind === b.kind;
  return (
    a.tier === b.tier &&
    a.severity === b.severity &&
    a.coverage === b.coverage &&
    a.holding.length === b.holding.length &&
    a.holding.every((name, index) => name === b.holding[index])
  );
}

/** Reads a stored state; anything else is inactive. */
export function parseState(text: string): GroupAlertState {
  let value: Firing | null;
  try {
    value = JSON.parse(text) as Firing | null;
  } catch {
    return INACTIVE;
  }
  if (value?.kind !== 'firing') return INACTIVE;
  const { kind, since, tier, holding, severity, pageHeldAt, coverage } = value;
  return { kind, since, tier, holding, severity, pageHeldAt, coverage };
}
