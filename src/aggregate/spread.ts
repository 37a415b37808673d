/** Takes whole amounts for runs of steps: `each` for every step from `first` to `last`, both included. */
export interface RunSink {
  addRun(first: number, last: number, each: number): void;
}

/** Longest span whose products with a step's length stay exact in a double (about 28 years for 10 s steps). */
const LONGEST_MS = 9e11;

/**
 * Spreads a whole `amount` over the steps that (from, to] covers, in proportion to the overlap: largest remainder, ties
 * to the latest step, total exact. Step `n` is (`(n-1) * stepMs`, `n * stepMs`]. With `from >= to` all goes to the step
 * that ends at or after `to`. A negative amount is the mirror of the positive one, so that a correction cancels what it
 * corrects. At most four runs are told: the two partial steps at the ends, and the whole steps between them in two
 * amounts. Zeros are not told.
 */
export function spread(stepMs: number, from: number, to: number, amount: number, sink: RunSink): void {
  if (amount === 0) return;
  const end = Math.floor(to);
  const start = Math.max(Math.floor(from), end - LONGEST_MS);
  const last = Math.ceil(end / stepMs);
  const first = start < end ? Math.floor(start / stepMs) + 1 : last;
  if (first >= last) {
    sink.addRun(last, last, amount);
    return;
  }
  const sign = amount < 0 ? -1 : 1;
  const size = Math.abs(amount);
  const length = end - start;
  const firstOverlap = first * stepMs - start;
  if (last - first === 1) {
    const ofFirst = shareOfFirst(size, length, firstOverlap);
    tell(sink, first, first, sign * ofFirst);
    tell(sink, last, last, sign * (size - ofFirst));
    return;
  }
  const whole = Math.floor(size / length);
  const rest = size - whole * length;
  const lastOverlap = end - (last - 1) * stepMs;
  const firstRest = (rest * firstOverlap) % length;
  const innerRest = (rest * stepMs) % length;
  const lastRest = (rest * lastOverlap) % length;
  const firstShare = whole * firstOverlap + (rest * firstOverlap - firstRest) / length;
  const innerShare = whole * stepMs + (rest * stepMs - innerRest) / length;
  const lastShare = whole * lastOverlap + (rest * lastOverlap - lastRest) / length;
  const inner = last - first - 1;
  const left = size - firstShare - lastShare - inner * innerShare;
  const aheadOfLast = (lastRest >= innerRest ? 0 : inner) + (lastRest >= firstRest ? 0 : 1);
  const aheadOfFirst = (innerRest >= firstRest ? inner : 0) + (lastRest >= firstRest ? 1 : 0);
  const lastExtra = left > aheadOfLast ? 1 : 0;
  const firstExtra = left > aheadOfFirst ? 1 : 0;
  const raised = last - (left - lastExtra - firstExtra);
  tell(sink, first, first, sign * (firstShare + firstExtra));
  tell(sink, first + 1, raised - 1, sign * innerShare);
  tell(sink, raised, last - 1, sign * (innerShare + 1));
  tell(sink, last, last, sign * (lastShare + lastExtra));
}

/**
 * What the first of two steps gets of a whole `size` >= 0 over `length` ms, of which it covers `overlap`. The two
 * remainders add up to one event, or there are none: the last step gets it unless the first has the larger.
 */
export function shareOfFirst(size: number, length: number, overlap: number): number {
  const whole = Math.floor(size / length);
  const product = (size - whole * length) * overlap;
  let quotient = Math.floor(product / length);
  let remainder = product - quotient * length;
  // The division may have been rounded up to the next whole number; product and remainder are exact.
  if (remainder < 0) {
    quotient -= 1;
    remainder += length;
  }
  return whole * overlap + quotient + (2 * remainder > length ? 1 : 0);
}

function tell(sink: RunSink, first: number, last: number, each: number): void {
  if (each !== 0 && first <= last) sink.addRun(first, last, each);
}
