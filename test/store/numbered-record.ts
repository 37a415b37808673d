import { createPrng } from '../../src/base/prng.ts';
import { epochMs } from '../../src/base/units.ts';
import type { IngestRecord } from '../../src/store/ingest-log.ts';

/** A record whose received time is its number; its body's length and bytes follow from the number alone. */
export function recordOf(number: number): IngestRecord {
  const prng = createPrng(number);
  const body = new Uint8Array(prng.below(6000));
  for (let index = 0; index < body.length; index += 1) body[index] = prng.below(256);
  return {
    receivedAt: epochMs(number),
    transport: number % 2 === 0 ? 'http' : 'grpc',
    encoding: 'protobuf',
    compression: 'none',
    peer: '10.0.0.1',
    identityHeader: null,
    body,
  };
}
