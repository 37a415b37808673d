import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { epochMs } from '../../src/base/units.ts';
import { createDetectionEngine } from '../../src/detect/registry.ts';
import type { Alert } from '../../src/model/alert.ts';
import { DAY, HOUR, MINUTE, ORIGIN, STEP, sloOf, WORKBOOK } from '../support/fake-cells.ts';
import { Fed } from '../support/fed.ts';
import { shippedDetectors } from '../support/shipped-detectors.ts';

/** Requests per step. */
const REQUESTS = 1000;
const COARSE = 5 * MINUTE;

/** One SLO of 99.9 % over 30 days, fed by one balancer that names its config version. */
class Scene {
  readonly fed = new Fed(sloOf(WORKBOOK));
  readonly said: { readonly kind: string; readonly at: number; readonly alert: Alert }[] = [];
  now = ORIGIN;
  #engine = createDetectionEngine(shippedDetectors('ConfigBudgetSpent'));
  readonly #records = new Map<string, string>();

  /** So long, with this share of requests failing, on this version; ticks every step, or seldom where nothing happens. */
  run(forMs: number, version: string, share = 0, stepMs = STEP): void {
    for (const until = this.now + forMs; this.now < until; ) {
      const from = this.now;
      this.now += stepMs;
      const total = (REQUESTS * stepMs) / STEP;
      this.fed.count(null, from, this.now, Math.round(share * total), total);
      this.fed.aggregate.config('', version).set(epochMs(this.now), 'lb-1', 1);
      this.fed.hear(this.now);
      this.tick();
    }
  }

  /** A bad version and back. */
  push(version: string, share: number, forMs: number): void {
    this.run(forMs, version, share);
    this.run(MINUTE, 'good');
  }

  tick(): void {
    const { aggregate } = this.fed;
    const { changes, stored, removed } = this.#engine.evaluate(aggregate, epochMs(this.now), aggregate);
    for (const { key, value } of stored) this.#records.set(key, value);
    for (const key of removed) this.#records.delete(key);
    for (const { kind, alert } of changes) if (kind !== 'updated') this.said.push({ kind, at: this.now, alert });
  }

  restart(): void {
    this.fed.restart();
    this.#engine = createDetectionEngine(shippedDetectors('ConfigBudgetSpent'));
    this.#engine.restore([...this.#records].map(([key, value]) => ({ key, value })));
  }

  kinds(): readonly string[] {
    return this.said.map(({ kind }) => kind);
  }
}

function scene(share = 0): Scene {
  const made = new Scene();
  made.run(2 * DAY, 'good', share, COARSE);
  return made;
}

describe('ConfigBudgetSpent', () => {
  test('a push that fails everything: told when a quarter of the 43 minutes is gone', () => {
    const made = scene();
    const from = made.now;
    made.push('bad', 1, 13 * MINUTE);
    assert.deepEqual(made.kinds(), ['fired']);
    const [{ at, alert }] = made.said as [(typeof made.said)[number]];
    const afterMs = at - from;
    // 10.8 minutes, looked at once a minute.
    assert.ok(afterMs >= 10.8 * MINUTE && afterMs <= 12 * MINUTE, `${afterMs}`);
    assert.match(alert.summary, /^Config rollouts used 2[5-9] % of the error budget of checkout-availability, 25 % /);
    assert.deepEqual(alert.place, { service: 'checkout', cluster: 'checkout' });
    assert.match(alert.evidence.find(({ name }) => name === 'worst')?.text ?? '', /with bad/);
  });

  test('the same failure with no rollout near: silent', () => {
    const made = scene();
    made.run(13 * MINUTE, 'good', 1);
    made.run(2 * HOUR, 'good', 0, COARSE);
    made.push('next', 0, 20 * MINUTE);
    assert.deepEqual(made.kinds(), []);
  });

  test('fails as much as at other times, with a rollout every day: silent', () => {
    const made = scene(0.0009);
    for (let day = 0; day < 8; day += 1) {
      made.run(40 * MINUTE, `v${day}`, 0.0009);
      made.run(DAY - 40 * MINUTE, `v${day}`, 0.0009, COARSE);
    }
    assert.deepEqual(made.kinds(), []);
  });

  test('rollouts of days ago count, over a restart from a snapshot; the third says it', () => {
    const made = scene();
    for (const version of ['a', 'b']) {
      made.push(version, 1, 4 * MINUTE);
      made.run(3 * DAY, 'good', 0, COARSE);
    }
    assert.deepEqual(made.kinds(), []);
    made.restart();
    made.push('c', 1, 4 * MINUTE);
    assert.deepEqual(made.kinds(), ['fired']);
    assert.match(made.said[0]?.alert.evidence.find(({ name }) => name === 'rollouts')?.text ?? '', /^3 times /);
    made.restart();
    made.run(10 * MINUTE, 'good');
    assert.deepEqual(made.kinds(), ['fired'], 'it goes on');
  });

  test('ends a day after the last rollout; a harmless one tells it again', () => {
    const made = scene();
    made.push('bad', 1, 13 * MINUTE);
    made.run(23 * HOUR, 'good', 0, COARSE);
    made.run(MINUTE, 'good');
    assert.deepEqual(made.kinds(), ['fired']);
    made.run(2 * HOUR, 'good', 0, COARSE);
    made.run(MINUTE, 'good');
    assert.deepEqual(made.kinds(), ['fired', 'resolved']);
    made.run(2 * MINUTE, 'harmless');
    assert.deepEqual(made.kinds(), ['fired', 'resolved', 'fired']);
  });

  test('goes on while nothing is heard, and ends with its SLO', () => {
    const made = scene();
    made.push('bad', 1, 13 * MINUTE);
    for (const until = made.now + 20 * MINUTE; made.now < until; ) {
      made.now += STEP;
      made.tick();
    }
    assert.deepEqual(made.kinds(), ['fired']);
    made.fed.aggregate.replaceSlos([]);
    made.now += STEP;
    made.tick();
    assert.deepEqual(made.kinds(), ['fired', 'resolved']);
  });
});
