import { type Decimal, decimalDenominator, decimalText, parseDecimal } from '../base/decimal.ts';
import { compositeObjective } from '../slo/composite.ts';
import type { Budgeting, Indicator, Member, Objective, SloWindow } from '../slo/slo.ts';
import { objectiveIndicator } from './objective-indicator.ts';
import type { Report } from './report.ts';
import { type BudgetingMethod, resolveBudgeting } from './resolve-budgeting.ts';
import { resolveIndicator } from './resolve-indicator.ts';
import { resolveObjective } from './resolve-objective.ts';
import { child, keyPosition, type SourceNode, textOf } from './source.ts';

/** What becomes an SLO: one objective, or all of a composite. `node` is where slices are written. */
export interface CountedObjective {
  readonly node: SourceNode;
  readonly indicator: Indicator;
  readonly objective: Objective;
  readonly budgeting: Budgeting;
}

const OWN_INDICATOR = ['indicator', 'indicatorRef'] as const;
const ONE: Decimal = { units: 1n, scale: 0 };

const ownIndicator = (objective: SourceNode) => OWN_INDICATOR.find((key) => child(objective, key) !== undefined);

/** OpenSLO: in a composite SLO the objectives have indicators of their own. */
export const isComposite = (objectives: readonly SourceNode[]): boolean =>
  objectives.some((objective) => ownIndicator(objective) !== undefined);

interface ReadMember {
  readonly member: Member;
  readonly budgeting: Budgeting;
  readonly node: SourceNode;
}

/** The one budget of a composite; none when any member has an error (reported). */
export function resolveComposite(
  spec: SourceNode,
  objectives: readonly SourceNode[],
  method: BudgetingMethod,
  window: SloWindow | undefined,
  report: Report,
): readonly CountedObjective[] {
  const common = ownIndicator(spec);
  if (common !== undefined) {
    report.error(keyPosition(spec, common), {
      code: 'CONFIG_COMPOSITE_MIXED',
      message: 'both the SLO and its objectives have an indicator',
      fix: 'keep those of the objectives (one budget for all), or that of the SLO (one budget per objective)',
    });
    return [];
  }
  if (method === 'Occurrences' && window?.rolling === false) {
    report.error(keyPosition(spec, 'timeWindow'), {
      code: 'CONFIG_UNSUPPORTED',
      message:
        'a composite that counts events by the calendar is not supported: weights need a whole window of traffic',
      fix: 'use a window that rolls, or Timeslices or RatioTimeslices',
    });
    return [];
  }
  const read = objectives.map((node) => resolveMember(node, method, window, report));
  const members = read.filter((one) => one !== undefined);
  const [first] = members;
  if (first === undefined || members.length < read.length || !isAlike(members, report)) return [];
  const indicator: Indicator = { kind: 'composite', members: members.map(({ member }) => member) };
  if (first.budgeting.kind === 'occurrences') {
    return [{ ...first, indicator, objective: compositeObjective(indicator.members) }];
  }
  const budgeting = members.map((one) => one.budgeting).reduce(stricter);
  return [{ ...first, indicator, objective: first.member.objective, budgeting }];
}

/** The slices' own targets stand with the members; the strictest one is the first that errors of all of them miss. */
function stricter(a: Budgeting, b: Budgeting): Budgeting {
  if (a.kind !== 'timeslices' || b.kind !== 'timeslices') return a;
  const [x, y] = [a.target.target, b.target.target];
  return y.units * decimalDenominator(x) > x.units * decimalDenominator(y) ? b : a;
}

function resolveMember(
  node: SourceNode,
  method: BudgetingMethod,
  window: SloWindow | undefined,
  report: Report,
): ReadMember | undefined {
  if (ownIndicator(node) === undefined) {
    report.error(node.at, {
      code: 'CONFIG_COMPOSITE_MIXED',
      message: 'this objective has no indicator of its own, and others have',
      fix: 'give every objective its indicator',
    });
    return undefined;
  }
  const objective = resolveObjective(node, report);
  const plan = resolveIndicator(node, report);
  const indicator = plan === undefined ? undefined : objectiveIndicator(plan, node, report);
  const budgeting = resolveBudgeting(method, node, window, report);
  const weight = resolveWeight(node, method, report);
  if (objective === undefined || indicator === undefined || budgeting === undefined || weight === undefined) {
    return undefined;
  }
  const name = textOf(child(node, 'displayName')) ?? 'objective';
  const sliceTarget = budgeting.kind === 'timeslices' ? budgeting.target : null;
  return { member: { name, indicator, objective, weight, sliceTarget }, budgeting, node };
}

function resolveWeight(objective: SourceNode, method: BudgetingMethod, report: Report): Decimal | undefined {
  const node = child(objective, 'compositeWeight');
  if (node === undefined) return ONE;
  const text = textOf(node) ?? '';
  const weight = parseDecimal(text);
  if (weight === undefined || weight.units <= 0n) {
    report.error(node.at, {
      code: 'CONFIG_COMPOSITE_WEIGHT',
      message: `compositeWeight ${text === '' ? 'has no value' : `${text} is no number above 0`}`,
      fix: 'write for example compositeWeight: 2, which makes it burn twice as fast',
    });
    return undefined;
  }
  if (method === 'Timeslices') {
    report.warning(keyPosition(objective, 'compositeWeight'), {
      code: 'CONFIG_UNUSED',
      message: 'with Timeslices a bad slice of any member is a bad slice, whatever it weighs',
      fix: 'remove compositeWeight, or use RatioTimeslices or Occurrences',
    });
  }
  return weight;
}

/** Slices of a composite are the same for all members, and so is the share of them that must be good. */
function isAlike(members: readonly ReadMember[], report: Report): boolean {
  const [first, ...others] = members as readonly [ReadMember, ...ReadMember[]];
  const { budgeting } = first;
  if (budgeting.kind === 'occurrences') return true;
  let isSound = true;
  const differs = (node: SourceNode, key: string, wanted: string): void => {
    isSound = false;
    report.error(child(node, key)?.at ?? node.at, {
      code: 'CONFIG_COMPOSITE_DIFFERS',
      message: `the members of a composite in slices share their ${key}, and the first one's is ${wanted}`,
      fix: `write ${key}: ${wanted}`,
    });
  };
  const own = first.member.objective;
  for (const { node, member, budgeting: other } of others) {
    if (other.kind !== 'occurrences' && other.width !== budgeting.width) {
      differs(node, 'timeSliceWindow', textOf(child(first.node, 'timeSliceWindow')) ?? '');
    }
    if (decimalText(member.objective.target) !== decimalText(own.target)) {
      differs(node, child(node, 'target') === undefined ? 'targetPercent' : 'target', own.text);
    }
  }
  return isSound;
}
