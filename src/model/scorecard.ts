/** The traffic standard that a week is held against, and what services cost. Read-side types; units as in views.ts. */

/** `rules/scorecard.yaml`, resolved. */
export interface TrafficStandard {
  /** Below it: what balancers add to requests at p99, in the zone where it is largest. */
  readonly addedLatencyP99Ms: number;
  /** Above it: handshakes that resume a session in the busiest hour, in the zone where they are fewest. */
  readonly resumptionAtPeak: number;
  /** Below it: what config rollouts have used of any error budget. */
  readonly configBudget: number;
  /** At most: services that more than one layer retries for, incidents amplified, pools too full. */
  readonly retryingServices: number;
  readonly amplifiedIncidents: number;
  readonly crowdedPools: number;
  /** Alerts that say that a balancing layer made a failure larger. */
  readonly amplifying: readonly string[];
  /** A shared pool is too full with more connections than this that live longer than that, on average. */
  readonly longLivedConnections: number;
  readonly longLivedMs: number;
  /** CPU time of one handshake on one core, and cores of a balancer; null = nobody has said. */
  readonly handshakeMs: { readonly full: number; readonly resumed: number } | null;
  readonly balancerCores: number | null;
}

export const SCORE_IDS = [
  'added_latency_p99',
  'resumption_at_peak',
  'config_budget',
  'retrying_services',
  'amplified_incidents',
  'crowded_pools',
] as const;
export type ScoreId = (typeof SCORE_IDS)[number];

export const SCORE_STATES = ['met', 'missed', 'not_known'] as const;

/** One line of the standard. */
export interface ScoreView {
  readonly id: ScoreId;
  readonly title: string;
  /** Null where it is not known. Shares 0 to 1, times in seconds. */
  readonly value: number | null;
  readonly unit: '1' | 's' | '{service}' | '{incident}' | '{pool}';
  readonly target: { readonly is: 'below' | 'above' | 'at_most'; readonly value: number };
  readonly state: (typeof SCORE_STATES)[number];
  /** Where, and out of what; where it is not known: why. */
  readonly detail: string;
}

/** What balancers would use of their CPU in the busiest hour if no handshake resumed a session. */
export interface HeadroomView {
  /** End of the busiest hour. */
  readonly hour: string | null;
  /** The balancer that would use most. */
  readonly balancer: string | null;
  /** CPU in that hour, and if all its handshakes were full; 1 = all of it. */
  readonly cpu: number | null;
  readonly cpuIfFull: number | null;
  /** 1 less that; below 0 it would not get through the hour. */
  readonly headroom: number | null;
  /** Why it is not known, else what it rests on. */
  readonly detail: string;
}

export interface ScorecardView {
  readonly week: string;
  readonly from: string;
  readonly to: string;
  /** Hours of the week of which anything is known. */
  readonly hours: number;
  /** The week was over when it was made: made again it says the same. */
  readonly complete: boolean;
  readonly scores: readonly ScoreView[];
  readonly headroom: HeadroomView;
}

export const COSTS = ['full_handshakes', 'requests', 'bytes_out', 'connection_hours'] as const;
export type Cost = (typeof COSTS)[number];

/** What one service took of something, and its share of what all took. */
export interface CostShareView {
  readonly amount: number;
  readonly share: number;
}

export interface ServiceCostView {
  readonly service: string;
  /** What it is to balancers: one may be both, where they have the same name. */
  readonly kinds: readonly ('listener' | 'cluster')[];
  /** Null where nobody tells it of this service. */
  readonly costs: Readonly<Record<Cost, CostShareView | null>>;
}

export interface CostTotalView {
  readonly total: number | null;
  readonly unit: '{handshake}' | '{request}' | 'By' | 'h';
  /** Why it is not known, or what it counts. */
  readonly detail: string;
}

export interface CostView {
  readonly week: string;
  readonly from: string;
  readonly to: string;
  readonly hours: number;
  readonly complete: boolean;
  readonly totals: Readonly<Record<Cost, CostTotalView>>;
  /** Those with the largest share of anything first. */
  readonly services: readonly ServiceCostView[];
  /** Requests of clients by config version; shares are of all that tell one of that kind. */
  readonly versions: readonly VersionTrafficView[];
}

/** The busiest host of a cluster over the mean of its hosts, by hours. */
export interface HostSpreadView {
  readonly cluster: string;
  /** In the hour in which it was most, and which host that was. */
  readonly maxOverMean: number;
  readonly host: string;
  readonly hour: string;
  /** Over all hours. */
  readonly mean: number;
}

/** What the hosts of a zone used of their capacity, 0 to 1. */
export interface ZoneUseView {
  readonly cluster: string;
  readonly zone: string;
  /** Mean over all hours, and the highest of them. */
  readonly utilization: number;
  readonly most: number;
  readonly hour: string;
}

export interface VersionTrafficView {
  readonly version: string;
  /** Part of the configuration; `""` where it is not told. */
  readonly kind: string;
  readonly requests: number;
  readonly errors: number;
  readonly share: number;
}
