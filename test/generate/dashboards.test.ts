import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { dashboardFiles } from '../../src/generate/dashboards/registry.ts';
import { ALERT } from '../../src/model/conventions.ts';
import { DASHBOARD, type DashboardPlace, dashboardOf, dashboardUrl } from '../../src/model/dashboards.ts';
import { committedDashboards, type DashboardFile, expressionsOf, substituted } from '../support/dashboard-files.ts';
import { EXCLUSIONS, lint, metricsOf, selectorsOf } from '../support/dashboard-lint.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const committed = committedDashboards();
const places: readonly DashboardPlace[] = Object.values(DASHBOARD);
/** Copies, for planting. */
const copy = (): DashboardFile[] => structuredClone(committed) as DashboardFile[];

describe('dashboards', () => {
  test('the committed files are what is generated, and nothing else', () => {
    const wanted = dashboardFiles();
    assert.deepEqual(committed.map(({ file }) => file).sort(), [...wanted.keys()].sort());
    for (const [file, text] of wanted) assert.equal(readFileSync(join(ROOT, 'dashboards', file), 'utf8'), text, file);
  });

  test('pass the lint', () => {
    assert.deepEqual(lint(committed), []);
    for (const { reason } of EXCLUSIONS) assert.ok(reason.length > 10);
  });

  test('every metric is one that docs/metrics.md describes', () => {
    const text = readFileSync(join(ROOT, 'docs', 'metrics.md'), 'utf8');
    const documented = new Map([...text.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map((match) => [match[1], match[2]]));
    let seen = 0;
    for (const { where, expr } of committed.flatMap(expressionsOf)) {
      for (const metric of metricsOf(expr)) {
        const family = documented.has(metric) ? metric : metric.replace(/_(bucket|sum|count)$/, '');
        assert.ok(documented.has(family), `${where}: ${metric}`);
        if (family !== metric) assert.equal(documented.get(family), 'histogram', `${where}: ${metric}`);
        seen += 1;
      }
    }
    assert.ok(seen > 150, `${seen} selectors`);
  });

  test('labels of a selector are labels that its metric has', () => {
    const text = readFileSync(join(ROOT, 'docs', 'metrics.md'), 'utf8');
    const labels = new Map([...text.matchAll(/^\| `(\w+)` \| \w+ \|([^|]*)\|/gm)].map((match) => [match[1], match[2]]));
    for (const { where, expr } of committed.flatMap(expressionsOf)) {
      for (const { metric, matchers } of selectorsOf(expr)) {
        const known = labels.get(metric) ?? labels.get(metric.replace(/_(bucket|sum|count)$/, '')) ?? '';
        for (const [, label = ''] of matchers.matchAll(/(\w+)(?:=|!=)~?"/g)) {
          const isKnown = ['job', 'instance'].includes(label) || known.split(',').some((one) => one.trim() === label);
          assert.ok(isKnown, `${where}: ${metric} has no label ${label}`);
        }
      }
    }
  });

  test('every dashboard of balancers has rollouts, requests by version and the kernel beside the stages', () => {
    const ofBalancers = committed.filter(({ templating }) => templating.list.some(({ name }) => name === 'balancer'));
    assert.equal(ofBalancers.length, 3);
    for (const { file, annotations, panels } of ofBalancers) {
      const exprs = JSON.stringify(panels);
      const rollouts = annotations.list.find(({ expr = '' }) => expr.includes('slowburn_config_rollout_timestamp'));
      assert.equal(rollouts?.useValueForTime, true, file);
      assert.ok(
        panels.some(({ title }) => title === 'Requests by config version'),
        file,
      );
      for (const kernel of ['accept_queue_overflows', 'host_tcp_listen_drops', 'host_tcp_retransmits']) {
        assert.ok(exprs.includes(kernel), `${file}: ${kernel}`);
      }
      assert.match(exprs, /lb_stage_\S+_duration_seconds_bucket/, file);
    }
  });
});

describe('alerts and dashboards', () => {
  test('every alert leads to one dashboard, which has a panel of it; and each dashboard is led to', () => {
    const led = places.flatMap(({ alerts }) => [...alerts]);
    assert.deepEqual([...led].sort(), Object.values(ALERT).sort());
    assert.deepEqual(
      committed.map(({ uid, title }) => [uid, title]).sort(),
      places.map(({ uid, title }) => [uid, title]).sort(),
    );
    for (const name of Object.values(ALERT)) {
      const { uid } = dashboardOf(name);
      const dashboard = committed.find((one) => one.uid === uid);
      const panel = dashboard?.panels.find(({ title }) => title === 'Alerts that lead here');
      const matcher = /alert=~"([^"]+)"/.exec(panel?.targets?.[0]?.expr ?? '')?.[1] ?? '';
      assert.ok(matcher.split('|').includes(name), `${name} in ${uid}`);
      assert.ok(panel?.description?.includes(name), `${name} in the text of ${uid}`);
    }
    for (const { uid, alerts } of places) {
      const panel = committed
        .find((one) => one.uid === uid)
        ?.panels.find(({ title }) => title === 'Alerts that lead here');
      const shown = /alert=~"([^"]+)"/.exec(panel?.targets?.[0]?.expr ?? '')?.[1]?.split('|') ?? [];
      assert.deepEqual(shown.sort(), [...alerts].sort(), `${uid} shows exactly its own`);
    }
  });

  test('a link names the dashboard and its variables, and leaves out what is unknown', () => {
    assert.equal(
      dashboardUrl('https://g.example', dashboardOf(ALERT.errorBudgetBurn), { slo: 'a b', cluster: undefined }),
      'https://g.example/d/slowburn-slo/slowburn-slo-detail?var-slo=a%20b',
    );
    assert.equal(dashboardOf('SomebodyElses').uid, 'slowburn-fleet');
  });
});

describe('the lint finds what is planted', () => {
  type Plant = readonly [rule: string, plant: (dashboard: DashboardFile) => unknown];
  const panelOf = ({ panels }: DashboardFile, type: string) => {
    const panel = panels.find((one) => one.type === type);
    assert.ok(panel !== undefined);
    return panel;
  };
  const exprTo = (expr: string) => (dashboard: DashboardFile) =>
    Object.assign(panelOf(dashboard, 'timeseries').targets?.[0] ?? {}, { expr });
  const J = 'job=~"$job", instance=~"$instance"';
  const plants: readonly Plant[] = [
    ['model', (one) => Object.assign(one, { __inputs: [] })],
    ['model', (one) => Object.assign(one, { id: 7 })],
    ['model', (one) => Object.assign(one, { graphTooltip: 0 })],
    ['uneditable-dashboard', (one) => Object.assign(one, { editable: true })],
    ['template-datasource', (one) => Object.assign(one.templating.list[0] ?? {}, { name: 'DS' })],
    ['template-datasource', (one) => Object.assign(one.templating.list[1] ?? {}, { datasource: { uid: 'abc' } })],
    ['datasource-written-out', (one) => Object.assign(one.templating.list[1] ?? {}, { datasource: { uid: 'abc' } })],
    ['template-job', (one) => Object.assign(one.templating.list[1] ?? {}, { label: 'Job' })],
    ['template-instance', (one) => Object.assign(one.templating.list[2] ?? {}, { multi: false })],
    ['template-on-time-change-reload', (one) => Object.assign(one.templating.list[1] ?? {}, { refresh: 1 })],
    [
      'template-label-promql',
      (one) => Object.assign(one.templating.list[1] ?? {}, { query: { query: 'label_values(x' } }),
    ],
    ['panel-datasource', (one) => Object.assign(panelOf(one, 'stat'), { datasource: { uid: 'abc' } })],
    ['panel-title-description', (one) => Object.assign(panelOf(one, 'stat'), { description: '' })],
    ['panel-units', (one) => Object.assign(panelOf(one, 'timeseries').fieldConfig?.defaults ?? {}, { unit: 'apples' })],
    ['panel-no-targets', (one) => Object.assign(panelOf(one, 'stat'), { targets: [] })],
    ['panel-angular', (one) => Object.assign(panelOf(one, 'timeseries'), { type: 'graph' })],
    ['panel-ids', (one) => Object.assign(panelOf(one, 'stat'), { id: 0 })],
    ['panel-refids', (one) => Object.assign(panelOf(one, 'table').targets?.[1] ?? {}, { refId: 'A' })],
    ['grid', (one) => Object.assign(panelOf(one, 'table').gridPos, { y: 0 })],
    ['grid', (one) => Object.assign(panelOf(one, 'table').gridPos, { w: 25 })],
    [
      'thresholds',
      (one) => Object.assign(panelOf(one, 'stat').fieldConfig?.defaults.thresholds?.steps[0] ?? {}, { value: 0 }),
    ],
    ['budget-clamped', (one) => Object.assign(panelOf(one, 'timeseries').fieldConfig?.defaults ?? {}, { min: 0 })],
    ['target-job', exprTo('sum(slowburn_series{instance=~"$instance"})')],
    ['target-instance', exprTo('sum(slowburn_series{job=~"$job"})')],
    ['target-job', exprTo('sum(rate(slowburn_ticks_total[$__rate_interval]))')],
    ['target-counter-agg', exprTo(`sum(slowburn_ticks_total{${J}})`)],
    ['rate-of-gauge', exprTo(`sum(rate(slowburn_series{${J}}[$__rate_interval]))`)],
    ['target-rate-interval', exprTo(`sum(rate(slowburn_ticks_total{${J}}[5m]))`)],
    ['variable-equals', exprTo('sum(slowburn_series{job=~"$job", instance=~"$instance", x="$job"})')],
    ['variable-not-aggregated', exprTo(`slowburn_series{${J}}`)],
    ['target-promql', exprTo(`sum(slowburn_series{${J}, x=~"$nobody"})`)],
    ['data-link', (one) => Object.assign(one.templating.list[1] ?? {}, { name: 'slo' })],
  ];

  for (const [index, [rule, plant]] of plants.entries()) {
    test(`${rule} (${index})`, () => {
      const dashboards = copy();
      const fleet = dashboards.find(({ uid }) => uid === 'slowburn-fleet');
      assert.ok(fleet !== undefined);
      plant(fleet);
      const found = lint(dashboards).map((finding) => finding.rule);
      assert.ok(found.includes(rule), `found ${found.join()}`);
    });
  }

  test('an exclusion that excludes nothing, a heatmap that is none, and a link that leads nowhere', () => {
    const unused = { rule: 'target-job', file: 'slowburn-fleet.json', reason: 'none at all' };
    assert.deepEqual(
      lint(committed, [...EXCLUSIONS, unused]).map(({ rule }) => rule),
      ['exclusion-unused'],
    );
    assert.equal(lint(committed, []).length, 4, 'without the exclusions');
    const dashboards = copy();
    const heatmap = dashboards.flatMap(({ panels }) => panels).find(({ type }) => type === 'heatmap');
    Object.assign(heatmap?.targets?.[0] ?? {}, { format: 'time_series' });
    assert.ok(lint(dashboards).some(({ rule }) => rule === 'heatmap'));
    const withoutDetail = committed.filter(({ uid }) => uid !== 'slowburn-slo');
    assert.ok(lint(withoutDetail).some(({ rule }) => rule === 'data-link'));
  });

  test('a variable that is not there cannot be put in', () => {
    assert.throws(() => substituted('sum(x{y=~"$z"})', []), /no variable z/);
    const stage = { name: 'stage', label: '', type: 'custom', query: 'tls,write' };
    assert.deepEqual(substituted('a_$' + '{stage}[$__rate_interval]', [stage]), ['a_tls[1m]', 'a_write[1m]']);
  });
});
