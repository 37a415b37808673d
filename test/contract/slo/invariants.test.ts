import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { present } from '../../../src/base/assert.ts';
import { createBurnEngine } from '../../../src/burn/engine.ts';
import { BudgetCourse } from '../../../src/burn/exhaustion.ts';
import type { GroupStatus } from '../../../src/burn/status.ts';
import { holdingTiers } from '../../../src/burn/tiers.ts';
import type { AlertChange } from '../../../src/model/alert.ts';
import { labelsOf, NO_LABELS } from '../../../src/model/labels.ts';
import { budgetRatioOf } from '../../../src/slo/budget.ts';
import type { Policy } from '../../../src/slo/slo.ts';
import { at, errorsOf, sloOf } from '../../aggregate/fixture.ts';
import { createFleet, type Fleet } from '../../series/profiles/harness.ts';
import {
  COUNTDOWN,
  cellsOf,
  DAY,
  FakeGroup,
  sloOf as fakeSlo,
  HOUR,
  MINUTE,
  WORKBOOK,
} from '../../support/fake-cells.ts';

const STEP_S = 10;
const BUDGET = budgetRatioOf(fakeSlo(WORKBOOK).objective);
const SLO = { policy: WORKBOOK, indicator: errorsOf('downstream') };

/** Events of one step: good and bad. */
type Step = readonly [good: number, bad: number];

const nanos = (seconds: number): string => `${at(seconds)}000000`;
const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } });

/** How the same events are sent. */
type Form = 'cumulative' | 'delta' | 'double' | 'histogram' | 'exponential';

/** A point of one class: what came since `from` (delta) or since `start` (all others). */
function metricOf(form: Form, isBad: boolean, value: number, from: number, to: number) {
  const times = { startTimeUnixNano: nanos(from), timeUnixNano: nanos(to) };
  const aggregationTemporality = form === 'delta' || form === 'exponential' ? 1 : 2;
  if (form === 'histogram' || form === 'exponential') {
    const attributes = [attribute('http.response.status_code', isBad ? '503' : '200')];
    const count = String(value);
    const buckets =
      form === 'histogram'
        ? { explicitBounds: [0.1], bucketCounts: [count, '0'] }
        : { scale: 2, zeroCount: '0', positive: { offset: -8, bucketCounts: [count] } };
    const data = { aggregationTemporality, dataPoints: [{ ...times, attributes, count, sum: 0.01, ...buckets }] };
    const kind = form === 'histogram' ? 'histogram' : 'exponentialHistogram';
    return { name: 'http.server.request.duration', unit: 's', [kind]: data };
  }
  const attributes = [attribute('lb.side', 'downstream'), attribute('lb.response.class', isBad ? '5xx' : '2xx')];
  const number = form === 'double' ? { asDouble: value } : { asInt: String(value) };
  const dataPoints = [{ ...times, attributes, ...number }];
  return { name: 'lb.requests', sum: { aggregationTemporality, isMonotonic: true, dataPoints } };
}

const resourceOf = (balancer: string, metrics: readonly unknown[]) => ({
  resource: { attributes: [attribute('service.instance.id', balancer)] },
  scopeMetrics: [{ scope: { name: 'edge' }, metrics }],
});

const statusOf = (fleet: Fleet, seconds: number): GroupStatus =>
  present(createBurnEngine().evaluate(fleet.aggregate, at(seconds)).statuses[0], 'status');

/** One balancer: when it exports, when it is restarted after an export, and what it says. */
class Sender {
  readonly #name: string;
  readonly #form: Form;
  #since = 0;
  #start = 0;
  #sums: [number, number] = [0, 0];

  constructor(name: string, form: Form) {
    this.#name = name;
    this.#form = form;
  }

  count([good, bad]: Step): void {
    this.#sums = [this.#sums[0] + good, this.#sums[1] + bad];
  }

  /** The resources of one export; `apart` = a request for each class. */
  export(seconds: number, apart: boolean): readonly unknown[] {
    const isDelta = this.#form === 'delta' || this.#form === 'exponential';
    const from = isDelta ? this.#since : this.#start;
    const metrics = this.#sums.map((sum, index) => metricOf(this.#form, index === 1, sum, from, seconds));
    this.#since = seconds;
    if (isDelta) this.#sums = [0, 0];
    return apart ? metrics.map((metric) => resourceOf(this.#name, [metric])) : [resourceOf(this.#name, metrics)];
  }

  /** Its last export flushed everything. */
  restart(seconds: number): void {
    this.#start = seconds + 1;
    this.#since = seconds;
    this.#sums = [0, 0];
  }
}

const FORMS: readonly Form[] = ['cumulative', 'delta', 'double', 'histogram', 'exponential'];
const step = fc.tuple(fc.nat(2000), fc.constantFrom(0, 0, 0, 1, 7, 300));
const steps = fc.array(step, { minLength: 1, maxLength: 40 });

describe('SLO invariants', () => {
  test('I1 what is spent is bad / (b x (total + padding)), however the data are split', () => {
    const life = fc.record({
      events: fc.array(step, { minLength: 30, maxLength: 30 }),
      form: fc.constantFrom(...FORMS),
      exports: fc.array(fc.constantFrom('none', 'export', 'apart', 'restart'), { minLength: 30, maxLength: 30 }),
    });
    fc.assert(
      fc.property(fc.array(life, { minLength: 1, maxLength: 4 }), fc.boolean(), (lives, isTogether) => {
        const fleet = createFleet(sloOf('spent', SLO));
        const senders = lives.map(({ form }, index) => new Sender(`lb-${index}`, form));
        let [total, bad] = [0, 0];
        for (let index = 0; index < 30; index += 1) {
          const seconds = (index + 1) * STEP_S;
          const resources = lives.flatMap(({ events, exports }, which) => {
            const [sender, event] = [present(senders[which], 'sender'), present(events[index], 'events')];
            sender.count(event);
            total += event[0] + event[1];
            bad += event[1];
            // Everybody tells the rest at the end, which a short history must come to.
            const kind = index === 29 || index === 0 ? 'export' : (exports[index] ?? 'none');
            if (kind === 'none') return [];
            const told = sender.export(seconds, kind === 'apart');
            if (kind === 'restart') sender.restart(seconds);
            return told;
          });
          const requests = isTogether ? [resources] : resources.map((one) => [one]);
          for (const resourceMetrics of requests) {
            const outcome = fleet.pushRaw(seconds, { resourceMetrics });
            assert.equal(outcome.rejected, 0, outcome.message);
          }
        }
        const status = statusOf(fleet, 30 * STEP_S);
        assert.deepEqual([status.bad, status.total], [bad, total]);
        const padded = total * ((30 * DAY) / (30 * STEP_S * 1000));
        if (total === 0) {
          assert.equal(status.budgetRemaining, null);
          return;
        }
        const spent = 1 - (status.budgetRemaining ?? Number.NaN);
        const expected = bad / (0.001 * padded);
        assert.ok(Math.abs(spent - expected) <= 1e-12 * Math.max(1, expected), `${spent} is not ${expected}`);
      }),
      { seed: 201, numRuns: 60 },
    );
  });

  test('I2 the burn of a window does not depend on how the events are represented', () => {
    fc.assert(
      fc.property(steps, (events) => {
        const statuses = FORMS.map((form) => {
          const fleet = createFleet(sloOf('burns', SLO));
          const sender = new Sender('lb-1', form);
          for (const [index, event] of events.entries()) {
            sender.count(event);
            const seconds = (index + 1) * STEP_S;
            const outcome = fleet.pushRaw(seconds, { resourceMetrics: sender.export(seconds, false) });
            assert.equal(outcome.rejected, 0, outcome.message);
          }
          const { burn, good, bad, total, budgetRemaining, exhaustion } = statusOf(fleet, events.length * STEP_S);
          return { burn: [...burn], good, bad, total, budgetRemaining, exhaustion };
        });
        for (const status of statuses) assert.deepEqual(status, statuses[0]);
        // And it is the one of the raw events, with the missing lead free of errors.
        const [total, bad] = [
          events.reduce((sum, [g, b]) => sum + g + b, 0),
          events.reduce((sum, [, b]) => sum + b, 0),
        ];
        const long = (statuses[0]?.burn ?? []).find(([name]) => name === '1h')?.[1];
        const expected = total === 0 ? null : bad / ((total * HOUR) / (events.length * STEP_S * 1000)) / 0.001;
        if (expected === null || long === null || long === undefined) assert.equal(long, expected);
        else assert.ok(Math.abs(long - expected) <= 1e-9 * Math.max(1, expected), `${long} is not ${expected}`);
      }),
      { seed: 202, numRuns: 60 },
    );
  });

  test('I5 without traffic or without errors the budget is never exhausted', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.array(fc.nat(500), { maxLength: 40 }), (idle, totals) => {
        const group = new FakeGroup(fakeSlo(WORKBOOK));
        for (const total of totals) group.pushFor(MINUTE, () => [0, total]);
        group.pushFor(idle * MINUTE, () => [0, 0]);
        const [status] = createBurnEngine().evaluate(cellsOf(group), group.end).statuses;
        const { until, pace, exhausted, recoversAt } = present(status, 'status').exhaustion;
        assert.deepEqual([until, pace, exhausted, recoversAt], [null, null, false, null]);
      }),
      { seed: 205, numRuns: 100 },
    );
  });

  test('I8 a higher burn never gives a lower tier under countdown', () => {
    const holding = (group: FakeGroup, policy: Policy): readonly string[] =>
      holdingTiers(policy, { budget: BUDGET, course: new BudgetCourse(group, BUDGET, group.end) }, []).map(
        ({ name }) => name,
      );
    const hours = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 6, maxLength: 60 });
    const traffic = fc.constantFrom(1, 10, 1000);
    fc.assert(
      fc.property(hours, traffic, fc.integer({ min: 1, max: 20 }), fc.nat(), (bads, perStep, more, which) => {
        const made = (extra: (hour: number) => number): FakeGroup => {
          const group = new FakeGroup(fakeSlo(COUNTDOWN));
          for (const [hour, bad] of bads.entries()) {
            // So many bad of 1,000 events, at any traffic.
            const share = Math.min(1000, bad + extra(hour));
            group.pushFor(HOUR, (index) => {
              const [before, after] = [index, index + 1].map((n) => Math.floor((n * perStep * share) / 1000));
              return [(after ?? 0) - (before ?? 0), perStep];
            });
          }
          return group;
        };
        const before = holding(
          made(() => 0),
          COUNTDOWN,
        );
        const after = holding(
          made((hour) => (hour >= which % bads.length ? more : 0)),
          COUNTDOWN,
        );
        const rank = (names: readonly string[]): number => {
          const found = COUNTDOWN.tiers.findIndex(({ name }) => names.includes(name));
          return found === -1 ? COUNTDOWN.tiers.length : found;
        };
        assert.ok(rank(after) <= rank(before), `${before} became ${after}`);
      }),
      { seed: 208, numRuns: 60 },
    );
  });

  test('I9 editing a label changes nothing but the label', () => {
    const stretch = fc.record({ minutes: fc.integer({ min: 1, max: 40 }), bad: fc.constantFrom(0, 1, 5, 60) });
    fc.assert(
      fc.property(
        fc.array(stretch, { minLength: 1, maxLength: 6 }),
        fc.nat(),
        fc.constantFrom(COUNTDOWN, WORKBOOK),
        (stretches, when, policy) => {
          const all = stretches.flatMap(({ minutes, bad }) => new Array<number>(minutes).fill(bad));
          const runWith = (editAt: number | null) => {
            const group = new FakeGroup(fakeSlo(policy));
            group.pushFor(DAY, () => [0, 100]);
            const engine = createBurnEngine();
            return all.flatMap((bad, minute) => {
              if (minute === editAt) group.slo = fakeSlo(policy, '0.999', labelsOf([['owner', 'bob']]));
              group.pushFor(MINUTE, () => [bad, 100]);
              const { changes, statuses } = engine.evaluate(cellsOf(group), group.end);
              const news = changes.filter(({ kind }) => kind !== 'updated').map(withoutLabels);
              const { slo: _, ...figures } = present(statuses[0], 'status');
              return [news, figures];
            });
          };
          assert.deepEqual(runWith(when % all.length), runWith(null));
        },
      ),
      { seed: 209, numRuns: 30 },
    );
  });
});

const withoutLabels = (change: AlertChange) => ({ ...change, alert: { ...change.alert, labels: NO_LABELS } });
