import { wilsonBounds, zOf } from '../burn/wilson.ts';
import type { BudgetRatio } from '../slo/budget.ts';
import type { Fraction, Policy, Slo, Tier } from '../slo/slo.ts';
import { minBurnOf } from '../slo/windows.ts';

/** Requests a minute of a group for which `check` says how long a full outage takes to page. */
export const QUIET_RATES = [1, 10] as const;

/** More failures than this are not few. */
const FEW_MAX = 1000;

/** So few requests in the tier's long window that so few failures among them page. */
export interface FewFailures {
  readonly tier: Tier;
  readonly failures: number;
  readonly requests: number;
}

/** What a policy makes of a group with few requests. */
export interface LowTraffic {
  /** Requests in the SLO window at which one failure is 1 % of the budget; with fewer it is more. */
  readonly requestsForOnePercent: number;
  /** One per page tier, fastest first; none for a tier that needs very many. */
  readonly fewFailures: readonly FewFailures[];
  /** Minutes until a full outage pages, one per QUIET_RATES; null = not within any long window. */
  readonly outageMinutes: readonly (number | null)[];
}

const toNumber = ({ numerator, denominator }: Fraction): number => Number(numerator) / Number(denominator);

export function lowTrafficOf(slo: Slo, budget: BudgetRatio): LowTraffic {
  const pages = slo.policy.tiers.filter(({ severity }) => severity === 'page');
  return {
    requestsForOnePercent: Math.round((100 * Number(budget.denominator)) / Number(budget.numerator)),
    fewFailures: pages.map((tier) => fewFailuresOf(slo, tier, budget)).filter((found) => found !== null),
    outageMinutes: QUIET_RATES.map((rate) => {
      const found = pages.map((tier) => outageMinutes(slo, tier, budget, rate)).filter((minutes) => minutes !== null);
      return found.length === 0 ? null : Math.min(...found);
    }),
  };
}

/**
 * Whether the long window of a tier holds with so many failures among so many requests (or slices), at the same traffic
 * in all of the SLO window and with a clean past (the conditions of burn/tiers.ts).
 */
export function holds(
  { policy, window }: Slo,
  tier: Tier,
  budget: BudgetRatio,
  failures: number,
  requests: number,
): boolean {
  if (failures < tier.minBadEvents) return false;
  const burn = lowerRatio(policy, failures, requests) / budget.value;
  const minBurn = toNumber(minBurnOf(tier));
  if (burn * (1 + 1e-12) < minBurn) return false;
  if (policy.confidence === null) return true;
  const spent = ((failures / requests / budget.value) * tier.long) / window.length;
  return spent >= 1 || burn >= toNumber(tier.factor) * (1 - spent);
}

/** The error ratio that a policy takes so many failures for. */
export const lowerRatio = ({ confidence }: Policy, failures: number, requests: number): number =>
  confidence === null ? failures / requests : wilsonBounds(failures, requests, zOf(confidence)).low;

/** The most requests among which the fewest failures that a tier asks for page: found by halving, since more dilute. */
function fewFailuresOf(slo: Slo, tier: Tier, budget: BudgetRatio): FewFailures | null {
  let failures = Math.max(1, tier.minBadEvents);
  // At a loose objective the bound of so few is too low even where all fail.
  while (!holds(slo, tier, budget, failures, failures)) {
    failures += 1;
    if (failures > FEW_MAX) return null;
  }
  let requests = failures;
  let tooMany = Math.ceil(failures / (toNumber(minBurnOf(tier)) * budget.value)) + 2;
  while (tooMany - requests > 1) {
    const middle = Math.floor((requests + tooMany) / 2);
    if (holds(slo, tier, budget, failures, middle)) requests = middle;
    else tooMany = middle;
  }
  return { tier, failures, requests };
}

/** Failures come one by one at the rate of the requests; the first that makes the long window hold. */
function outageMinutes(slo: Slo, tier: Tier, budget: BudgetRatio, perMinute: number): number | null {
  const requests = Math.floor((perMinute * tier.long) / 60_000);
  for (let failures = 1; failures <= requests; failures += 1) {
    if (holds(slo, tier, budget, failures, requests)) return failures / perMinute;
  }
  return null;
}
