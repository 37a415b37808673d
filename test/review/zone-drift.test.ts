import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { formatReview, REPORT_FORMATS, review } from '../../src/app/review.ts';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import type { WeeklyReview } from '../../src/model/review.ts';
import { planOf } from '../../src/sim/drill/drill-run.ts';
import { DRILL_EPOCH, rehearse } from '../../src/sim/drill/rehearse.ts';
import { CLASSES } from '../../src/sim/measures.ts';
import { zoneDrift } from '../../src/sim/scenarios/zones.ts';
import type { Simulation } from '../../src/sim/simulation.ts';
import { openSqliteStore, readSqliteStore, type SqliteStore } from '../../src/store/sqlite-store.ts';
import { shippedRules } from '../support/shipped-rules.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;
const WEEK = '2026-W13';
/** A tenth of the drift: what chance and waiting in queues add. */
const BOUND = 0.002;

/** Attempts against the hosts of each zone so far, as the fleet itself counted them. */
function attemptsByZone({ fleet }: Simulation): readonly number[] {
  const { hostCount, measures, hosts, spec } = fleet;
  const zones = spec.zones.map(() => 0);
  for (let cell = 0; cell < spec.balancers.length * hostCount; cell += 1) {
    const zone = hosts.zone[cell % hostCount] as number;
    for (let kind = 0; kind < CLASSES; kind += 1) {
      zones[zone] = (zones[zone] as number) + (measures.attempts[cell * CLASSES + kind] as number);
    }
  }
  return zones;
}

/** Least squares through the days, per week. */
function slopePerWeek(days: readonly number[]): number {
  const middle = (days.length - 1) / 2;
  const mean = days.reduce((sum, value) => sum + value, 0) / days.length;
  const [above, below] = days.reduce(
    ([up, down], value, day) => [up + (day - middle) * (value - mean), down + (day - middle) ** 2],
    [0, 0],
  );
  return (7 * above) / below;
}

describe('the review of a simulated month in which a zone gets 2 % more each week, below every page', () => {
  const folder = mkdtempSync(join(tmpdir(), 'slowburn-review-'));
  const file = join(folder, 'incidents.sqlite');
  const rules = shippedRules();
  /** Share of the first zone beside an equal one, by day. */
  const truth: number[] = [];
  let until: EpochMs;
  let store: SqliteStore;

  const make = (from: SqliteStore, now: EpochMs, week: string | null = WEEK): WeeklyReview => {
    const { noiseMarks, followUps } = from;
    const made = review(
      { store: from, noiseMarks, followUps, detectors: rules.detectors, standard: rules.scorecard },
      week,
      now,
    );
    assert.ok(made !== undefined);
    return made;
  };

  before(() => {
    store = openSqliteStore(file);
    const { plan } = planOf(zoneDrift, 1);
    until = epochMs(DRILL_EPOCH + plan.untilMs);
    let simulation: Simulation | undefined;
    let last: readonly number[] = plan.fleet.zones.map(() => 0);
    const { verdict } = rehearse({
      plan,
      rules,
      flavor: 'canonical',
      store,
      onEngine(engine, started) {
        simulation = started;
        finish = () => engine.evaluator.tick(epochMs(until + 15 * MINUTE));
      },
      onOutcome({ at }) {
        if ((at - DRILL_EPOCH) % DAY !== 0 || simulation === undefined) return;
        const counted = attemptsByZone(simulation);
        const day = counted.map((count, zone) => count - (last[zone] ?? 0));
        last = counted;
        truth.push(((day[0] ?? 0) * day.length) / day.reduce((sum, count) => sum + count, 0));
      },
    });
    assert.deepEqual(verdict.misses, []);
    // The last hour is stored a little after its end.
    finish();
  });
  let finish: () => void = () => undefined;
  after(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });

  test('it is the last week that is over, told in full, and nobody was paged in it', () => {
    const made = make(store, epochMs(until + 15 * MINUTE), null);
    assert.equal(made.week, WEEK);
    assert.equal(made.state, 'over');
    assert.deepEqual([made.hours, made.hoursKnown], [168, 168]);
    assert.deepEqual(made.incidents.items, []);
    assert.deepEqual(made.pageLoad.items, []);
  });

  test('the skew has the right zone, and the slope that the fleet itself counted', () => {
    const [first, ...others] = make(store, epochMs(until + DAY)).trends.items;
    assert.deepEqual(others, []);
    assert.deepEqual({ ...first?.subject }, { cluster: 'app', zone: 'a' });
    assert.equal(first?.measure, 'zone_skew');
    const real = slopePerWeek(truth);
    assert.equal(truth.length, 28);
    assert.ok(Math.abs(real - 0.02) < BOUND, `the fleet itself drifted by ${real} a week`);
    assert.ok(Math.abs((first?.slopePerWeek ?? 0) - real) < BOUND, `${first?.slopePerWeek}, not ${real}`);
  });

  test('it is the first thing to do, before every section', () => {
    const made = make(store, epochMs(until + DAY));
    assert.equal(made.toDo[0]?.kind, 'trend');
    assert.match(made.toDo[0]?.title ?? '', /cluster app, zone a/);
    assert.match(made.toDo[0]?.reason ?? '', /more by (1\.[89]|2\.[012]) % a week/);
    const lines = formatReview(made, 'md').split('\n');
    const line = lines.findIndex((text) => text.startsWith('1. ') && text.includes('zone a'));
    assert.ok(line > 0 && line < 12, `line ${line}`);
    const html = formatReview(made, 'html').split('<main>')[1] ?? '';
    assert.ok(html.indexOf('zone a') > 0 && html.indexOf('zone a') < html.indexOf('<figure'));
  });

  test('made twice it is byte-identical in each format: later, from the closed file, and read-only', () => {
    for (const format of REPORT_FORMATS) {
      const first = formatReview(make(store, epochMs(until + 15 * MINUTE)), format);
      assert.equal(formatReview(make(store, epochMs(until + 40 * DAY)), format), first);
      const reader = readSqliteStore(file);
      assert.equal(formatReview(make(reader, epochMs(until + DAY)), format), first);
      reader.close();
    }
    const before = REPORT_FORMATS.map((format) => formatReview(make(store, epochMs(until + DAY)), format));
    store.close();
    store = openSqliteStore(file);
    assert.deepEqual(
      REPORT_FORMATS.map((format) => formatReview(make(store, epochMs(until + DAY)), format)),
      before,
    );
  });

  test('weeks before it tell no trend yet, and one that has not begun tells nothing', () => {
    const now = epochMs(until + DAY);
    const second = make(store, now, '2026-W11');
    assert.equal(second.state, 'over');
    assert.match(second.trends.unknown ?? '', /2 are known/);
    assert.equal(make(store, now, '2026-W20').state, 'ahead');
    const empty = make(store, now, '2025-W30');
    assert.equal(empty.state, 'no_data');
    assert.doesNotMatch(formatReview(empty, 'md'), /\b0\b/);
  });
});
