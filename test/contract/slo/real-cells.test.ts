import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Aggregate, createAggregate } from '../../../src/aggregate/cells.ts';
import type { SloGroup } from '../../../src/aggregate/slo-group.ts';
import { type EpochMs, epochMs } from '../../../src/base/units.ts';
import { createBurnEngine } from '../../../src/burn/engine.ts';
import type { AlertChange } from '../../../src/model/alert.ts';
import type { Policy } from '../../../src/slo/slo.ts';
import {
  COUNTDOWN,
  cellsOf,
  DAY,
  FakeGroup,
  HOUR,
  MINUTE,
  ORIGIN,
  STEP,
  sloOf,
  WORKBOOK,
} from '../../support/fake-cells.ts';

const MONTH_END = ORIGIN + 30 * DAY;
const NO_RESOURCE = new Map<string, { readonly text: string }>();

/** The engine over the real cells: a month without errors at `perStep`, then what `push` adds every 10 s. */
class Watched {
  readonly engine = createBurnEngine();
  readonly aggregate: Aggregate = createAggregate();
  readonly group: SloGroup;
  now: EpochMs = epochMs(MONTH_END);

  constructor(policy: Policy, perStep: number) {
    const slo = sloOf(policy);
    this.aggregate.replaceSlos([slo]);
    this.group = this.aggregate.group(slo, new FakeGroup(slo).labels);
    this.aggregate.addFeeder(this.group, this.aggregate.balancer('lb-1'));
    for (let at = ORIGIN; at < MONTH_END; at += 5 * MINUTE) {
      const [from, to] = [epochMs(at), epochMs(at + 5 * MINUTE)];
      this.group.part.add(from, to, 0);
      this.group.total.add(from, to, perStep * 30);
    }
    for (const back of [20_000, 10_000, 0]) this.hear(epochMs(MONTH_END - back));
  }

  hear(at: EpochMs): void {
    this.aggregate.heard('lb-1', NO_RESOURCE, at, at);
  }

  push(bad: number, total: number): readonly AlertChange[] {
    const from = this.now;
    this.now = epochMs(from + STEP);
    this.group.part.add(from, this.now, bad);
    this.group.total.add(from, this.now, total);
    this.hear(this.now);
    return this.tick();
  }

  /** Time passes and nobody pushes. */
  silence(forMs: number): readonly AlertChange[] {
    this.now = epochMs(this.now + forMs);
    return this.tick();
  }

  tick(): readonly AlertChange[] {
    return this.engine.evaluate(this.aggregate, this.now).changes.filter(({ kind }) => kind !== 'updated');
  }

  get state(): string | undefined {
    return this.engine.statuses()[0]?.state;
  }
}

const briefly = ({ kind, at, alert }: AlertChange) => [kind, at - MONTH_END, alert.severity, alert.tier].join(' ');

describe('the burn engine over the real cells', () => {
  test('a full outage of 30 min at 120 a minute, pushed every 10 s, pages once and within a minute', () => {
    const watched = new Watched(COUNTDOWN, 20);
    const changes: AlertChange[] = [];
    for (let step = 0; step < (30 * MINUTE) / STEP; step += 1) changes.push(...watched.push(20, 20));
    for (let step = 0; step < (8 * HOUR) / STEP; step += 1) changes.push(...watched.push(0, 20));
    const rises = changes.filter(
      ({ alert }, index) => alert.severity === 'page' && changes[index - 1]?.alert.severity !== 'page',
    );
    assert.equal(rises.length, 1);
    const [first] = changes;
    assert.equal(first?.kind, 'fired');
    assert.ok(first !== undefined && first.at - MONTH_END <= MINUTE);
    assert.equal(changes.filter(({ kind }) => kind === 'fired').length, 1);
  });

  test('workbook pages 15 % errors after a clean month at the first push past 5.76 min', () => {
    const watched = new Watched(WORKBOOK, 100);
    const changes: AlertChange[] = [];
    for (let step = 0; step < 60; step += 1) changes.push(...watched.push(15, 100));
    // 34 steps are 5.67 min, 35 are 5.83.
    assert.equal(changes[0] && briefly(changes[0]), `fired ${35 * STEP} page 50h`);
    const after: AlertChange[] = [];
    for (let step = 0; step < 60; step += 1) after.push(...watched.push(0, 100));
    assert.equal(after[0]?.kind, 'resolved');
    assert.ok(after[0] !== undefined && after[0].at - MONTH_END <= 15 * MINUTE);
  });

  test('no_data holds the alert, a day of it retires the group, and no events are no_traffic', () => {
    const watched = new Watched(WORKBOOK, 100);
    for (let step = 0; step < 60; step += 1) watched.push(15, 100);
    assert.equal(watched.state, 'measured');
    for (const hours of [1, 10, 12.9]) {
      assert.deepEqual(watched.silence(hours * HOUR).map(briefly), []);
      assert.equal(watched.state, 'no_data');
    }
    const ended = watched.silence(HOUR);
    assert.deepEqual(
      ended.map((change) => change.kind === 'resolved' && change.reason),
      ['retired'],
    );
    const quiet = new Watched(WORKBOOK, 0);
    quiet.push(0, 0);
    assert.equal(quiet.state, 'no_traffic');
  });

  test('says the same over raw events summed by walking', () => {
    const stretch = fc.record({ steps: fc.integer({ min: 1, max: 120 }), bad: fc.constantFrom(0, 0, 1, 4, 40) });
    fc.assert(
      fc.property(
        fc.array(stretch, { minLength: 2, maxLength: 8 }),
        fc.constantFrom(COUNTDOWN, WORKBOOK),
        (stretches, policy) => {
          const watched = new Watched(policy, 40);
          const raw = new FakeGroup(sloOf(policy));
          raw.pushFor(30 * DAY, () => [0, 40]);
          const engine = createBurnEngine();
          for (const { steps, bad } of stretches) {
            for (let step = 0; step < steps; step += 1) {
              raw.push(bad, 40);
              const expected = engine.evaluate(cellsOf(raw), raw.end).changes;
              assert.deepEqual(
                watched.push(bad, 40).map(briefly),
                expected.filter(({ kind }) => kind !== 'updated').map(briefly),
              );
            }
          }
        },
      ),
      { seed: 61, numRuns: 8 },
    );
  });
});
