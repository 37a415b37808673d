import type { KeyType } from '../tls/costs.ts';

/** Some of the hosts of a cluster, by index within the cluster or by zone. */
export type HostChoice = 'all' | readonly number[] | { readonly zone: number };
/** Some of the balancers, by index or by zone. */
export type BalancerChoice = 'all' | readonly number[] | { readonly zone: number };

/** How hosts behave from now on; what is left out stays as it is. */
export interface HostBehaviour {
  /** Share of requests answered with 503 at once, without work, and how long that takes. */
  readonly failShare?: number;
  readonly failMs?: number;
  /** Service time x this. */
  readonly slow?: number;
  /** Connections are refused, or accepted and never answered. */
  readonly reach?: 'up' | 'refused' | 'hangs';
  /** What probes see, whatever requests get; `real` = as the host is. */
  readonly probes?: 'real' | 'pass' | 'fail';
  /** Slots x this: part of a host's or zone's capacity is gone. */
  readonly capacity?: number;
}

/** What the configuration of a balancer does to requests; what is left out is as before any fault. */
export interface ConfigEffect {
  /** CPU per request x this. */
  readonly cpuFactor?: number;
  /** Added to every request, ms. */
  readonly addedMs?: number;
  /** Share of requests that the balancer answers with 503 itself. */
  readonly failShare?: number;
}

/** One thing that happens to the world at a virtual time. Data: a scenario is a list of these. */
export type Change =
  | { readonly kind: 'hosts'; readonly cluster: number; readonly hosts: HostChoice; readonly set: HostBehaviour }
  | {
      readonly kind: 'membership';
      readonly cluster: number;
      readonly hosts: HostChoice;
      readonly state: 'joined' | 'draining' | 'left';
      /** A host that joined serves this much slower until it is warm. */
      readonly cold?: { readonly factor: number; readonly warmUpMs: number };
      /** From the change at its source until balancers use it, which is now; 200 ms unless said. */
      readonly propagationMs?: number;
    }
  | {
      readonly kind: 'dependency';
      readonly dependency: number;
      /** Time that it takes, ms. */
      readonly serviceMs?: number;
      readonly failShare?: number;
      /** Share of requests that never get an answer from it. */
      readonly hangShare?: number;
    }
  | {
      readonly kind: 'config';
      readonly balancers: BalancerChoice;
      readonly version: string;
      readonly effect: ConfigEffect;
    }
  /** Balancers refuse every update from now on, or take them again. */
  | { readonly kind: 'config_updates'; readonly balancers: BalancerChoice; readonly accepted: boolean }
  | { readonly kind: 'ticket_keys_rotated'; readonly overlap: boolean }
  | { readonly kind: 'ticket_key_restored'; readonly key: number }
  | { readonly kind: 'certificate'; readonly keyType?: KeyType; readonly notAfterMs?: number }
  /**
   * Multiples of what the specification says; a cluster's own multiple, or everything. `newShare` of one cluster is the
   * share of new clients among its own.
   */
  | {
      readonly kind: 'traffic';
      readonly cluster?: number;
      readonly requests?: number;
      readonly connections?: number;
      readonly newShare?: number;
    }
  /** Balancers and clients retry so often at most from now on. */
  | { readonly kind: 'retries'; readonly cluster: number; readonly balancers: number; readonly clients: number }
  /** So many of each balancer's connections to these hosts stand still from now on; 0 = they are replaced. */
  | {
      readonly kind: 'streams_stalled';
      readonly cluster: number;
      readonly hosts: HostChoice;
      readonly connections: number;
    }
  /** This share of the copies for a shadow is dropped from now on. */
  | { readonly kind: 'copies_dropped'; readonly cluster: number; readonly share: number }
  | { readonly kind: 'hot_key'; readonly cluster: number; readonly share: number }
  /** This share of new connections comes from so few addresses, each of which is hashed to one balancer; 0: none. */
  | { readonly kind: 'nat'; readonly sources: number; readonly share: number }
  /** Balancers serve on, and nobody hears of it: what carries their metrics is gone, or is back. */
  | { readonly kind: 'telemetry'; readonly balancers: BalancerChoice; readonly arrives: boolean }
  | { readonly kind: 'l4_nodes'; readonly nodes: number }
  | { readonly kind: 'balancers'; readonly balancers: BalancerChoice; readonly present: boolean }
  | { readonly kind: 'accept_rate'; readonly balancers: BalancerChoice; readonly acceptsPerS: number };

export interface TimedChange {
  /** Virtual time, ms. */
  readonly at: number;
  readonly change: Change;
}
