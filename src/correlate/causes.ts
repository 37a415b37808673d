import type { CauseEdge } from './settings.ts';

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
export function commonCause(a: string, b: string, edges: readonly CauseEdge[]): CauseEdge | null {
  if (a === b) return null;
  let widest: CauseEdge | null = null;
  for (const edge of edges) {
    if (edge.effect !== a) continue;
    for (const twin of edges) {
      if (twin.cause !== edge.cause || twin.effect !== b) continue;
      const narrower = edge.within <= twin.within ? edge : twin;
      if (widest === null || narrower.within > widest.within) widest = narrower;
    }
  }
  return widest;
}

/** Whether any line of the graph names a kind. */
export const isKnownKind = (name: string, edges: readonly CauseEdge[]): boolean =>
  edges.some(({ cause, effect }) => cause === name || effect === name);
