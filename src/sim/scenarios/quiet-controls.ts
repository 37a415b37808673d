import type { TimedChange } from '../faults/change.ts';
import { ACTIVE_CHECKS } from '../health/active-checks.ts';
import { OUTLIERS } from '../health/outlier-ejection.ts';
import { quiet } from './expectations.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, sizedFleet } from './fleets.ts';
import { FULL_RANGE, type Plan, type Scenario, type Size, STANDARD_SEED } from './scenario.ts';

/** Whatever happens in them is nobody's business; from this moment on at the latest. */
const FROM_MS = 0;
/**
 * Hosts are ejected for failures in a row only: by success rate a single stray error among hosts without any is an
 * outlier, and a healthy fleet would eject hosts all day.
 */
const IN_A_ROW = { ...OUTLIERS, hostsMin: Number.POSITIVE_INFINITY };
const HEALTHY = { checks: ACTIVE_CHECKS, outliers: IN_A_ROW, errorShare: 0.0002, clientErrorShare: 0.01 } as const;

const control = (plan: Pick<Plan, 'fleet' | 'timeline' | 'engine' | 'pushMs' | 'untilMs'>, tickets = 0): Plan => ({
  ...plan,
  faultAtMs: FROM_MS,
  overAtMs: plan.untilMs,
  expected: quiet(tickets),
  expectedOfEnvoy: quiet(tickets),
});

/** Traffic with its tide. */
const clean = (size: Size, seed: number, untilMs: number, pushMs = MINUTE_MS): Plan =>
  control({
    fleet: sizedFleet(size, { seed, cluster: HEALTHY, clients: { swing: 0.5 } }),
    timeline: [],
    engine: 'fluid',
    pushMs,
    untilMs,
  });

export const cleanDay: Scenario = {
  name: 'clean-day',
  title: 'quiet control: a day with its tide of traffic and a few stray errors',
  size: { hosts: 20, balancers: 4, zones: 2, requestsPerS: 2000 },
  range: FULL_RANGE,
  plan: (size, seed) => clean(size, seed, DAY_MS),
};

/** The standard size for a month at exports of 60 s, drawn ones for a week at half that pace. */
export const cleanMonth: Scenario = {
  name: 'clean-month',
  title: 'quiet control: 30 days of the same, drawn sizes a week',
  size: { hosts: 10, balancers: 2, zones: 2, requestsPerS: 1000 },
  range: FULL_RANGE,
  plan: (size, seed) =>
    seed === STANDARD_SEED ? clean(size, seed, 30 * DAY_MS) : clean(size, seed, 7 * DAY_MS, 2 * MINUTE_MS),
};

const ROLL_AT_MS = 30 * MINUTE_MS;
const BATCHES = 10;
const BATCH_MS = MINUTE_MS;

/** A tenth at a time: drained for half a minute, gone for a quarter, back with a short warm-up. */
function rolling(hosts: number): TimedChange[] {
  const batches = Math.min(BATCHES, hosts);
  return Array.from({ length: batches }, (_, batch) => {
    const at = ROLL_AT_MS + batch * 2 * BATCH_MS;
    const chosen = Array.from({ length: hosts }, (_, host) => host).filter((host) => host % batches === batch);
    const members = (state: 'draining' | 'left') => ({ kind: 'membership', cluster: 0, hosts: chosen, state }) as const;
    const cold = { factor: 1.5, warmUpMs: 15_000 };
    return [
      { at, change: members('draining') },
      { at: at + 30_000, change: members('left') },
      { at: at + 45_000, change: { kind: 'membership', cluster: 0, hosts: chosen, state: 'joined', cold } as const },
    ];
  }).flat();
}

export const rollingDeploy: Scenario = {
  name: 'rolling-deploy',
  title: 'quiet control: every host replaced, a tenth at a time, after a drain',
  size: { hosts: 20, balancers: 4, zones: 2, requestsPerS: 800 },
  range: FULL_RANGE,
  plan: (size, seed) =>
    control({
      fleet: sizedFleet(size, { seed, cluster: HEALTHY }),
      timeline: rolling(size.hosts),
      engine: null,
      pushMs: 10_000,
      untilMs: 80 * MINUTE_MS,
    }),
};

const TEN_AN_HOUR = 10 / 3600;
/**
 * A burn of 0.5 at 99.9 %. One of two hundred would be a burn of five, whose budget is gone in six days: no quiet
 * night. Two failures among ten requests of an hour page by definition, and chance brings them now and then: at this
 * burn some 0.02 times a month.
 */
const WITHIN_BUDGET = 0.0005;

export const quietNight: Scenario = {
  name: 'quiet-night',
  title: 'quiet control: ten requests an hour, and one of two thousand fails',
  size: { hosts: 5, balancers: 2, zones: 1, requestsPerS: TEN_AN_HOUR },
  range: { ...FULL_RANGE, requestsPerS: [TEN_AN_HOUR, TEN_AN_HOUR] },
  plan: (size, seed) =>
    control({
      fleet: sizedFleet(size, {
        seed,
        cluster: { ...HEALTHY, errorShare: WITHIN_BUDGET },
        clients: { connectionsPerS: 0.001 },
      }),
      timeline: [],
      engine: 'exact',
      pushMs: MINUTE_MS,
      untilMs: 12 * HOUR_MS,
    }),
};

export const doubledLoad: Scenario = {
  name: 'doubled-load',
  title: 'quiet control: twice the traffic within ten minutes, and room for it',
  size: { hosts: 20, balancers: 4, zones: 2, requestsPerS: 2500 },
  range: FULL_RANGE,
  plan(size, seed) {
    const steps = 10;
    const timeline: TimedChange[] = Array.from({ length: steps }, (_, i) => {
      const times = 1 + (i + 1) / steps;
      return { at: HOUR_MS + i * MINUTE_MS, change: { kind: 'traffic', requests: times, connections: times } };
    });
    return control({
      fleet: sizedFleet(size, { seed, cluster: HEALTHY, hostUse: 0.3, balancerUse: 0.3 }),
      timeline,
      engine: 'fluid',
      pushMs: 10_000,
      untilMs: 3 * HOUR_MS,
    });
  },
};

const half = ({ balancers }: Size): number[] => Array.from({ length: Math.floor(balancers / 2) }, (_, i) => i);

export const controlPlaneDead: Scenario = {
  name: 'control-plane-dead',
  title: 'quiet control: the control plane dies in the middle of a rollout, balancers serve on',
  size: { hosts: 20, balancers: 10, zones: 2, requestsPerS: 2500 },
  range: { ...FULL_RANGE, balancers: [4, 50] },
  // Half of the fleet behind its stage may be told; nobody is woken for it while traffic is served.
  plan: (size, seed) =>
    control(
      {
        fleet: sizedFleet(size, { seed, cluster: HEALTHY }),
        timeline: [
          { at: 30 * MINUTE_MS, change: { kind: 'config', balancers: [0], version: 'v2', effect: {} } },
          { at: 40 * MINUTE_MS, change: { kind: 'config', balancers: half(size), version: 'v2', effect: {} } },
          { at: 40 * MINUTE_MS, change: { kind: 'config_updates', balancers: 'all', accepted: false } },
          { at: 41 * MINUTE_MS, change: { kind: 'config', balancers: 'all', version: 'v2', effect: {} } },
          { at: 70 * MINUTE_MS, change: { kind: 'config_updates', balancers: 'all', accepted: true } },
          { at: 71 * MINUTE_MS, change: { kind: 'config', balancers: 'all', version: 'v2', effect: {} } },
        ],
        engine: 'fluid',
        pushMs: 10_000,
        untilMs: 100 * MINUTE_MS,
      },
      1,
    ),
};
