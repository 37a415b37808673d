/** Terms below this share of the sum so far end it: what is left cannot change the sum in a double. */
const NEGLIGIBLE = 1e-18;

/** Below this n the factorial is multiplied out; above, Stirling's series is exact to a double. */
const MULTIPLIED_BELOW = 20;

/** ln(n!) for a whole n >= 0. */
export function logFactorial(n: number): number {
  if (n < MULTIPLIED_BELOW) {
    let product = 1;
    for (let factor = 2; factor <= n; factor += 1) product *= factor;
    return Math.log(product);
  }
  const square = n * n;
  const series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / n;
  return (n + 0.5) * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI) + series;
}

/** ln of the chance of exactly `hits` among `trials` at chance `p` each, 0 < p < 1. */
const logTerm = (hits: number, trials: number, p: number): number =>
  logFactorial(trials) -
  logFactorial(hits) -
  logFactorial(trials - hits) +
  hits * Math.log(p) +
  (trials - hits) * Math.log1p(-p);

/**
 * ln of the chance that `trials` independent events, each going wrong with chance `p`, go wrong `hits` times or more: the
 * upper tail of the binomial distribution, summed term by term, without an approximation of its shape. `hits` and
 * `trials` whole; -Infinity where it cannot happen.
 */
export function logBinomialTail(hits: number, trials: number, p: number): number {
  if (hits <= 0) return 0;
  if (hits > trials || p <= 0) return Number.NEGATIVE_INFINITY;
  if (p >= 1) return 0;
  const odds = p / (1 - p);
  // Above the mean the terms fall from `hits` on; below it those of the other tail fall from `hits` - 1 down.
  if (hits > trials * p) return Math.min(0, logTerm(hits, trials, p) + Math.log(risingSum(hits, trials, odds)));
  return Math.log1p(-Math.min(1, Math.exp(logTerm(hits - 1, trials, p)) * fallingSum(hits - 1, trials, odds)));
}

/** Terms from `first` up, relative to the first. */
function risingSum(first: number, trials: number, odds: number): number {
  let sum = 1;
  let term = 1;
  for (let k = first; k < trials; k += 1) {
    term *= ((trials - k) / (k + 1)) * odds;
    sum += term;
    if (term < NEGLIGIBLE * sum) break;
  }
  return sum;
}

/** Terms from `first` down, relative to the first. */
function fallingSum(first: number, trials: number, odds: number): number {
  let sum = 1;
  let term = 1;
  for (let k = first; k > 0; k -= 1) {
    term *= k / (trials - k + 1) / odds;
    sum += term;
    if (term < NEGLIGIBLE * sum) break;
  }
  return sum;
}
