import { decimalToNumber } from '../base/decimal.ts';
import { formatDuration } from '../base/duration.ts';
import type { Problem } from '../config/config.ts';
import type { LoadedRules } from '../config/load.ts';
import { type LowTraffic, QUIET_RATES } from '../config/low-traffic.ts';
import { ERRORS_PER_MILLE, objectivePercent, reachOf, type SloReach } from '../config/reach.ts';
import { boundNote } from '../config/recommended-bounds.ts';
import { hasErrors } from '../config/report.ts';
import type { SliceReach } from '../config/slice-reach.ts';
import { budgetRatioOf } from '../slo/budget.ts';
import { sharesOf } from '../slo/composite.ts';
import type { Slo } from '../slo/slo.ts';
import { alignColumns } from './columns.ts';

/** What `check` says of one SLO. */
export interface SloReport {
  readonly reach: SloReach;
  /** Tiers of the policy that can never fire for this SLO, each with its reason. */
  readonly neverFires: readonly string[];
  readonly notes: readonly string[];
}

export function reportOf(slo: Slo, { policies }: LoadedRules): SloReport {
  const built = policies.build(slo.policy.name, slo.window.length, slo.objective.target, slo.budgeting);
  const neverFires = built.kind === 'policy' ? built.left : [];
  const bound = boundNote(slo);
  const notes = [
    ...neverFires.map((reason) => `left out: ${reason}`),
    ...(slo.policy.tiers.some((tier) => tier.minBurn === 'half')
      ? ['tiers marked half fire at this burn once half the budget is spent, and near the full factor before']
      : []),
    ...(slo.policy.tiers.some((tier) => tier.severity === 'page') ? [] : ['no tier pages']),
    ...(bound === null ? [] : [bound]),
  ];
  return { reach: reachOf(slo), neverFires, notes };
}

const percent = (share: number): string => `${Number((share * 100).toPrecision(3))} %`;

const minutesText = (minutes: number | null): string =>
  minutes === null ? 'never' : String(Number(minutes.toPrecision(3)));

const counted = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

/** One SLO: a head line, a table with a line per tier, what low traffic does, and notes. */
export function formatReport({ reach, notes }: SloReport): string {
  const { slo, tiers, unpagedShare } = reach;
  const group = slo.groupBy.length === 0 ? '' : ` per ${slo.groupBy.join(', ')}`;
  const head = `${slo.id}: ${objectivePercent(slo)} % over ${slo.window.text}${group}, policy ${slo.policy.name}`;
  const columns = ERRORS_PER_MILLE.map((errors) => `at ${errors / 10} %`);
  const table = [
    ['tier', 'severity', 'windows', 'factor', 'fires at burn', 'budget spent', ...columns],
    ...tiers.map(({ tier, minBurn, spentAtFire, minutes }) => [
      tier.name,
      tier.severity,
      `${formatDuration(tier.long)}/${formatDuration(tier.short)}`,
      `${Number((Number(tier.factor.numerator) / Number(tier.factor.denominator)).toPrecision(4))}x`,
      `${Number(minBurn.toPrecision(4))}x${tier.minBurn === 'half' ? ' half' : ''}`,
      percent(spentAtFire),
      ...minutes.map(minutesText),
    ]),
  ];
  const lines = [
    head,
    ...alignColumns(table).map((line) => `  ${line}`),
    `  the last columns: minutes until the tier fires at so many errors, from a clean window and with ${
      reach.slices === null ? 'enough traffic' : 'data in every slice; errors begin with a slice'
    }`,
    unpagedShare >= 1
      ? '  the whole fleet can die without a page'
      : `  up to ${percent(unpagedShare)} of the fleet can die without a page`,
    ...(reach.lowTraffic === null ? [] : lowTrafficLines(slo, reach.lowTraffic)).map((line) => `  ${line}`),
    ...memberLines(slo).map((line) => `  ${line}`),
    ...(reach.slices === null ? [] : sliceLines(slo, reach.slices)).map((line) => `  ${line}`),
    ...notes.map((note) => `  note: ${note}`),
  ];
  return `${lines.join('\n')}\n`;
}

function lowTrafficLines(slo: Slo, { requestsForOnePercent, fewFailures, outageMinutes }: LowTraffic): string[] {
  const where = slo.groupBy.length === 0 ? '' : ' of a group';
  const each = `${counted(requestsForOnePercent)} requests${where} in ${slo.window.text}`;
  const lines = [`one failed request is 1 % of the budget at ${each}, and more where there are fewer`];
  // The one that matters up to the highest rate of requests.
  const [worst] = [...fewFailures].sort((a, b) => b.requests / b.tier.long - a.requests / a.tier.long);
  if (worst !== undefined) {
    const who = worst.failures === 1 ? 'a single failed request pages' : `${worst.failures} failed requests page`;
    const most = `at most ${counted(worst.requests)} requests${where} in ${formatDuration(worst.tier.long)}`;
    lines.push(`low traffic: ${who} where there are ${most} (tier ${worst.tier.name})`);
  }
  if (fewFailures.length > 0) {
    const after = QUIET_RATES.map((rate, index) => {
      const minutes = outageMinutes[index] ?? null;
      const when = minutes === null ? 'never' : `after ${minutesText(minutes)} min`;
      return `${when} at ${rate} request${rate === 1 ? '' : 's'} a minute`;
    });
    lines.push(`low traffic: a full outage pages ${after.join(', ')}`);
  }
  return lines;
}

/** Of a composite, what each member does alone. The table is for errors of all of them. */
function memberLines({ indicator, budgeting, objective }: Slo): string[] {
  if (indicator.kind !== 'composite') return [];
  const { members } = indicator;
  const names = members.map(({ name, objective: own, weight, sliceTarget }) => {
    const target = `${Number((decimalToNumber(own.target) * 100).toPrecision(12))} %`;
    const slices = sliceTarget === null ? '' : `, slices good from ${sliceTarget.text}`;
    const times = decimalToNumber(weight);
    return `${name} (${target}${slices}${times === 1 ? '' : `, weight ${times}`})`;
  });
  const head = `a composite of ${names.join(', ')}; the figures are for so many errors of every member`;
  if (budgeting.kind === 'timeslices') return [head, 'a bad slice of any member is a bad slice'];
  if (budgeting.kind === 'ratio_timeslices')
    return [head, 'what is missing in a slice adds up over the members, times their weights'];
  const budget = budgetRatioOf(objective).value;
  const alone = members.map(
    ({ name }, index) => `${name} ${Number(((sharesOf(members)[index] ?? 0) / budget).toPrecision(4))}x`,
  );
  return [head, `burns add up, times their weights; all errors of one member alone burn: ${alone.join(', ')}`];
}

function sliceLines({ window }: Slo, { slicing, oneSlice }: SliceReach): string[] {
  const width = formatDuration(slicing.width);
  const cost = `${percent(oneSlice)} of the budget of ${window.text}`;
  return slicing.kind === 'timeslices'
    ? [
        `a slice of ${width} is bad where fewer than ${slicing.target.text} of its events are good, were it one of one: ${cost}`,
        'slices without events are good while balancers report; slices without data count as neither',
      ]
    : [
        `a slice of ${width} is as bad as its share of bad events, at most ${cost}`,
        'slices without events are good while balancers report; slices without data count as neither',
      ];
}

export const toJson = (problems: readonly Problem[], reports: readonly SloReport[], notes: readonly string[]) => ({
  ok: !hasErrors(problems),
  problems,
  notes,
  slos: reports.map(({ reach, neverFires, notes }) => ({
    id: reach.slo.id,
    objective: reach.slo.objective.text,
    window: reach.slo.window.text,
    groupBy: reach.slo.groupBy,
    policy: reach.slo.policy.name,
    tiers: reach.tiers.map(({ tier, minBurn, spentAtFire, minutes }) => ({
      name: tier.name,
      severity: tier.severity,
      longSeconds: tier.long / 1000,
      shortSeconds: tier.short / 1000,
      factor: Number(tier.factor.numerator) / Number(tier.factor.denominator),
      minBurn,
      budgetSpentAtFire: spentAtFire,
      detectionMinutes: Object.fromEntries(
        ERRORS_PER_MILLE.map((errors, index) => [String(errors / 10), minutes[index] ?? null]),
      ),
    })),
    tiersThatNeverFire: neverFires,
    unpagedShare: reach.unpagedShare,
    requestsForOnePercent: reach.lowTraffic?.requestsForOnePercent ?? null,
    lowTraffic: reach.lowTraffic === null ? null : lowTrafficJson(reach.lowTraffic),
    slices:
      reach.slices === null
        ? null
        : { widthSeconds: reach.slices.slicing.width / 1000, budgetPerSlice: reach.slices.oneSlice },
    notes,
  })),
});

const lowTrafficJson = ({ fewFailures, outageMinutes }: LowTraffic) => ({
  pages: fewFailures.map(({ tier, failures, requests }) => ({
    tier: tier.name,
    failures,
    requests,
    withinSeconds: tier.long / 1000,
  })),
  outageMinutes: Object.fromEntries(QUIET_RATES.map((rate, index) => [String(rate), outageMinutes[index] ?? null])),
});
