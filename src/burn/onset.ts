import { type GroupView, STEP_MS } from '../aggregate/view.ts';
import { type EpochMs, epochMs, type Ms } from '../base/units.ts';
import { sliceEdgeAt, sliceWidthOf } from '../slo/slices.ts';

/** The look-back is read in so many pieces: a minute each of an hour. Where slices are counted, whole ones. */
const PIECES = 60;

/**
 * When a burn that was noticed at `noticedAt` set in, within the `lookBack` before it: the start of the stretch up to
 * then whose bad events exceed the budget's share of its events by most (the change point of a cumulative sum). So a
 * failure long past in busy, healthy traffic is not its start. To a piece; `noticedAt` when nothing speaks for earlier.
 */
export function onsetOf(group: GroupView, budgetRatio: number, noticedAt: EpochMs, lookBack: Ms): EpochMs {
  const { budgeting } = group.slo;
  const least = sliceWidthOf(budgeting) ?? STEP_MS;
  const piece = Math.max(1, Math.round(lookBack / PIECES / least)) * least;
  const latest = sliceEdgeAt(budgeting, noticedAt);
  let [onset, excess, most] = [latest, 0, 0];
  for (let end = latest; end > latest - lookBack; end = epochMs(end - piece)) {
    const start = epochMs(end - piece);
    const { bad, total, inconsistent } = group.range(start, end);
    if (!inconsistent) excess += bad - budgetRatio * total;
    if (excess > most) [onset, most] = [start, excess];
  }
  return onset;
}
