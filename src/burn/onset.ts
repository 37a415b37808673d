import { type GroupView, STEP_MS } from '../aggregate/view.ts';
import { type EpochMs, epochMs, type Ms } from '../base/units.ts';

/** The look-back is read in so many slices: a minute each of an hour. */
const SLICES = 60;

/**
 * When a burn that was noticed at `noticedAt` set in, within the `lookBack` before it: the start of the stretch up to
 * then whose bad events exceed the budget's share of its events by most (the change point of a cumulative sum). So a
 * failure long past in busy, healthy traffic is not its start. To a slice; `noticedAt` when nothing speaks for earlier.
 */
export function onsetOf(group: GroupView, budgetRatio: number, noticedAt: EpochMs, lookBack: Ms): EpochMs {
  const slice = Math.max(1, Math.round(lookBack / SLICES / STEP_MS)) * STEP_MS;
  let [onset, excess, most] = [noticedAt, 0, 0];
  for (let end = noticedAt; end > noticedAt - lookBack; end = epochMs(end - slice)) {
    const start = epochMs(end - slice);
    const { bad, total, inconsistent } = group.range(start, end);
    if (!inconsistent) excess += bad - budgetRatio * total;
    if (excess > most) [onset, most] = [start, excess];
  }
  return onset;
}
