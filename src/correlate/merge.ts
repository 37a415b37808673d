import type { EpochMs } from '../base/units.ts';
import type { Board } from './board.ts';
import { type IncidentDraft, isHeld } from './draft.ts';

export interface MergeReason {
  /** Why they are one, for a person. */
  readonly why: string;
  /** `slowburn` or the person. */
  readonly by: string;
}

/**
 * Makes one incident of two: what `source` holds goes on in `target`, and what was said of it in this episode is closed
 * there, once. Who acknowledged or snoozed it did so for less than what it is now part of, so that ends with it.
 * The target keeps what was said of both, and pages only for what neither has said.
 */
export function mergeInto(
  target: IncidentDraft,
  source: IncidentDraft,
  { why, by }: MergeReason,
  board: Board,
  now: EpochMs,
): void {
  const { id, title, announced, episode } = source.head;
  for (const member of source.incident.members) {
    if (member.state !== 'moved') board.adopt(target, member, `from incident ${id}: ${member.reason}`);
  }
  source.moveAway();
  const into = `into incident ${target.head.id}: ${why}`;
  source.record(
    'merged',
    into,
    { state: 'resolved', resolvedAt: now, acknowledgement: null, snoozedUntil: null, mergedInto: target.head.id },
    by,
  );
  if (announced.severity !== null && announced.episode === episode) source.notify('merged', `merged ${into}`);
  const told = isHeld(source.head) ? why : `incident ${id} (${title}) is part of this one: ${why}`;
  target.record('merged', told, { quietSince: null, announced: saidOfBoth(target, source) }, by);
}

/** What of the source was a page counts for the target only where it has paged too: else its own page is still due. */
function saidOfBoth({ head: target }: IncidentDraft, { head: source }: IncidentDraft): typeof target.announced {
  if (target.announced.severity !== 'page' || source.announced.severity !== 'page') return target.announced;
  const latest = Math.max(target.announced.lastPageAt ?? 0, source.announced.lastPageAt ?? 0) as EpochMs;
  return {
    ...target.announced,
    lastPageAt: latest,
    tiers: [...new Set([...target.announced.tiers, ...source.announced.tiers])],
    domains: [...new Set([...target.announced.domains, ...source.announced.domains])],
  };
}

/**
 * Of incidents that are one, the one that stays: a storm, then one that has paged, whose message goes on; the oldest of
 * these.
 */
export const byPrecedence = ({ head: a }: IncidentDraft, { head: b }: IncidentDraft): number =>
  rank(a) - rank(b) || a.id - b.id;

function rank({ storm, announced, episode }: IncidentDraft['head']): number {
  if (storm) return 0;
  return announced.severity === 'page' && announced.episode === episode ? 1 : 2;
}
