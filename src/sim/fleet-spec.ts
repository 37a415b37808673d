import type { ActiveCheckSettings } from './health/active-checks.ts';
import type { OutlierSettings } from './health/outlier-ejection.ts';
import type { L4Settings } from './l4/l4-tier.ts';
import type { PolicyName } from './policies/create-policy.ts';
import type { KeyType } from './tls/costs.ts';

/** A fleet as it is before anything happens to it. All of it is data; times in ms, rates per second. */
export interface FleetSpec {
  readonly seed: number;
  readonly zones: readonly ZoneSpec[];
  readonly balancers: readonly BalancerSpec[];
  readonly clusters: readonly ClusterSpec[];
  readonly dependencies: readonly DependencySpec[];
  /** Each cluster is a service whose clients connect to a listener of its own, named like it; else one is for all. */
  readonly ownListeners: boolean;
  /** Balancers also tell the utilization of hosts, and open connections by listener. */
  readonly detailed: boolean;
  readonly clients: ClientSpec;
  readonly tls: TlsSpec;
  readonly l4: L4Settings & { readonly nodes: number };
}

export interface ZoneSpec {
  readonly name: string;
  readonly region: string;
}

export interface BalancerSpec {
  readonly name: string;
  /** Index of its zone. */
  readonly zone: number;
  readonly cores: number;
  /** Connections that it can accept, per second, and how many may wait. */
  readonly acceptsPerS: number;
  readonly acceptPlaces: number;
  /** False: joins later. */
  readonly present: boolean;
  /** Its turn in rollouts, 0 first; null = it tells none. */
  readonly stage: number | null;
}

export interface ClusterSpec {
  readonly name: string;
  readonly requestsPerS: number;
  readonly hosts: readonly HostSpec[];
  readonly policy: PolicyName;
  /** Which zones a balancer uses: all alike, its own only, or by capacity. */
  readonly zoneRouting: 'none' | 'place' | 'capacity';
  /**
   * Set: client connections are balanced, not requests. Each stays at its host until its age ends, requests follow it.
   */
  readonly pinned: { readonly connections: number; readonly maxAgeMs: number } | null;
  /** Each balancer has so many connections to each host, with places for so many requests each. Null: not modelled. */
  readonly streams: { readonly connections: number; readonly perConnection: number } | null;
  readonly checks: ActiveCheckSettings | null;
  /** A deep check asks the dependency too. */
  readonly checkDepth: 'shallow' | 'deep';
  readonly checkTimeoutMs: number;
  readonly outliers: OutlierSettings | null;
  readonly panicBelow: number;
  /** Most retries per request, and their largest share of requests in flight. Null: none. */
  readonly retries: { readonly max: number; readonly budget: number } | null;
  /** Most times that clients send a request again that failed. The exact engine only. */
  readonly clientRetries: number;
  /** Most requests that one balancer has in flight to the cluster; more are rejected with 503. Null: no limit. */
  readonly maxInFlight: number | null;
  readonly timeoutMs: number;
  /** Mean time of an answer's body after its first byte, ms, exponential; it is in flight to its host for so long. */
  readonly bodyMs: number;
  /** Set: it is a shadow. It gets copies of this share of the requests to that cluster, and none of its own. */
  readonly shadowOf: { readonly cluster: number; readonly share: number } | null;
  /** Bytes of each answer that is no failure, as balancers tell them; null = they tell none. */
  readonly answerBytes: number | null;
  /** Share of requests that carry one hot key; the others have keys of their own. */
  readonly hotKeyShare: number;
  /** Share of requests to which the client is answered with 4xx, and nobody is at fault. */
  readonly clientErrorShare: number;
  /** Share of answers that fail anyway. */
  readonly errorShare: number;
  /** Index of the dependency that every request needs; null: none. */
  readonly dependency: number | null;
}

export interface HostSpec {
  readonly name: string;
  readonly zone: number;
  readonly weight: number;
  /** Requests served at a time; the rest waits in order, at most `queueMs`, else it is turned away with 503. */
  readonly slots: number;
  readonly queueMs: number;
  readonly serviceMs: number;
  /** Coefficient of variation of the service time, lognormal. */
  readonly spread: number;
  /** False: joins later. */
  readonly present: boolean;
}

export interface DependencySpec {
  readonly name: string;
  /** Time that it adds to a request, ms. */
  readonly serviceMs: number;
}

export interface ClientSpec {
  /** New connections per second over the whole fleet, and how long each lives. */
  readonly connectionsPerS: number;
  readonly connectionLifeMs: number;
  /** Share of new connections by clients that were never here: they have no ticket. */
  readonly newShare: number;
  readonly roundTripMs: number;
  /** A handshake that takes longer fails, and the client tries once more. */
  readonly handshakeTimeoutMs: number;
  /** Daily course: rate x (1 + swing x cos(2 pi (t - peakAtMs) / day)). */
  readonly swing: number;
  readonly peakAtMs: number;
}

export interface TlsSpec {
  readonly keyType: KeyType;
  /** Tickets are good at every balancer that has the key, session ids only at the balancer that made them. */
  readonly resumption: 'tickets' | 'sessions';
  /** Clients in the world that hold a ticket. */
  readonly ticketHolders: number;
  /** Variability of handshake arrivals, (ca2 + cs2) / 2: clients come in bursts. 1 = Poisson. */
  readonly burstiness: number;
  /** End of the certificate, virtual ms. */
  readonly notAfterMs: number;
}

const MINUTE_MS = 60_000;
const NEVER_MS = 90 * 24 * 60 * MINUTE_MS;

export const HOST: HostSpec = {
  name: 'host',
  zone: 0,
  weight: 1,
  slots: 32,
  queueMs: 1000,
  serviceMs: 40,
  spread: 0.3,
  present: true,
};

export const BALANCER: BalancerSpec = {
  name: 'lb',
  zone: 0,
  cores: 4,
  acceptsPerS: 20_000,
  acceptPlaces: 1024,
  present: true,
  stage: null,
};

export const CLUSTER: ClusterSpec = {
  name: 'app',
  requestsPerS: 100,
  hosts: [],
  policy: 'two-choices',
  zoneRouting: 'none',
  pinned: null,
  streams: null,
  checks: null,
  checkDepth: 'shallow',
  checkTimeoutMs: 2000,
  outliers: null,
  panicBelow: 0.5,
  retries: null,
  clientRetries: 0,
  maxInFlight: null,
  timeoutMs: 15_000,
  bodyMs: 0,
  shadowOf: null,
  answerBytes: null,
  hotKeyShare: 0,
  clientErrorShare: 0,
  errorShare: 0,
  dependency: null,
};

const CLIENTS: ClientSpec = {
  connectionsPerS: 10,
  connectionLifeMs: 5 * MINUTE_MS,
  newShare: 0.35,
  roundTripMs: 20,
  handshakeTimeoutMs: 10_000,
  swing: 0,
  peakAtMs: 14 * 60 * MINUTE_MS,
};

/** A fleet of one zone, where the caller says only what matters to it. */
export function fleetOf(
  parts: Partial<Omit<FleetSpec, 'clients' | 'tls' | 'l4'>> & {
    readonly clients?: Partial<ClientSpec>;
    readonly tls?: Partial<TlsSpec>;
    readonly l4?: Partial<FleetSpec['l4']>;
  },
): FleetSpec {
  return {
    seed: 1,
    zones: [{ name: 'a', region: 'r1' }],
    balancers: [{ ...BALANCER, name: 'lb-0' }],
    clusters: [],
    dependencies: [],
    ownListeners: false,
    detailed: false,
    ...parts,
    clients: { ...CLIENTS, ...parts.clients },
    tls: {
      keyType: 'ecdsa-p256',
      resumption: 'tickets',
      ticketHolders: 1e7,
      burstiness: 1,
      notAfterMs: NEVER_MS,
      ...parts.tls,
    },
    l4: { nodes: 8, hashing: 'maglev', tracking: true, ...parts.l4 },
  };
}

/** `count` equal hosts, named by index, spread over `zones` zones in turn. */
export const hostsOf = (count: number, host: Partial<HostSpec> = {}, zones = 1): HostSpec[] =>
  Array.from({ length: count }, (_, i) => ({ ...HOST, zone: i % zones, ...host, name: `${host.name ?? 'host'}-${i}` }));

/** `count` equal balancers, named by index, spread over `zones` zones in turn. */
export const balancersOf = (count: number, balancer: Partial<BalancerSpec> = {}, zones = 1): BalancerSpec[] =>
  Array.from({ length: count }, (_, i) => ({
    ...BALANCER,
    zone: i % zones,
    ...balancer,
    name: `${balancer.name ?? 'lb'}-${i}`,
  }));
