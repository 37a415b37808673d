import { gzipSync } from 'node:zlib';
import type { Prng } from '../../src/base/prng.ts';
import { randomBytes } from './mutate-proto.ts';
import { concat } from './wire-bytes.ts';

/** The body as gzip that is whole, odd (several members, stored, empty members) or broken. */
export function mutateGzip(body: Uint8Array, prng: Prng): Uint8Array {
  const whole = gzipSync(body, { level: prng.below(10) });
  const middle = prng.below(body.length + 1);
  const broken = Uint8Array.from(whole);
  switch (prng.below(12)) {
    case 0:
      return whole.subarray(0, prng.below(whole.length));
    case 1:
      return concat(gzipSync(body.subarray(0, middle)), gzipSync(body.subarray(middle)));
    case 2:
      return concat(gzipSync(new Uint8Array(0)), whole, gzipSync(new Uint8Array(0)));
    case 3:
      broken[broken.length - 5 - prng.below(4)] = prng.below(256);
      return broken;
    case 4:
      broken[broken.length - 1 - prng.below(4)] = prng.below(256);
      return broken;
    case 5:
      broken[prng.below(10)] = prng.below(256);
      return broken;
    case 6:
      broken[prng.below(broken.length)] = prng.below(256);
      return broken;
    case 7:
      return concat(whole, randomBytes(prng, 1 + prng.below(20)));
    case 8:
      return gzipSync(whole);
    default:
      return whole;
  }
}
