import type { Staging } from '../otlp/staging.ts';
import { NOTED, type NotedReason, PASSED, type Refusal, type RejectedReason } from './reasons.ts';

const MESSAGE_REASONS_MAX = 10;
const NAMES_PER_REASON_MAX = 3;
const NAME_BYTES_MAX = 80;

interface Refused {
  points: number;
  readonly metrics: string[];
}

const lossy = new TextDecoder();

/**
 * Counts what became of points: `points` = `accepted` + every rejected reason + every passed reason. Noted reasons are
 * counted beside these.
 */
export class Tally {
  readonly totals = new Map<string, number>();
  readonly #refused = new Map<RejectedReason, Refused>();
  rejected = 0;
  #overflowing = 0;

  /** Starts the account of one request. */
  begin(): void {
    this.#refused.clear();
    this.rejected = 0;
    this.#overflowing = 0;
  }

  add(name: string, by: number): void {
    if (by !== 0) this.totals.set(name, (this.totals.get(name) ?? 0) + by);
  }

  note(reason: NotedReason): void {
    this.add(reason, 1);
  }

  /** Series of the request, new to us, that hold what went over a sender's own limit. */
  noteOverflow(series: number): void {
    this.add(NOTED.overflow, series);
    this.#overflowing = series;
  }

  /** A point that was not accepted. */
  refuse(reason: Refusal, staging: Staging, point: number): void {
    this.add(reason, 1);
    if (reason === PASSED.duplicate || reason === PASSED.staleMarker) return;
    this.rejected += 1;
    let refused = this.#refused.get(reason);
    if (refused === undefined) {
      refused = { points: 0, metrics: [] };
      this.#refused.set(reason, refused);
    }
    refused.points += 1;
    if (refused.metrics.length === NAMES_PER_REASON_MAX) return;
    const name = nameOf(staging, point);
    if (!refused.metrics.includes(name)) refused.metrics.push(name);
  }

  /** What the sender should know, in English; empty when nothing was rejected and nothing is odd. */
  message(): string {
    const sentences = [];
    if (this.rejected > 0) {
      const byPoints = [...this.#refused].sort(([, a], [, b]) => b.points - a.points);
      const parts = byPoints
        .slice(0, MESSAGE_REASONS_MAX)
        .map(([reason, { points, metrics }]) => `${points} ${reason} (${metrics.join(', ')})`);
      sentences.push(`data points not counted: ${parts.join('; ')}`);
    }
    if (this.#overflowing > 0) {
      sentences.push(
        `${this.#overflowing} new series with otel.metric.overflow: your cardinality limit is reached, attributes are lost`,
      );
    }
    return sentences.join('. ');
  }
}

function nameOf({ bytes, pointMetric, nameFrom, nameTo }: Staging, point: number): string {
  const metric = pointMetric[point] as number;
  const from = nameFrom[metric] as number;
  return lossy.decode(bytes.subarray(from, Math.min(nameTo[metric] as number, from + NAME_BYTES_MAX)));
}
