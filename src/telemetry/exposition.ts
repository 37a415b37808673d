import { setImmediate } from 'node:timers/promises';

/** A metric whose series are read from a snapshot at each scrape, so that what has gone leaves nothing behind. */
export interface Family {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  /** The series of this moment. */
  samples(): Iterable<Sample>;
}

/**
 * Labels as `labelText` writes them, without braces; empty for none. Of a histogram with the part that it is of
 * (`_bucket`, `_sum`, `_count`).
 */
export type Sample = readonly [labels: string, value: number, part?: string];

/** Lines written before other work of the process gets its turn: about 10 ms. */
const LINES_PER_TURN = 5000;

/** `a="1",b="2"`, escaped for the Prometheus text format. Names must be valid label names. */
export function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeValue(value)}"`)
    .join(',');
}

const escapeValue = (value: string): string =>
  /[\\"\n]/.test(value) ? value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n') : value;

export const numberText = (value: number): string =>
  value === Number.POSITIVE_INFINITY ? '+Inf' : value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);

/**
 * Writes families in the Prometheus text format 0.0.4. A long text is written in turns, so that ingest goes on
 * meanwhile.
 */
export async function renderFamilies(families: readonly Family[]): Promise<string> {
  const parts: string[] = [];
  let lines = 0;
  for (const { name, type, help, samples } of families) {
    let text = `# HELP ${name} ${help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}\n# TYPE ${name} ${type}\n`;
    for (const [labels, value, part = ''] of samples()) {
      text += `${name}${part}${labels === '' ? '' : `{${labels}}`} ${numberText(value)}\n`;
      lines += 1;
      if (lines % LINES_PER_TURN !== 0) continue;
      parts.push(text);
      text = '';
      await setImmediate();
    }
    parts.push(text);
  }
  return parts.join('');
}
