import { ALERT } from '../../model/conventions.ts';
import { CLUSTER, type ClusterSpec, hostsOf } from '../fleet-spec.ts';
import { incident, named } from './expectations.ts';
import { edgeFleet, fitTraffic, MINUTE_MS, type Shape } from './fleets.ts';
import type { Scenario, Size } from './scenario.ts';

const FAULT_AT_MS = 20 * MINUTE_MS;
const LAUNCH_MS = 10 * MINUTE_MS;
/** The service that launches, and those beside it. */
const NAMES = ['shop', 'search', 'accounts', 'media'] as const;
const NOISY = 0;
/** Its requests; its connections, of which 59 % are by clients that were never there. */
const LAUNCH = { requests: 3, connections: 9, newShare: 0.59 } as const;
const SERVICE_S = 0.04;
/** What hosts use of their capacity: those of the noisy service have room for all that comes. */
const HOST_USE = 0.16;

function services(size: Size): ClusterSpec[] {
  const requestsPerS = size.requestsPerS / NAMES.length;
  const hosts = Math.max(2, Math.round(size.hosts / NAMES.length));
  const slots = Math.max(4, Math.ceil((requestsPerS * SERVICE_S) / hosts / HOST_USE));
  return NAMES.map((name) => ({
    ...CLUSTER,
    name,
    requestsPerS,
    policy: 'round-robin',
    hosts: hostsOf(hosts, { slots, name }, size.zones),
  }));
}

export const noisyNeighbour: Scenario = {
  name: 'noisy-neighbour',
  title: 'one of four services launches and takes the CPU of the balancers that it shares; the others wait for it',
  size: { hosts: 20, balancers: 6, zones: 2, requestsPerS: 40_000 },
  range: { hosts: [10, 40], balancers: [4, 12], zones: [1, 4], requestsPerS: [20_000, 100_000] },
  plan(drawn, seed) {
    const shape: Shape = {
      seed,
      balancerUse: 0.35,
      requestsPerConnection: 2.4,
      clients: { roundTripMs: 10, newShare: 0.35, connectionLifeMs: MINUTE_MS },
      tls: { keyType: 'rsa-2048', burstiness: 30 },
    };
    const size = fitTraffic(drawn, shape);
    const calm = { requests: 1, connections: 1, newShare: 0.35 } as const;
    const known = [
      named('the service', /cluster shop takes/i),
      named('its share before and now', /shop takes \d+ % of the requests .*\(usual: \d+ %\)/),
      named('its share of handshakes', /takes \d+ % of the TLS handshakes \(usual: \d+ %\)/),
    ];
    const noise = {
      severity: 'page',
      withinMs: 3 * MINUTE_MS,
      pages: 1,
      tiers: ['6h'],
      ends: 'calmed',
      evidence: [
        ...known,
        named('what the others suffer', /3 of 3 other services are slower .*\(usual: /),
        named('what is shared', /CPU of \d+ of \d+ shared balancers/),
      ],
    } as const;
    return {
      fleet: { ...edgeFleet(size, shape, services(size)), ownListeners: true },
      timeline: [
        { at: FAULT_AT_MS, change: { kind: 'traffic', cluster: NOISY, ...LAUNCH } },
        { at: FAULT_AT_MS + LAUNCH_MS, change: { kind: 'traffic', cluster: NOISY, ...calm } },
      ],
      engine: 'fluid',
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + LAUNCH_MS,
      untilMs: FAULT_AT_MS + LAUNCH_MS + 40 * MINUTE_MS,
      expected: incident(ALERT.noisyNeighbour, noise),
      // Others are seen to suffer only once their handshakes fail, and a budget burns no sooner.
      expectedOfEnvoy: incident(ALERT.noisyNeighbour, {
        ...noise,
        withinMs: 6 * MINUTE_MS,
        evidence: [
          ...known,
          named('that clients of others cannot connect', /clients of 3 of 3 other services cannot connect/),
        ],
        because: 'Envoy tells neither its CPU nor what it adds to the requests of a cluster',
      }),
    };
  },
};
