import { ALERT } from '../../model/conventions.ts';
import type { TimedChange } from '../faults/change.ts';
import { hostsOf } from '../fleet-spec.ts';
import { incident, named, quiet } from './expectations.ts';
import { MINUTE_MS, SECOND_MS, sizedFleet } from './fleets.ts';
import type { Scenario } from './scenario.ts';

const FAULT_AT_MS = 30 * MINUTE_MS;
const LASTS_MS = 15 * MINUTE_MS;
const SERVICE_MS = 100;
const HOST_USE = 0.35;
const CONNECTIONS = 4;
/** Places over what is in flight on a connection: the others have room for what one of them holds. */
const ROOM = 2.5;

export const stalledStream: Scenario = {
  name: 'stalled-stream',
  title: 'one of four connections to a host stands still: a quarter of what is in flight there waits for its time-out',
  size: { hosts: 5, balancers: 2, zones: 2, requestsPerS: 32_000 },
  range: { hosts: [5, 20], balancers: [2, 8], zones: [1, 4], requestsPerS: [30_000, 400_000] },
  plan(size, seed) {
    const { hosts, balancers, zones, requestsPerS } = size;
    const inFlight = (requestsPerS * SERVICE_MS) / SECOND_MS;
    const slots = Math.ceil(inFlight / hosts / HOST_USE);
    const perConnection = Math.ceil((ROOM * inFlight) / hosts / balancers / CONNECTIONS);
    const stalled = (atMs: number, connections: number): TimedChange => ({
      at: atMs,
      change: { kind: 'streams_stalled', cluster: 0, hosts: [0], connections },
    });
    return {
      fleet: sizedFleet(size, {
        seed,
        cluster: {
          policy: 'round-robin',
          hosts: hostsOf(hosts, { slots, serviceMs: SERVICE_MS, name: 'app' }, zones),
          streams: { connections: CONNECTIONS, perConnection },
        },
      }),
      timeline: [stalled(FAULT_AT_MS, 1), stalled(FAULT_AT_MS + LASTS_MS, 0)],
      engine: 'fluid',
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + LASTS_MS,
      untilMs: FAULT_AT_MS + 40 * MINUTE_MS,
      expected: incident(ALERT.streamSaturation, {
        severity: 'ticket',
        withinMs: 90 * SECOND_MS,
        pages: 0,
        evidence: [
          named('the host', /app-0/),
          named('the share that waits', /2[0-9] %/),
          named('the connection', /over connection 0/),
          named('that it carries as many as the others', /times the streams of another/),
        ],
      }),
      expectedOfEnvoy: quiet(0, 'Envoy tells how many streams a cluster has, not what a connection holds or fits'),
    };
  },
};
