/** Reads a column; beyond its end there is nothing. */
export const at = (column: ArrayLike<number>, index: number): number => column[index] ?? 0;

/** Adds to a cell of a column. */
export function add(column: Float64Array | Int32Array | Uint32Array, index: number, amount: number): void {
  column[index] = (column[index] ?? 0) + amount;
}
