import type { GroupView, WindowSums } from '../aggregate/view.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import { errorRatio } from '../slo/budget.ts';
import { membersOf, sharesOf } from '../slo/composite.ts';
import type { Slo } from '../slo/slo.ts';
import type { ReadWindow } from './window.ts';

/** Error ratios of composites are told in so many parts, rounded up: what reaches a threshold does so in parts, too. */
const PARTS = 1e15;
/** More than what some additions of doubles lose. */
const DUST = 1e-15;

/** One member in one window, and its weight in the mean of error ratios. */
export interface MemberWindow {
  readonly name: string;
  readonly share: number;
  readonly window: ReadWindow;
}

/** Whether the group counts the events of several members. Where it counts slices, those are its own. */
export const isComposite = ({ members, slo }: GroupView): boolean =>
  members !== undefined && members.length > 0 && slo.budgeting.kind === 'occurrences';

/** Each member's window, by `read`. */
export function memberWindows(group: GroupView, read: (member: GroupView) => ReadWindow): readonly MemberWindow[] {
  const members = membersOf(group.slo.indicator);
  const shares = sharesOf(members);
  return (group.members ?? []).map((member, index) => ({
    name: members[index]?.name ?? '',
    share: shares[index] ?? 0,
    window: read(member),
  }));
}

/**
 * The window of a composite: the mean of its members' error ratios, each by its share, so that its burn is the sum of
 * theirs times their weights. A member without events burns nothing; where none has any, there are none. A member
 * whose lead is missing is padded by itself.
 */
export function compositeWindow(members: readonly MemberWindow[], lengthMs: number): ReadWindow {
  let ratio = 0;
  let measured = 0;
  for (const { share, window } of members) {
    const own = errorRatio(window);
    if (own === null) continue;
    ratio += share * own;
    measured += 1;
  }
  const total = measured === 0 ? 0 : PARTS;
  const bad = Math.min(total, Math.ceil(ratio * PARTS * (1 + DUST)));
  const inconsistent = members.some(({ window }) => window.inconsistent);
  return { bad, total, lengthMs, observedMs: lengthMs, inconsistent, between: 0, members };
}

interface Scale {
  readonly bad: number;
  readonly total: number;
}

/**
 * A composite's group as one of weighted events, so that its SLO window (from, to] has the error ratio that the members
 * have together, and any stretch of it spends of the budget what the members spend there: an event of a member counts
 * by the member's share over its events in the SLO window. Members without events there count nothing, and the others
 * stand for the traffic to come.
 */
export function weightedGroup(group: GroupView, from: EpochMs, to: EpochMs, read: ReadMember): GroupView {
  const { firstDataAt } = group;
  const windows = memberWindows(group, (member) => read(member, from, to));
  const measured = windows.reduce((sum, { share, window }) => sum + (window.total > 0 ? share : 0), 0);
  const lengthMs = to - from;
  const observed = firstDataAt === null ? 1 : Math.min(1, (to - firstDataAt) / lengthMs);
  const scales = windows.map(({ share, window: { total, observedMs, lengthMs: counted } }): Scale => {
    if (total <= 0) return { bad: 0, total: 0 };
    const padded = (total * counted) / observedMs;
    return { bad: (share * PARTS) / padded, total: (share * PARTS * observed) / (total * measured) };
  });
  return {
    slo: group.slo,
    labels: group.labels,
    key: group.key,
    firstDataAt,
    lastEventAt: group.lastEventAt,
    range: (start, end) => weightedSums(group, scales, start, end),
  };
}

export type ReadMember = (member: GroupView, from: EpochMs, to: EpochMs) => ReadWindow;

function weightedSums(group: GroupView, scales: readonly Scale[], from: EpochMs, to: EpochMs): WindowSums {
  let [bad, total] = [0, 0];
  let edges = { from: epochMs(Math.min(from, to)), to };
  for (const [index, member] of (group.members ?? []).entries()) {
    const sums = member.range(from, to);
    const scale = scales[index];
    edges = { from: sums.from, to: sums.to };
    // Input that contradicts itself is kept out; the group says so.
    if (scale === undefined || sums.inconsistent) continue;
    bad += sums.bad * scale.bad;
    total += sums.total * scale.total;
  }
  return { bad, total, ...edges, inconsistent: false };
}

/** What its members count together, whatever they weigh. */
export const eventsOf = (members: readonly MemberWindow[]): { readonly bad: number; readonly total: number } => ({
  bad: members.reduce((sum, { window }) => sum + window.bad, 0),
  total: members.reduce((sum, { window }) => sum + window.total, 0),
});

/** The SLI where all of its members' events count by weight, unpadded; null without any. */
export function compositeSli(group: GroupView, from: EpochMs, to: EpochMs): number | null {
  const shares = sharesOf(membersOf((group.slo satisfies Slo).indicator));
  let [missing, measured] = [0, 0];
  for (const [index, member] of (group.members ?? []).entries()) {
    const { bad, total, inconsistent } = member.range(from, to);
    if (inconsistent || total === 0) continue;
    missing += ((shares[index] ?? 0) * bad) / total;
    measured += 1;
  }
  return measured === 0 ? null : 1 - missing;
}
