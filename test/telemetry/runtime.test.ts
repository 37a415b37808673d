import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createRuntimeMetrics, type RuntimeMetrics } from '../../src/telemetry/runtime.ts';
import { parsePrometheusText, type Scraped, sampleOf } from '../support/prometheus-text.ts';

const root = join(import.meta.dirname, '../..');

function start(t: TestContext): RuntimeMetrics {
  const metrics = createRuntimeMetrics({ version: '1.2.3' });
  t.after(() => metrics.shutdown());
  return metrics;
}

/** Enough of a life for the event loop to be measured and the garbage collector to be heard. */
async function live(): Promise<void> {
  let garbage: number[][] = [];
  for (let round = 0; round < 200; round += 1) {
    garbage.push(Array.from({ length: 10_000 }, (_, index) => index));
    if (garbage.length > 20) garbage = [];
  }
  await delay(200);
}

const scrape = async (metrics: RuntimeMetrics): Promise<ReadonlyMap<string, Scraped>> =>
  parsePrometheusText(`${(await metrics.render()).trimEnd()}\n`);

describe('the health of the process', () => {
  test('every figure is there and could be true', async (t) => {
    const metrics = start(t);
    await live();
    const families = await scrape(metrics);
    const at = (name: string, labels = {}): number => sampleOf(families, name, labels) ?? Number.NaN;
    assert.equal(at('target_info', { service_name: 'slowburn', service_version: '1.2.3' }), 1);
    // Percentiles come from buckets three digits wide; the minimum is exact.
    assert.ok(at('nodejs_eventloop_delay_min') <= at('nodejs_eventloop_delay_p50') * 1.01);
    assert.ok(at('nodejs_eventloop_delay_p50') <= at('nodejs_eventloop_delay_p99') * 1.01);
    assert.ok(at('nodejs_eventloop_delay_max') > 0.001 && at('nodejs_eventloop_delay_max') < 60, 'seconds');
    assert.ok(at('nodejs_eventloop_utilization') > 0 && at('nodejs_eventloop_utilization') <= 1);
    assert.ok(at('process_cpu_time_total', { cpu_mode: 'user' }) > 0.01);
    assert.ok(at('process_memory_usage') > 10_000_000);
    assert.ok(at('process_uptime') > 0 && at('process_uptime') <= process.uptime());
    assert.ok(at('v8js_memory_heap_used', { v8js_heap_space_name: 'old_space' }) > 1_000_000);
    const collections = families.get('v8js_gc_duration')?.samples.filter(({ name }) => name.endsWith('_count')) ?? [];
    assert.ok(collections.some(({ labels, value }) => labels['v8js_gc_type'] === 'minor' && value > 0));
  });

  test('a second instance in one process measures on its own, also after the first has stopped', async (t) => {
    const first = start(t);
    const second = start(t);
    await live();
    assert.ok((await scrape(first)).has('process_uptime'));
    await first.shutdown();
    assert.ok((await scrape(second)).has('process_uptime'));
    assert.match(await first.render(), /^# OpenTelemetry is off/);
    await first.shutdown();
  });

  test('docs/metrics.md describes every metric, and none that is not there', async (t) => {
    const metrics = start(t);
    await live();
    const text = readFileSync(join(root, 'docs/metrics.md'), 'utf8');
    const rows = [...text.slice(text.indexOf('## /metrics/runtime')).matchAll(/^\| `(\w+)` \| (\w+) \|([^|]*)\|/gm)];
    const documented = rows.map(([, name, type, labels]) => `${name} ${type} ${labels?.trim()}`);
    const rendered = [...(await scrape(metrics))].map(([name, { type, samples }]) => {
      const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)).filter((label) => label !== 'le'));
      return `${name} ${type} ${[...labels].join(', ')}`;
    });
    assert.deepEqual(documented.sort(), rendered.sort());
  });
});

/** Runs a script in a process of its own, with OTEL_ variables that ask for everything. */
async function inChild(script: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      `import { createRuntimeMetrics } from './src/telemetry/runtime.ts'; ${script}`,
    ],
    { cwd: root, env: { ...process.env, ...env } },
  );
  return stdout;
}

describe('nothing leaves the process', () => {
  test('no port is opened and no exporter that OTEL_ variables name is used', async (t) => {
    const requests: string[] = [];
    const collector = createServer((request, response) => {
      requests.push(String(request.url));
      response.end();
    }).listen(0, '127.0.0.1');
    await new Promise((done) => collector.once('listening', done));
    t.after(() => collector.close());
    const { port } = collector.address() as AddressInfo;
    const script = `
      import { trace } from '@opentelemetry/api';
      const metrics = createRuntimeMetrics({ version: '1' });
      trace.getTracer('x').startSpan('y').end();
      await new Promise((done) => setTimeout(done, 300));
      console.log((await metrics.render()).includes('process_uptime '));
      console.log(process.getActiveResourcesInfo().filter((one) => /TCP/.test(one)).length);
      await metrics.shutdown();`;
    const output = await inChild(script, {
      OTEL_METRICS_EXPORTER: 'otlp,prometheus',
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_METRIC_EXPORT_INTERVAL: '50',
      OTEL_METRIC_EXPORT_TIMEOUT: '40',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    });
    assert.deepEqual(output.trim().split('\n'), ['true', '0']);
    assert.deepEqual(requests, []);
  });

  test('OTEL_SDK_DISABLED turns it off, and the page says so', async () => {
    const script = `
      const metrics = createRuntimeMetrics({ version: '1' });
      console.log(await metrics.render());
      await metrics.shutdown();`;
    assert.match(await inChild(script, { OTEL_SDK_DISABLED: 'true' }), /^# OpenTelemetry is off/);
  });

  test('a process ends by itself although it was measured', async () => {
    assert.equal(await inChild(`createRuntimeMetrics({ version: '1' }); console.log('end');`, {}), 'end\n');
  });
});
