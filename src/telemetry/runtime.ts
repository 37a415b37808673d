import { monitorEventLoopDelay, type PerformanceEntry, PerformanceObserver, performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { type Meter, metrics as metricsApi } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { NodeSDK, resources } from '@opentelemetry/sdk-node';

export interface RuntimeMetrics {
  readonly contentType: string;
  render(): Promise<string>;
  /** Stops measuring. Safe to call twice. */
  shutdown(): Promise<void>;
}

/**
 * The health of the process itself, measured with OpenTelemetry under the names of its conventions and rendered on
 * demand. It opens no port and sends nothing: exporters that the OTEL_ variables name for metrics, traces or logs
 * stay unused.
 */
export function createRuntimeMetrics({ version }: { version: string }): RuntimeMetrics {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const sdk = new NodeSDK({
    autoDetectResources: false,
    resource: resources.resourceFromAttributes({ 'service.name': 'slowburn', 'service.version': version }),
    metricReaders: [exporter],
    spanProcessors: [],
    logRecordProcessors: [],
    instrumentations: [],
    textMapPropagator: null,
  });
  // The registration is global and the first one wins; a second app of one process must not report to the first.
  metricsApi.disable();
  sdk.start();
  const provider = metricsApi.getMeterProvider();
  const measuring = provider instanceof MeterProvider;
  const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);
  const stopMeasuring = measureProcess(provider.getMeter('slowburn', version));
  let stopped = false;

  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    async render() {
      if (stopped || !measuring) return '# OpenTelemetry is off (OTEL_SDK_DISABLED) or has been shut down.\n';
      const { resourceMetrics } = await exporter.collect();
      return serializer.serialize(resourceMetrics);
    },
    async shutdown() {
      if (stopped) return;
      stopped = true;
      stopMeasuring();
      if (metricsApi.getMeterProvider() === provider) metricsApi.disable();
      await sdk.shutdown();
    },
  };
}

const NANOSECONDS = 1e9;
const DELAY_RESOLUTION_MS = 10;

/** Registers the instruments; returns what stops them. */
function measureProcess(meter: Meter): () => void {
  const stops = [measureEventLoop(meter), measureGarbageCollection(meter)];
  measureCpuAndMemory(meter);
  return () => {
    for (const stop of stops) stop();
  };
}

/** Delay and use of the event loop since the last scrape. */
function measureEventLoop(meter: Meter): () => void {
  const histogram = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  histogram.enable();
  const unit = 's';
  const gauge = (name: string, text: string) =>
    meter.createObservableGauge(`nodejs.eventloop.delay.${name}`, { unit, description: `Event loop ${text}.` });
  const min = gauge('min', 'minimum delay');
  const max = gauge('max', 'maximum delay');
  const mean = gauge('mean', 'mean delay');
  const p50 = gauge('p50', '50th percentile delay');
  const p90 = gauge('p90', '90th percentile delay');
  const p99 = gauge('p99', '99th percentile delay');
  meter.addBatchObservableCallback(
    (result) => {
      // Before the first measurement the histogram holds its limits and NaN, which mean nothing.
      if (histogram.count > 0) {
        result.observe(min, histogram.min / NANOSECONDS);
        result.observe(max, histogram.max / NANOSECONDS);
        result.observe(mean, histogram.mean / NANOSECONDS);
        result.observe(p50, histogram.percentile(50) / NANOSECONDS);
        result.observe(p90, histogram.percentile(90) / NANOSECONDS);
        result.observe(p99, histogram.percentile(99) / NANOSECONDS);
      }
      histogram.reset();
    },
    [min, max, mean, p50, p90, p99],
  );

  let last = performance.eventLoopUtilization();
  const description = 'Share of time that the event loop was busy since the last scrape.';
  meter.createObservableGauge('nodejs.eventloop.utilization', { unit: '1', description }).addCallback((result) => {
    const now = performance.eventLoopUtilization();
    result.observe(performance.eventLoopUtilization(now, last).utilization);
    last = now;
  });
  return () => histogram.disable();
}

const GC_TYPES: Readonly<Record<number, string>> = { 1: 'minor', 4: 'major', 8: 'incremental', 16: 'weakcb' };

/** What Node adds to an entry of type gc. */
type GcEntry = PerformanceEntry & { readonly detail?: { readonly kind?: number } };

function measureGarbageCollection(meter: Meter): () => void {
  const duration = meter.createHistogram('v8js.gc.duration', {
    unit: 's',
    description: 'Garbage collection duration.',
    advice: { explicitBucketBoundaries: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1] },
  });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const kind = (entry as GcEntry).detail?.kind ?? 0;
      duration.record(entry.duration / 1000, { 'v8js.gc.type': GC_TYPES[kind] ?? 'other' });
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}

function measureCpuAndMemory(meter: Meter): void {
  const cpu = { unit: 's', description: 'CPU time used, by mode.' };
  meter.createObservableCounter('process.cpu.time', cpu).addCallback((result) => {
    const { user, system } = process.cpuUsage();
    result.observe(user / 1e6, { 'cpu.mode': 'user' });
    result.observe(system / 1e6, { 'cpu.mode': 'system' });
  });
  const resident = { unit: 'By', description: 'Physical memory in use.' };
  meter.createObservableUpDownCounter('process.memory.usage', resident).addCallback((result) => {
    result.observe(process.memoryUsage.rss());
  });
  const uptime = { unit: 's', description: 'Time since the process started.' };
  meter.createObservableGauge('process.uptime', uptime).addCallback((result) => result.observe(process.uptime()));

  const used = meter.createObservableUpDownCounter('v8js.memory.heap.used', {
    unit: 'By',
    description: 'Heap in use, by space.',
  });
  const limit = meter.createObservableUpDownCounter('v8js.memory.heap.limit', {
    unit: 'By',
    description: 'Heap held, by space.',
  });
  meter.addBatchObservableCallback(
    (result) => {
      for (const space of getHeapSpaceStatistics()) {
        const attributes = { 'v8js.heap.space.name': space.space_name };
        result.observe(used, space.space_used_size, attributes);
        result.observe(limit, space.space_size, attributes);
      }
    },
    [used, limit],
  );
}
