import { setTimeout as sleep } from 'node:timers/promises';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { OTLPMetricExporter as GrpcExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import {
  AggregationTemporalityPreference,
  OTLPMetricExporter as JsonExporter,
} from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { createPrng, type Prng } from '../../src/base/prng.ts';
import { type RunningService, startService } from '../support/service.ts';

const TRANSPORTS = ['protobuf', 'json', 'grpc'] as const;
const TEMPORALITIES = ['cumulative', 'delta'] as const;
const INSTANCES = 2;
const EXPORTS = 4;
const REQUESTS_PER_EXPORT = 500;
const THRESHOLD_S = 0.3;
/** The service evaluates every 10 s. */
const SETTLE_MS = 40_000;

type Transport = (typeof TRANSPORTS)[number];
type Temporality = (typeof TEMPORALITIES)[number];

const sloFile = (name: string, ratio: string): string => `apiVersion: openslo/v1
kind: SLO
metadata:
  name: ${name}
  annotations: { slowburn/group-by: lb.upstream.cluster }
spec:
  service: interop
  indicator:
    metadata: { name: ${name} }
    spec:
      ratioMetric:
        counter: true
${ratio}
  timeWindow: [{ duration: 30d, isRolling: true }]
  budgetingMethod: Occurrences
  objectives: [{ target: 0.99 }]
`;

const metricLine = (role: string, spec: string): string =>
  `        ${role}: { metricSource: { type: slowburn, spec: { ${spec} } } }`;

const SLOS = {
  counted: sloFile(
    'counted',
    [
      metricLine('bad', 'metric: lb.requests, where: { lb.side: downstream, lb.response.class: 5xx }'),
      metricLine('total', 'metric: lb.requests, where: { lb.side: downstream }'),
    ].join('\n'),
  ),
  timed: sloFile(
    'timed',
    [
      metricLine('good', `metric: http.server.request.duration, threshold: ${THRESHOLD_S}`),
      metricLine('total', 'metric: http.server.request.duration'),
    ].join('\n'),
  ),
  answered: sloFile(
    'answered',
    [
      metricLine('bad', 'metric: http.server.request.duration, where: { http.response.status_code: "~5.." }'),
      metricLine('total', 'metric: http.server.request.duration'),
    ].join('\n'),
  ),
};

interface Events {
  good: number;
  bad: number;
}

/** What was recorded, by SLO and cluster. */
type Recorded = Map<string, Events>;

function add(recorded: Recorded, slo: string, cluster: string, isGood: boolean): void {
  const key = `${slo} ${cluster}`;
  const events = recorded.get(key) ?? { good: 0, bad: 0 };
  if (isGood) events.good += 1;
  else events.bad += 1;
  recorded.set(key, events);
}

/**
 * The official OpenTelemetry SDK for JavaScript with its three OTLP exporters pushes histograms and counters from
 * several instances, cumulative and delta, plain and gzip, with a restart in between; the SLOs must count exactly what
 * was recorded.
 */
export async function run(): Promise<boolean> {
  const problems: string[] = [];
  const report = (message: string): void => void problems.push(`the SDK reported: ${message}`);
  diag.setLogger({ error: report, warn: report, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN);
  const service = await startService(SLOS);
  let matched = false;
  try {
    const recorded: Recorded = new Map();
    const prng = createPrng(20_261_201);
    for (const transport of TRANSPORTS) {
      for (const temporality of TEMPORALITIES) {
        for (let instance = 0; instance < INSTANCES; instance++) {
          // What the SDK could not deliver it tries again for a long time: one such instance is enough.
          if (problems.length === 0) await push({ service, transport, temporality, instance, prng, recorded });
        }
      }
    }
    matched = await compare(service, recorded);
  } finally {
    diag.disable();
    const code = await service.stop();
    if (code !== 0) problems.push(`the service ended with ${code}:\n${service.stderr()}`);
    for (const problem of problems) print(problem);
  }
  return matched && problems.length === 0;
}

interface Push {
  readonly service: RunningService;
  readonly transport: Transport;
  readonly temporality: Temporality;
  readonly instance: number;
  readonly prng: Prng;
  readonly recorded: Recorded;
}

/** One instance: records, exports, and starts afresh half way, as a process that is restarted does. */
async function push(options: Push): Promise<void> {
  const { prng, recorded, transport, temporality } = options;
  const cluster = `${transport}-${temporality}`;
  let provider = createProvider(options);
  let instruments = createInstruments(provider);
  for (let index = 0; index < EXPORTS; index++) {
    if (index === EXPORTS / 2) {
      await provider.shutdown();
      provider = createProvider(options);
      instruments = createInstruments(provider);
    }
    for (let request = 0; request < REQUESTS_PER_EXPORT; request++) {
      const status = [200, 204, 404, 500, 503][prng.below(5)] ?? 200;
      // A third lies exactly at the threshold, which is still good.
      const durationS = prng.below(3) === 0 ? THRESHOLD_S : prng.next();
      const isError = status >= 500;
      const shared = { 'lb.upstream.cluster': cluster };
      instruments.duration.record(durationS, { ...shared, 'http.response.status_code': status });
      const responseClass = `${Math.floor(status / 100)}xx`;
      instruments.requests.add(1, { ...shared, 'lb.side': 'downstream', 'lb.response.class': responseClass });
      add(recorded, 'timed', cluster, durationS <= THRESHOLD_S);
      add(recorded, 'answered', cluster, !isError);
      add(recorded, 'counted', cluster, !isError);
    }
    await provider.forceFlush();
    await sleep(20);
  }
  await provider.shutdown();
}

function createProvider({ service, transport, temporality, instance }: Push): MeterProvider {
  // One instance of two compresses. The exporters read this when they are made.
  process.env['OTEL_EXPORTER_OTLP_COMPRESSION'] = instance % 2 === 0 ? 'gzip' : 'none';
  const temporalityPreference =
    temporality === 'delta' ? AggregationTemporalityPreference.DELTA : AggregationTemporalityPreference.CUMULATIVE;
  const reader = new PeriodicExportingMetricReader({
    exporter: createExporter(service, transport, temporalityPreference),
    exportIntervalMillis: 3_600_000,
    exportTimeoutMillis: 10_000,
  });
  const resource = resourceFromAttributes({
    'service.name': 'interop',
    'service.instance.id': `${transport}-${temporality}-${instance}`,
  });
  return new MeterProvider({ resource, readers: [reader] });
}

function createExporter(
  { ports }: RunningService,
  transport: Transport,
  temporalityPreference: AggregationTemporalityPreference,
): PushMetricExporter {
  const url = `http://127.0.0.1:${ports.otlpHttp}/v1/metrics`;
  switch (transport) {
    case 'protobuf':
      return new ProtobufExporter({ url, temporalityPreference });
    case 'json':
      return new JsonExporter({ url, temporalityPreference });
    case 'grpc':
      return new GrpcExporter({ url: `http://127.0.0.1:${ports.otlpGrpc}`, temporalityPreference });
  }
}

function createInstruments(provider: MeterProvider) {
  const meter = provider.getMeter('slowburn-interop', '1.0.0');
  const explicitBucketBoundaries = [0.01, 0.1, THRESHOLD_S, 0.5, 1];
  return {
    duration: meter.createHistogram('http.server.request.duration', {
      unit: 's',
      advice: { explicitBucketBoundaries },
    }),
    requests: meter.createCounter('lb.requests', { unit: '{request}' }),
  };
}

interface SloPage {
  readonly items: readonly {
    readonly id: string;
    readonly groups: readonly {
      readonly labels: Readonly<Record<string, string>>;
      readonly good: number;
      readonly bad: number;
      readonly total: number;
    }[];
  }[];
}

/** Prints recorded beside counted, once they agree or the service has had time enough. */
async function compare(service: RunningService, recorded: Recorded): Promise<boolean> {
  const deadline = Date.now() + SETTLE_MS;
  for (;;) {
    const counted = await fetchCounted(service);
    const rows = [...recorded].map(([key, { good, bad }]) => {
      const want = `${good}/${bad}/${good + bad}`;
      const got = counted.get(key) ?? 'nothing';
      return { key, want, got };
    });
    const matched = rows.every(({ want, got }) => want === got);
    if (matched || Date.now() > deadline) {
      print(`${'SLO and cluster'.padEnd(32)}${'recorded good/bad/total'.padEnd(28)}counted`);
      for (const { key, want, got } of rows) {
        print(`${key.padEnd(32)}${want.padEnd(28)}${got}${want === got ? '' : '   <- differs'}`);
      }
      return matched;
    }
    await sleep(500);
  }
}

async function fetchCounted({ ports }: RunningService): Promise<Map<string, string>> {
  const response = await fetch(`http://127.0.0.1:${ports.http}/api/v1/slos`);
  if (!response.ok) throw new Error(`GET /api/v1/slos answered ${response.status}: ${await response.text()}`);
  const page = (await response.json()) as SloPage;
  const counted = new Map<string, string>();
  for (const { id, groups } of page.items) {
    for (const { labels, good, bad, total } of groups) {
      counted.set(`${id} ${labels['lb.upstream.cluster'] ?? ''}`, `${good}/${bad}/${total}`);
    }
  }
  return counted;
}

const ignore = (): void => undefined;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
