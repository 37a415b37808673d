import { ALERT } from '../../model/conventions.ts';
import type { TimedChange } from '../faults/change.ts';
import { hostsOf } from '../fleet-spec.ts';
import { incident, named, quiet } from './expectations.ts';
import { MINUTE_MS, SECOND_MS, sizedFleet } from './fleets.ts';
import type { Scenario } from './scenario.ts';

const FAULT_AT_MS = 30 * MINUTE_MS;
const EVERY_MS = 3 * MINUTE_MS;

/** Hosts in batches of a tenth of all, at most four and at most two fifths of the hosts; the last hosts first. */
function batchesOf(hosts: number): readonly (readonly number[])[] {
  const each = Math.max(1, Math.floor(hosts / 10));
  const count = Math.min(4, Math.floor((0.4 * hosts) / each));
  return Array.from({ length: count }, (_, batch) =>
    Array.from({ length: each }, (_, i) => hosts - 1 - batch * each - i),
  );
}

/** Of an exponential 4.6 means are its p99: 8 s. */
const BODY_MS = 1740;
const DRAIN_MS = 2 * SECOND_MS;

export const drainTooShort: Scenario = {
  name: 'drain-too-short',
  title: 'scale-in with 2 s of drain, where answers take 8 s at p99 until their last byte',
  size: { hosts: 40, balancers: 4, zones: 2, requestsPerS: 2500 },
  range: { hosts: [5, 100], balancers: [2, 20], zones: [1, 4], requestsPerS: [500, 100_000] },
  plan(size, seed) {
    const batches = batchesOf(size.hosts);
    const cut = incident(ALERT.drainCut, {
      severity: 'ticket',
      withinMs: 2 * MINUTE_MS,
      pages: 0,
      evidence: [named('how many were cut', /\d+ requests were cut/)],
    });
    return {
      fleet: sizedFleet(size, { seed, cluster: { bodyMs: BODY_MS } }),
      timeline: batches.flatMap((hosts, i): TimedChange[] => {
        const at = FAULT_AT_MS + i * EVERY_MS;
        const members = (state: 'draining' | 'left') => ({ kind: 'membership', cluster: 0, hosts, state }) as const;
        return [
          { at, change: members('draining') },
          { at: at + DRAIN_MS, change: members('left') },
        ];
      }),
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + batches.length * EVERY_MS,
      untilMs: FAULT_AT_MS + batches.length * EVERY_MS + 20 * MINUTE_MS,
      expected: {
        ...cut,
        evidence: [
          ...cut.evidence,
          named('the hosts', /app-\d+/),
          named('what drain the data asks for', /a drain of \d+ to \d+ s/),
          named('what is configured', /10 s (is|are) configured/),
        ],
      },
      expectedOfEnvoy: { ...cut, because: 'Envoy counts resets by cluster and times of whole requests by listener' },
    };
  },
};

const COLD = { factor: 6, warmUpMs: 15 * SECOND_MS } as const;
/** Hosts of which each has room for requests that take six times as long. */
const HOST_USE = 0.12;

export const coldStart: Scenario = {
  name: 'cold-start',
  title: 'scale-outs by a tenth: hosts that are ready at once, and six times slower for 15 s',
  size: { hosts: 30, balancers: 4, zones: 2, requestsPerS: 2400 },
  range: { hosts: [5, 100], balancers: [2, 20], zones: [1, 4], requestsPerS: [500, 100_000] },
  plan(size, seed) {
    const batches = batchesOf(size.hosts);
    const late = new Set(batches.flat());
    const sized = sizedFleet(size, { seed, hostUse: HOST_USE, cluster: { policy: 'round-robin' } });
    const slots = sized.clusters[0]?.hosts[0]?.slots ?? 4;
    const hosts = hostsOf(size.hosts, { slots, name: 'app' }, size.zones);
    return {
      fleet: {
        ...sized,
        clusters: sized.clusters.map((cluster) => ({
          ...cluster,
          hosts: hosts.map((host, i) => ({ ...host, present: !late.has(i) })),
        })),
      },
      timeline: batches.map((batch, i) => ({
        at: FAULT_AT_MS + i * EVERY_MS,
        change: { kind: 'membership', cluster: 0, hosts: batch, state: 'joined', cold: COLD } as const,
      })),
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + batches.length * EVERY_MS,
      untilMs: FAULT_AT_MS + batches.length * EVERY_MS + 20 * MINUTE_MS,
      expected: incident(ALERT.coldStart, {
        severity: 'ticket',
        withinMs: 90 * SECOND_MS,
        pages: 0,
        evidence: [
          named('the hosts', /app-\d+/),
          named('how much slower', /times as long/),
          named('the warm-up', /warm after \d+ s/),
          named('what is configured', /grace of 30 s/),
        ],
      }),
      expectedOfEnvoy: quiet(1, 'Envoy tells no time of single hosts'),
    };
  },
};
