import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { register } from 'prom-client';
import { epochMs, ms } from '../../src/base/units.ts';
import type { GroupStatus } from '../../src/burn/status.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { createProductMetrics, type MetricsSource } from '../../src/telemetry/metrics.ts';
import { fakeMetricsSource, fakeSlo, fakeStatus } from '../support/fake-metrics-source.ts';
import { parsePrometheusText, type Scraped, sampleOf } from '../support/prometheus-text.ts';

const create = (over: Partial<MetricsSource> = {}) =>
  createProductMetrics({ version: '1.2.3', source: fakeMetricsSource(over) });
const scrape = async (metrics: { render(): Promise<string> }): Promise<ReadonlyMap<string, Scraped>> =>
  parsePrometheusText(await metrics.render());

describe('what the parts count', () => {
  test('requests by transport and outcome, and their bytes; each pair is there from the start', async () => {
    const metrics = create();
    const before = await scrape(metrics);
    assert.equal(before.get('slowburn_otlp_requests_total')?.samples.length, 12);
    assert.equal(sampleOf(before, 'slowburn_otlp_requests_total', { transport: 'grpc', outcome: 'too_large' }), 0);
    metrics.request('http', 'accepted', 100);
    metrics.request('http', 'accepted', 50);
    metrics.request('grpc', 'malformed', 7);
    const after = await scrape(metrics);
    assert.equal(sampleOf(after, 'slowburn_otlp_requests_total', { transport: 'http', outcome: 'accepted' }), 2);
    assert.equal(sampleOf(after, 'slowburn_otlp_requests_total', { transport: 'grpc', outcome: 'malformed' }), 1);
    assert.equal(sampleOf(after, 'slowburn_otlp_request_bytes_total', { transport: 'http' }), 150);
    assert.equal(sampleOf(after, 'slowburn_otlp_request_bytes_total', { transport: 'grpc' }), 7);
  });

  test('ticks, their durations and the time of the last', async () => {
    const metrics = create();
    assert.equal(sampleOf(await scrape(metrics), 'slowburn_ticks_total', { result: 'failed' }), 0);
    metrics.tick(epochMs(1_767_225_600_000), 0.004, false);
    metrics.tick(epochMs(1_767_225_610_000), 0.2, true);
    const families = await scrape(metrics);
    assert.equal(sampleOf(families, 'slowburn_ticks_total', { result: 'ok' }), 1);
    assert.equal(sampleOf(families, 'slowburn_ticks_total', { result: 'failed' }), 1);
    assert.equal(sampleOf(families, 'slowburn_last_tick_timestamp_seconds'), 1_767_225_610);
    const duration = families.get('slowburn_evaluation_duration_seconds');
    const bucket = (le: string) => duration?.samples.find((sample) => sample.labels['le'] === le)?.value;
    assert.deepEqual([bucket('0.001'), bucket('0.005'), bucket('0.25'), bucket('+Inf')], [0, 1, 2, 2]);
  });

  test('notifications by receiver and result, and syncs of the ingest log', async () => {
    const metrics = create();
    metrics.notification('oncall', 'retry');
    metrics.notification('oncall', 'retry');
    metrics.notification('say "hi"\\', 'delivered');
    metrics.logSync(1000, 3);
    metrics.logSync(24, 1);
    const families = await scrape(metrics);
    const ofReceiver = (name: string, receiver: string) =>
      sampleOf(families, `slowburn_receiver_${name}`, { receiver });
    assert.equal(ofReceiver('pending', 'oncall'), 2);
    assert.equal(ofReceiver('oldest_pending_seconds', 'oncall'), 90);
    assert.equal(ofReceiver('oldest_pending_seconds', 'queue'), 0);
    assert.equal(ofReceiver('last_delivery_timestamp_seconds', 'oncall'), 0.5);
    assert.deepEqual([ofReceiver('failing', 'oncall'), ofReceiver('failing', 'queue')], [1, 0]);
    assert.equal(sampleOf(families, 'slowburn_notifications_total', { receiver: 'oncall', result: 'retry' }), 2);
    assert.equal(sampleOf(families, 'slowburn_notifications_total', { receiver: 'say "hi"\\' }), 1);
    assert.equal(sampleOf(families, 'slowburn_ingest_log_bytes_total'), 1024);
    assert.equal(sampleOf(families, 'slowburn_ingest_log_appends_total'), 4);
    assert.equal(sampleOf(families, 'slowburn_ingest_log_syncs_total'), 2);
  });

  test('two products in one process share nothing, not even a registry', async () => {
    const [one, other] = [create(), create()];
    one.notification('oncall', 'delivered');
    assert.equal(sampleOf(await scrape(other), 'slowburn_notifications_total'), undefined);
    assert.equal(register.getMetricsAsArray().length, 0);
  });
});

describe('what is read at each scrape', () => {
  test('points, series, balancers, alerts and incidents', async () => {
    const families = await scrape(create());
    assert.equal(sampleOf(families, 'slowburn_build_info', { version: '1.2.3' }), 1);
    assert.equal(sampleOf(families, 'slowburn_otlp_points_total', { result: 'accepted' }), 1000);
    assert.equal(sampleOf(families, 'slowburn_otlp_points_total', { result: 'rejected_late' }), 3);
    assert.equal(families.get('slowburn_otlp_points_total')?.type, 'counter');
    assert.equal(sampleOf(families, 'slowburn_series'), 42);
    assert.equal(sampleOf(families, 'slowburn_balancers', { state: 'reporting' }), 2);
    assert.equal(sampleOf(families, 'slowburn_balancers', { state: 'stale' }), 1);
    assert.equal(sampleOf(families, 'slowburn_alerts_firing', { alert: 'ErrorBudgetBurn', severity: 'page' }), 2);
    assert.equal(sampleOf(families, 'slowburn_alerts_firing', { alert: 'X', severity: 'ticket' }), 1);
    assert.equal(sampleOf(families, 'slowburn_alerts_firing', { alert: 'HostSkew', severity: 'ticket' }), 0);
    assert.equal(sampleOf(families, 'slowburn_incidents', { severity: 'page', state: 'open' }), 2);
    assert.equal(sampleOf(families, 'slowburn_incidents', { severity: 'page', state: 'acknowledged' }), 1);
    assert.equal(sampleOf(families, 'slowburn_incidents', { severity: 'ticket', state: 'open' }), 0);
  });

  test('an SLO group with its budget, burn and state', async () => {
    const families = await scrape(create());
    const group = {
      slo: 'checkout',
      group: 'lb.upstream.cluster=checkout,lb.upstream.zone=b',
      cluster: 'checkout',
      zone: 'b',
    };
    assert.equal(sampleOf(families, 'slowburn_slo_burn_rate', { ...group, window: '5m' }), 21.5);
    assert.equal(sampleOf(families, 'slowburn_slo_burn_rate', { window: '1h' }), undefined);
    assert.equal(sampleOf(families, 'slowburn_slo_budget_remaining_ratio', group), -9);
    assert.equal(sampleOf(families, 'slowburn_slo_sli_ratio', group), 0.99);
    assert.equal(sampleOf(families, 'slowburn_slo_exhaustion_seconds', group), 111_600.5);
    assert.equal(sampleOf(families, 'slowburn_slo_window_events', { ...group, outcome: 'good' }), 990);
    assert.equal(sampleOf(families, 'slowburn_slo_window_events', { ...group, outcome: 'bad' }), 10);
    assert.equal(sampleOf(families, 'slowburn_slo_coverage_ratio', group), 0.5);
    assert.equal(sampleOf(families, 'slowburn_slo_slice_coverage_ratio', group), 0.9);
    assert.equal(sampleOf(families, 'slowburn_slo_state', { ...group, state: 'measured' }), 1);
    assert.equal(sampleOf(families, 'slowburn_slo_state', { ...group, state: 'no_data' }), 0);
    assert.equal(sampleOf(families, 'slowburn_slo_tier_holding', { ...group, tier: '5d' }), 1);
    assert.equal(sampleOf(families, 'slowburn_slo_inconsistent', group), 0);
    const info = { slo: 'checkout', service: 'checkout', objective: '0.999', window: '30d', policy: 'countdown' };
    assert.equal(sampleOf(families, 'slowburn_slo_info', info), 1);
  });

  test('the fleet: totals by few labels, levels of now, config versions, certificates', async () => {
    const families = await scrape(create());
    const lb = { service_instance_id: 'lb-0' };
    assert.equal(sampleOf(families, 'lb_upstream_host_requests_total'), 7);
    assert.equal(families.get('lb_upstream_host_requests_total')?.type, 'counter');
    const backend = families.get('lb_stage_backend_duration_seconds')?.samples ?? [];
    assert.deepEqual(
      backend.map(({ name, labels, value }) => [name.replace(/.*_/, ''), labels['le'] ?? '', value]),
      [
        ['bucket', '0.1', 5],
        ['bucket', '1', 7],
        ['bucket', '+Inf', 8],
        ['sum', '', 3.5],
        ['count', '', 8],
      ],
    );
    assert.equal(sampleOf(families, 'lb_connections_active', lb), 100);
    assert.equal(sampleOf(families, 'lb_accept_queue_length', lb), 3);
    assert.equal(sampleOf(families, 'lb_cpu_utilization_ratio', lb), 0.25);
    assert.equal(sampleOf(families, 'lb_cpu_utilization_ratio', { service_instance_id: 'lb-9' }), 0.75);
    assert.equal(sampleOf(families, 'lb_upstream_hosts', { lb_host_state: 'healthy' }), 4);
    const versions = families.get('lb_config_info')?.samples.map(({ labels }) => labels['lb_config_version']);
    assert.deepEqual(versions, ['v2'], 'only what runs now');
    assert.equal(sampleOf(families, 'slowburn_config_rollout_timestamp_seconds', { lb_config_version: 'v2' }), 30);
    assert.equal(sampleOf(families, 'lb_tls_certificate_not_after_seconds'), 1_000_000);
    const stages = families.get('slowburn_balancer_stage_info')?.samples.map(({ labels }) => labels['fidelity']);
    assert.deepEqual(stages, ['absent', 'absent', 'absent', 'absent', 'absent']);
  });

  test('what is unknown has no series: a null is never drawn as zero', async () => {
    const unknown = fakeStatus({
      state: 'no_data',
      slices: null,
      sli: null,
      budgetRemaining: null,
      burn: new Map([['5m', null]]),
      exhaustion: { exhausted: false, until: null, low: null, high: null, pace: null, recoversAt: null },
      tiersHolding: [],
    });
    const families = await scrape(create({ statuses: () => [unknown] }));
    const names = ['burn_rate', 'budget_remaining_ratio', 'sli_ratio', 'exhaustion_seconds', 'tier_holding'];
    for (const name of [...names, 'slice_coverage_ratio']) {
      assert.deepEqual(families.get(`slowburn_slo_${name}`)?.samples, [], name);
    }
    const gone = { ...unknown, exhaustion: { ...unknown.exhaustion, exhausted: true, until: ms(0) } };
    const exhausted = await scrape(create({ statuses: () => [gone] }));
    assert.equal(sampleOf(exhausted, 'slowburn_slo_exhaustion_seconds'), 0);
  });

  test('what has gone leaves no series behind', async () => {
    let statuses: readonly GroupStatus[] = [fakeStatus(), fakeStatus({ slo: fakeSlo('old') })];
    const metrics = create({ statuses: () => statuses });
    assert.equal(sampleOf(await scrape(metrics), 'slowburn_slo_sli_ratio', { slo: 'old' }), 0.99);
    statuses = [fakeStatus()];
    const text = await metrics.render();
    assert.ok(!text.includes('"old"'));
    statuses = [];
    const empty = await scrape(metrics);
    assert.deepEqual(empty.get('slowburn_slo_info')?.samples, []);
  });

  test('any labels give a valid text in which different groups stay different', async () => {
    const unit = fc.constantFrom('a', ',', '=', '\\', '"', '\n', '{', '}', ' ', 'é');
    const text = fc.string({ unit, maxLength: 6 });
    const labels = fc.array(fc.tuple(text, text), { maxLength: 3 }).map((pairs) => labelsOf(pairs));
    const groups = fc.uniqueArray(labels, { maxLength: 8, selector: (one) => JSON.stringify([...one]) });
    await fc.assert(
      fc.asyncProperty(groups, async (sets) => {
        const families = await scrape(create({ statuses: () => sets.map((one) => fakeStatus({ labels: one })) }));
        const seen = families.get('slowburn_slo_sli_ratio')?.samples.map((sample) => sample.labels['group']);
        assert.equal(new Set(seen).size, sets.length);
      }),
      { numRuns: 50 },
    );
  });

  test('a long text is written in turns: other work runs before it is done', async () => {
    const statuses = Array.from({ length: 3000 }, (_, index) => fakeStatus({ slo: fakeSlo(`slo-${index}`) }));
    const metrics = create({ statuses: () => statuses });
    let turns = 0;
    let done = false;
    const count = (): void => {
      if (done) return;
      turns += 1;
      setImmediate(count);
    };
    setImmediate(count);
    const families = await scrape(metrics);
    done = true;
    assert.equal(families.get('slowburn_slo_sli_ratio')?.samples.length, 3000);
    assert.ok(turns >= 5, `${turns} turns`);
  });
});

describe('docs/metrics.md', () => {
  test('describes every metric of /metrics, and none that is not there', async () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');
    const documented = [...text.matchAll(/^\| `((?:slowburn|lb|http)_\w+)` \| (\w+) \|/gm)].map(
      (match) => `${match[1]} ${match[2]}`,
    );
    const families = await scrape(create());
    const rendered = [...families].map(([name, { type }]) => `${name} ${type}`);
    assert.deepEqual(documented.sort(), rendered.sort());
    for (const [name, { help }] of families) assert.ok(help.length > 0, name);
  });

  test('names the labels that each metric has', async () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');
    const metrics = create();
    metrics.notification('oncall', 'delivered');
    for (const [name, { samples }] of await scrape(metrics)) {
      const documented = new RegExp(`^\\| \`${name}\` \\| \\w+ \\|([^|]*)\\|`, 'm').exec(text)?.[1] ?? '?';
      const used = new Set(samples.flatMap((sample) => Object.keys(sample.labels)).filter((label) => label !== 'le'));
      assert.deepEqual(
        documented
          .split(',')
          .map((label) => label.trim())
          .filter(Boolean)
          .sort(),
        [...used].sort(),
        name,
      );
    }
  });
});
