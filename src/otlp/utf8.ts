/**
 * Length in bytes of the UTF-8 sequence at `at`, whose first byte is 0x80 or more; 0 when it is not well formed
 * (overlong, surrogate, above U+10FFFF, cut off at `end`). Table 3-7 of the Unicode Standard.
 */
export function utf8SequenceLength(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at] as number;
  const second = at + 1 < end ? (bytes[at + 1] as number) : 0;
  if (first >= 0xc2 && first <= 0xdf) return isTail(second) ? 2 : 0;
  if (at + 2 >= end || !isTail(second) || !isTail(bytes[at + 2] as number)) return 0;
  if (first >= 0xe0 && first <= 0xef) {
    const overlong = first === 0xe0 && second < 0xa0;
    const surrogate = first === 0xed && second > 0x9f;
    return overlong || surrogate ? 0 : 3;
  }
  if (first < 0xf0 || first > 0xf4 || at + 3 >= end || !isTail(bytes[at + 3] as number)) return 0;
  const overlong = first === 0xf0 && second < 0x90;
  const aboveLast = first === 0xf4 && second > 0x8f;
  return overlong || aboveLast ? 0 : 4;
}

const isTail = (byte: number): boolean => (byte & 0xc0) === 0x80;
