/** Our value beside the right one, as a line of a table. */
export function tableRow(minute: number, what: string, ours: unknown, right: unknown): string {
  return [String(minute).padStart(6), what.padEnd(28), cell(ours).padStart(22), cell(right).padStart(22)].join(' | ');
}

export function tableOf(rows: readonly string[], others?: string): string[] {
  const head = ['minute', 'figure'.padEnd(28), 'ours'.padStart(22), 'right'.padStart(22)].join(' | ');
  return [head, ...rows, ...(others === undefined ? [] : [`others: ${others}`])];
}

const cell = (value: unknown): string =>
  typeof value === 'number' ? String(Number(value.toPrecision(7))) : String(JSON.stringify(value));
