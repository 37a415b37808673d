import { setTimeout as sleep } from 'node:timers/promises';
import { durationText } from '../../src/model/phrases.ts';
import type { Verdict } from '../../src/sim/drill/verdict.ts';
import { ticketRotation } from '../../src/sim/scenarios/edge.ts';
import { healthCascadePanic } from '../../src/sim/scenarios/health.ts';
import { sinkholeLeastConnections, sinkholeTwoChoices } from '../../src/sim/scenarios/sinkholes.ts';
import { hostsSlow } from '../../src/sim/scenarios/slow-hosts.ts';
import { type Outcome, type RealDrill, runReal, type Stage, simulate } from '../support/real-drill.ts';
import { print } from '../support/rows.ts';

const BLIP_MS = 30_000;
/** Longer than checks wait. */
const SLOW_CHECK_MS = 3000;
const SLOW_MS = 400;
const FAST_FAIL_MS = 2;

const failFast = async ({ hosts }: Stage): Promise<void> => {
  const first = hosts[0]?.[0];
  if (first !== undefined) first.failMs = FAST_FAIL_MS;
};

const allSlow = async ({ hosts }: Stage): Promise<void> => {
  for (const host of hosts.flat()) host.serviceMs = SLOW_MS;
};

/** What every check asks takes 3 s; requests do not ask it. */
const slowChecks = async ({ hosts }: Stage): Promise<void> => {
  for (const host of hosts.flat()) host.checkMs = SLOW_CHECK_MS;
  await sleep(BLIP_MS);
  for (const host of hosts.flat()) host.checkMs = 0;
};

const ONE_ZONE = { balancers: 1, zones: 1 } as const;
/** Enough requests in flight that the host which fails is mostly the only idle one. */
const SINKHOLE: RealDrill['size'] = { ...ONE_ZONE, hosts: 10, requestsPerS: 500 };

/** Side by side, each lane one after the other: two cores carry them, and it takes as long as the slowest. */
const LANES: readonly (readonly RealDrill[])[] = [
  [{ scenario: hostsSlow, size: { ...ONE_ZONE, hosts: 5, requestsPerS: 100 }, tls: null, fail: allSlow }],
  [
    { scenario: sinkholeLeastConnections, size: SINKHOLE, tls: null, fail: failFast },
    { scenario: sinkholeTwoChoices, size: SINKHOLE, tls: null, fail: failFast },
  ],
  [
    {
      scenario: healthCascadePanic,
      size: { ...ONE_ZONE, hosts: 50, requestsPerS: 100 },
      tls: null,
      fail: slowChecks,
    },
    {
      scenario: ticketRotation,
      size: { ...ONE_ZONE, hosts: 10, requestsPerS: 100 },
      tls: { connectionsPerS: 20, newShare: 0.35 },
      fail: ({ setTickets }) => setTickets(false),
    },
  ],
];

/**
 * Failures of `slowburn drill` done to a real Envoy and real hosts, with the built service and its shipped rules. What
 * comes of them must be what the simulated Envoys of the same scenario at the same size bring about. The service
 * starts with a past: what the Envoy pushed in its first minute, told again for as long as the scenario is quiet.
 */
export async function run(): Promise<boolean> {
  print('the simulated fleets of Envoys first');
  const lanes = LANES.map((lane) => lane.map((drill) => ({ drill, simulated: simulate(drill) })));
  print('then the real one');
  const outcomes = await Promise.all(
    lanes.map(async (lane) => {
      const done: Outcome[] = [];
      for (const { drill, simulated } of lane) done.push(await runReal(drill, simulated));
      return done;
    }),
  );
  return compare(outcomes.flat());
}

function compare(outcomes: readonly Outcome[]): boolean {
  const head = ['failure', 'expected', 'simulated', 'after', 'pages', 'Envoy', 'after', 'pages', ''];
  const rows = outcomes.map(({ drill, expected, simulated, real, differences }) => [
    drill.scenario.name,
    `${expected.severity} ${expected.lead} < ${durationText(expected.withinMs)}`,
    ...columnsOf(simulated),
    ...columnsOf(real),
    differences.length === 0 ? 'equal' : 'OTHER',
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  for (const row of [head, ...rows]) print(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  for (const { drill, differences } of outcomes) {
    for (const difference of differences) print(`  ${drill.scenario.name}: ${difference}`);
  }
  return outcomes.every(({ differences }) => differences.length === 0);
}

const columnsOf = ({ seen, detectedAfterMs, pages }: Verdict): readonly string[] => [
  seen === null ? 'nothing' : `${seen.severity} ${seen.lead}`,
  detectedAfterMs === null ? '-' : durationText(detectedAfterMs),
  String(pages),
];
