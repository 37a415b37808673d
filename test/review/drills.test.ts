import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { scorecard } from '../../src/app/scorecard-views.ts';
import { DAY, epochMs, HOUR, MINUTE } from '../../src/base/units.ts';
import type { ScoreId, ScoreView } from '../../src/model/scorecard.ts';
import { DRILL_EPOCH, rehearse } from '../../src/sim/drill/rehearse.ts';
import { ticketRotation } from '../../src/sim/scenarios/edge.ts';
import { retryLayers } from '../../src/sim/scenarios/overload.ts';
import { doubledLoad } from '../../src/sim/scenarios/quiet-controls.ts';
import { type Scenario, STANDARD_SEED } from '../../src/sim/scenarios/scenario.ts';
import { sinkholeLeastConnections } from '../../src/sim/scenarios/sinkholes.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import { FleetTruth } from '../support/fleet-truth.ts';
import { shippedRules } from '../support/shipped-rules.ts';

const rules = shippedRules();
/** A host that takes this many times its fair share while most of what it takes fails was fed by its balancer. */
const FED = 2;

function run(scenario: Scenario) {
  const plan = scenario.plan(scenario.size, STANDARD_SEED);
  const truth = new FleetTruth();
  const store = createMemoryStore();
  const untilMs = Math.max(plan.untilMs, HOUR + 6 * MINUTE);
  rehearse({
    plan: { ...plan, untilMs },
    rules,
    flavor: 'canonical',
    store,
    onAdvance: (fleet, virtualMs) => truth.look(fleet, virtualMs),
  });
  const made = () => scorecard(store, rules.scorecard, '2026-W10', epochMs(DRILL_EPOCH + 8 * DAY));
  const view = made();
  assert.deepEqual(made(), view);
  const score = (id: ScoreId): ScoreView => view.scores.find((one) => one.id === id) as ScoreView;
  return { plan, truth, score };
}

describe('the scorecard of a drill says what the fleet itself has counted', () => {
  test('sinkhole-least-connections: the balancer fed the host that failed', () => {
    const { plan, truth, score } = run(sinkholeLeastConnections);
    const fair = 1 / (plan.fleet.clusters[0]?.hosts.length ?? 1);
    const fed = [...truth.failingShare].filter(([, share]) => share > FED * fair);
    assert.equal(fed.length, 1, `fed ${JSON.stringify(fed)}`);
    assert.deepEqual([score('amplified_incidents').value, score('amplified_incidents').state], [1, 'missed']);
  });

  test('doubled-load: no host was fed, no incident amplified, and nobody tells of retries', () => {
    const { plan, truth, score } = run(doubledLoad);
    const fair = 1 / (plan.fleet.clusters[0]?.hosts.length ?? 1);
    assert.deepEqual(
      [...truth.failingShare].filter(([, share]) => share > FED * fair),
      [],
    );
    assert.equal(score('amplified_incidents').state, 'met');
    assert.equal(score('retrying_services').state, 'not_known');
    assert.equal(score('crowded_pools').state, 'met');
  });

  test('retry-layers: the clusters that more than one layer retried for', () => {
    const { plan, truth, score } = run(retryLayers);
    const twice = plan.fleet.clusters.filter(
      ({ name }) => truth.total(`retries edge ${name}`) > 0 && truth.total(`retries client ${name}`) > 0,
    );
    assert.ok(twice.length > 0);
    assert.equal(score('retrying_services').value, twice.length);
    assert.equal(score('retrying_services').state, 'missed');
    for (const { name } of twice) assert.ok(score('retrying_services').detail.includes(`${name} (client, edge)`));
  });

  test('ticket-rotation: resumption in the busiest hour, zone by zone', () => {
    const { plan, truth, score } = run(ticketRotation);
    const zones = plan.fleet.zones.map(({ name }) => name);
    const clients = (endMs: number): number =>
      zones.reduce((sum, zone) => sum + truth.of(endMs, `requests zone ${zone}`), 0);
    const peak = truth.hours.map(({ endMs }) => endMs).reduce((a, b) => (clients(b) > clients(a) ? b : a));
    const least = Math.min(
      ...zones.map((zone) => {
        const resumed = truth.of(peak, `resumed zone ${zone}`);
        return resumed / (resumed + truth.of(peak, `full zone ${zone}`));
      }),
    );
    const found = score('resumption_at_peak');
    // Balancers push every 10 s, each at a moment of its own: what the last push of the hour tells is spread over it.
    assert.ok(Math.abs((found.value ?? 0) - least) < 0.002, `${found.value}, and the fleet counted ${least}`);
    assert.equal(found.state, least > 0.5 ? 'met' : 'missed');
  });
});
