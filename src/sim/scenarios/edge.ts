import { ALERT } from '../../model/conventions.ts';
import type { FleetSpec } from '../fleet-spec.ts';
import { incident, named, quiet } from './expectations.ts';
import { DAY_MS, fitTraffic, MINUTE_MS, type Shape, sizedFleet } from './fleets.ts';
import type { Named, Scenario, Size } from './scenario.ts';

const FAULT_AT_MS = 30 * MINUTE_MS;
const SIZE: Size = { hosts: 40, balancers: 20, zones: 2, requestsPerS: 160_000 };
const RANGE = { hosts: [10, 60], balancers: [4, 50], zones: [1, 4], requestsPerS: [20_000, 400_000] } as const;

/** Four cores. With more of them a balancer at 97 % hardly makes anybody wait, and a ticket is the right answer. */
const PER_BALANCER_MAX = 8000;

const NO_CPU = 'Envoy tells no CPU and no time of TLS handshakes';

/** What a balancer that tells its CPU adds. */
const withCpu = <T extends { readonly evidence: readonly Named[] }>(storm: T) => ({
  ...storm,
  members: [ALERT.balancerSaturation, ALERT.stageTailShift],
  evidence: [...storm.evidence, named('what it costs in CPU', /\bCPU\b/)],
});

export const ticketRotation: Scenario = {
  name: 'ticket-rotation',
  title: 'ticket keys rotated without overlap: every handshake is a full one',
  size: SIZE,
  range: { hosts: [5, 200], balancers: [2, 50], zones: [1, 4], requestsPerS: [1000, 400_000] },
  plan(size, seed) {
    const storm = {
      severity: 'page',
      withinMs: 3 * MINUTE_MS,
      pages: 1,
      ends: 'calmed',
      evidence: [
        named('the cause', /ticket keys/),
        named('that connections are as usual', /connections (are|as) (as )?usual|new connections/),
      ],
    } as const;
    const requestsPerS = Math.min(size.requestsPerS, PER_BALANCER_MAX * size.balancers);
    const shape: Shape = {
      seed,
      balancerUse: 0.55,
      requestsPerConnection: 2.8,
      cluster: { policy: 'round-robin' },
      clients: { roundTripMs: 10, newShare: 0.35, connectionLifeMs: MINUTE_MS },
      tls: { keyType: 'rsa-2048', burstiness: 30 },
    };
    return {
      fleet: sizedFleet(fitTraffic({ ...size, requestsPerS }, shape), shape),
      timeline: [
        { at: FAULT_AT_MS, change: { kind: 'ticket_keys_rotated', overlap: false } },
        { at: FAULT_AT_MS + 9 * MINUTE_MS, change: { kind: 'ticket_key_restored', key: 0 } },
      ],
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + 9 * MINUTE_MS,
      untilMs: FAULT_AT_MS + 75 * MINUTE_MS,
      expected: incident(ALERT.handshakeStorm, withCpu(storm)),
      expectedOfEnvoy: incident(ALERT.handshakeStorm, {
        ...storm,
        severity: 'ticket',
        pages: 0,
        because: NO_CPU,
      }),
    };
  },
};

export const launchDay: Scenario = {
  name: 'launch-day',
  title: 'a launch: requests x3, full handshakes x8, an RSA certificate',
  size: { ...SIZE, requestsPerS: 60_000, balancers: 10 },
  range: { ...RANGE, requestsPerS: [20_000, 150_000] },
  plan(size, seed) {
    const storm = {
      severity: 'page',
      withinMs: 4 * MINUTE_MS,
      pages: 1,
      ends: 'calmed',
      evidence: [named('the cause', /new clients|launch/), named('how many new connections', /new connections/)],
    } as const;
    const shape: Shape = {
      seed,
      hostUse: 0.16,
      balancerUse: 0.4,
      requestsPerConnection: 2.4,
      cluster: { policy: 'round-robin' },
      clients: { roundTripMs: 10, newShare: 0.35, connectionLifeMs: MINUTE_MS },
      tls: { keyType: 'rsa-2048', burstiness: 30 },
    };
    return {
      fleet: sizedFleet(fitTraffic(size, shape), shape),
      // 35 % are new before; three times the returning ones and eight times the full handshakes make 1.95 + 2.8.
      timeline: [
        { at: FAULT_AT_MS, change: { kind: 'traffic', requests: 3, connections: 4.75, newShare: 2.8 / 4.75 } },
        { at: FAULT_AT_MS + 10 * MINUTE_MS, change: { kind: 'certificate', keyType: 'ecdsa-p256' } },
        { at: FAULT_AT_MS + 20 * MINUTE_MS, change: { kind: 'traffic', requests: 1, connections: 1, newShare: 0.35 } },
      ],
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + 10 * MINUTE_MS,
      untilMs: FAULT_AT_MS + 90 * MINUTE_MS,
      expected: incident(ALERT.handshakeStorm, withCpu(storm)),
      // Handshakes that time out burn the budget, and those an Envoy tells.
      expectedOfEnvoy: incident(ALERT.handshakeStorm, { ...storm, because: NO_CPU }),
    };
  },
};

/** Of the rate at which a balancer accepts, before and while the queue stands. */
const QUIET_RHO = 0.8;
const FULL_RHO = 0.998;
/** Requests per second of a balancer below which its queue fills too slowly for a quarter of an hour. */
const PER_QUEUE_MIN = 200;

export const acceptQueue: Scenario = {
  name: 'accept-queue',
  title: 'accept queues near their limit, hosts as fast as ever',
  size: { hosts: 20, balancers: 4, zones: 2, requestsPerS: 16_000 },
  range: { hosts: [5, 200], balancers: [2, 50], zones: [1, 4], requestsPerS: [400, 400_000] },
  plan(drawn, seed) {
    const size = { ...drawn, requestsPerS: Math.max(drawn.requestsPerS, PER_QUEUE_MIN * drawn.balancers) };
    const sized = sizedFleet(size, { seed, requestsPerConnection: 4, balancerUse: 0.2 });
    const perBalancer = sized.clients.connectionsPerS / size.balancers;
    const fleet: FleetSpec = {
      ...sized,
      balancers: sized.balancers.map((one) => ({ ...one, acceptsPerS: perBalancer / QUIET_RHO, acceptPlaces: 512 })),
    };
    return {
      fleet,
      timeline: [
        {
          at: FAULT_AT_MS,
          change: { kind: 'accept_rate', balancers: 'all', acceptsPerS: perBalancer / FULL_RHO },
        },
        {
          at: FAULT_AT_MS + 15 * MINUTE_MS,
          change: { kind: 'accept_rate', balancers: 'all', acceptsPerS: perBalancer / QUIET_RHO },
        },
      ],
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + 15 * MINUTE_MS,
      untilMs: FAULT_AT_MS + 50 * MINUTE_MS,
      expected: incident(ALERT.acceptQueueSaturation, {
        severity: 'ticket',
        withinMs: 8 * MINUTE_MS,
        pages: 0,
        evidence: [named('the queue', /queue/)],
      }),
      expectedOfEnvoy: quiet(0, "Envoy tells nothing of the kernel's accept queue"),
    };
  },
};

const RENEWED_AT_DAYS_LEFT = 30;

export const certificateStalled: Scenario = {
  name: 'certificate-stalled',
  title: 'a certificate that should have been renewed at 30 days left',
  size: { hosts: 5, balancers: 2, zones: 1, requestsPerS: 20 },
  range: { hosts: [5, 200], balancers: [2, 50], zones: [1, 4], requestsPerS: [10, 400_000] },
  plan(size, seed) {
    const expected = incident(ALERT.certificateRenewalStalled, {
      severity: 'page',
      // Sixteen days without a renewal, fourteen left.
      withinMs: 16 * DAY_MS + 20 * MINUTE_MS,
      pages: 1,
      evidence: [named('the certificate', /edge/)],
    });
    return {
      fleet: sizedFleet(size, { seed, tls: { notAfterMs: (RENEWED_AT_DAYS_LEFT + 1) * DAY_MS } }),
      timeline: [{ at: 17.5 * DAY_MS, change: { kind: 'certificate', notAfterMs: 107.5 * DAY_MS } }],
      engine: 'fluid',
      // What takes sixteen days may be told a quarter of an hour later.
      pushMs: 3 * MINUTE_MS,
      tickMs: 15 * MINUTE_MS,
      faultAtMs: DAY_MS,
      overAtMs: 17.5 * DAY_MS,
      untilMs: 18 * DAY_MS,
      expected,
      expectedOfEnvoy: expected,
    };
  },
};
