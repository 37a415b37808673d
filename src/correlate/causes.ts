import type { Alert } from '../model/alert.ts';
import type { CauseEdge, Loss } from './settings.ts';

/** What a cause may explain. */
export type Effect = Pick<Alert, 'name'> & Partial<Pick<Alert, 'side' | 'burn'>>;

/** Whether the edge leads to such an effect: to its kind, on the side where it is measured, of that loss. */
export function leadsTo({ effect, side, of }: CauseEdge, alert: Effect): boolean {
  if (effect !== alert.name) return false;
  if (side !== undefined && alert.side !== undefined && side !== alert.side) return false;
  return of === undefined || spentOn(alert) === of;
}

/** What a burn spends its budget on; null for what is no burn. */
function spentOn({ burn }: Effect): Loss | null {
  if (burn === undefined || burn === null) return null;
  return burn.slowerThan === null ? 'errors' : 'latency';
}

/** Names that a kind is explained by, directly or through others. Ends on a circle too. */
export function causesOf(name: string, edges: readonly CauseEdge[]): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [name];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const { cause, effect } of edges) {
      if (effect !== next || found.has(cause)) continue;
      found.add(cause);
      waiting.push(cause);
    }
  }
  return found;
}

/**
 * A kind that explains both, as the narrower of its two edges; of several causes the one with the widest window, so
 * that the order of the lines in the file decides nothing. Null when nothing explains both, or both are one kind.
 */
export function commonCause(a: Effect, b: Effect, edges: readonly CauseEdge[]): CauseEdge | null {
  if (a.name === b.name) return null;
  let widest: CauseEdge | null = null;
  for (const edge of edges) {
    if (!leadsTo(edge, a)) continue;
    for (const twin of edges) {
      if (twin.cause !== edge.cause || !leadsTo(twin, b)) continue;
      const narrower = edge.within <= twin.within ? edge : twin;
      if (widest === null || narrower.within > widest.within) widest = narrower;
    }
  }
  return widest;
}

/** Whether any line of the graph names a kind. */
export const isKnownKind = (name: string, edges: readonly CauseEdge[]): boolean =>
  edges.some(({ cause, effect }) => cause === name || effect === name);
