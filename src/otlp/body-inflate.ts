import { createGunzip, gunzipSync } from 'node:zlib';
import type { Refusal } from './consumer.ts';
import type { ByteLease } from './inflight-bytes.ts';
import { OVERLOADED, tooLarge } from './metrics-receiver.ts';

/** Up to these sizes inflating inline takes a few milliseconds and beats the thread pool; beyond, it would block. */
const SYNC_WIRE_BYTES = 256 * 1024;
const SYNC_INFLATED_BYTES = 1024 * 1024;
const STREAM_CHUNK_BYTES = 256 * 1024;
const STREAM_CHUNK_BYTES_MAX = 4 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);

export type InflateResult =
  | { readonly kind: 'inflated'; readonly body: Uint8Array }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

const refused = (refusal: Refusal): InflateResult => ({ kind: 'refused', refusal });

/**
 * Inflates gzip, several members included, to at most `maxBytes`. Inflated bytes are taken from `lease` as they come,
 * so that bombs arriving side by side cannot fill the memory.
 */
export async function inflateGzip(wire: Uint8Array, maxBytes: number, lease: ByteLease): Promise<InflateResult> {
  if (wire.length <= SYNC_WIRE_BYTES) {
    const expectedBytes = declaredSize(wire);
    if (expectedBytes <= SYNC_INFLATED_BYTES) {
      const result = inflateInline(wire, expectedBytes, Math.min(maxBytes, SYNC_INFLATED_BYTES), lease);
      if (result !== undefined) return result;
      if (maxBytes <= SYNC_INFLATED_BYTES) return refused(tooLarge('after decompression', maxBytes));
    }
  }
  return inflateStreaming(wire, maxBytes, lease);
}

/** ISIZE of the last member (RFC 1952, 2.3.1): a hint, since a sender may lie and several members add up. */
function declaredSize(wire: Uint8Array): number {
  if (wire.length < 18) return 0;
  return new DataView(wire.buffer, wire.byteOffset + wire.length - 4, 4).getUint32(0, true);
}

/** Undefined when the output is larger than `maxBytes`. */
function inflateInline(
  wire: Uint8Array,
  expectedBytes: number,
  maxBytes: number,
  lease: ByteLease,
): InflateResult | undefined {
  // One chunk that holds the whole output spares a copy.
  const chunkSize = Math.max(1024, Math.min(expectedBytes, maxBytes) + 64);
  try {
    const body = gunzipSync(wire, { maxOutputLength: maxBytes, chunkSize });
    return lease.take(body.length) ? { kind: 'inflated', body } : refused(OVERLOADED);
  } catch (error) {
    return codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? undefined : refused(badGzip(error));
  }
}

/**
 * In the thread pool. Where the size that is declared is moderate and true, all comes in one chunk, which is the body;
 * a larger output is put together as it comes: at its end 64 MiB would take too long to copy.
 */
function inflateStreaming(wire: Uint8Array, maxBytes: number, lease: ByteLease): Promise<InflateResult> {
  return new Promise((resolve) => {
    const expectedBytes = declaredSize(wire);
    const chunkSize = Math.min(Math.max(expectedBytes + 64, STREAM_CHUNK_BYTES), STREAM_CHUNK_BYTES_MAX);
    const gunzip = createGunzip({ chunkSize });
    let output: Buffer = NOTHING;
    let length = 0;
    const stop = (refusal: Refusal): void => {
      gunzip.destroy();
      resolve(refused(refusal));
    };
    const take = (chunk: Buffer): void => {
      const end = length + chunk.length;
      if (length === 0) output = chunk;
      else {
        if (end > output.length) output = grown(output, length, sizeFor(end, Math.max(expectedBytes, 2 * length)));
        output.set(chunk, length);
      }
      length = end;
    };
    const sizeFor = (needed: number, wanted: number): number => Math.min(maxBytes, Math.max(needed, wanted));
    gunzip.on('data', (chunk: Buffer) => {
      if (length + chunk.length > maxBytes) stop(tooLarge('after decompression', maxBytes));
      else if (!lease.take(chunk.length)) stop(OVERLOADED);
      else take(chunk);
    });
    gunzip.on('error', (error) => resolve(refused(badGzip(error))));
    gunzip.on('end', () => resolve({ kind: 'inflated', body: output.subarray(0, length) }));
    gunzip.end(wire);
  });
}

function grown(buffer: Buffer, length: number, size: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(size);
  larger.set(buffer.subarray(0, length));
  return larger;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function badGzip(error: unknown): Refusal {
  const detail = error instanceof Error ? error.message : String(error);
  return { kind: 'malformed', code: 'OTLP_MALFORMED', message: `the body is not valid gzip: ${detail}` };
}
