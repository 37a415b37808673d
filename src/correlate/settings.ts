import type { Ms } from '../base/units.ts';
import type { Side } from '../model/alert.ts';

/** Topology level at which a cause edge joins two alerts. */
export type Scope = 'service' | 'cluster' | 'zone' | 'region' | 'host' | 'balancer' | 'all';

/** What a budget is spent on: events that fail, or that take too long. */
export const LOSSES = ['errors', 'latency'] as const;
export type Loss = (typeof LOSSES)[number];

/** `cause` explains `effect` when both lie in the same `scope` and start within `within` of each other in event time. */
export interface CauseEdge {
  readonly cause: string;
  readonly effect: string;
  readonly scope: Scope;
  readonly within: Ms;
  /** Only effects that are measured on this side, or on none that is known; absent = any. */
  readonly side?: Side;
  /** Only burns of this; absent = any. */
  readonly of?: Loss;
  /** Only effects that start within that time of the cause's own start: it lasts, what it does then does not. */
  readonly atStart?: boolean;
}

/** One kind in so many clusters, which are that share of those known, started within that time of each other. */
export interface StormSettings {
  readonly clusters: number;
  readonly share: number;
  readonly within: Ms;
}

/** `rules/correlation.yaml`, resolved. */
export interface CorrelationSettings {
  readonly causes: readonly CauseEdge[];
  /** Which labels of foreign alerts name a place, by kind of place. */
  readonly subjects: ReadonlyMap<string, readonly string[]>;
  readonly openAfter: Ms;
  readonly resolveHold: Ms;
  readonly reopenWithin: Ms;
  readonly reopenWithinTicket: Ms;
  readonly ackLapse: Ms;
  readonly minAlerts: number;
  readonly storm: StormSettings;
  /** Labels of foreign alerts that only say which of several equal senders told: they are dropped. */
  readonly replicaLabels: readonly string[];
  /** Labels of foreign alerts that carry a measured value: they are kept, but tell no two alerts apart. */
  readonly ignoreLabels: readonly string[];
}
