/** Whether two ranges of the same length hold the same bytes. */
export function equalBytes(a: DataView, aFrom: number, b: DataView, bFrom: number, length: number): boolean {
  const blocks = length - 15;
  const words = length - 3;
  let at = 0;
  for (; at < blocks; at += 16) {
    const here = aFrom + at;
    const there = bFrom + at;
    const differs =
      (a.getInt32(here, true) ^ b.getInt32(there, true)) |
      (a.getInt32(here + 4, true) ^ b.getInt32(there + 4, true)) |
      (a.getInt32(here + 8, true) ^ b.getInt32(there + 8, true)) |
      (a.getInt32(here + 12, true) ^ b.getInt32(there + 12, true));
    if (differs !== 0) return false;
  }
  for (; at < words; at += 4) if (a.getInt32(aFrom + at, true) !== b.getInt32(bFrom + at, true)) return false;
  for (; at < length; at += 1) if (a.getUint8(aFrom + at) !== b.getUint8(bFrom + at)) return false;
  return true;
}
