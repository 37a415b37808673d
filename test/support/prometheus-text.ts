import assert from 'node:assert/strict';

export interface Scraped {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

/** Suffixes of the series that a histogram of the family's name has. */
const HISTOGRAM_SUFFIX = /_(bucket|sum|count)$/;

/**
 * Reads the Prometheus text format 0.0.4 strictly: every sample under its own HELP and TYPE, each family once, each
 * series once, names and escapes as the format has them. Throws an assertion error for anything else.
 */
export function parsePrometheusText(text: string): ReadonlyMap<string, Scraped> {
  assert.ok(text.endsWith('\n'), 'the text ends with a line feed');
  const families = new Map<string, { type: string; help: string; samples: Scraped['samples'][number][] }>();
  const seen = new Set<string>();
  let helpOf = '';
  let help = '';
  let current: string | null = null;
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# UNIT ')) continue;
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line);
    if (comment !== null) {
      const [, kind, name = '', rest = ''] = comment;
      if (kind === 'HELP') [helpOf, help] = [name, rest];
      else {
        assert.equal(helpOf, name, `HELP precedes TYPE of ${name}`);
        assert.match(rest, /^(counter|gauge|histogram|summary|untyped)$/);
        assert.ok(!families.has(name), `${name} is there once`);
        families.set(name, { type: rest, help, samples: [] });
        current = name;
      }
      continue;
    }
    const sample = parseSample(line);
    const family = families.get(current ?? '');
    assert.ok(family !== undefined, `${line} stands under a TYPE`);
    const own = family.type === 'histogram' ? sample.name.replace(HISTOGRAM_SUFFIX, '') : sample.name;
    assert.equal(own, current, `${line} stands under its own TYPE`);
    const series = `${sample.name}${JSON.stringify(Object.entries(sample.labels).sort())}`;
    assert.ok(!seen.has(series), `${line} is there once`);
    seen.add(series);
    family.samples.push(sample);
  }
  return families;
}

function parseSample(line: string): Scraped['samples'][number] {
  const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  assert.ok(match !== null, `a sample: ${JSON.stringify(line)}`);
  const [, name = '', body = '', number = ''] = match;
  const labels: Record<string, string> = {};
  let rest = body;
  while (rest !== '') {
    const label = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/.exec(rest);
    assert.ok(label !== null, `labels of ${line}`);
    const [whole, key = '', value = ''] = label;
    labels[key] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
    rest = rest.slice(whole.length);
  }
  const value = number === '+Inf' ? Infinity : number === '-Inf' ? -Infinity : Number(number);
  assert.ok(number === 'NaN' || !Number.isNaN(value), `a number: ${number}`);
  return { name, labels, value };
}

/** The value of the only sample of `family` that carries all of `labels`; undefined when there is none. */
export function sampleOf(
  families: ReadonlyMap<string, Scraped>,
  family: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const fitting = (families.get(family)?.samples ?? []).filter((sample) =>
    Object.entries(labels).every(([name, value]) => sample.labels[name] === value),
  );
  assert.ok(fitting.length <= 1, `${family} ${JSON.stringify(labels)} is one series`);
  return fitting[0]?.value;
}
