import { CLUSTER, hostsOf } from '../fleet-spec.ts';
import { quiet } from './expectations.ts';
import { edgeFleet, MINUTE_MS } from './fleets.ts';
import type { ComparisonExpected, Scenario } from './scenario.ts';

const SHADOW = 1;
const SHARE = 0.02;
const WINDOW_MS = 10 * MINUTE_MS;
const SERVICE_S = 0.04;
const HOST_USE = 0.35;
/** Of the copies: what a queue that is now and then full drops, and what makes of the rest no fair sample. */
const FEW_DROPS = 0.003;
const MANY_DROPS = 0.03;
const FROM_MS = 2 * MINUTE_MS;
const MANY_AT_MS = 15 * MINUTE_MS;
const UNTIL_MS = 30 * MINUTE_MS;

const asked = {
  attribute: 'cluster',
  a: 'app-shadow',
  b: 'app',
  configKind: null,
  cluster: null,
  shadow: true,
  windowSeconds: WINDOW_MS / 1000,
  fault: 0.005,
  confidence: 0.95,
} as const;

const withheld = (what: string, atMs: number, reason: RegExp): ComparisonExpected => ({
  what,
  atMs,
  asked,
  verdict: 'withheld',
  reason,
});

export const shadowDrops: Scenario = {
  name: 'shadow-drops',
  title: 'quiet control: a shadow gets copies of 2 % of the requests; once 3 % of those are dropped, no verdict on it',
  size: { hosts: 20, balancers: 4, zones: 2, requestsPerS: 5000 },
  range: { hosts: [10, 60], balancers: [2, 20], zones: [1, 4], requestsPerS: [2000, 100_000] },
  plan(size, seed) {
    const { requestsPerS } = size;
    const shadowHosts = Math.max(2, Math.round(size.hosts / 5));
    const slotsFor = (perS: number, hosts: number): number =>
      Math.max(4, Math.ceil((perS * SERVICE_S) / hosts / HOST_USE));
    const app = {
      ...CLUSTER,
      name: 'app',
      requestsPerS,
      hosts: hostsOf(size.hosts, { name: 'app', slots: slotsFor(requestsPerS, size.hosts) }, size.zones),
    };
    const slots = slotsFor(requestsPerS * SHARE, shadowHosts);
    const shadow = {
      ...CLUSTER,
      name: 'app-shadow',
      requestsPerS: 0,
      shadowOf: { cluster: 0, share: SHARE },
      hosts: hostsOf(shadowHosts, { name: 'shadow', slots }, size.zones),
    };
    const drop = (share: number) => ({ kind: 'copies_dropped', cluster: SHADOW, share }) as const;
    return {
      fleet: edgeFleet(size, { seed }, [app, shadow]),
      timeline: [
        { at: FROM_MS, change: drop(FEW_DROPS) },
        { at: MANY_AT_MS, change: drop(MANY_DROPS) },
      ],
      engine: null,
      pushMs: 10_000,
      faultAtMs: FROM_MS,
      overAtMs: UNTIL_MS,
      untilMs: UNTIL_MS,
      expected: quiet(),
      expectedOfEnvoy: quiet(0, 'Envoy does not tell how many copies it dropped'),
      comparisons: [
        {
          what: 'the shadow with few drops',
          atMs: MANY_AT_MS,
          asked,
          verdict: 'no_worse',
          reason: /^no worse in [\d,]+ requests/,
        },
        withheld('the shadow with many drops', UNTIL_MS, /^[23](\.\d)? % of [\d,]+ copies were dropped, more than 1 %/),
      ],
      comparisonsOfEnvoy: [withheld('the shadow', UNTIL_MS, /lb\.mirror\.requests .* is missing/)],
    };
  },
};
