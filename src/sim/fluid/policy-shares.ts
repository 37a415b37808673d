import { at } from '../columns.ts';
import type { PolicyName } from '../policies/create-policy.ts';
import { LOAD_BOUND } from '../policies/hashing.ts';
import { slowStartShare } from '../policies/slow-start.ts';
import { normalCdf } from './latency-weights.ts';

/** One group of hosts from which a policy picks, as a fluid sees it: entry i is the ith host that may be picked. */
export interface ShareInput {
  readonly count: number;
  /** Relative capacity. */
  readonly weight: Float64Array;
  /** Mean time in the balancer's books, s: what a request to the host takes, failures included. */
  readonly timeS: Float64Array;
  /** Mean requests in flight from this balancer. */
  readonly inFlight: Float64Array;
  readonly ageMs: Float64Array;
  /** Length of the step that the shares are for, s. */
  readonly elapsedS: number;
  /** Share of requests with the one hot key, and the entry that owns it. */
  readonly hotShare: number;
  readonly hotHost: number;
}

/** Entries of hosts whose load is this close look equal to two choices: half a request. */
const LOAD_NOISE = 0.25;
const TIME_MIN_S = 1e-6;

/**
 * Shares of the picks (adding up to 1) in the long run, of many requests in flight.
 * - round robin: equal, or by weight;
 * - least connections keeps in flight / weight equal, so a host gets weight / time: a fast failure draws the traffic;
 * - two choices: a host wins against another drawn at random when its load is lower; loads are Poisson around their
 *   means; at most 2/n. Loads follow the shares within the step, so that the shares are those towards which both go;
 * - hashing: by weight, the hot key on top of its owner, cut at the bound. What is cut off is returned.
 */
export function policyShares(policy: PolicyName, input: ShareInput, shares: Float64Array): number {
  let overflow = 0;
  switch (policy) {
    case 'round-robin':
      shares.fill(1, 0, input.count);
      break;
    case 'weighted-round-robin':
      for (let i = 0; i < input.count; i += 1) shares[i] = at(input.weight, i);
      break;
    case 'least-connections':
    case 'weighted-least-connections':
      for (let i = 0; i < input.count; i += 1)
        shares[i] = at(input.weight, i) / Math.max(TIME_MIN_S, at(input.timeS, i));
      break;
    case 'two-choices':
      twoChoices(input, shares);
      break;
    default:
      overflow = hashing(input, shares, policy.endsWith('bounded'));
  }
  normalize(shares, input.count);
  return overflow;
}

function twoChoices(input: ShareInput, shares: Float64Array): void {
  const { count } = input;
  if (count === 1) {
    shares[0] = 1;
    return;
  }
  const effective = (i: number): number => at(input.weight, i) * slowStartShare(at(input.ageMs, i));
  let mean = 0;
  let square = 0;
  let noise = 0;
  for (let i = 0; i < count; i += 1) {
    const weight = effective(i);
    const load = (at(input.inFlight, i) + 1) / weight;
    mean += load / count;
    square += (load * load) / count;
    noise += at(input.inFlight, i) / (weight * weight) / count;
  }
  const spread = Math.max(0, square - mean * mean) + noise + LOAD_NOISE;
  let wins = 0;
  let perS = 0;
  for (let i = 0; i < count; i += 1) {
    const weight = effective(i);
    const load = (at(input.inFlight, i) + 1) / weight;
    const deviation = Math.sqrt(spread + at(input.inFlight, i) / (weight * weight));
    const win = normalCdf((mean - load) / deviation);
    shares[i] = win;
    wins += win;
    perS += at(input.inFlight, i) / Math.max(TIME_MIN_S, at(input.timeS, i));
  }
  if (perS === 0 || wins === 0) return;
  for (let i = 0; i < count; i += 1) {
    const weight = effective(i);
    const inFlight = at(input.inFlight, i);
    const timeS = Math.max(TIME_MIN_S, at(input.timeS, i));
    const deviation = Math.sqrt(spread + inFlight / (weight * weight));
    const atZ = normalDensity((mean - (inFlight + 1) / weight) / deviation);
    // By how much the share falls for each that it is larger: a step of Newton's towards where both agree. A step as long
    // as a request, or longer, would else overshoot, and hosts that are alike take turns.
    const moved = perS * timeS * (1 - Math.exp(-input.elapsedS / timeS));
    const gain = (atZ / deviation / wins) * (moved / weight);
    const now = inFlight / timeS / perS;
    shares[i] = Math.max(0, now + (at(shares, i) / wins - now) / (1 + gain));
  }
}

const normalDensity = (z: number): number => Math.exp(-(z * z) / 2) / Math.sqrt(2 * Math.PI);

function hashing(input: ShareInput, shares: Float64Array, isBounded: boolean): number {
  const { count, hotShare, hotHost } = input;
  let total = 0;
  for (let i = 0; i < count; i += 1) total += at(input.weight, i);
  for (let i = 0; i < count; i += 1) {
    shares[i] = (at(input.weight, i) / total) * (1 - hotShare) + (i === hotHost ? hotShare : 0);
  }
  const bound = LOAD_BOUND * (at(input.weight, hotHost) / total);
  const over = at(shares, hotHost) - bound;
  if (!isBounded || over <= 0 || count === 1) return 0;
  shares[hotHost] = bound;
  const others = total - at(input.weight, hotHost);
  for (let i = 0; i < count; i += 1) {
    if (i !== hotHost) shares[i] = at(shares, i) + (over * at(input.weight, i)) / others;
  }
  return over;
}

function normalize(shares: Float64Array, count: number): void {
  let total = 0;
  for (let i = 0; i < count; i += 1) total += at(shares, i);
  for (let i = 0; i < count; i += 1) shares[i] = total > 0 ? at(shares, i) / total : 1 / count;
}
