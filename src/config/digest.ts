import { type Decimal, decimalText } from '../base/decimal.ts';
import type { Budgeting, Condition, Indicator, Member, MetricQuery, PlainIndicator } from '../slo/slo.ts';

const OFFSET_BASIS = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const MASK_64 = 0xffffffffffffffffn;
const MASK_53 = 0x1fffffffffffffn;

/** FNV-1a over UTF-16 units, 64 bits, the low 53 kept: 14 hexadecimal digits. Tells texts apart; not for secrets. */
export function digest(text: string): string {
  let hash = OFFSET_BASIS;
  for (let index = 0; index < text.length; index += 1) {
    hash = ((hash ^ BigInt(text.charCodeAt(index))) * PRIME) & MASK_64;
  }
  return (hash & MASK_53).toString(16).padStart(14, '0');
}

const conditionKey = (condition: Condition): string =>
  JSON.stringify(
    condition.kind === 'in'
      ? [condition.attribute, condition.kind, [...condition.values].sort()]
      : [condition.attribute, condition.kind, condition.kind === 'matches' ? condition.pattern : condition.value],
  );

const queryKey = (query: MetricQuery): readonly [string, readonly string[]] => [
  query.metric,
  query.where.map(conditionKey).sort(),
];

/**
 * The generation of an SLO: a digest of what is counted, over which window, in which slices and groups. The order in
 * which conditions or attributes stand in the file changes nothing.
 */
export function generationOf(query: {
  readonly indicator: Indicator;
  readonly windowMs: number;
  readonly budgeting: Budgeting;
  readonly groupBy: readonly string[];
  readonly rollup: boolean;
}): string {
  const { indicator } = query;
  const counted =
    indicator.kind === 'composite'
      ? ['composite', ...indicator.members.map((member) => memberKey(member, query.budgeting))]
      : indicatorKey(indicator);
  const slices = slicesKey(query.budgeting);
  return digest(JSON.stringify([counted, query.windowMs, [...query.groupBy].sort(), query.rollup, ...slices]));
}

const indicatorKey = (indicator: PlainIndicator): readonly unknown[] =>
  indicator.kind === 'latency'
    ? ['latency', indicator.threshold, queryKey(indicator.query)]
    : ['events', indicator.counts, queryKey(indicator.part), queryKey(indicator.total)];

const textOf = ({ units, scale }: Decimal): string => decimalText({ units, scale });

/** Weights and targets of members apply when events are read; slices are judged with them. */
function memberKey({ indicator, weight, sliceTarget }: Member, budgeting: Budgeting): readonly unknown[] {
  const key = indicatorKey(indicator);
  if (budgeting.kind === 'occurrences') return key;
  return [...key, textOf(weight), sliceTarget === null ? '' : textOf(sliceTarget.target)];
}

/** Slices are judged once and kept. Those of another width or target cannot be made of them. */
function slicesKey(budgeting: Budgeting): readonly (string | number)[] {
  if (budgeting.kind === 'occurrences') return [];
  if (budgeting.kind === 'ratio_timeslices') return [budgeting.kind, budgeting.width];
  return [budgeting.kind, budgeting.width, textOf(budgeting.target.target)];
}
