import { ALERT } from '../../model/conventions.ts';
import type { FleetSpec } from '../fleet-spec.ts';
import type { L4Settings } from '../l4/l4-tier.ts';
import { incident, named, quiet } from './expectations.ts';
import { fitTraffic, MINUTE_MS, type Shape, sizedFleet } from './fleets.ts';
import type { Scenario, Size } from './scenario.ts';

const FAULT_AT_MS = 30 * MINUTE_MS;
const NODES = { before: 8, after: 10 } as const;
/** Four cores: a larger one has room for all that come back. */
const PER_BALANCER_MAX = 8000;

const SIZE: Size = { hosts: 40, balancers: 20, zones: 2, requestsPerS: 60_000 };
const RANGE = { hosts: [5, 200], balancers: [4, 50], zones: [1, 4], requestsPerS: [1000, 400_000] } as const;

/** Full handshakes are RSA: those that come back all at once use up the balancers for a while. */
function fleetBehind(l4: L4Settings, size: Size, seed: number): FleetSpec {
  const requestsPerS = Math.min(size.requestsPerS, PER_BALANCER_MAX * size.balancers);
  const shape: Shape = {
    seed,
    balancerUse: 0.3,
    requestsPerConnection: 2.8,
    cluster: { policy: 'round-robin' },
    clients: { roundTripMs: 10, newShare: 0.35, connectionLifeMs: 2 * MINUTE_MS },
    tls: { keyType: 'rsa-2048', burstiness: 30 },
  };
  return { ...sizedFleet(fitTraffic({ ...size, requestsPerS }, shape), shape), l4: { nodes: NODES.before, ...l4 } };
}

const plan = (l4: L4Settings, size: Size, seed: number) =>
  ({
    fleet: fleetBehind(l4, size, seed),
    timeline: [{ at: FAULT_AT_MS, change: { kind: 'l4_nodes', nodes: NODES.after } }],
    engine: 'fluid',
    pushMs: 10_000,
    faultAtMs: FAULT_AT_MS,
    overAtMs: FAULT_AT_MS + 3 * MINUTE_MS,
    untilMs: FAULT_AT_MS + 75 * MINUTE_MS,
  }) as const;

const BLIND = 'Envoy knows nothing of the L4 tier, and counts connections that were reset before it knew them nowhere';

export const l4Rehash: Scenario = {
  name: 'l4-rehash',
  title: 'two more L4 nodes under mod-N hashing: 80 % of the flows move and are reset',
  size: SIZE,
  range: RANGE,
  plan(size, seed) {
    return {
      ...plan({ hashing: 'mod', tracking: false }, size, seed),
      expected: incident(ALERT.l4Rehash, {
        severity: 'ticket',
        withinMs: 90_000,
        pages: 0,
        evidence: [
          named('the nodes', /8 to 10/),
          named('the share that was reset', /\d+ % of/),
          named('the handshakes', /full handshakes/),
        ],
      }),
      // What follows in its tail is seen; why, nothing says.
      expectedOfEnvoy: quiet(1, BLIND),
    };
  },
};

export const l4Consistent: Scenario = {
  name: 'l4-consistent',
  title: 'quiet control: the same two nodes with consistent hashing and tracked flows',
  size: SIZE,
  range: RANGE,
  plan: (size, seed) => {
    const same = plan({ hashing: 'maglev', tracking: true }, size, seed);
    return { ...same, overAtMs: same.untilMs, expected: quiet(), expectedOfEnvoy: quiet() };
  },
};
