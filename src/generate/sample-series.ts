import { labelName, type Part, prometheusName } from '../model/prometheus-names.ts';
import { plainIndicator } from '../slo/composite.ts';
import type { Condition, Slo } from '../slo/slo.ts';
import { quoted } from './promql.ts';

type Attributes = ReadonlyMap<string, string>;

/** Names of the series that stand for good and bad events in a unit test, and the labels of their group. */
export interface SampleSeries {
  /** One entry per series: its events per minute are `good` times the good ones plus `bad` times the bad ones. */
  readonly series: readonly { readonly name: string; readonly good: 0 | 1; readonly bad: 0 | 1 }[];
  readonly groupLabels: Readonly<Record<string, string>>;
}

/** Tried for a pattern, and for an attribute that must be something else. */
const CANDIDATES = ['a', 'timeout', '2xx', '5xx', '200', '503', '0', 'true', 'other'];

const isMet = (condition: Condition, attributes: Attributes): boolean => {
  const value = attributes.get(condition.attribute) ?? '';
  switch (condition.kind) {
    case 'equals':
      return value === condition.value;
    case 'in':
      return condition.values.includes(value);
    case 'not':
      return value !== condition.value;
    case 'matches':
      return new RegExp(`^(?:${condition.pattern})$`).test(value);
  }
};

const meets = (where: readonly Condition[], attributes: Attributes): boolean =>
  where.every((condition) => isMet(condition, attributes));

/** Attributes that meet all of `where`, and not all of `unlike`; null when none of the candidates does. */
function attributesFor(where: readonly Condition[], unlike: readonly Condition[] | null): Attributes | null {
  const names = [...new Set([...where, ...(unlike ?? [])].map(({ attribute }) => attribute))];
  const written = [...where, ...(unlike ?? [])].flatMap((condition) =>
    condition.kind === 'equals' ? [condition.value] : condition.kind === 'in' ? condition.values : [],
  );
  const values = ['', ...written, ...CANDIDATES];
  const search = (index: number, found: Attributes): Attributes | null => {
    const name = names[index];
    if (name === undefined) {
      return meets(where, found) && (unlike === null || !meets(unlike, found)) ? found : null;
    }
    for (const value of values) {
      const next = value === '' ? found : new Map([...found, [name, value]]);
      if (where.some((condition) => condition.attribute === name && !isMet(condition, next))) continue;
      const rest = search(index + 1, next);
      if (rest !== null) return rest;
    }
    return null;
  };
  return search(0, new Map());
}

/** Series that the rules of an SLO count as good and as bad; null where no sample meets its patterns. */
export function sampleSeries(slo: Slo): SampleSeries | null {
  const group = new Map(slo.groupBy.map((name) => [name, 'a'] as const));
  const indicator = plainIndicator(slo);
  const grouped = (where: readonly Condition[]): readonly Condition[] => [
    ...where,
    ...[...group]
      .filter(([attribute]) => !where.some((condition) => condition.attribute === attribute))
      .map(([attribute, value]): Condition => ({ kind: 'equals', attribute, value })),
  ];
  const labelsOf = (attributes: Attributes): Readonly<Record<string, string>> =>
    Object.fromEntries(slo.groupBy.map((name) => [labelName(name), attributes.get(name) ?? '']));
  if (indicator.kind === 'latency') {
    const { metric, where } = indicator.query;
    const attributes = attributesFor(grouped(where), null);
    if (attributes === null) return null;
    const bucket = new Map([...attributes, ['le', String(indicator.threshold)]]);
    return {
      series: [
        { name: nameOf(metric, { atOrBelow: indicator.threshold }, bucket), good: 1, bad: 0 },
        { name: nameOf(metric, 'count', attributes), good: 1, bad: 1 },
      ],
      groupLabels: labelsOf(attributes),
    };
  }
  const { part, total, counts } = indicator;
  if (part.metric !== total.metric) return null;
  const ofPart = attributesFor(grouped([...total.where, ...part.where]), null);
  const ofRest = attributesFor(grouped(total.where), part.where);
  if (ofPart === null || ofRest === null) return null;
  const isBad = counts === 'bad';
  return {
    series: [
      { name: nameOf(part.metric, 'total', ofPart), good: isBad ? 0 : 1, bad: isBad ? 1 : 0 },
      { name: nameOf(total.metric, 'total', ofRest), good: isBad ? 1 : 0, bad: isBad ? 0 : 1 },
    ],
    groupLabels: labelsOf(ofPart),
  };
}

function nameOf(metric: string, part: Part, attributes: Attributes): string {
  const labels = [...attributes].map(([name, value]) => `${labelName(name)}=${quoted(value)}`).sort();
  return `${prometheusName(metric, part)}{${labels.join(', ')}}`;
}
