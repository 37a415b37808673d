/** Final mixing of MurmurHash3 (Austin Appleby, public domain): every bit of the input reaches every bit out. */
export function mix32(value: number): number {
  let mixed = value >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** A 32-bit hash of two numbers; another `salt` gives an independent hash of the same value. */
export const hashOf = (value: number, salt: number): number => mix32(mix32(value) + Math.imul(salt + 1, 0x9e3779b9));
