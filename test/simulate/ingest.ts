import { parseArgs } from 'node:util';
import { type Aggregate, createAggregate } from '../../src/aggregate/cells.ts';
import { createPrng, type Prng } from '../../src/base/prng.ts';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import { Staging } from '../../src/otlp/staging.ts';
import { createBinder } from '../../src/series/bind.ts';
import { createSeriesIngest, type SeriesIngest } from '../../src/series/ingest.ts';
import type { Slo } from '../../src/slo/slo.ts';
import { COUNTDOWN, DAY, sloOf } from '../support/fake-cells.ts';
import { type BalancerOptions, type SentRequest, type SeriesKind, SimulatedBalancer, STARTS } from './traffic.ts';
import { EDGES, THRESHOLD_EDGE, TrafficOracle } from './traffic-oracle.ts';

/** Off every step's edge. */
const T0 = 1_800_000_003_217;
const BALANCERS = 50;
/** The first pushes of a resource decide what history it has: they arrive, in order. */
const CALM_PUSHES = 3;

export interface TrafficOptions {
  readonly seed: number;
  readonly points: number;
  /** Requests from one restart of the receiver, out of a snapshot, to the next. */
  readonly restartEvery: number;
}

export interface TrafficFigures {
  readonly points: number;
  readonly accepted: number;
  readonly requests: number;
  readonly series: number;
  readonly events: number;
  readonly balancerRestarts: number;
  readonly receiverRestarts: number;
  readonly counters: Readonly<Record<string, number>>;
  /** Names of totals compared, and those that differ. */
  readonly compared: number;
  readonly differences: readonly { readonly total: string; readonly expected: number; readonly found: number }[];
}

const REQUESTS: Slo = {
  ...sloOf(COUNTDOWN),
  id: 'requests',
  indicator: {
    kind: 'events',
    counts: 'bad',
    part: { metric: 'lb.requests', where: [{ kind: 'equals', attribute: 'lb.response.class', value: '5xx' }] },
    total: { metric: 'lb.requests', where: [] },
  },
  groupBy: ['lb.upstream.cluster', 'lb.upstream.zone'],
  rollup: true,
};
const LATENCY: Slo = {
  ...REQUESTS,
  id: 'latency',
  indicator: {
    kind: 'latency',
    query: { metric: 'lb.stage.backend.duration', where: [] },
    threshold: 2 ** THRESHOLD_EDGE,
  },
  groupBy: ['lb.upstream.cluster'],
  rollup: false,
};
const SLOS = [REQUESTS, LATENCY];

/** The product's way of a point, which can be taken down and set up again out of its snapshot. */
class Receiver {
  aggregate: Aggregate = createAggregate();
  series: SeriesIngest;
  readonly #staging = new Staging();

  constructor() {
    this.aggregate.replaceSlos(SLOS);
    this.series = this.#createSeries();
  }

  take(request: SentRequest): void {
    decodeMetrics(encodeMetrics(request.payload), this.#staging);
    const source = { receivedAt: epochMs(request.arrivesAt), peer: '10.0.0.1', identityHeader: null };
    this.series.apply(this.#staging, source);
  }

  restart(): void {
    const cells = structuredClone(this.aggregate.snapshot());
    const series = structuredClone(this.series.snapshot());
    this.aggregate = createAggregate();
    this.aggregate.replaceSlos(SLOS);
    this.aggregate.restore(cells);
    this.series = this.#createSeries();
    this.series.restore(series);
  }

  #createSeries(): SeriesIngest {
    return createSeriesIngest({
      binder: createBinder({ slos: SLOS, aggregate: this.aggregate }),
      balancers: this.aggregate,
    });
  }
}

function optionsOf(index: number, prng: Prng): BalancerOptions {
  const isDelta = index % 5 === 4;
  const starts = STARTS[index % STARTS.length] ?? 'process';
  // Exponential histograms without a start time of the process are told apart by their buckets alone.
  const isClear = isDelta || starts === 'process' || starts === 'microseconds';
  const kinds: SeriesKind[] = isClear ? ['histogram', 'exponential', 'sum'] : ['histogram', 'sum'];
  return {
    name: `lb-${index}`,
    starts,
    isDelta,
    kinds,
    aheadMs: index % 11 === 7 ? 90_000 : 0,
    unit: prng.below(2) === 0 ? 'ms' : 's',
    asDouble: prng.below(3) === 0,
  };
}

interface Sender {
  readonly balancer: SimulatedBalancer;
  readonly everyMs: number;
  nextAt: number;
  wasLate: boolean;
}

/** The fleet's requests in the order of their arrival. */
class Fleet {
  restarts = 0;
  readonly #prng: Prng;
  readonly #senders: Sender[];
  #underway: SentRequest[] = [];

  constructor(seed: number) {
    const prng = createPrng(seed);
    this.#prng = prng;
    this.#senders = Array.from({ length: BALANCERS }, (_, index) => {
      const nextAt = T0 + prng.below(10_000);
      // Some were up long before they are heard: their first values are history.
      const startedAt = index % 9 === 8 ? nextAt - 3_600_000 : nextAt - 1000 - prng.below(9000);
      const balancer = new SimulatedBalancer(optionsOf(index, prng), prng, startedAt);
      return { balancer, everyMs: [10_000, 10_000, 15_000][index % 3] as number, nextAt, wasLate: false };
    });
  }

  /** The next push, and everything that arrives up to it. */
  next(): readonly SentRequest[] {
    const prng = this.#prng;
    const sender = this.#senders.reduce((first, other) => (other.nextAt < first.nextAt ? other : first));
    const { balancer, nextAt: at, everyMs } = sender;
    if (balancer.pushes > CALM_PUSHES && prng.below(40) === 0) {
      this.restarts += 1;
      balancer.restart(at - 1500 - prng.below(everyMs - 2500));
    }
    const requests = balancer.push(at);
    const isCalm = balancer.pushes <= CALM_PUSHES;
    // Overtaken by one push at most: what a resource had before two pushes ago is forgotten.
    const mayBeLate = !isCalm && !sender.wasLate;
    sender.wasLate = false;
    for (const request of requests) this.#send(request, sender, isCalm, mayBeLate);
    sender.nextAt += everyMs + prng.below(400) - 200;
    const arrived = this.#underway.filter(({ arrivesAt }) => arrivesAt <= at);
    this.#underway = this.#underway.filter(({ arrivesAt }) => arrivesAt > at);
    return arrived.sort((a, b) => a.arrivesAt - b.arrivesAt);
  }

  /** What is still on its way when the fleet falls silent. */
  rest(): readonly SentRequest[] {
    return this.#underway.splice(0).sort((a, b) => a.arrivesAt - b.arrivesAt);
  }

  #send(request: SentRequest, sender: Sender, isCalm: boolean, mayBeLate: boolean): void {
    const prng = this.#prng;
    const at = request.arrivesAt + prng.below(50);
    if (!isCalm && prng.below(25) === 0) return;
    const isLate = mayBeLate && prng.below(12) === 0;
    if (isLate) sender.wasLate = true;
    this.#underway.push({ ...request, arrivesAt: isLate ? at + sender.everyMs + prng.below(4000) : at });
    if (prng.below(15) === 0) this.#underway.push({ ...request, arrivesAt: at + 1000 + prng.below(40_000) });
  }
}

/** Sends a fleet's traffic through decoder, series and cells, and compares all totals with those of the raw events. */
export function simulateTraffic(options: TrafficOptions): TrafficFigures {
  const fleet = new Fleet(options.seed);
  const oracle = new TrafficOracle();
  const receiver = new Receiver();
  let requests = 0;
  let receiverRestarts = 0;
  const deliver = (arrived: readonly SentRequest[]): void => {
    for (const request of arrived) {
      oracle.deliver(request);
      receiver.take(request);
      requests += 1;
      if (requests % options.restartEvery > 0) continue;
      receiver.restart();
      receiverRestarts += 1;
    }
  };
  while (oracle.outcomes.points < options.points) deliver(fleet.next());
  deliver(fleet.rest());
  const counters = Object.fromEntries(receiver.series.counters());
  const expected = new Map([...oracle.totals, ...Object.entries(oracle.outcomes)]);
  const found = totalsOf(receiver.aggregate);
  for (const name of Object.keys(oracle.outcomes)) found.set(name, counters[name] ?? 0);
  const names = [...new Set([...expected.keys(), ...found.keys()])];
  const rows = names.map((total) => ({ total, expected: expected.get(total) ?? 0, found: found.get(total) ?? 0 }));
  return {
    points: oracle.outcomes.points,
    accepted: oracle.outcomes.accepted,
    requests,
    series: receiver.series.seriesCount(),
    events: [...oracle.totals].reduce(
      (sum, [name, total]) => sum + (/^requests|^durations \w+$/.test(name) ? total : 0),
      0,
    ),
    balancerRestarts: fleet.restarts,
    receiverRestarts,
    counters,
    compared: rows.length,
    differences: rows.filter((row) => row.expected !== row.found),
  };
}

/** Under the oracle's names: groups, features and histograms, over everything that was ever sent. */
function totalsOf(aggregate: Aggregate): Map<string, number> {
  const totals = new Map<string, number>();
  const add = (name: string, amount: number): void => void totals.set(name, (totals.get(name) ?? 0) + amount);
  const [from, to]: [EpochMs, EpochMs] = [epochMs(T0 - 2 * DAY), epochMs(T0 + 5 * DAY)];
  let [allTotal, allBad] = [0, 0];
  for (const { slo, labels, range } of bound(aggregate)) {
    const { total, bad } = range(from, to);
    const [cluster, zone] = [labels.get('lb.upstream.cluster'), labels.get('lb.upstream.zone')];
    if (slo.id === 'latency') {
      add(`durations ${cluster}`, total);
      add(`durations ${cluster} ${THRESHOLD_EDGE}`, total - bad);
    } else if (cluster === undefined) [allTotal, allBad] = [total, bad];
    else {
      add(`requests ${cluster} ${zone}`, total);
      if (bad > 0) add(`errors ${cluster} ${zone}`, bad);
    }
  }
  const sum = (prefix: string): number =>
    [...totals].reduce((so, [name, amount]) => so + (name.startsWith(prefix) ? amount : 0), 0);
  if (sum('requests') !== allTotal || sum('errors') !== allBad) add('requests of the group over all', allTotal);
  for (const series of aggregate.features('cluster.requests')) {
    const name = `requests ${series.labels.get('cluster')} ${series.labels.get('zone')}`;
    if (series.range(from, to) !== totals.get(name)) add(`feature of ${name}`, series.range(from, to));
  }
  for (const { labels, range } of aggregate.histograms('lb.stage.backend.duration').map(unbound)) {
    const name = `durations ${labels.get('cluster')}`;
    const layouts = range(from, to);
    const below = (edge: number): number =>
      layouts.reduce((so, { bounds, counts }) => {
        const upTo = bounds.findIndex((one) => Math.abs(one / 2 ** edge - 1) < 1e-9) + 1;
        return so + counts.slice(0, upTo).reduce((one, count) => one + count, 0);
      }, 0);
    for (const edge of EDGES) {
      if (edge !== THRESHOLD_EDGE) add(`${name} ${edge}`, below(edge));
      else if (below(edge) !== totals.get(`${name} ${edge}`)) add(`histogram of ${name} ${edge}`, below(edge));
    }
  }
  return totals;
}

/** Groups with their method bound. */
const bound = (aggregate: Aggregate) =>
  [...aggregate.groups()].map((group) => ({
    slo: group.slo,
    labels: group.labels,
    range: (from: EpochMs, to: EpochMs) => group.range(from, to),
  }));
const unbound = (series: ReturnType<Aggregate['histograms']>[number]) => ({
  labels: series.labels,
  range: (from: EpochMs, to: EpochMs) => series.range(from, to),
});

/** `npm run simulate -- ingest [--points N] [--seed N]` */
export function run(args: readonly string[]): number {
  const { values } = parseArgs({
    args: [...args],
    options: { points: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '20261' } },
  });
  const from = performance.now();
  const figures = simulateTraffic({ seed: Number(values.seed), points: Number(values.points), restartEvery: 2500 });
  const seconds = Number(((performance.now() - from) / 1000).toFixed(1));
  process.stdout.write(`${JSON.stringify({ ...figures, seconds })}\n`);
  return figures.differences.length === 0 ? 0 : 1;
}
