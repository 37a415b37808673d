import { ALERT } from '../../model/conventions.ts';
import { hostsOf } from '../fleet-spec.ts';
import { incident, named } from './expectations.ts';
import { MINUTE_MS, sizedFleet } from './fleets.ts';
import type { Scenario } from './scenario.ts';

const FAULT_AT_MS = 30 * MINUTE_MS;
/** Of all requests. */
const HOT_SHARE = 0.08;
const HOT_FOR_MS = 20 * MINUTE_MS;

export const hotKey: Scenario = {
  name: 'hot-key',
  title: 'consistent hashing, and one key gets 8 % of all requests for 20 min',
  size: { hosts: 20, balancers: 4, zones: 2, requestsPerS: 4000 },
  range: { hosts: [5, 30], balancers: [2, 20], zones: [1, 4], requestsPerS: [200, 100_000] },
  plan(size, seed) {
    const expected = incident(ALERT.hostSkew, {
      severity: 'ticket',
      withinMs: 7 * MINUTE_MS,
      pages: 0,
      evidence: [named('the host', /\bhost \S+ takes/), named('the kind of balancing', /hashes/)],
    });
    const hot = (share: number) => ({ kind: 'hot_key', cluster: 0, share }) as const;
    return {
      fleet: sizedFleet(size, { seed, hostUse: 0.15, cluster: { policy: 'maglev' } }),
      timeline: [
        { at: FAULT_AT_MS, change: hot(HOT_SHARE) },
        { at: FAULT_AT_MS + HOT_FOR_MS, change: hot(0) },
      ],
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + HOT_FOR_MS,
      untilMs: FAULT_AT_MS + HOT_FOR_MS + 20 * MINUTE_MS,
      expected,
      expectedOfEnvoy: expected,
    };
  },
};

const SERVICE_MS = 62;
/** What hosts use of their capacity before they are doubled, and how much traffic grows meanwhile: 85 %. */
const USE = 0.65;
const GROWTH = 1.31;
/** With it half an hour moves 3 % of the connections. */
const CONNECTION_AGE_MS = 16 * 60 * MINUTE_MS;

export const scaleOutLongLived: Scenario = {
  name: 'scale-out-long-lived',
  title: 'hosts are doubled, connections live for hours: the new ones stay idle while the old ones fill up',
  size: { hosts: 40, balancers: 4, zones: 2, requestsPerS: 7000 },
  range: { hosts: [10, 80], balancers: [2, 10], zones: [1, 4], requestsPerS: [2000, 50_000] },
  plan(drawn, seed) {
    const before = Math.floor(drawn.hosts / 2);
    const size = { ...drawn, hosts: 2 * before };
    const slots = Math.ceil((size.requestsPerS * SERVICE_MS) / 1000 / before / USE);
    const each = { slots, serviceMs: SERVICE_MS, spread: 0.2, queueMs: 5000, name: 'app' };
    const hosts = hostsOf(size.hosts, each, size.zones).map((host, i) => ({ ...host, present: i < before }));
    const joined = Array.from({ length: before }, (_, i) => before + i);
    const expected = incident(ALERT.hostSkew, {
      severity: 'ticket',
      withinMs: 10 * MINUTE_MS,
      pages: 0,
      evidence: [named('the new hosts', /\d+ new hosts/), named('their share', /% of (its )?requests where/)],
      ends: 'lasting',
    });
    return {
      fleet: sizedFleet(size, {
        seed,
        cluster: { hosts, pinned: { connections: 4000, maxAgeMs: CONNECTION_AGE_MS } },
      }),
      timeline: [
        { at: FAULT_AT_MS, change: { kind: 'membership', cluster: 0, hosts: joined, state: 'joined' } },
        { at: FAULT_AT_MS + MINUTE_MS, change: { kind: 'traffic', requests: GROWTH } },
      ],
      engine: 'fluid',
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + 40 * MINUTE_MS,
      untilMs: FAULT_AT_MS + 40 * MINUTE_MS,
      expected,
      expectedOfEnvoy: expected,
    };
  },
};

/** Addresses behind which most clients hide. */
const SOURCES = 3;
const NATTED_SHARE = 0.7;
const NATTED_FOR_MS = 20 * MINUTE_MS;

export const websocketsNat: Scenario = {
  name: 'websockets-nat',
  title: 'most clients come from three addresses that are hashed by source: few balancers hold their connections',
  size: { hosts: 20, balancers: 20, zones: 2, requestsPerS: 14_000 },
  range: { hosts: [5, 60], balancers: [10, 50], zones: [1, 4], requestsPerS: [2000, 100_000] },
  plan(size, seed) {
    const expected = incident(ALERT.balancerSkew, {
      severity: 'ticket',
      withinMs: 8 * MINUTE_MS,
      pages: 0,
      evidence: [named('a balancer', /\blb-\d+/), named('what it holds', /connections|handshakes/)],
    });
    const nat = (share: number) => ({ kind: 'nat', sources: SOURCES, share }) as const;
    return {
      // 20 requests a connection that lives for ten minutes: 420,000 of them at 14,000/s.
      fleet: sizedFleet(size, { seed, balancerUse: 0.15, clients: { connectionLifeMs: 10 * MINUTE_MS } }),
      timeline: [
        { at: FAULT_AT_MS, change: nat(NATTED_SHARE) },
        { at: FAULT_AT_MS + NATTED_FOR_MS, change: nat(0) },
      ],
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + NATTED_FOR_MS,
      untilMs: FAULT_AT_MS + NATTED_FOR_MS + 45 * MINUTE_MS,
      expected,
      expectedOfEnvoy: expected,
    };
  },
};
