import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { BalancerState } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { GroupStatus } from '../burn/status.ts';
import type { Alert } from '../model/alert.ts';
import type { Incident } from '../model/incident.ts';
import type { ReceiverMetrics } from '../otlp/consumer.ts';
import { renderFamilies } from './exposition.ts';
import { type FleetSource, fleetFamilies } from './fleet-families.ts';
import { type ReceiverState, receiverFamilies } from './receiver-families.ts';
import { sloFamilies } from './slo-families.ts';
import { stateFamilies } from './state-families.ts';

/** What is read at each scrape. */
export interface MetricsSource {
  statuses(): readonly GroupStatus[];
  /** Alerts that fire now. */
  firing(): readonly Alert[];
  /** Incidents that are not resolved. */
  incidents(): readonly Incident[];
  balancers(): readonly BalancerState[];
  fleet(): FleetSource;
  /** Points since the start by what became of them: accepted, rejected by reason, and so on. */
  pointCounts(): ReadonlyMap<string, number>;
  seriesCount(): number;
  /** Alerts raised elsewhere that are held, those that ended lately included. */
  foreignAlerts(): number;
  receivers(): readonly ReceiverState[];
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The product's own series at /metrics, and where the parts count. docs/metrics.md describes each. */
export interface ProductMetrics extends ReceiverMetrics {
  readonly contentType: string;
  /** One tick has run, or failed. */
  tick(at: EpochMs, durationSeconds: number, failed: boolean): void;
  /** One attempt to send: `result` is what came of it (`delivered`, `retry`, `dead`). */
  notification(receiver: string, result: string): void;
  /** One sync of the ingest log: the bytes and the appends that shared it. */
  logSync(bytes: number, appends: number): void;
  /** What came of the alerts of one message of another system. */
  foreignReceived(way: Way, received: ForeignCounts): void;
  render(): Promise<string>;
}

type Way = (typeof WAYS)[number];
/** How many alerts of a message came to what. */
export type ForeignCounts = Readonly<Record<'accepted' | 'ignored' | 'bad' | 'overLimit', number>>;

const WAYS = ['alerts', 'webhook'] as const;
const TRANSPORTS = ['http', 'grpc'] as const;
const OUTCOMES = [
  'accepted',
  'malformed',
  'unauthenticated',
  'too_large',
  'unsupported',
  'unavailable',
] as const satisfies readonly Parameters<ReceiverMetrics['request']>[1][];

const DURATION_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Counters live in a registry of their own, never in the global one; what describes the present (SLOs, alerts,
 * incidents, the fleet) is read from `source` at each scrape and written without the registry, which would keep
 * series of what has gone.
 */
export function createProductMetrics(options: { version: string; source: MetricsSource }): ProductMetrics {
  const { source } = options;
  const registry = new Registry();
  const { ticks, tickDuration, lastTick } = tickMetrics(registry);
  const { requests, bytes } = receiverMetrics(registry);
  const { logBytes, logAppends, logSyncs } = logMetrics(registry);
  const foreignReceived = foreignMetrics(registry);
  const notifications = new Counter({
    name: 'slowburn_notifications_total',
    help: 'Attempts to send, by receiver and what its answer meant.',
    labelNames: ['receiver', 'result'],
    registers: [registry],
  });
  new Gauge({
    name: 'slowburn_build_info',
    help: 'Always 1: the version that runs.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: options.version }, 1);

  return {
    contentType: registry.contentType,
    request(transport, outcome, size) {
      requests.inc({ transport, outcome });
      bytes.inc({ transport }, size);
    },
    tick(at, durationSeconds, failed) {
      ticks.inc({ result: failed ? 'failed' : 'ok' });
      tickDuration.observe(durationSeconds);
      lastTick.set(at / 1000);
    },
    foreignReceived,
    notification: (receiver, result) => notifications.inc({ receiver, result }),
    logSync(size, appends) {
      logBytes.inc(size);
      logAppends.inc(appends);
      logSyncs.inc();
    },
    async render() {
      const present = await renderFamilies([
        ...stateFamilies(source),
        ...receiverFamilies(source.receivers(), source.now()),
        ...sloFamilies(source.statuses()),
        ...fleetFamilies(source.fleet(), epochMs(source.now())),
      ]);
      return `${await registry.metrics()}${present}`;
    },
  };
}

function tickMetrics(registry: Registry) {
  const registers = [registry];
  const ticks = new Counter({
    name: 'slowburn_ticks_total',
    help: 'Evaluations since the start, by result.',
    labelNames: ['result'],
    registers,
  });
  for (const result of ['ok', 'failed']) ticks.inc({ result }, 0);
  const tickDuration = new Histogram({
    name: 'slowburn_evaluation_duration_seconds',
    help: 'Time that one evaluation of everything took.',
    buckets: DURATION_BUCKETS,
    registers,
  });
  const lastTick = new Gauge({
    name: 'slowburn_last_tick_timestamp_seconds',
    help: 'Time of the last evaluation; 0 before the first.',
    registers,
  });
  return { ticks, tickDuration, lastTick };
}

function receiverMetrics(registry: Registry) {
  const registers = [registry];
  const requests = new Counter({
    name: 'slowburn_otlp_requests_total',
    help: 'OTLP requests by transport and outcome.',
    labelNames: ['transport', 'outcome'],
    registers,
  });
  const bytes = new Counter({
    name: 'slowburn_otlp_request_bytes_total',
    help: 'Bytes of OTLP requests as received, by transport.',
    labelNames: ['transport'],
    registers,
  });
  for (const transport of TRANSPORTS) {
    bytes.inc({ transport }, 0);
    for (const outcome of OUTCOMES) requests.inc({ transport, outcome }, 0);
  }
  return { requests, bytes };
}

function logMetrics(registry: Registry) {
  const counter = (name: string, help: string) => new Counter({ name, help, registers: [registry] });
  return {
    logBytes: counter('slowburn_ingest_log_bytes_total', 'Bytes written to the ingest log.'),
    logAppends: counter('slowburn_ingest_log_appends_total', 'Requests written to the ingest log.'),
    logSyncs: counter('slowburn_ingest_log_syncs_total', 'Syncs of the ingest log; several requests share one.'),
  };
}

function foreignMetrics(registry: Registry): ProductMetrics['foreignReceived'] {
  const alerts = new Counter({
    name: 'slowburn_foreign_alerts_total',
    help: 'Alerts that other systems sent, by the way they came and what became of them.',
    labelNames: ['way', 'result'],
    registers: [registry],
  });
  const count: ProductMetrics['foreignReceived'] = (way, { accepted, ignored, bad, overLimit }) => {
    alerts.inc({ way, result: 'accepted' }, accepted);
    alerts.inc({ way, result: 'ignored' }, ignored);
    alerts.inc({ way, result: 'bad' }, bad);
    alerts.inc({ way, result: 'over_limit' }, overLimit);
  };
  for (const way of WAYS) count(way, { accepted: 0, ignored: 0, bad: 0, overLimit: 0 });
  return count;
}
