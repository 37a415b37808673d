import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { epochMs } from '../../src/base/units.ts';
import { loadRules } from '../../src/config/load.ts';
import { readNews } from '../../src/correlate/foreign/read-news.ts';
import { ENGINES, ruleTiers, toRuleFile } from '../../src/generate/prometheus-rules.ts';
import { isAlerting } from '../../src/generate/rule-file.ts';
import { toRuleTests } from '../../src/generate/rule-tests.ts';
import type { Slo } from '../../src/slo/slo.ts';
import { sloOf } from '../support/raw-cells.ts';
import { shippedRules } from '../support/shipped-rules.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const URL = 'https://slowburn.example.com';
const SHIPPED = loadRules({ rulesDir: null, shippedDir: join(ROOT, 'rules'), runbooksDir: join(ROOT, 'runbooks') });
const slos = SHIPPED.rules?.slos ?? [];

const alertsOf = (slo: Slo) =>
  toRuleFile(slo, { engine: 'prometheus', externalUrl: URL })
    .groups.flatMap(({ rules }) => rules)
    .filter(isAlerting);

describe('generated rules', () => {
  test('every tier of the workbook is one alert with its factor as a literal', () => {
    const alerts = alertsOf(sloOf({ policy: 'workbook' }));
    const found = alerts.map(({ labels, expr }) => [labels['burn_tier'], />= ([\d.]+)\)/.exec(expr)?.[1]]);
    assert.deepEqual(found, [
      ['50h', '0.0144'],
      ['5d', '0.006'],
      ['10d', '0.003'],
      ['30d', '0.001'],
    ]);
  });

  test('an alert carries owner and identity, and links written out in full', () => {
    for (const slo of slos) {
      for (const { labels, annotations } of alertsOf(slo)) {
        for (const name of ['slo', 'service', 'severity', 'burn_tier']) assert.ok(labels[name], `${slo.id}: ${name}`);
        assert.equal(annotations['runbook_url'], `${URL}/runbooks/${slo.runbook}`);
        assert.equal(annotations['dashboard_url'], `${URL}/slos?slo=${slo.id}`);
        assert.ok(annotations['summary'] && annotations['description']);
      }
    }
    const [carried] = alertsOf(sloOf({ labels: { team: 'edge' } }));
    assert.equal(carried?.labels['team'], 'edge');
  });

  test('a calendar window has the same alerts, and leaves what remains of it to us', () => {
    const calendar = { duration: '1M', startTime: '2026-01-01T00:00:00', zone: 'Europe/Berlin' };
    const [monthly, rolling] = [sloOf({ calendar }), sloOf()];
    const namesOf = (slo: Slo) =>
      toRuleFile(slo, { engine: 'prometheus', externalUrl: URL }).groups.map(({ name }) => name.split('/').at(-1));
    assert.deepEqual(namesOf(rolling), [...namesOf(monthly), 'budget']);
    assert.deepEqual(
      alertsOf(monthly).map(({ expr }) => expr),
      alertsOf(rolling).map(({ expr }) => expr),
    );
    assert.match(toRuleFile(monthly, { engine: 'prometheus', externalUrl: URL }).comment.join(), /reset/);
  });

  test('a tier whose short window has fewer than two steps is left out and named', () => {
    const slo = slos.find(({ id }) => id === 'upstream-availability');
    assert.ok(slo);
    assert.ok(slo.policy.tiers.some(({ name }) => name === '6h'));
    assert.ok(!ruleTiers(slo).some(({ name }) => name === '6h'));
    const { comment } = toRuleFile(slo, { engine: 'prometheus', externalUrl: URL });
    assert.match(comment.join('\n'), /tier 6h/);
  });

  test('what a tier asks for in bad events is asked of its long window', () => {
    const [first] = alertsOf(slos[0] as Slo);
    assert.match(first?.expr ?? '', /sum_over_time\(slo:events_bad:delta1m\{[^}]*\}\[59m59s\]\) >= 2\)$/);
  });

  test('an SLO that counts what is good has all else as bad, also before anything good was counted', () => {
    const slo = slos.find(({ id }) => id === 'upstream-latency');
    assert.ok(slo);
    const file = toRuleFile(slo, { engine: 'prometheus', externalUrl: URL });
    const bad = file.groups[0]?.rules.find((rule) => 'record' in rule && rule.record === 'slo:events_bad:delta1m');
    assert.match(bad?.expr ?? '', /_bucket\{le="0\.25"\}/);
    assert.match(bad?.expr ?? '', /or\n0 \* sum/);
  });

  test('editing the target changes thresholds only; the same SLO gives the same rules', () => {
    const [before, again] = [toRuleFile(sloOf(), options()), toRuleFile(sloOf(), options())];
    assert.deepEqual(before, again);
    const after = toRuleFile(sloOf({ target: '0.9995' }), options());
    const withoutNumbers = (file: unknown): string => JSON.stringify(file).replaceAll(/0\.\d+/g, 'N');
    assert.equal(withoutNumbers(after), withoutNumbers(before));
    assert.notDeepEqual(after, before);
  });

  test('every engine has rules within its limits', () => {
    for (const engine of ENGINES) {
      for (const { groups } of slos.map((slo) => toRuleFile(slo, { engine, externalUrl: URL }))) {
        for (const { rules } of groups) assert.ok(rules.length <= 20);
      }
    }
  });

  test('an alert that comes back through an Alertmanager is about the cluster and zone that it was grouped by', () => {
    const grouped = ['lb_upstream_cluster', 'lb_upstream_zone', 'lb_upstream_host_name'];
    const series = Object.fromEntries(grouped.map((name) => [name, `${name} of the balancer`]));
    // What Prometheus adds to all it sends must not make one place of all clusters.
    const external = { cluster: 'prod-eu', zone: 'eu-1', host: 'prometheus-0' };
    const settings = shippedRules().correlation;
    for (const slo of slos) {
      for (const { alert, labels, annotations } of alertsOf(slo)) {
        const sent = { labels: { ...external, ...series, ...labels, alertname: alert }, annotations };
        const news = readNews(sent, 'alerts', settings, epochMs(1000));
        assert.ok(typeof news === 'object');
        assert.deepEqual(news.alert.place, {
          service: slo.service,
          cluster: series['lb_upstream_cluster'],
          zone: series['lb_upstream_zone'],
          host: series['lb_upstream_host_name'],
        });
      }
    }
  });

  test('every alert has a unit test that fires and one that does not', () => {
    for (const slo of slos) {
      const tests = toRuleTests(slo, toRuleFile(slo, options()));
      assert.ok(tests, slo.id);
      const fired = tests.tests.flatMap((one) => one.alert_rule_test.flatMap(({ exp_alerts }) => exp_alerts));
      for (const tier of ruleTiers(slo)) {
        assert.ok(
          fired.some(({ exp_labels }) => exp_labels['burn_tier'] === tier.name),
          `${slo.id}: nothing fires ${tier.name}`,
        );
      }
      assert.ok(
        tests.tests.some(({ input_series }) => input_series.length === 0),
        'no data',
      );
    }
  });
});

function options() {
  return { engine: 'prometheus', externalUrl: URL } as const;
}
