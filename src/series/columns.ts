type Column = Int32Array | Uint8Array | Uint32Array | Float64Array;

/** The column itself if it has `rows`, else a copy with half as much room again. */
export function withRoom<T extends Column>(column: T, rows: number): T {
  if (rows <= column.length) return column;
  const Type = column.constructor as new (length: number) => T;
  const larger = new Type(Math.max(rows, 64, Math.ceil(column.length * 1.5)));
  larger.set(column as never);
  return larger;
}
