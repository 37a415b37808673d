import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { AppError } from '../base/app-error.ts';
import type { DecodeResult, DecodeTask } from './body-worker.ts';
import { Staging } from './staging.ts';

/** Ended when nothing large has come for so long, which gives its memory back. */
const IDLE_MS = 30_000;
/** Threads load JavaScript only: where the sources run as they are, as in tests, the built file is taken. */
const IS_BUILT = import.meta.url.endsWith('.js');
const ENTRY = new URL(IS_BUILT ? './body-worker.js' : '../../dist/otlp/body-worker.js', import.meta.url);
const COPY_BYTES = 4 * 1024 * 1024;

/** Decodes large bodies in a thread of its own, one at a time. */
export interface BodyThread {
  /**
   * A staging of its own for the task's points. Rejects with AppError OTLP_MALFORMED where decodeMetrics would throw it,
   * and with another error when the thread ends. To be called again only once the last call has settled.
   */
  decode(task: DecodeTask): Promise<Staging>;
  close(): Promise<void>;
}

export function createBodyThread(): BodyThread {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;

  const start = (): Worker => {
    const started = new Worker(ENTRY);
    started.unref();
    const forget = (): void => {
      if (worker === started) worker = undefined;
    };
    started.on('error', forget);
    started.on('exit', forget);
    return started;
  };
  const close = async (): Promise<void> => {
    clearTimeout(idle);
    const ending = worker;
    worker = undefined;
    await ending?.terminate();
  };

  return {
    async decode(task) {
      clearTimeout(idle);
      const body = await sharedCopy(task.body);
      worker ??= start();
      try {
        return toStaging(await ask(worker, { encoding: task.encoding, body }));
      } finally {
        idle = setTimeout(() => void close(), IDLE_MS).unref();
      }
    },
    close,
  };
}

function ask(worker: Worker, task: DecodeTask): Promise<DecodeResult> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      worker.off('message', onMessage);
      worker.off('error', onError);
      worker.off('exit', onExit);
    };
    const onMessage = (result: DecodeResult): void => {
      settle();
      resolve(result);
    };
    const onError = (error: unknown): void => {
      settle();
      reject(error);
    };
    const onExit = (): void => onError(new Error('the decoding thread has ended'));
    worker.on('message', onMessage);
    worker.on('error', onError);
    worker.on('exit', onExit);
    worker.postMessage(task);
  });
}

/**
 * The bytes in shared memory; in pieces, since 64 MiB take longer than the event loop may wait. Memory of our own would
 * have to be given away, and from the first buffer that is given away on, V8 checks at every access to any typed array
 * whether its buffer is still there: a fifth of what the ingest of histograms takes.
 */
async function sharedCopy(bytes: Uint8Array): Promise<Uint8Array> {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  for (let at = 0; at < bytes.length; at += COPY_BYTES) {
    if (at > 0) await nextTurn();
    copy.set(bytes.subarray(at, at + COPY_BYTES), at);
  }
  return copy;
}

function toStaging(result: DecodeResult): Staging {
  if (result.kind === 'refused') {
    const { code, message, hint, retryable } = result;
    throw new AppError(code, message, { ...(hint === undefined ? {} : { hint }), retryable });
  }
  const staging = Object.assign(new Staging(), result.columns);
  staging.view = new DataView(staging.bytes.buffer, staging.bytes.byteOffset, staging.bytes.byteLength);
  return staging;
}
