import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { review } from '../../src/app/review.ts';
import { cost, scorecard } from '../../src/app/scorecard-views.ts';
import { DAY, type EpochMs, epochMs, HOUR, MINUTE } from '../../src/base/units.ts';
import { labelsKey, labelsOf } from '../../src/model/labels.ts';
import type { HourlyFigures } from '../../src/model/measure.ts';
import type { WeeklyReview } from '../../src/model/review.ts';
import type { CostView, ScorecardView, TrafficStandard } from '../../src/model/scorecard.ts';
import { reviewMarkdown } from '../../src/review/markdown.ts';
import { DRILL_EPOCH, rehearse } from '../../src/sim/drill/rehearse.ts';
import type { EmittedFlavor } from '../../src/sim/emit/emitter.ts';
import { BOUNDS_S, BUCKETS } from '../../src/sim/histogram-columns.ts';
import { noisyNeighbour } from '../../src/sim/scenarios/neighbours.ts';
import type { Plan } from '../../src/sim/scenarios/scenario.ts';
import { handshakeCpuS } from '../../src/sim/tls/costs.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import type { IncidentStore } from '../../src/store/store.ts';
import { costPage } from '../../src/ui/pages/cost.ts';
import { scorecardSection } from '../../src/ui/pages/scorecard.ts';
import { figureWords, percentWords } from '../../src/ui/phrases.ts';
import { FleetTruth, seedOfOneMoment } from '../support/fleet-truth.ts';
import { shippedRules } from '../support/shipped-rules.ts';

const WEEK = '2026-W10';
const HOURS = [HOUR, 2 * HOUR] as const;
const ZONES = ['a', 'b'] as const;
const SIZE = { hosts: 12, balancers: 4, zones: 2, requestsPerS: 20_000 };
/** Readings of open connections are one a minute; the fleet counts their seconds as they pass. */
const SAMPLED = 0.02;
/** Utilization is kept in thousandths. */
const ROUNDED = 0.001;
const ANSWER_BYTES = [2000, 500, 120, 40_000] as const;

/**
 * Four services on shared balancers, one of which launches in the first hour, and a config push in the second. Every
 * balancer pushes on the minute, so that what has come by the end of an hour is what was counted by then.
 */
function planOf(): Plan {
  const plan = noisyNeighbour.plan(SIZE, 1);
  const seed = seedOfOneMoment(plan.fleet.balancers, MINUTE);
  return {
    ...plan,
    fleet: {
      ...plan.fleet,
      seed,
      detailed: true,
      clusters: plan.fleet.clusters.map((cluster, c) => ({ ...cluster, answerBytes: ANSWER_BYTES[c] ?? 0 })),
    },
    timeline: [
      ...plan.timeline,
      { at: 70 * MINUTE, change: { kind: 'config', balancers: [0], version: 'v2', effect: {} } },
      { at: 85 * MINUTE, change: { kind: 'config', balancers: 'all', version: 'v2', effect: {} } },
    ],
    pushMs: MINUTE,
    tickMs: MINUTE,
    untilMs: 2 * HOUR + 6 * MINUTE,
  };
}

interface Run {
  readonly plan: Plan;
  readonly truth: FleetTruth;
  readonly rows: readonly HourlyFigures[];
  readonly row: (hourMs: number, subject: Readonly<Record<string, string>>) => HourlyFigures | undefined;
  readonly cost: CostView;
  readonly scorecard: ScorecardView;
  readonly review: WeeklyReview;
}

const rules = shippedRules();

function run(flavor: EmittedFlavor): Run {
  const plan = planOf();
  const truth = new FleetTruth();
  const store = createMemoryStore();
  rehearse({ plan, rules, flavor, store, onAdvance: (fleet, virtualMs) => truth.look(fleet, virtualMs) });
  const rows = store.hourly(DRILL_EPOCH, epochMs(DRILL_EPOCH + DAY));
  const byKey = new Map(rows.map((row) => [`${row.hour} ${labelsKey(row.subject)}`, row]));
  const key = plan.fleet.tls.keyType;
  const standard: TrafficStandard = {
    ...rules.scorecard,
    handshakeMs: { full: 1000 * handshakeCpuS('full', key), resumed: 1000 * handshakeCpuS('resumed', key) },
    balancerCores: plan.fleet.balancers[0]?.cores ?? 1,
  };
  const later = epochMs(DRILL_EPOCH + 8 * DAY);
  return {
    plan,
    truth,
    rows,
    row: (hourMs, subject) => byKey.get(`${DRILL_EPOCH + hourMs} ${labelsKey(labelsOf(Object.entries(subject)))}`),
    cost: cost(store, WEEK, later),
    scorecard: scorecard(store, standard, WEEK, later),
    review: reviewOf(store, standard, later),
  };
}

function reviewOf(store: IncidentStore, standard: TrafficStandard, now: EpochMs): WeeklyReview {
  const { detectors } = rules;
  const made = review(
    { store, noiseMarks: { list: () => [] }, followUps: { list: () => [] }, detectors, standard },
    WEEK,
    now,
  );
  assert.ok(made !== undefined);
  return made;
}

const near = (value: number | undefined | null, wanted: number, within: number, what: string): void =>
  assert.ok(
    typeof value === 'number' && Math.abs(value - wanted) <= within,
    `${what}: ${value}, and the fleet itself counted ${wanted}`,
  );

/** In the second hour of truth, or the first, whichever had more requests of clients. */
function peakOf(truth: FleetTruth): number {
  const clients = (hour: number): number =>
    ZONES.reduce((sum, zone) => sum + truth.of(hour, `requests zone ${zone}`), 0);
  return clients(HOURS[0]) >= clients(HOURS[1]) ? HOURS[0] : HOURS[1];
}

/** By the fleet's own buckets, evenly spread within one. */
function p99Of(truth: FleetTruth, zone: string): number {
  const counts = Array.from({ length: BUCKETS }, (_, bucket) => truth.total(`added ${bucket} zone ${zone}`));
  const wanted = 0.99 * counts.reduce((sum, count) => sum + count, 0);
  let below = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    const [low, high, own] = [BOUNDS_S[bucket - 1] ?? 0, BOUNDS_S[bucket] ?? 0, counts[bucket] ?? 0];
    if (below + own >= wanted) return low + ((wanted - below) / own) * (high - low);
    below += own;
  }
  throw new Error('no p99');
}

describe('what is kept of each hour is what the simulated fleet itself has counted', () => {
  const { plan, truth, row, rows, ...views } = run('canonical');
  const names = plan.fleet.clusters.map(({ name }) => name);

  test('both hours were told', () => {
    assert.deepEqual([...new Set(rows.map(({ hour }) => hour - DRILL_EPOCH))], [...HOURS]);
    assert.deepEqual(
      truth.hours.map(({ endMs }) => endMs),
      [...HOURS],
    );
  });

  test('requests, bytes, handshakes and connections of each service, to the last one', () => {
    for (const hour of HOURS) {
      for (const name of names) {
        const cluster = row(hour, { cluster: name })?.tallies;
        const listener = row(hour, { listener: name })?.tallies;
        assert.equal(cluster?.requests, truth.of(hour, `requests cluster ${name}`), `requests of ${name}`);
        assert.equal(cluster?.bytes, truth.of(hour, `bytes cluster ${name}`), `bytes of ${name}`);
        assert.equal(listener?.full_handshakes, truth.of(hour, `full cluster ${name}`), `full handshakes of ${name}`);
        assert.equal(listener?.resumed_handshakes, truth.of(hour, `resumed cluster ${name}`), `resumed of ${name}`);
        assert.equal(listener?.opened, truth.of(hour, `opened cluster ${name}`), `connections of ${name}`);
        const open = truth.of(hour, `open cluster ${name}`);
        near(listener?.connection_seconds, open, SAMPLED * open, `connection seconds of ${name}`);
        assert.equal(listener?.services_beside, names.length);
      }
    }
  });

  test('requests by config version, to the last one, through the hour of the push', () => {
    for (const hour of HOURS) {
      for (const version of ['v1', 'v2']) {
        const kept = row(hour, { configVersion: version })?.tallies?.requests ?? 0;
        assert.equal(kept, truth.of(hour, `requests version ${version}`), `${version} in hour ${hour / HOUR}`);
      }
    }
    assert.ok(truth.of(HOURS[1], 'requests version v1') > 0 && truth.of(HOURS[1], 'requests version v2') > 0);
  });

  test('max over mean of hosts, and utilization of zones', () => {
    for (const hour of HOURS) {
      for (const { name, hosts } of plan.fleet.clusters) {
        const counts = hosts.map((host) => truth.of(hour, `requests host ${host.name}`));
        const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
        near(row(hour, { cluster: name })?.figures.host_skew, Math.max(...counts) / mean, 1e-9, `skew of ${name}`);
        for (const [z, zone] of ZONES.entries()) {
          const own = hosts.filter((host) => host.zone === z);
          const busy = own.reduce((sum, host) => sum + truth.of(hour, `busy host ${host.name}`), 0);
          const slots = own.reduce((sum, host) => sum + host.slots, 0);
          const kept = row(hour, { cluster: name, zone })?.notes['utilization'];
          near(kept as number | undefined, busy / slots / 3600, ROUNDED, `utilization of ${name} in ${zone}`);
        }
      }
    }
  });

  test('CPU of balancers, and what they add to requests, by zone', () => {
    for (const hour of HOURS) {
      for (const { name, cores } of plan.fleet.balancers) {
        const used = truth.of(hour, `cpu balancer ${name}`) / cores / 3600;
        near(row(hour, { balancer: name })?.tallies?.cpu, used, ROUNDED, `CPU of ${name}`);
      }
      for (const zone of ZONES) {
        const [added, second] = row(hour, { zone, region: 'r1' })?.added ?? [];
        assert.equal(second, undefined);
        const counted = Array.from({ length: BUCKETS }, (_, bucket) => truth.of(hour, `added ${bucket} zone ${zone}`));
        assert.deepEqual(added?.counts, counted);
      }
    }
  });

  test('shares of cost, and the page that shows them', () => {
    const { markup } = costPage(views.cost, ['2026-W09', '2026-W11']);
    const sources = { full_handshakes: 'full', requests: 'requests', bytes_out: 'bytes', connection_hours: 'open' };
    for (const [measure, counted] of Object.entries(sources)) {
      const all = names.reduce((sum, name) => sum + truth.total(`${counted} cluster ${name}`), 0);
      for (const name of names) {
        const service = views.cost.services.find((one) => one.service === name);
        const share = service?.costs[measure as keyof typeof service.costs];
        const own = truth.total(`${counted} cluster ${name}`);
        const within = measure === 'connection_hours' ? SAMPLED : 1e-12;
        near(share?.share, own / all, within, `${measure} of ${name}`);
        if (measure === 'connection_hours') continue;
        const words = percentWords(Number((own / all).toPrecision(3)));
        const line =
          markup.split('<tr>').find((one) => one.includes(`>${name}</th>`) || one.includes(`>${name}<`)) ?? '';
        assert.ok(line.includes(`<td>${words} (`), `${measure} of ${name}: ${words} is not in ${line}`);
      }
    }
    const all = truth.total('requests version v1') + truth.total('requests version v2');
    for (const version of ['v1', 'v2']) {
      const own = truth.total(`requests version ${version}`);
      assert.ok(markup.includes(`>${version}</th><td>–</td><td>${figureWords(own)}</td>`), `${version}: ${own}`);
      assert.equal(views.cost.versions.find((one) => one.version === version)?.share, own / all);
    }
  });

  test('the weekly review has them all, as JSON and as Markdown', () => {
    const { standard, cost: costs, spread } = views.review;
    assert.deepEqual(standard, { scores: views.scorecard.scores, headroom: views.scorecard.headroom });
    const { totals, services, versions } = views.cost;
    assert.deepEqual(costs, { totals, services, versions });
    const text = reviewMarkdown(views.review);
    for (const { name, hosts } of plan.fleet.clusters) {
      const skews = HOURS.map((hour) => {
        const counts = hosts.map((host) => truth.of(hour, `requests host ${host.name}`));
        return (Math.max(...counts) * counts.length) / counts.reduce((sum, count) => sum + count, 0);
      });
      const worst = Math.max(...skews);
      near(spread.hosts.find(({ cluster }) => cluster === name)?.maxOverMean, worst, 1e-9, `max/mean of ${name}`);
      assert.ok(text.includes(`| ${name} | ${worst.toFixed(2)}x |`), `${name} ${worst.toFixed(2)}x`);
      for (const [z, zone] of ZONES.entries()) {
        const own = hosts.filter((host) => host.zone === z);
        const busy = own.reduce((sum, host) => sum + truth.total(`busy host ${host.name}`), 0);
        const used = busy / own.reduce((sum, host) => sum + host.slots, 0) / (HOURS.length * 3600);
        const found = spread.zones.find((one) => one.cluster === name && one.zone === zone);
        near(found?.utilization, used, ROUNDED, `utilization of ${name} in ${zone} over the week`);
      }
    }
    for (const version of ['v1', 'v2']) {
      assert.ok(text.includes(`| ${version} | ${truth.total(`requests version ${version}`)} |`), version);
    }
  });

  test('the scorecard: latency added, resumption at peak, headroom', () => {
    const { scores, headroom } = views.scorecard;
    const score = (id: string) => scores.find((one) => one.id === id);
    const p99 = Math.max(...ZONES.map((zone) => p99Of(truth, zone)));
    near(score('added_latency_p99')?.value, p99, 1e-9, 'p99 of added latency');
    assert.equal(score('added_latency_p99')?.state, p99 < 0.005 ? 'met' : 'missed');
    const peak = peakOf(truth);
    const resumption = Math.min(
      ...ZONES.map((zone) => {
        const [full, resumed] = [truth.of(peak, `full zone ${zone}`), truth.of(peak, `resumed zone ${zone}`)];
        return resumed / (full + resumed);
      }),
    );
    near(score('resumption_at_peak')?.value, resumption, 1e-12, 'resumption at peak');
    assert.equal(score('resumption_at_peak')?.state, resumption > 0.5 ? 'met' : 'missed');
    const key = plan.fleet.tls.keyType;
    const moreS = handshakeCpuS('full', key) - handshakeCpuS('resumed', key);
    const ifFull = plan.fleet.balancers.map(({ name, cores }) => {
      const used = truth.of(peak, `cpu balancer ${name}`) + truth.of(peak, `resumed balancer ${name}`) * moreS;
      return used / cores / 3600;
    });
    near(headroom.cpuIfFull, Math.max(...ifFull), ROUNDED, 'CPU if every handshake were full');
    near(headroom.headroom, 1 - Math.max(...ifFull), ROUNDED, 'headroom');
    const { markup } = scorecardSection(views.scorecard);
    assert.ok(markup.includes(`<td>${percentWords(Number(resumption.toPrecision(3)))}</td>`), markup);
  });
});

describe('a fleet of Envoys tells less, and what it tells is what the fleet has counted', () => {
  const { plan, truth, ...views } = run('envoy');

  test('shares of cost by listener and by cluster', () => {
    plan.fleet.clusters.forEach(({ name }, c) => {
      const of = (service: string) => views.cost.services.find((one) => one.service === service)?.costs;
      const [listener, cluster] = [of(`0.0.0.0_${8443 + c}`), of(name)];
      assert.equal(listener?.full_handshakes?.amount, truth.total(`full cluster ${name}`));
      assert.equal(cluster?.requests?.amount, truth.total(`requests cluster ${name}`));
      assert.equal(cluster?.bytes_out?.amount, truth.total(`bytes cluster ${name}`));
      const open = truth.total(`open cluster ${name}`) / 3600;
      near(listener?.connection_hours?.amount, open, SAMPLED * open, `connection-hours of ${name}`);
    });
  });

  test('what no Envoy tells is not known, with the reason', () => {
    const state = (id: string) => views.scorecard.scores.find((one) => one.id === id);
    assert.equal(state('added_latency_p99')?.state, 'not_known');
    assert.match(state('added_latency_p99')?.detail ?? '', /no balancer tells what it adds/);
    assert.equal(state('config_budget')?.state, 'not_known');
    assert.match(views.scorecard.headroom.detail, /no balancer tells its CPU/);
    assert.deepEqual(views.cost.versions, []);
    assert.equal(state('resumption_at_peak')?.state === 'not_known', false);
  });
});
