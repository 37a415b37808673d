import type { TimedChange } from '../faults/change.ts';
import type { FleetSpec } from '../fleet-spec.ts';
import { ACTIVE_CHECKS } from '../health/active-checks.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS, sizedFleet } from './fleets.ts';

/** Good health before the first failure, so that what is usual is known. */
const FIRST_AT_MS = 3 * MINUTE_MS;
const EVERY_MS = 6 * MINUTE_MS;
const LASTS_MS = 150 * SECOND_MS;
export const DEMO_LONGEST_MS: number = 24 * HOUR_MS;
const HOSTS = 12;

/** A failure that comes and goes. */
interface Failure {
  readonly what: string;
  readonly begins: TimedChange['change'];
  readonly ends: TimedChange['change'];
}

const FAILURES: readonly Failure[] = [
  {
    what: 'host app-0 fails fast: 503 in 2 ms, and least connections sends it ever more',
    begins: { kind: 'hosts', cluster: 0, hosts: [0], set: { failShare: 1, failMs: 2 } },
    ends: { kind: 'hosts', cluster: 0, hosts: [0], set: { failShare: 0 } },
  },
  {
    what: 'config v2 reaches one balancer of four and takes all of its CPU',
    begins: { kind: 'config', balancers: [0], version: 'v2', effect: { cpuFactor: 60 } },
    ends: { kind: 'config', balancers: [0], version: 'v1', effect: {} },
  },
  {
    what: 'the checks of most hosts fail, though the hosts are well',
    begins: { kind: 'hosts', cluster: 0, hosts: [1, 2, 3, 4, 5, 6, 7, 8], set: { probes: 'fail' } },
    ends: { kind: 'hosts', cluster: 0, hosts: [1, 2, 3, 4, 5, 6, 7, 8], set: { probes: 'real' } },
  },
  {
    what: 'one host answers every third request with 503',
    begins: { kind: 'hosts', cluster: 0, hosts: [5], set: { failShare: 0.35, failMs: 40 } },
    ends: { kind: 'hosts', cluster: 0, hosts: [5], set: { failShare: 0 } },
  },
];

export interface Demo {
  readonly fleet: FleetSpec;
  readonly timeline: readonly TimedChange[];
  /** What happens when, for the person who looks on. */
  readonly announced: readonly { readonly atMs: number; readonly text: string }[];
}

/** A small fleet with a failure every six minutes for a day. */
export function demo(seed: number): Demo {
  const timeline: TimedChange[] = [];
  const announced: { atMs: number; text: string }[] = [];
  for (let i = 0; FIRST_AT_MS + i * EVERY_MS < DEMO_LONGEST_MS; i += 1) {
    const failure = FAILURES[i % FAILURES.length] as Failure;
    const at = FIRST_AT_MS + i * EVERY_MS;
    timeline.push({ at, change: failure.begins }, { at: at + LASTS_MS, change: failure.ends });
    announced.push({ atMs: at, text: failure.what }, { atMs: at + LASTS_MS, text: 'mended' });
  }
  const fleet = sizedFleet(
    { hosts: HOSTS, balancers: 4, zones: 2, requestsPerS: 400 },
    { seed, cluster: { policy: 'least-connections', checks: ACTIVE_CHECKS }, tls: { burstiness: 4 } },
  );
  return { fleet, timeline, announced };
}
