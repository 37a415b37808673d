import { type AlertChange, isFleetWide } from '../model/alert.ts';

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Of changes that one alert made at one moment: it starts, is seen, ends. */
const RANK: Readonly<Record<AlertChange['kind'], number>> = { fired: 0, changed: 1, updated: 2, resolved: 3 };

const inTime = (a: AlertChange, b: AlertChange): number =>
  a.at - b.at || a.alert.since - b.alert.since || RANK[a.kind] - RANK[b.kind];

/**
 * The changes of one tick, alert by alert in the order of their starts; those of one alert as they happened. What
 * starts at one moment is in the order of `depthOf` its kind, the number of kinds that explain it: causes come first,
 * so that what they explain finds them; and of these what befalls the whole fleet. The order in which they came decides
 * nothing.
 */
export function inOrder(
  changes: readonly AlertChange[],
  depthOf: (kind: string) => number,
): readonly (readonly AlertChange[])[] {
  const byKey = new Map<string, AlertChange[]>();
  for (const change of changes) {
    const known = byKey.get(change.alert.key);
    if (known === undefined) byKey.set(change.alert.key, [change]);
    else known.push(change);
  }
  const start = (group: readonly AlertChange[]): number => Math.min(...group.map(({ alert }) => alert.since));
  const groups = [...byKey.values()].map((group) => group.sort(inTime));
  return groups.sort((a, b) => {
    const [first, second] = [a[0]?.alert, b[0]?.alert];
    if (first === undefined || second === undefined) return 0;
    return (
      start(a) - start(b) ||
      depthOf(first.name) - depthOf(second.name) ||
      Number(isFleetWide(second)) - Number(isFleetWide(first)) ||
      compareText(first.name, second.name) ||
      compareText(first.key, second.key)
    );
  });
}
