import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPrng, type Prng } from '../../src/base/prng.ts';
import type { MetricPayload, MetricsPayload } from '../../src/otlp/metrics-payload.ts';
import { type Added, createRecording, cumulative, nanos, type Recording, text } from '../support/recording-ingest.ts';

const T0 = 1_800_000_000_000;
const PUSH_MS = 10_000;
const BALANCERS = 10;

interface Push {
  readonly balancer: number;
  readonly at: number;
  readonly metrics: readonly MetricPayload[];
  readonly retried: boolean;
}

/** What a whole run must add up to, by series: computed from the events themselves, not from points. */
type Totals = Map<string, number>;
const addTo = (totals: Totals, series: string, amount: number): void =>
  void totals.set(series, (totals.get(series) ?? 0) + amount);

const keyOf = (name: string, code: string, balancer: number): string => `${name}{code=string:${code}} lb-${balancer}`;

/**
 * One balancer's life: events of several codes, codes that appear late, restarts that lose the counters, pushes that
 * get lost (cumulative ones heal, unless a restart falls into the hole) and pushes that are sent twice. Delta counters
 * run beside.
 */
function lifeOf(balancer: number, pushes: number, prng: Prng, expected: Totals): Push[] {
  const sent: Push[] = [];
  let start = T0 + 1000 * balancer;
  const codes = ['200', '404', '503', '504'];
  let born = 2;
  let counters = new Map<string, number>();
  let unsent = new Map<string, number>();
  let deltaFrom = start;
  for (let push = 1; push <= pushes; push += 1) {
    const at = T0 + push * PUSH_MS + balancer * 1000;
    if (prng.below(40) === 0) born = Math.min(codes.length, born + 1);
    if (push > 1 && prng.below(30) === 0) {
      // What happened since the last push that arrived dies with the process.
      start = at - 2000;
      counters = new Map();
      unsent = new Map();
      deltaFrom = start;
    }
    const deltas = new Map<string, number>();
    for (const code of codes.slice(0, born)) {
      const events = prng.poisson(20);
      counters.set(code, (counters.get(code) ?? 0) + events);
      unsent.set(code, (unsent.get(code) ?? 0) + events);
      deltas.set(code, events);
    }
    const isLost = push > 2 && prng.below(12) === 0;
    if (!isLost) {
      for (const [code, events] of unsent) addTo(expected, keyOf('total', code, balancer), events);
      for (const [code, events] of deltas) addTo(expected, keyOf('delta', code, balancer), events);
      unsent = new Map();
      const metrics = [
        ...[...counters].map(([code, value]) => cumulative('total', at, value, start, { code })),
        ...[...deltas].map(([code, events]) => deltaSum('delta', deltaFrom, at, events, { code })),
      ];
      sent.push({ balancer, at, metrics, retried: prng.below(10) === 0 });
    }
    deltaFrom = at;
  }
  return sent;
}

const deltaSum = (
  name: string,
  from: number,
  to: number,
  value: number,
  attributes: Readonly<Record<string, string>>,
): MetricPayload => ({
  name,
  sum: {
    aggregationTemporality: 1,
    isMonotonic: true,
    dataPoints: [
      { timeUnixNano: nanos(to), startTimeUnixNano: nanos(from), asInt: value, attributes: text(attributes) },
    ],
  },
});

const request = (balancer: number, metrics: readonly MetricPayload[]): MetricsPayload => ({
  resourceMetrics: [
    {
      resource: { attributes: text({ 'service.instance.id': `lb-${balancer}` }) },
      scopeMetrics: [{ scope: { name: 'edge' }, metrics }],
    },
  ],
});

function shuffled<T>(values: readonly T[], prng: Prng): T[] {
  const result = [...values];
  for (let index = result.length - 1; index > 0; index -= 1) {
    const other = prng.below(index + 1);
    [result[index], result[other]] = [result[other] as T, result[index] as T];
  }
  return result;
}

/** All balancers' pushes in the order of their times, and what they must add up to. */
function fleet(seed: number, pushes: number): { readonly sent: readonly Push[]; readonly expected: Totals } {
  const prng = createPrng(seed);
  const expected: Totals = new Map();
  const sent = Array.from({ length: BALANCERS }, (_, balancer) => lifeOf(balancer, pushes, prng, expected)).flat();
  return { sent: sent.sort((a, b) => a.at - b.at), expected };
}

function totalsOf(added: readonly Added[]): Totals {
  const totals: Totals = new Map();
  for (const { series, amount } of added) addTo(totals, series, amount);
  return totals;
}
const sorted = (totals: Totals): readonly (readonly [string, number])[] =>
  [...totals].filter(([, amount]) => amount !== 0).sort(([a], [b]) => (a < b ? -1 : 1));
const count = ({ ingest }: Recording, name: string): number => ingest.counters().get(name) ?? 0;
/** By series and time of the point: what the cells see. */
const cellsOf = (added: readonly Added[]): string[] =>
  added.map(({ series, from, to, amount }) => `${series} (${from}, ${to}] ${amount}`).sort();

describe('20,000 points of ten balancers with restarts, holes and retries', () => {
  const seed = 20_261;
  const { sent, expected } = fleet(seed, 400);
  const points = sent.reduce((sum, { metrics }) => sum + metrics.length, 0);

  test('add up to exactly the events that happened, series by series', () => {
    const prng = createPrng(seed);
    const recording = createRecording();
    assert.ok(points >= 20_000, String(points));
    let retries = 0;
    for (const { balancer, at, metrics, retried } of sent) {
      const payload = request(balancer, shuffled(metrics, prng));
      assert.equal(recording.send(payload, at + 50).rejected, 0);
      if (!retried) continue;
      retries += metrics.length;
      assert.equal(recording.send(payload, at + 5000).rejected, 0);
    }
    assert.deepEqual(sorted(totalsOf(recording.counted)), sorted(expected));
    assert.equal(count(recording, 'duplicate'), retries);
    assert.equal(count(recording, 'points'), points + retries);
    assert.equal(count(recording, 'accepted'), points);
    assert.ok(count(recording, 'reset') > 0 && count(recording, 'gap') > 0);
  });

  test('pushes that arrive behind later ones are each counted or told to the sender, and nothing counts twice', () => {
    const recording = createRecording();
    const late = new Set(sent.filter((_, index) => index % 17 === 5));
    const held = new Map<number, Push>();
    for (const push of sent) {
      if (late.has(push) && !held.has(push.balancer)) {
        held.set(push.balancer, push);
        continue;
      }
      recording.send(request(push.balancer, push.metrics), push.at + 50);
      const overtaken = held.get(push.balancer);
      if (overtaken === undefined) continue;
      held.delete(push.balancer);
      const { rejected } = recording.send(request(push.balancer, overtaken.metrics), push.at + 60);
      assert.ok(rejected > 0);
    }
    for (const { balancer, at, metrics } of held.values()) recording.send(request(balancer, metrics), at + 50);
    const totals = totalsOf(recording.counted);
    for (const [series, amount] of totals) assert.ok(amount <= (expected.get(series) ?? 0), series);
    assert.ok(count(recording, 'out_of_order') > 0);
    assert.equal(count(recording, 'points'), points);
    assert.equal(
      points,
      count(recording, 'accepted') + count(recording, 'out_of_order') + count(recording, 'duplicate'),
    );
  });

  test('the order of series within a request changes no cell', () => {
    const [inOrder, mixed] = [createRecording(), createRecording()];
    const prng = createPrng(3);
    for (const { balancer, at, metrics } of sent) {
      inOrder.send(request(balancer, metrics), at + 50);
      mixed.send(request(balancer, shuffled(metrics, prng)), at + 50);
    }
    assert.deepEqual(cellsOf(mixed.counted), cellsOf(inOrder.counted));
  });

  test('splitting requests, or joining those of several balancers, changes no cell', () => {
    const [whole, split, joined] = [createRecording(), createRecording(), createRecording()];
    const prng = createPrng(4);
    for (const { balancer, at, metrics } of sent) {
      whole.send(request(balancer, metrics), at + 50);
      const cut = prng.below(metrics.length + 1);
      split.send(request(balancer, metrics.slice(0, cut)), at + 50);
      split.send(request(balancer, metrics.slice(cut)), at + 50);
    }
    for (let from = 0; from < sent.length; from += 7) {
      const part = sent.slice(from, from + 7);
      const resourceMetrics = part.flatMap(({ balancer, metrics }) => request(balancer, metrics).resourceMetrics);
      joined.send({ resourceMetrics }, Math.max(...part.map(({ at }) => at)) + 50);
    }
    assert.deepEqual(cellsOf(split.counted), cellsOf(whole.counted));
    assert.deepEqual(sorted(totalsOf(joined.counted)), sorted(totalsOf(whole.counted)));
  });

  test('a snapshot taken up anywhere goes on exactly as without one', () => {
    const straight = createRecording();
    let resumed = createRecording();
    const counted: Added[] = [];
    sent.forEach(({ balancer, at, metrics, retried }, index) => {
      const payload = request(balancer, metrics);
      for (let time = 0; time <= Number(retried); time += 1) {
        const outcome = straight.send(payload, at + 50);
        assert.deepEqual(resumed.send(payload, at + 50), outcome);
      }
      if (index % 97 !== 0) return;
      const next = createRecording();
      next.ingest.restore(structuredClone(resumed.ingest.snapshot()));
      counted.push(...resumed.counted);
      resumed = next;
    });
    counted.push(...resumed.counted);
    assert.deepEqual(cellsOf(counted), cellsOf(straight.counted));
    assert.deepEqual([...resumed.ingest.counters()].sort(), [...straight.ingest.counters()].sort());
    assert.equal(resumed.ingest.seriesCount(), straight.ingest.seriesCount());
  });
});
