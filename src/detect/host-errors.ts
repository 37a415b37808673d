import { logBinomialTail } from './binomial.ts';
import type { HostShare } from './hosts.ts';

/** How far a host's errors must stand out from those of its peers. */
export interface ErrorRule {
  /** Largest chance that a host as good as its peers would fail as often. */
  readonly chance: number;
  /** Times the share of errors of its peers. */
  readonly timesPeers: number;
  /** Least difference to that share. */
  readonly above: number;
  readonly minErrors: number;
}

/** A host's share of errors, that of its peers, and the chance (natural log) of so many errors in a host like them. */
export interface ErrorsBesidePeers {
  readonly ratio: number;
  readonly peers: number;
  readonly logChance: number;
}

/**
 * Whether a host fails far more often than its peers; null = it does not. The share of the peers is taken by the rule
 * of succession, (errors + 1) / (requests + 2): few peers, or few requests to them, then prove little, and none of them
 * having failed proves no impossible thing.
 */
export function errorsFarAbove(share: HostShare, rule: ErrorRule): ErrorsBesidePeers | null {
  const { events, failed, othersEvents, othersFailed } = share;
  if (failed < rule.minErrors) return null;
  const ratio = failed / events;
  const peers = othersEvents === 0 ? 1 : othersFailed / othersEvents;
  if (ratio < rule.timesPeers * peers || ratio - peers < rule.above) return null;
  const logChance = logBinomialTail(failed, events, (othersFailed + 1) / (othersEvents + 2));
  return logChance <= Math.log(rule.chance) ? { ratio, peers, logChance } : null;
}
