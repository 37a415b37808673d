import type { LabelObject } from './views.ts';

const PRIME = 1_099_511_628_211n;
const OFFSET = 14_695_981_039_346_656_037n;
const WORD = (1n << 64n) - 1n;

/**
 * The fingerprint that Prometheus and Alertmanager give a label set: FNV-1a, 64 bits, over the names in order and their
 * values, a byte 0xff behind each. 16 hex digits.
 */
export function fingerprintOf(labels: LabelObject): string {
  let hash = OFFSET;
  const add = (bytes: Iterable<number>): void => {
    for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * PRIME) & WORD;
  };
  const encoder = new TextEncoder();
  for (const name of Object.keys(labels).sort()) {
    add(encoder.encode(name));
    add([0xff]);
    add(encoder.encode(labels[name] ?? ''));
    add([0xff]);
  }
  return hash.toString(16).padStart(16, '0');
}
