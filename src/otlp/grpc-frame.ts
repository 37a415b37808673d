import type { ServerHttp2Stream } from 'node:http2';
import type { Refusal } from './consumer.ts';
import type { ByteLease } from './inflight-bytes.ts';
import { OVERLOADED, tooLarge } from './metrics-receiver.ts';

/** One byte says whether the message is compressed, four are its length, big-endian. */
export const FRAME_HEADER_BYTES = 5;

export type FrameResult =
  | { readonly kind: 'read'; readonly message: Buffer; readonly isCompressed: boolean }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The sender went away. */
  | { readonly kind: 'aborted' };

const malformed = (message: string): FrameResult => ({
  kind: 'refused',
  refusal: { kind: 'malformed', code: 'OTLP_MALFORMED', message },
});

/**
 * Reads the one message of a unary call, at most `maxBytes` long. A length beyond the limit is refused from the header
 * alone. Bytes are taken from `lease` as they come.
 */
export function readFrame(stream: ServerHttp2Stream, maxBytes: number, lease: ByteLease): Promise<FrameResult> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let messageBytes = -1;
    const finish = (result: FrameResult): void => {
      stream.off('data', onData);
      stream.off('end', onEnd);
      stream.off('close', onClose);
      resolve(result);
    };
    const refuse = (refusal: Refusal): void => {
      stream.pause();
      finish({ kind: 'refused', refusal });
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (!lease.take(chunk.length)) {
        refuse(OVERLOADED);
        return;
      }
      chunks.push(chunk);
      if (messageBytes < 0 && length >= FRAME_HEADER_BYTES) messageBytes = joined(chunks, length).readUInt32BE(1);
      if (messageBytes > maxBytes) refuse(tooLarge('as received', maxBytes));
      else if (messageBytes >= 0 && length > FRAME_HEADER_BYTES + messageBytes) {
        stream.pause();
        finish(malformed('a unary call carries exactly one message; there is more behind it'));
      }
    };
    const onEnd = (): void => {
      if (messageBytes < 0 || length < FRAME_HEADER_BYTES + messageBytes) {
        finish(malformed('the call ended before its message was complete'));
        return;
      }
      const frame = joined(chunks, length);
      const flag = frame[0] as number;
      if (flag > 1) finish(malformed('the compressed flag of the message must be 0 or 1'));
      else finish({ kind: 'read', message: frame.subarray(FRAME_HEADER_BYTES), isCompressed: flag === 1 });
    };
    const onClose = (): void => finish({ kind: 'aborted' });
    stream.on('data', onData);
    stream.on('end', onEnd);
    stream.on('close', onClose);
  });
}

function joined(chunks: readonly Buffer[], length: number): Buffer {
  const first = chunks[0];
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, length);
}

/** A message of a response: never compressed. */
export function encodeFrame(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, FRAME_HEADER_BYTES);
  return frame;
}
