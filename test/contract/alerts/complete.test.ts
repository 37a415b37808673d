import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { epochMs, ms } from '../../../src/base/units.ts';
import { DETECTORS } from '../../../src/detect/registry.ts';
import { type Alert, OWNERS } from '../../../src/model/alert.ts';
import { ALERT } from '../../../src/model/conventions.ts';
import { failingReceivers } from '../../../src/notify/failing-receivers.ts';
import { toHeartbeatMessage } from '../../../src/notify/watchdog/message.ts';
import { rehearse } from '../../../src/sim/drill/rehearse.ts';
import { SCENARIOS } from '../../../src/sim/scenarios/catalog.ts';
import { type Expectation, type Scenario, STANDARD_SEED } from '../../../src/sim/scenarios/scenario.ts';
import { cheapestDrills, cheapPlan } from '../../support/cheap-drills.ts';
import { shippedRules } from '../../support/shipped-rules.ts';

/**
 * What the design promises (section 9): each has a detector, an owner, a runbook, a drill, and evidence of its own. What
 * the two that no fleet can rehearse are tested by stands beside them.
 */
const PROMISED = [
  'ErrorBudgetBurn',
  'TrafficStopped',
  'TelemetryLost',
  'Watchdog',
  'UpstreamErrors',
  'FastFailSinkhole',
  'HostOutlier',
  'HostEjections',
  'EjectionCapReached',
  'HealthCheckCascade',
  'HealthCheckFlapping',
  'AdmissionRejections',
  'BalancerSaturation',
  'HandshakeStorm',
  'StageTailShift',
  'AcceptQueueSaturation',
  'ZoneSkew',
  'HostSkew',
  'BalancerSkew',
  'ConfigPushRegression',
  'ConfigPushUnstaged',
  'ConfigDrift',
  'ConfigBudgetSpent',
  'L4Rehash',
  'RetryStorm',
  'StreamSaturation',
  'NoisyNeighbour',
  'DrainCut',
  'ColdStart',
  'CertificateRenewalStalled',
] as const;

/** Alerts about slowburn itself, beyond that list. */
const OF_ITSELF: readonly string[] = [ALERT.notificationsFailing];

/** Not made by a detector: budgets are judged by burn/, slowburn itself by notify/. */
const WITHOUT_DETECTOR: readonly string[] = [ALERT.errorBudgetBurn, ALERT.watchdog, ALERT.notificationsFailing];

/** Nothing that happens to a fleet makes these fire: receivers that do not answer do. Their drills are these tests. */
const OUTSIDE_FLEETS: Readonly<Record<string, string>> = {
  [ALERT.watchdog]: 'test/notify/watchdog.test.ts',
  [ALERT.notificationsFailing]: 'test/notify/failing-receivers.test.ts',
};

/** The owner of a budget's alert is whoever owns the service; it stands in no file. */
const OWNED_BY_SERVICE: readonly string[] = [ALERT.errorBudgetBurn];

class Enough extends Error {}

const ROOT = join(import.meta.dirname, '..', '..', '..');
const everyAlert = [...PROMISED, ...OF_ITSELF].sort();
const rules = shippedRules();

const expectationsOf = (scenario: Scenario): readonly Expectation[] => {
  const { expected, expectedOfEnvoy } = scenario.plan(scenario.size, STANDARD_SEED);
  return [expected, expectedOfEnvoy];
};

/** Alerts without which an expectation is missed; one among alternatives is not such. */
const askedBy = (scenario: Scenario): readonly string[] =>
  expectationsOf(scenario).flatMap((one) => (one.kind === 'incident' ? [one.lead, ...one.members] : []));

describe('every alert that the design promises is complete, and there is none beyond', () => {
  test('names: what is emitted is what is promised', () => {
    assert.deepEqual(Object.values<string>(ALERT).sort(), everyAlert);
  });

  test('each has a detector, or is one of the few that need none', () => {
    const made = [...DETECTORS.map(({ name }) => name), ...WITHOUT_DETECTOR].sort();
    assert.deepEqual(made, everyAlert);
  });

  test('each has an owner that routes can match', () => {
    const owned = [...rules.detectors].filter(([, { owner }]) => OWNERS.includes(owner)).map(([name]) => name);
    assert.deepEqual([...owned, ...OWNED_BY_SERVICE].sort(), everyAlert);
  });

  test('each has a runbook, by which its rule calls it', () => {
    const files = readdirSync(join(ROOT, 'runbooks')).map((name) => name.replace(/\.md$/, ''));
    assert.deepEqual(files.sort(), everyAlert);
    for (const [name, { runbook }] of rules.detectors) assert.equal(runbook, name);
  });

  test('each is asked for by a scenario, as the lead or as a part of its incident', () => {
    const asked = new Set(SCENARIOS.flatMap(askedBy));
    assert.deepEqual([...asked, ...Object.keys(OUTSIDE_FLEETS)].sort(), everyAlert);
    const tests = readdirSync(join(ROOT, 'test', 'notify')).map((name) => `test/notify/${name}`);
    for (const file of Object.values(OUTSIDE_FLEETS)) assert.ok(tests.includes(file), file);
  });
});

describe('every alert carries evidence when it fires', () => {
  for (const [scenario, names] of cheapestDrills(everyAlert.filter((name) => OUTSIDE_FLEETS[name] === undefined))) {
    test(`${scenario.name}: ${names.join(', ')}`, () => {
      const fired = firedIn(scenario, names);
      for (const name of names) {
        const alert = fired.get(name);
        assert.ok(alert !== undefined, `${name} did not fire`);
        checkEvidence(alert);
      }
    });
  }

  test('NotificationsFailing: what waits', () => {
    const settings = rules.detectors.get(ALERT.notificationsFailing);
    assert.ok(settings !== undefined);
    const now = epochMs(1_800_000_000_000);
    const health = {
      receiver: 'oncall',
      lastDeadAt: now,
      failing: 'given_up',
      pending: 2,
      oldestPendingAt: epochMs(now - 3_600_000),
      lastDeliveredAt: null,
      lastError: 'connection refused',
    } as const;
    const [change] = failingReceivers([health], [], settings, now);
    assert.equal(change?.kind, 'fired');
    checkEvidence(change?.alert as Alert);
  });

  test('Watchdog: what its silence would say', () => {
    const at = epochMs(1_800_000_000_000);
    const body = toHeartbeatMessage(
      { startedAt: at, seq: 7, at, evaluatedAt: at, every: ms(60_000) },
      { runbook: 'http://x/runbooks/Watchdog', dashboard: 'http://x/' },
    );
    const { heartbeat } = JSON.parse(body) as { heartbeat: Record<string, unknown> };
    const instant = new Date(at).toISOString();
    assert.deepEqual(heartbeat, { startedAt: instant, evaluatedAt: instant, storeWritable: true, everySeconds: 60 });
  });
});

/** The first alert of each name, as it fired; the run ends with the last of them. */
function firedIn(scenario: Scenario, names: readonly string[]): ReadonlyMap<string, Alert> {
  const plan = cheapPlan(scenario);
  const fired = new Map<string, Alert>();
  try {
    rehearse({
      plan,
      rules,
      flavor: 'canonical',
      onOutcome({ alerts }) {
        for (const { kind, alert } of alerts) {
          if (kind === 'fired' && !fired.has(alert.name)) fired.set(alert.name, alert);
        }
        if (names.every((name) => fired.has(name))) throw new Enough();
      },
    });
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
  return fired;
}

/** Named, each name once, every text a person can read, numbers that are some and have their unit. */
function checkEvidence({ name, summary, owner, runbook, evidence }: Alert): void {
  assert.ok(evidence.length > 0, `${name} fires without evidence`);
  assert.ok(summary.length > 20, `${name}: ${summary}`);
  assert.ok(OWNERS.includes(owner), name);
  assert.equal(runbook, name);
  assert.equal(new Set(evidence.map((one) => one.name)).size, evidence.length, name);
  for (const one of evidence) {
    const where = `${name}: ${JSON.stringify(one)}`;
    assert.match(one.name, /^[a-z][a-z0-9_]*$/, where);
    assert.match(one.text, /[a-z0-9]{2}/i, where);
    assert.doesNotMatch(one.text, /NaN|undefined|null|Infinity/, where);
    if (typeof one.value !== 'number') continue;
    assert.ok(Number.isFinite(one.value), where);
    assert.ok(typeof one.unit === 'string' || Number.isInteger(one.value), where);
  }
}
