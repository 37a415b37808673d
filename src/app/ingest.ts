import { gunzipSync } from 'node:zlib';
import { AppError } from '../base/app-error.ts';
import type { Clock } from '../base/clock.ts';
import type { MetricsConsumer, MetricsOutcome, MetricsRequest } from '../otlp/consumer.ts';
import { decodeJsonMetrics } from '../otlp/decode-json.ts';
import { decodeMetrics } from '../otlp/decode-metrics.ts';
import { Staging } from '../otlp/staging.ts';
import type { ApplyOutcome, SeriesIngest } from '../series/ingest.ts';
import type { IngestLog, IngestRecord, LogPosition } from '../store/ingest-log.ts';

export interface Ingest extends MetricsConsumer {
  /**
   * Applies records of the log again, at start; returns how many there were. Points that were refused then are
   * refused now.
   */
  recover(from: LogPosition | null): { readonly records: number; readonly points: number };
  /** Everything up to here has been applied: where a snapshot stands. */
  appliedPosition(): LogPosition;
}

/**
 * Decode to staging, append to the log, wait for the disk, apply, answer (design section 12). A request that cannot be
 * decoded leaves no trace; one whose record cannot be written is refused as retryable and is not applied.
 */
export function createIngest(deps: { series: SeriesIngest; log: IngestLog; clock: Clock }): Ingest {
  const idle: Staging[] = [];
  let applied: LogPosition = deps.log.end();

  const apply = (staging: Staging, record: Omit<IngestRecord, 'body'>): ApplyOutcome =>
    deps.series.apply(staging, {
      receivedAt: record.receivedAt,
      peer: record.peer,
      identityHeader: record.identityHeader,
    });

  const consume = async (request: MetricsRequest): Promise<MetricsOutcome> => {
    const staging = idle.pop() ?? new Staging();
    try {
      decodeMetrics(request.encoding === 'json' ? decodeJsonMetrics(request.body) : request.body, staging);
      const { transport, encoding, compression, peer, identityHeader } = request;
      const record = { receivedAt: deps.clock.now(), transport, encoding, compression, peer, identityHeader };
      // An empty request has nothing to keep.
      if (staging.pointCount > 0) applied = await deps.log.append({ ...record, body: request.received });
      const outcome = apply(staging, record);
      return { kind: 'accepted', points: outcome.points, rejectedPoints: outcome.rejected, message: outcome.message };
    } catch (error) {
      return { kind: 'refused', refusal: refusalOf(error) };
    } finally {
      idle.push(staging);
    }
  };

  const recover = (from: LogPosition | null): { records: number; points: number } => {
    const staging = new Staging();
    let records = 0;
    let points = 0;
    for (const { record, position } of deps.log.read(from)) {
      const inflated = record.compression === 'gzip' ? gunzipSync(record.body) : record.body;
      decodeMetrics(record.encoding === 'json' ? decodeJsonMetrics(inflated) : inflated, staging);
      points += apply(staging, record).points;
      records += 1;
      applied = position;
    }
    return { records, points };
  };

  return { consume, recover, appliedPosition: () => applied };
}

function refusalOf(error: unknown) {
  if (!(error instanceof AppError)) throw error;
  if (error.retryable) return { kind: 'unavailable' as const, code: error.code, message: error.message };
  return { kind: 'malformed' as const, code: error.code, message: error.message };
}
