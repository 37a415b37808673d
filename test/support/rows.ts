/** One line of the table that a check prints: what another counted beside what came out. */
export interface Row {
  readonly what: string;
  readonly expected: number | string;
  readonly found: number | string;
}

/** Prints the rows, each with `same` or `OTHER`; false when one differs. */
export function compareRows(rows: readonly Row[]): boolean {
  const width = Math.max(...rows.map(({ what }) => what.length));
  let matched = true;
  for (const { what, expected, found } of rows) {
    const same = expected === found;
    if (!same) matched = false;
    print(`${same ? 'same ' : 'OTHER'} ${what.padEnd(width)} ${expected} ${found}`);
  }
  return matched;
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
