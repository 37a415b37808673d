import { formatDuration } from '../base/duration.ts';
import { MINUTE, type Ms, SECOND } from '../base/units.ts';
import { holdsSlices, sliceWidthOf } from '../slo/slices.ts';
import type { Budgeting, Objective, Policy, SloWindow } from '../slo/slo.ts';
import type { BuiltPolicy, PolicyBook } from './policies.ts';
import type { Report } from './report.ts';
import { child, type Position, type SourceNode } from './source.ts';
import { chooseFrom } from './suggest.ts';

/** The policy that an SLO names, and what it is to fit. */
export interface PolicyWish {
  readonly name: string;
  readonly at: Position;
  readonly window: SloWindow;
  readonly objective: Objective;
  readonly budgeting: Budgeting;
  /** The objective's node. */
  readonly node: SourceNode;
}

/** The policy of one SLO; undefined when it cannot be had (reported). */
export function resolvePolicy(wish: PolicyWish, policies: PolicyBook, report: Report): Policy | undefined {
  const { name, window, objective, budgeting } = wish;
  const built = policies.build(name, window.length, objective.target, budgeting);
  if (budgeting.kind !== 'occurrences') {
    const ofEvents = policies.build(name, window.length, objective.target);
    if (ofEvents.kind === 'policy' && !isSoundForSlices(wish, built, ofEvents.policy, report)) return undefined;
  }
  if (built.kind === 'policy') return built.policy;
  const reasons = built.kind === 'unreachable' ? built.reasons.join('; ') : '';
  report.error(
    wish.at,
    built.kind === 'unknown'
      ? {
          code: 'CONFIG_POLICY_UNKNOWN',
          message: `unknown policy ${JSON.stringify(name)}`,
          fix: chooseFrom(name, policies.names),
        }
      : {
          code: 'CONFIG_TIER_UNREACHABLE',
          message: `policy ${name} fails target ${objective.text} over ${window.text}: ${reasons}`,
          fix: 'change those tiers in tiers.yaml, or use the policy countdown',
        },
  );
  return undefined;
}

/** False when slices of this width leave nothing of the policy; a warning when they leave nothing that pages. */
function isSoundForSlices(wish: PolicyWish, built: BuiltPolicy, ofEvents: Policy, report: Report): boolean {
  const width = formatDuration(sliceWidthOf(wish.budgeting) ?? (0 as Ms));
  const at = child(wish.node, 'timeSliceWindow')?.at ?? wish.node.at;
  const fix = fitting(ofEvents);
  if (built.kind !== 'policy') {
    const reasons = built.kind === 'unreachable' ? built.reasons.join('; ') : '';
    const message = `slices of ${width} do not fit policy ${wish.name}: ${reasons}`;
    report.error(at, { code: 'CONFIG_SLICE_WINDOW', message, fix });
    return false;
  }
  const pages = ({ tiers }: Policy): boolean => tiers.some(({ severity }) => severity === 'page');
  if (pages(ofEvents) && !pages(built.policy)) {
    const message = `slices of ${width} are too wide for every tier of policy ${wish.name} that pages`;
    report.warning(at, { code: 'CONFIG_SLICE_WINDOW', message, fix });
  }
  return true;
}

const WIDTHS = [60, 30, 15, 10, 5, 2, 1].map((minutes) => (minutes * MINUTE) as Ms);
const SHORT_WIDTHS = [30, 20, 10].map((seconds) => (seconds * SECOND) as Ms);

/** The widest usual slices that all tiers take. */
function fitting({ tiers }: Policy): string {
  const takes = (width: Ms): boolean =>
    tiers.every(({ long, short }) =>
      [long, short].every((window) => holdsSlices({ kind: 'ratio_timeslices', width }, window)),
    );
  const found = [...WIDTHS, ...SHORT_WIDTHS].find(takes);
  return found === undefined
    ? 'use a policy with longer windows'
    : `write at most ${formatDuration(found)}, which every tier takes, or use a policy with longer windows`;
}
