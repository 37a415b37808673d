type Column = Int32Array | Uint8Array | Uint32Array | Float64Array;

/** Up to here memory grows by half, beyond by an eighth: room not used yet counts when there are a million series. */
const SMALL = 65_536;

/** The next size of something that has outgrown `length`. */
export const roomier = (length: number): number => Math.ceil(length * (length < SMALL ? 1.5 : 1.125));

/** The column itself if it has `rows`, else a copy with more room. */
export function withRoom<T extends Column>(column: T, rows: number): T {
  if (rows <= column.length) return column;
  const Type = column.constructor as new (length: number) => T;
  const larger = new Type(Math.max(rows, 64, roomier(column.length)));
  larger.set(column as never);
  return larger;
}
