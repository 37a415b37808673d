import type { EpochMs } from '../base/units.ts';
import type { Announced, IncidentMember } from '../model/incident.ts';
import type { Board } from './board.ts';
import type { IncidentDraft } from './draft.ts';
import { openNow } from './lifecycle.ts';
import type { MergeReason } from './merge.ts';

/**
 * Lets members of an incident go on in one of their own. It is told of like any new one, unless somebody has been told
 * of it already and has it: then it stays with that person.
 */
export function splitOff(
  source: IncidentDraft,
  target: IncidentDraft,
  members: readonly IncidentMember[],
  { why, by }: MergeReason,
  board: Board,
  now: EpochMs,
): void {
  const { id, acknowledgement, announced } = source.head;
  const moved = new Set(members.map(({ alert }) => alert.key));
  for (const member of members) board.adopt(target, member, `from incident ${id}: ${member.reason}`);
  source.changeMembers((member) => (moved.has(member.alert.key) ? { ...member, state: 'moved' } : member));
  openNow(target, now, by);
  if (acknowledgement !== null) target.set({ state: 'acknowledged', acknowledgement, announced: silently(announced) });
  target.record('split', `from incident ${id}: ${why}`, {}, by);
  const names = members.map(({ alert }) => alert.name).join(', ');
  source.record('split', `${names} went to incident ${target.head.id}: ${why}`, {}, by);
}

/** As said, but nothing of this incident itself, so that there is nothing to close. */
const silently = (announced: Announced): Announced => ({ ...announced, episode: 0 });
