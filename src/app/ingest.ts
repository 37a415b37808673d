import { gunzipSync } from 'node:zlib';
import { AppError } from '../base/app-error.ts';
import type { Clock } from '../base/clock.ts';
import type { MetricsConsumer, MetricsOutcome, MetricsRequest } from '../otlp/consumer.ts';
import { decodeJsonMetrics } from '../otlp/decode-json.ts';
import { decodeMetrics } from '../otlp/decode-metrics.ts';
import { Staging } from '../otlp/staging.ts';
import type { SeriesIngest } from '../series/ingest.ts';
import type { IngestLog, IngestRecord, LogPosition } from '../store/ingest-log.ts';
import type { BodyDecoder, DecodedBody } from './decode-body.ts';
import type { Turns } from './turns.ts';

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
 * decoded leaves no trace; one whose record cannot be written is refused as retryable and is not applied. Requests are
 * applied one after the other in the order of the log. No body holds the event loop for long: see decode-body.ts and
 * turns.ts.
 */
export function createIngest(deps: {
  series: SeriesIngest;
  log: IngestLog;
  clock: Clock;
  turns: Turns;
  bodies: BodyDecoder;
}): Ingest {
  const { turns, bodies } = deps;
  let applied: LogPosition = deps.log.end();

  function* applying(staging: Staging, record: Omit<IngestRecord, 'body'>, position: LogPosition | null) {
    const outcome = yield* deps.series.applyInSteps(staging, record);
    if (position !== null) applied = position;
    return outcome;
  }

  const consume = async (request: MetricsRequest): Promise<MetricsOutcome> => {
    let body: DecodedBody | undefined;
    try {
      body = await bodies.decode(request);
      const { staging } = body;
      const { transport, encoding, compression, peer, identityHeader } = request;
      const record = { receivedAt: deps.clock.now(), transport, encoding, compression, peer, identityHeader };
      // An empty request has nothing to keep.
      const position = staging.pointCount > 0 ? await deps.log.append({ ...record, body: request.received }) : null;
      const outcome = await turns.run(applying(staging, record, position));
      return { kind: 'accepted', points: outcome.points, rejectedPoints: outcome.rejected, message: outcome.message };
    } catch (error) {
      return { kind: 'refused', refusal: refusalOf(error) };
    } finally {
      body?.release();
    }
  };

  const recover = (from: LogPosition | null): { records: number; points: number } => {
    const staging = new Staging();
    let records = 0;
    let points = 0;
    for (const { record, position } of deps.log.read(from)) {
      const inflated = record.compression === 'gzip' ? gunzipSync(record.body) : record.body;
      decodeMetrics(record.encoding === 'json' ? decodeJsonMetrics(inflated) : inflated, staging);
      points += deps.series.apply(staging, record).points;
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
