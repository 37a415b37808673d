import { ALERT } from '../../model/conventions.ts';
import type { TimedChange } from '../faults/change.ts';
import { BALANCER, hostsOf } from '../fleet-spec.ts';
import { incident, named, quiet } from './expectations.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, sizedFleet, zonesOf } from './fleets.ts';
import { type Scenario, STANDARD_SEED } from './scenario.ts';

/** Hosts of zone a for 20 of each other, and balancers of zone a for 11 of each other. */
const SMALL_HOSTS = 12 / 20;
const MANY_BALANCERS = 14 / 11;
const SERVICE_S = 0.04;
/**
 * What the hosts of the hot zone use of their capacity. Few balancers share traffic less evenly, and the tide comes on
 * top: a drawn fleet has the room to meet its objectives all the same.
 */
const HOT = 0.75;
const HOT_IF_DRAWN = 0.6;

/** The standard size for two weeks, drawn ones for a day. */
export const zoneHot: Scenario = {
  name: 'zone-hot',
  title: 'traffic by balancer placement heats a small zone for weeks, every objective met',
  size: { hosts: 26, balancers: 10, zones: 3, requestsPerS: 5800 },
  range: { hosts: [20, 200], balancers: [10, 50], zones: [3, 4], requestsPerS: [1000, 400_000] },
  plan(size, seed) {
    const { zones, requestsPerS } = size;
    const isDrawn = seed !== STANDARD_SEED;
    const untilMs = isDrawn ? DAY_MS : 14 * DAY_MS;
    const others = Math.max(2, Math.round(size.hosts / (zones - 1 + SMALL_HOSTS)));
    const hostsIn = (zone: number): number => (zone === 0 ? Math.max(1, Math.round(others * SMALL_HOSTS)) : others);
    const each = Math.max(2, Math.round(size.balancers / (zones - 1 + MANY_BALANCERS)));
    const balancersIn = (zone: number): number => (zone === 0 ? Math.ceil(each * MANY_BALANCERS) : each);
    const zoneIndices = Array.from({ length: zones }, (_, zone) => zone);
    const count = zoneIndices.reduce((sum, zone) => sum + balancersIn(zone), 0);
    const hotPerS = (requestsPerS * balancersIn(0)) / count;
    const slots = Math.max(2, Math.ceil((hotPerS * SERVICE_S) / hostsIn(0) / (isDrawn ? HOT_IF_DRAWN : HOT)));
    const hosts = zoneIndices.flatMap((zone) => hostsOf(hostsIn(zone), { zone, slots, name: `app-${zone}` }));
    const shape = { seed, cluster: { hosts, zoneRouting: 'place' }, clients: { swing: 0.15 } } as const;
    const sized = sizedFleet({ ...size, balancers: count }, shape);
    // Never short of CPU themselves, also at the height of the tide.
    const room = sized.balancers.map((balancer) => ({ ...balancer, cores: Math.max(BALANCER.cores, balancer.cores) }));
    const places = zoneIndices.flatMap((zone) =>
      Array.from({ length: balancersIn(zone) }, (_, i) => ({ zone, name: `lb-${zone}-${i}` })),
    );
    const balancers = room.map((balancer, i) => ({ ...balancer, ...places[i] }));
    return {
      fleet: { ...sized, zones: zonesOf(zones), balancers },
      timeline: [],
      engine: 'fluid',
      pushMs: isDrawn ? 2 * MINUTE_MS : MINUTE_MS,
      faultAtMs: 0,
      overAtMs: untilMs,
      untilMs,
      expected: incident(ALERT.zoneSkew, {
        severity: 'ticket',
        withinMs: 7 * HOUR_MS,
        pages: 0,
        evidence: [named('the zone', /\bzone a\b/i)],
        ends: 'lasting',
      }),
      expectedOfEnvoy: quiet(0, 'Envoy tells no zone of hosts'),
    };
  },
};

const WEEKS = 4;
/** Of the cluster's mean, a week. */
const DRIFT = 0.02;
/** How far the slope that is told may lie from it: a tenth, and what chance and waiting in queues add. */
const BAND = [0.016, 0.024] as const;

/**
 * Least connections sends a host less as it becomes slower. With all but the first of n zones slower by x the first has
 * n x / (x + n - 1) times its share; which x makes that `factor`.
 */
const slowerFor = (factor: number, zones: number): number => (factor * (zones - 1)) / (zones - factor);

function drift(zones: number): TimedChange[] {
  return Array.from({ length: WEEKS * 7 - 1 }, (_, i) => i + 1).flatMap((day) =>
    Array.from({ length: zones - 1 }, (_, other) => ({
      at: day * DAY_MS,
      change: {
        kind: 'hosts',
        cluster: 0,
        hosts: { zone: other + 1 },
        set: { slow: slowerFor(1 + (DRIFT * day) / 7, zones) },
      } as const,
    })),
  );
}

/** Too little for any alert at the end of it: 1.08 times its share, where 1.3 is told. */
export const zoneDrift: Scenario = {
  name: 'zone-drift',
  title:
    'hosts of all zones but one slow down bit by bit: that one gets 2 % more of the mean each week, for four weeks',
  size: { hosts: 9, balancers: 2, zones: 3, requestsPerS: 600 },
  range: { hosts: [9, 12], balancers: [2, 2], zones: [3, 3], requestsPerS: [200, 20_000] },
  plan(drawn, seed) {
    // As many hosts in each zone.
    const size = { ...drawn, hosts: Math.floor(drawn.hosts / drawn.zones) * drawn.zones };
    const untilMs = WEEKS * 7 * DAY_MS;
    return {
      fleet: sizedFleet(size, {
        seed,
        hostUse: 0.2,
        cluster: { policy: 'least-connections' },
        clients: { swing: 0.3 },
      }),
      timeline: drift(size.zones),
      engine: 'fluid',
      // Seldomer, and balancers whose pace is not known yet would count as silent.
      pushMs: 3 * MINUTE_MS,
      tickMs: 15 * MINUTE_MS,
      faultAtMs: 0,
      overAtMs: untilMs,
      untilMs,
      expected: {
        ...quiet(),
        findings: {
          weeks: WEEKS,
          all: [{ measure: 'zone_skew', subject: { cluster: 'app', zone: 'a' }, slopePerWeek: BAND }],
        },
      },
      expectedOfEnvoy: { ...quiet(0, 'Envoy tells no zone of hosts'), findings: { weeks: WEEKS, all: [] } },
    };
  },
};
