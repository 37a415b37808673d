import { ALERT } from '../../model/conventions.ts';
import type { TimedChange } from '../faults/change.ts';
import { ACTIVE_CHECKS } from '../health/active-checks.ts';
import { OUTLIERS } from '../health/outlier-ejection.ts';
import { MINUTE_MS, sizedFleet } from './fleets.ts';
import type { IncidentExpected, Scenario } from './scenario.ts';

/** The first of the list: least connections breaks ties by insertion, so that it shows there at its worst. */
const SINK = 0;
const FAULT_AT_MS = 20 * MINUTE_MS;
const LASTS_MS = 8 * MINUTE_MS;

/** Its database pool is lost: 503 in 2 ms. The check goes on passing. */
const broken = (atMs: number): TimedChange => ({
  at: atMs,
  change: { kind: 'hosts', cluster: 0, hosts: [SINK], set: { failShare: 1, failMs: 2 } },
});

const mended = (atMs: number): TimedChange => ({
  at: atMs,
  change: { kind: 'hosts', cluster: 0, hosts: [SINK], set: { failShare: 0 } },
});

/** Of more hosts the broken one draws less than a quarter of the traffic, and the budget goes more slowly. */
const MANY_HOSTS = 60;

const SHALLOW_CHECKS = { ...ACTIVE_CHECKS, intervalMs: 10_000, failuresToDown: 3 };

const sinkhole: Omit<IncidentExpected, 'severity' | 'pages' | 'withinMs' | 'evidence'> = {
  kind: 'incident',
  lead: ALERT.fastFailSinkhole,
  alternatives: [],
  tiers: null,
  members: [],
  runbook: ALERT.fastFailSinkhole,
  ends: 'resolved',
  because: null,
};

export const sinkholeLeastConnections: Scenario = {
  name: 'sinkhole-least-connections',
  title: 'a host fails fast; least connections sends it ever more',
  size: { hosts: 40, balancers: 1, zones: 1, requestsPerS: 800 },
  // Of more hosts it draws too little of the traffic to wake anybody.
  range: { hosts: [5, 100], balancers: [2, 50], zones: [1, 4], requestsPerS: [200, 400_000] },
  plan(size, seed) {
    const expected: IncidentExpected = {
      ...sinkhole,
      severity: 'page',
      ends: 'calmed',
      pages: 1,
      withinMs: (size.hosts > MANY_HOSTS ? 3 : 2) * MINUTE_MS,
      evidence: [
        { what: 'the host', pattern: /\bapp-0\b/ },
        { what: 'that it answers fast', pattern: /answers in/ },
        { what: 'its share of the traffic', pattern: /share of traffic/ },
      ],
    };
    return {
      fleet: sizedFleet(size, { seed, cluster: { policy: 'least-connections', checks: SHALLOW_CHECKS } }),
      // Found by hand after eight minutes.
      timeline: [broken(FAULT_AT_MS), mended(FAULT_AT_MS + LASTS_MS)],
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + LASTS_MS,
      untilMs: FAULT_AT_MS + 60 * MINUTE_MS,
      expected,
      expectedOfEnvoy: {
        ...expected,
        because: 'Envoy tells no times of hosts; their growing share of the traffic gives them away',
        evidence: [
          { what: 'the host', pattern: /\b10\.0\.0\.0:8080\b/ },
          { what: 'its share of the traffic', pattern: /share of traffic/ },
        ],
      },
    };
  },
};

export const sinkholeTwoChoices: Scenario = {
  name: 'sinkhole-two-choices',
  title: 'the same under two choices with ejection: few errors, one host ejected again and again',
  size: { hosts: 40, balancers: 2, zones: 1, requestsPerS: 800 },
  range: { hosts: [5, 200], balancers: [2, 50], zones: [1, 4], requestsPerS: [200, 400_000] },
  plan(size, seed) {
    const expected: IncidentExpected = {
      ...sinkhole,
      alternatives: [ALERT.hostEjections],
      severity: 'ticket',
      pages: 0,
      withinMs: 5 * MINUTE_MS,
      evidence: [
        { what: 'the host', pattern: /\bapp-0\b/ },
        { what: 'that it was ejected again', pattern: /ejected/ },
      ],
    };
    return {
      fleet: sizedFleet(size, {
        seed,
        cluster: { policy: 'two-choices', checks: SHALLOW_CHECKS, outliers: OUTLIERS },
      }),
      timeline: [broken(FAULT_AT_MS), mended(FAULT_AT_MS + LASTS_MS)],
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + LASTS_MS,
      untilMs: FAULT_AT_MS + 60 * MINUTE_MS,
      expected,
      expectedOfEnvoy: {
        ...expected,
        because: 'Envoy counts ejections by cluster and names no host',
        lead: ALERT.hostEjections,
        alternatives: [ALERT.fastFailSinkhole, ALERT.hostOutlier],
        runbook: ALERT.hostEjections,
        evidence: [{ what: 'that hosts are ejected', pattern: /eject/ }],
      },
    };
  },
};

/** Of all hosts, rounded up: with one of ten ejected a tenth of all requests fails, just enough for a page in time. */
const BAD_SHARE = 0.3;
/** As long as a good answer takes: they draw no more traffic than others. */
const AS_LONG_MS = 40;

export const ejectionCap: Scenario = {
  name: 'ejection-cap',
  title: 'three of ten hosts fail half of their requests as slowly as others answer, and one of ten may be ejected',
  size: { hosts: 20, balancers: 2, zones: 1, requestsPerS: 800 },
  // Bad hosts of another zone would be another failure domain, and page again.
  range: { hosts: [20, 60], balancers: [2, 10], zones: [1, 1], requestsPerS: [800, 20_000] },
  plan(size, seed) {
    const bad = Array.from({ length: Math.ceil(BAD_SHARE * size.hosts) }, (_, i) => i);
    const fail = (at: number, failShare: number): TimedChange => ({
      at,
      change: { kind: 'hosts', cluster: 0, hosts: bad, set: { failShare, failMs: AS_LONG_MS } },
    });
    const expected: IncidentExpected = {
      ...sinkhole,
      // Ejected three times they count as sinkholes, however slowly they fail.
      alternatives: [ALERT.hostOutlier, ALERT.hostEjections],
      severity: 'page',
      pages: 1,
      // A seventh fails beside what is ejected in turn: the slower tiers tell it.
      withinMs: LASTS_MS + MINUTE_MS,
      ends: 'calmed',
      members: [ALERT.ejectionCapReached, ALERT.hostEjections, ALERT.hostOutlier, ALERT.upstreamErrors],
      evidence: [{ what: 'that no more hosts may be ejected', pattern: /refused/ }],
    };
    return {
      fleet: sizedFleet(size, { seed, cluster: { policy: 'two-choices', checks: SHALLOW_CHECKS, outliers: OUTLIERS } }),
      timeline: [fail(FAULT_AT_MS, 0.5), fail(FAULT_AT_MS + LASTS_MS, 0)],
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + LASTS_MS,
      untilMs: FAULT_AT_MS + 75 * MINUTE_MS,
      expected,
      expectedOfEnvoy: {
        ...expected,
        lead: ALERT.hostOutlier,
        alternatives: [ALERT.hostEjections],
        runbook: ALERT.hostOutlier,
        because: 'Envoy counts ejections by cluster and names no host',
      },
    };
  },
};
