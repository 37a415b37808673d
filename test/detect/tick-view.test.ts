import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createUnsentEngine } from '../../src/app/unsent-engine.ts';
import { epochMs } from '../../src/base/units.ts';
import { createDetectionEngine, DETECTORS } from '../../src/detect/registry.ts';
import { viewAt } from '../../src/detect/tick-view.ts';
import type { AlertChange } from '../../src/model/alert.ts';
import { labelsKey } from '../../src/model/labels.ts';
import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { Staging } from '../../src/otlp/staging.ts';
import { DRILL_EPOCH } from '../../src/sim/drill/rehearse.ts';
import { createEmitter } from '../../src/sim/emit/emitter.ts';
import { createSimulation } from '../../src/sim/simulation.ts';
import { outage } from '../support/outage-plan.ts';
import { shippedRules } from '../support/shipped-rules.ts';

const rules = shippedRules();
const TICK_MS = 10_000;

/** What a fleet with an outage has told by each tick; one of its balancers falls silent for the last ten minutes. */
function* ticksOfAnOutage() {
  const plan = outage(3);
  const { fleet, advanceTo } = createSimulation(plan.fleet, plan.timeline);
  const emitter = createEmitter(fleet, 'canonical', DRILL_EPOCH);
  const { aggregate, series } = createUnsentEngine(rules);
  const staging = new Staging();
  for (let now = TICK_MS; now <= plan.faultAtMs + 25 * 60_000; now += TICK_MS) {
    advanceTo(now);
    const at = epochMs(DRILL_EPOCH + now);
    for (const { balancer, body } of emitter.exportAt(now, now > plan.faultAtMs + 15 * 60_000 ? [0] : [0, 1])) {
      decodeMetrics(body, staging);
      series.apply(staging, { receivedAt: at, peer: balancer, identityHeader: null });
    }
    yield { view: aggregate, now: at };
  }
}

describe('the view at one moment', () => {
  test('every detector says the same of it as of the cells, at each tick of an outage', () => {
    let found = 0;
    for (const { view, now } of ticksOfAnOutage()) {
      const once = viewAt(view, now);
      for (const detector of DETECTORS) {
        const settings = rules.detectors.get(detector.name);
        assert.ok(settings !== undefined);
        const ask = (seen: typeof once) =>
          detector.detect({ view: seen, now, settings, firingSince: new Map(), slos: view });
        const said = ask(once);
        assert.deepEqual(said, ask(view), detector.name);
        assert.deepEqual(ask(once), said, detector.name);
        found += said.holding.length;
      }
    }
    assert.ok(found > 10, `${found}`);
  });

  test('of another moment it says what the cells say', () => {
    const [first, ...rest] = ticksOfAnOutage();
    const last = rest.at(-1);
    assert.ok(first !== undefined && last !== undefined);
    const once = viewAt(last.view, last.now);
    assert.equal(once.watermark(last.now), last.view.watermark(last.now));
    const later = epochMs(last.now + 120_000);
    assert.notDeepEqual(once.balancers(later), once.balancers(last.now));
    assert.deepEqual(once.balancers(later), last.view.balancers(later));
    assert.deepEqual([...once.gauges('cluster.hosts', later)], [...last.view.gauges('cluster.hosts', later)]);
  });

  test('in steps there is one per detector, and the changes are those of a tick in one go', () => {
    const [inSteps, atOnce] = [createDetectionEngine(rules.detectors), createDetectionEngine(rules.detectors)];
    const enabled = DETECTORS.filter(({ name }) => rules.detectors.get(name)?.enabled === true).length;
    const kinds = new Set<string>();
    for (const { view, now } of ticksOfAnOutage()) {
      let steps = 0;
      const ticking = inSteps.evaluateInSteps(view, now);
      let step = ticking.next();
      for (; step.done !== true; step = ticking.next()) steps += 1;
      assert.equal(steps, enabled);
      assert.deepEqual(step.value, atOnce.evaluate(view, now));
      for (const change of step.value.changes) kinds.add(nameOf(change));
    }
    assert.ok([...kinds].some((kind) => kind.startsWith('fired')) && [...kinds].some((kind) => /^resolved/.test(kind)));
  });
});

const nameOf = ({ kind, alert }: AlertChange): string => `${kind} ${alert.name} ${labelsKey(alert.labels)}`;
