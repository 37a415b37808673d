import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from './consumer.ts';
import type { ByteLease } from './inflight-bytes.ts';
import { OVERLOADED, tooLarge } from './metrics-receiver.ts';

/** A request with no more than this still to come is read to its end, so that the connection can be used again. */
const DRAIN_BYTES = 256 * 1024;
const LINGER_MS = 5000;

export type BodyResult =
  | { readonly kind: 'read'; readonly body: Uint8Array }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The sender went away or was too slow. */
  | { readonly kind: 'aborted' };

/**
 * Reads a body of at most `maxBytes`, taking its bytes from `lease` as they come. Stops at the first byte too many.
 */
export function readBody(request: IncomingMessage, maxBytes: number, lease: ByteLease): Promise<BodyResult> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = (result: BodyResult): void => {
      request.off('data', onData);
      request.off('end', onEnd);
      request.off('close', onClose);
      resolve(result);
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      const refusal =
        length > maxBytes ? tooLarge('as received', maxBytes) : lease.take(chunk.length) ? undefined : OVERLOADED;
      if (refusal === undefined) {
        chunks.push(chunk);
        return;
      }
      request.pause();
      finish({ kind: 'refused', refusal });
    };
    const onEnd = (): void => {
      const first = chunks[0];
      finish({
        kind: 'read',
        body: chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, length),
      });
    };
    const onClose = (): void => finish({ kind: 'aborted' });
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('close', onClose);
  });
}

/** Bytes that the request says it has, or undefined when it comes in chunks. */
export function declaredLength(request: IncomingMessage): number | undefined {
  const text = request.headers['content-length'];
  return text === undefined ? undefined : Number(text);
}

/**
 * Whether the rest of an unread body is small enough to be read and forgotten. One that awaits "100 Continue" may
 * never come.
 */
export function isCheapToDrain(request: IncomingMessage): boolean {
  if (request.complete) return true;
  const isUnbounded = request.headers['transfer-encoding'] !== undefined || request.headers.expect !== undefined;
  return !isUnbounded && (declaredLength(request) ?? 0) <= DRAIN_BYTES;
}

/**
 * Sends an answer while the sender may still be writing, then closes. Closing at once would reset the connection and
 * could take the answer away from the sender before it reads it; so the rest is read and dropped for up to five
 * seconds. The answer must have been started with its Content-Length and `Connection: close`.
 */
export function endLingering(request: IncomingMessage, response: ServerResponse, body: Uint8Array): void {
  const end = (): void => {
    clearTimeout(timer);
    request.off('end', end);
    request.off('close', end);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.on('end', end);
  request.on('close', end);
  response.write(body);
  request.resume();
}
