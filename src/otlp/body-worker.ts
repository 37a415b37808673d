import { parentPort } from 'node:worker_threads';
import { AppError } from '../base/app-error.ts';
import type { OtlpEncoding } from './consumer.ts';
import { decodeJsonMetrics } from './decode-json.ts';
import { decodeMetrics } from './decode-metrics.ts';
import { Staging, timeOrder } from './staging.ts';

/** What the thread is asked: the inflated body, in shared memory. */
export interface DecodeTask {
  readonly encoding: OtlpEncoding;
  readonly body: Uint8Array;
}

/** What it answers: the columns of the staging, or why there are none. */
export type DecodeResult =
  | { readonly kind: 'decoded'; readonly columns: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      readonly hint: string | undefined;
      readonly retryable: boolean;
    };

function decode({ encoding, body }: DecodeTask): DecodeResult {
  const staging = new Staging();
  const own = body.slice();
  try {
    decodeMetrics(encoding === 'json' ? decodeJsonMetrics(own) : own, staging);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message, hint, retryable } = error;
    return { kind: 'refused', code, message, hint, retryable };
  }
  staging.order = timeOrder(staging);
  const { view: _view, ...columns } = staging;
  return { kind: 'decoded', columns };
}

/** The memory of the columns, to be handed over without a copy. */
function buffersOf(result: DecodeResult): ArrayBuffer[] {
  if (result.kind !== 'decoded') return [];
  const views = Object.values(result.columns).filter((value) => ArrayBuffer.isView(value));
  return [...new Set(views.map((view) => view.buffer as ArrayBuffer))];
}

// Entry of the thread that body-thread.ts starts. What is thrown here ends it, which its owner is told.
parentPort?.on('message', (task: DecodeTask) => {
  const result = decode(task);
  parentPort?.postMessage(result, buffersOf(result));
});
