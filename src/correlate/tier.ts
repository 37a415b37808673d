import { parseDuration } from '../base/duration.ts';
import type { Alert } from '../model/alert.ts';

/** The first to fire comes first; of several, by name and key. */
export const byStart = (a: Alert, b: Alert): number =>
  a.since - b.since || (a.name < b.name ? -1 : a.name > b.name ? 1 : a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

/** The fastest tier among pages, else among tickets. A tier is named after the time in which it empties the budget. */
export function tierOf(firing: readonly Alert[]): string | null {
  const rank = ({ severity }: Alert): number => (severity === 'page' ? 0 : 1);
  const [first] = firing
    .filter(({ tier }) => tier !== null)
    .sort((a, b) => rank(a) - rank(b) || tierMs(a.tier) - tierMs(b.tier) || byStart(a, b));
  return first?.tier ?? null;
}

export const tierMs = (tier: string | null): number =>
  tier === null ? Number.MAX_SAFE_INTEGER : (parseDuration(tier) ?? Number.MAX_SAFE_INTEGER);
