import type { Decimal } from '../base/decimal.ts';
import { formatDuration } from '../base/duration.ts';
import { HOUR, MINUTE, type Ms, SECOND } from '../base/units.ts';
import type { Severity } from '../model/alert.ts';
import type { Budgeting, Policy } from '../slo/slo.ts';
import type { Report } from './report.ts';
import { resolveDuration } from './resolve-window.ts';
import { child, entries, items, keyPosition, numberOf, type SourceNode, textOf } from './source.ts';

/** A tier as written in tiers.yaml, before it meets an SLO. */
export interface TierData {
  readonly name: string;
  readonly severity: Severity;
  readonly exhaustsWithin: Ms;
  readonly long: Ms;
  readonly short: Ms;
  readonly minBurn: 'half' | 'full';
  readonly minBadEvents: number;
}

export interface PolicyData {
  readonly name: string;
  readonly confidence: number | null;
  /** Fastest first. */
  readonly tiers: readonly TierData[];
}

/** What building a policy for one SLO gives. `left` names the tiers that were left out, with the reason. */
export type BuiltPolicy =
  | { readonly kind: 'policy'; readonly policy: Policy; readonly left: readonly string[] }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unreachable'; readonly reasons: readonly string[] };

/** All policies that an SLO may name. */
export interface PolicyBook {
  readonly names: readonly string[];
  /** Left out, `budgeting` is Occurrences. */
  build(name: string, sloWindow: Ms, target: Decimal, budgeting?: Budgeting): BuiltPolicy;
}

/** Steps kept for alert windows: 10 s up to 7 h, 1 min up to 75 h, 5 min beyond. */
const stepFor = (window: Ms): number => (window <= 7 * HOUR ? 10 * SECOND : window <= 75 * HOUR ? MINUTE : 5 * MINUTE);

/** The policies of a tiers.yaml that has passed its schema. A policy with an error is reported and left out. */
export function resolvePolicies(root: SourceNode, report: Report): readonly PolicyData[] {
  const found: PolicyData[] = [];
  for (const [name, { value }] of entries(child(root, 'policies'))) {
    const tiers: TierData[] = [];
    const nodes = items(child(value, 'tiers'));
    for (const node of nodes) {
      const tier = resolveTier(node, report);
      if (tier === undefined) continue;
      if (tiers.some((other) => other.name === tier.name)) {
        report.error(keyPosition(node, 'name'), {
          code: 'CONFIG_TIER_INVALID',
          message: `policy ${name} has two tiers called ${tier.name}`,
          fix: 'keep one of them',
        });
      } else tiers.push(tier);
    }
    if (tiers.length < nodes.length) continue;
    tiers.sort((a, b) => a.exhaustsWithin - b.exhaustsWithin);
    found.push({ name, confidence: numberOf(child(value, 'confidence')) ?? null, tiers });
  }
  return found;
}

function resolveTier(node: SourceNode, report: Report): TierData | undefined {
  const read = (key: string) => resolveDuration(child(node, key), key, report);
  const [name, exhaustsWithin, long, short] = [read('name'), read('exhaustsWithin'), read('long'), read('short')];
  if (name === undefined || exhaustsWithin === undefined || long === undefined || short === undefined) return undefined;
  const fault = (key: string, message: string, fix: string): undefined => {
    report.error(child(node, key)?.at ?? node.at, { code: 'CONFIG_TIER_INVALID', message, fix });
    return undefined;
  };
  const tierName = textOf(child(node, 'name')) ?? '';
  if (name !== exhaustsWithin) {
    return fault(
      'name',
      `tier ${tierName} is not named by its exhaustsWithin`,
      `write name: ${formatDuration(exhaustsWithin)}`,
    );
  }
  if (short === 0 || short >= long) {
    return fault(
      'short',
      `the short window of tier ${tierName} is not shorter than its long one`,
      'use about a twelfth of long',
    );
  }
  if (long >= exhaustsWithin) {
    return fault(
      'long',
      `the long window of tier ${tierName} is no shorter than exhaustsWithin`,
      'the tier would fire after the budget is gone: shorten it',
    );
  }
  for (const [key, window] of [
    ['long', long],
    ['short', short],
  ] as const) {
    const step = stepFor(window);
    if (window % step !== 0) {
      return fault(
        key,
        `${key} ${formatDuration(window)} does not hold whole steps of ${formatDuration(step as Ms)}`,
        `use a multiple of ${formatDuration(step as Ms)}`,
      );
    }
  }
  return {
    name: tierName,
    severity: textOf(child(node, 'severity')) === 'page' ? 'page' : 'ticket',
    exhaustsWithin,
    long,
    short,
    minBurn: textOf(child(node, 'minBurn')) === 'half' ? 'half' : 'full',
    minBadEvents: numberOf(child(node, 'minBadEvents')) ?? 0,
  };
}
