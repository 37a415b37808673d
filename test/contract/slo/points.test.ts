import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { present } from '../../../src/base/assert.ts';
import { parseDuration } from '../../../src/base/duration.ts';
import { type BurnEngine, createBurnEngine } from '../../../src/burn/engine.ts';
import type { GroupStatus } from '../../../src/burn/status.ts';
import type { Condition, Indicator, MetricQuery, Slo } from '../../../src/slo/slo.ts';
import { at, latency, sloOf } from '../../aggregate/fixture.ts';
import { createFleet, type Fleet, type Metric } from '../../series/profiles/harness.ts';
import { sloOf as policed } from '../../support/raw-cells.ts';
import { tableOf, tableRow } from './table.ts';

type Where = Readonly<Record<string, string>>;

interface Series {
  readonly attributes: Where;
  readonly start: number;
  readonly from?: number;
  readonly to: number;
  readonly every?: number;
  readonly spans?: readonly { readonly from: number; readonly to: number; readonly count: number }[];
  readonly bounds?: readonly number[];
  readonly durations?: readonly number[];
}

interface Expected {
  readonly at: number;
  /** Its cluster. */
  readonly group?: string;
  readonly state?: string;
  readonly bad?: number;
  readonly total?: number;
  readonly sli?: number | null;
  readonly sliBracket?: readonly [number, number] | null;
  /** The nearest bounds that the fleet view names. */
  readonly around?: readonly [number, number | null] | null;
  readonly budgetRemaining?: number | null;
  readonly burn?: Readonly<Record<string, number | null>>;
  readonly holding?: readonly string[];
  readonly tier?: string | null;
  readonly severity?: string | null;
  readonly inconsistent?: boolean;
}

interface Case {
  readonly name: string;
  readonly others?: string;
  readonly window?: string;
  readonly groupBy?: readonly string[];
  readonly bad?: Where;
  readonly good?: Where;
  readonly total?: Where;
  readonly threshold?: string;
  readonly series: readonly Series[];
  readonly expect: readonly Expected[];
}

function queryOf(where: Where): MetricQuery {
  const conditions = Object.entries(where).map(([attribute, value]): Condition => {
    if (value.startsWith('!')) return { kind: 'not', attribute, value: value.slice(1) };
    if (value.startsWith('~')) return { kind: 'matches', attribute, pattern: value.slice(1) };
    return { kind: 'equals', attribute, value };
  });
  return { metric: 'lb.requests', where: conditions };
}

function indicatorOf({ threshold, good, bad = { 'lb.response.class': '5xx' }, total = {} }: Case): Indicator {
  if (threshold !== undefined) return latency(Number(threshold));
  const counts = good === undefined ? 'bad' : 'good';
  return { kind: 'events', counts, part: queryOf(good ?? bad), total: queryOf(total) };
}

function sloOfCase(one: Case): Slo {
  const { window = '30d', groupBy = [] } = one;
  const { policy } = policed({ window });
  const length = present(parseDuration(window), window);
  const sloWindow = { text: window, length, rolling: true as const };
  return sloOf('contract', { indicator: indicatorOf(one), window: sloWindow, policy, groupBy });
}

const nanos = (minute: number): string => `${at(minute * 60)}000000`;

/** What a series says at a minute; null when it has no point then. */
function metricAt(series: Series, minute: number): Metric | null {
  const { attributes, start, from = start, to, every = 1, spans = [], bounds, durations } = series;
  if (minute <= from || minute > to || (minute - from) % every !== 0) return null;
  const startTimeUnixNano = nanos(start);
  if (bounds !== undefined && durations !== undefined) {
    const counts = [...bounds, Number.POSITIVE_INFINITY].map((bound, index) => {
      const below = bounds[index - 1] ?? Number.NEGATIVE_INFINITY;
      return String(durations.filter((duration) => below < duration && duration <= bound).length);
    });
    const count = String(durations.length);
    const point = { startTimeUnixNano, count, explicitBounds: bounds, bucketCounts: counts };
    return { name: 'http.server.request.duration', unit: 's', kind: 'histogram', attributes, point };
  }
  let value = 0;
  for (const { from: begin, to: end, count } of spans) {
    const share = Math.min(1, Math.max(0, (minute - begin) / (end - begin)));
    value += Math.floor(count * share + 1e-9);
  }
  return { name: 'lb.requests', attributes, point: { startTimeUnixNano, asInt: String(value) } };
}

/** Pushes of every minute up to `until`, one request each; the engine ticks after each of the last minutes. */
function runUntil(fleet: Fleet, engine: BurnEngine, { series }: Case, after: number, until: number): void {
  for (let minute = after + 1; minute <= until; minute += 1) {
    const metrics = series.map((one) => metricAt(one, minute)).filter((metric) => metric !== null);
    if (metrics.length > 0) {
      const outcome = fleet.push(minute * 60, { resource: { 'service.instance.id': 'lb-1' } }, metrics);
      assert.equal(outcome.rejected, 0, outcome.message);
    }
    if (minute > until - 15) engine.evaluate(fleet.aggregate, at(minute * 60));
  }
}

function near(ours: number | null | undefined, right: number | null): void {
  if (right === null || ours === null || ours === undefined) assert.equal(ours, right);
  else assert.ok(Math.abs(ours - right) <= Math.max(1e-6, Math.abs(right) * 0.001), `${ours} is not ${right}`);
}

/** Compares what must be read at one time; returns our values beside the right ones. */
function check(fleet: Fleet, status: GroupStatus, expected: Expected): string[] {
  const rows: string[] = [];
  const compare = (what: string, ours: unknown, right: unknown): void => {
    if (right === undefined) return;
    rows.push(tableRow(expected.at, what, ours, right));
    if (typeof right === 'number' && typeof ours === 'number') near(ours, right);
    else assert.deepEqual(ours, right, `${what} at minute ${expected.at}`);
  };
  const facts = { ...status, holding: status.tiersHolding };
  const plain = [
    'state',
    'bad',
    'total',
    'sli',
    'budgetRemaining',
    'holding',
    'tier',
    'severity',
    'inconsistent',
  ] as const;
  for (const key of plain) compare(key, facts[key], expected[key]);
  for (const [window, right] of Object.entries(expected.burn ?? {})) {
    compare(`burn ${window}`, status.burn.get(window), right);
  }
  const { sliBracket: bracket } = expected;
  if (bracket === null) compare('sliBracket', status.sliBracket, null);
  else if (bracket !== undefined) {
    compare('sliBracket low', status.sliBracket?.low, bracket[0]);
    compare('sliBracket high', status.sliBracket?.high, bracket[1]);
  }
  const [around] = fleet.aggregate.balancers(at(expected.at * 60)).flatMap(({ brackets }) => brackets);
  compare('nearest bounds', around === undefined ? null : [around.below, around.above], expected.around);
  return rows;
}

describe('SLO contract over OTLP points, as data', () => {
  const file = join(import.meta.dirname, 'points.json');
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: readonly Case[] };
  for (const one of cases) {
    test(one.name, (t) => {
      const fleet = createFleet(sloOfCase(one));
      const engine = createBurnEngine();
      let minute = Math.min(...one.series.map(({ start }) => start));
      const rows = one.expect.flatMap((expected) => {
        runUntil(fleet, engine, one, minute, expected.at);
        minute = expected.at;
        const cluster = expected.group ?? '';
        const found = engine.statuses().find(({ labels }) => (labels.get('lb.upstream.cluster') ?? '') === cluster);
        return check(fleet, present(found, `group ${cluster}`), expected);
      });
      assert.ok(rows.length > 0);
      for (const line of tableOf(rows, one.others)) t.diagnostic(line);
    });
  }
});
