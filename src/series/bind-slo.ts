import type { CellSource } from '../aggregate/cells.ts';
import type { SloGroup } from '../aggregate/slo-group.ts';
import { type Labels, labelsOf, NO_LABELS } from '../model/labels.ts';
import type { PlainIndicator, Slo } from '../slo/slo.ts';
import type { CounterCell } from './binding.ts';
import type { BindingDraft } from './binding-draft.ts';
import { compileQuery, type QueryMatcher } from './match.ts';
import type { CanonicalSeries } from './profiles/profile.ts';

/** An SLO with its queries compiled: one, or one per member of a composite. */
export interface CompiledSlo {
  readonly slo: Slo;
  readonly indicators: readonly CompiledIndicator[];
}

interface CompiledIndicator {
  /** Which member of a composite; null where there is one thing to count. */
  readonly member: number | null;
  readonly part: QueryMatcher;
  readonly total: QueryMatcher;
  /** Seconds; null where events are counted. */
  readonly threshold: number | null;
}

export function compileSlo(slo: Slo): CompiledSlo {
  const { indicator } = slo;
  const indicators =
    indicator.kind === 'composite'
      ? indicator.members.map((member, index) => compileIndicator(member.indicator, index))
      : [compileIndicator(indicator, null)];
  return { slo, indicators };
}

function compileIndicator(indicator: PlainIndicator, member: number | null): CompiledIndicator {
  if (indicator.kind === 'events') {
    return { member, part: compileQuery(indicator.part), total: compileQuery(indicator.total), threshold: null };
  }
  const query = compileQuery(indicator.query);
  return { member, part: query, total: query, threshold: indicator.threshold };
}

/** Binds a canonical series to the groups of an SLO that it belongs to, by role. */
export function bindSlo(
  draft: BindingDraft,
  { slo, indicators }: CompiledSlo,
  series: CanonicalSeries,
  balancerId: string,
  cells: CellSource,
): void {
  // An average of the balancer's own making is no event.
  if (series.takes === 'average') return;
  for (const indicator of indicators) bindIndicator(draft, slo, indicator, series, balancerId, cells);
}

function bindIndicator(
  draft: BindingDraft,
  slo: Slo,
  { member, part, total, threshold }: CompiledIndicator,
  series: CanonicalSeries,
  balancerId: string,
  cells: CellSource,
): void {
  const isPart = part(series.metric, series.attributes);
  const isTotal = total(series.metric, series.attributes);
  if (!isPart && !isTotal) return;
  // What is only counted cannot say how long it took.
  if (threshold !== null && series.takes !== 'buckets') return;
  const balancer = cells.balancer(balancerId);
  for (const labels of groupsOf(slo, series.attributes)) {
    const whole = cells.group(slo, labels);
    cells.addFeeder(whole, balancer);
    const group = member === null ? whole : (whole.members[member] as SloGroup);
    if (isTotal) countEvents(draft, group.total, series);
    if (isPart && threshold === null) countEvents(draft, group.part, series);
    else if (isPart && threshold !== null) {
      const bracket = { between: cells.bracket(group, balancer, threshold), toSeconds: series.toSeconds };
      draft.countAtOrBelow(group.part, series.weight, inUnitOf(series, threshold), bracket);
    }
  }
}

/** Events are a counter's growth, a histogram's count, or the sum of what its values count. */
export function countEvents(draft: BindingDraft, cell: CounterCell, { takes, weight }: CanonicalSeries): void {
  if (takes === 'sum') draft.countSum(cell, weight);
  else draft.count(cell, weight);
}

/**
 * A threshold in the series' own unit. Rounded to 12 digits, so that 0.57 s is the bound 570 of a series in
 * milliseconds and not 569.9999999999999, which would leave a bucket out.
 */
export const inUnitOf = ({ toSeconds }: CanonicalSeries, seconds: number): number =>
  toSeconds === 1 ? seconds : Number((seconds / toSeconds).toPrecision(12));

/**
 * The group that a series belongs to (a missing attribute is `""`), and the one over all where the SLO asks for both.
 */
function groupsOf(slo: Slo, attributes: Labels): readonly Labels[] {
  const own = labelsOf(slo.groupBy.map((name) => [name, attributes.get(name) ?? '']));
  return slo.rollup && slo.groupBy.length > 0 ? [own, NO_LABELS] : [own];
}
