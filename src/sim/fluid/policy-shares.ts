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
  /** Share of requests with the one hot key, and the entry that owns it. */
  readonly hotShare: number;
  readonly hotHost: number;
}

/** Entries of hosts whose load is this close look equal to two choices: half a request. */
const LOAD_NOISE = 0.25;

/**
 * Shares of the picks (adding up to 1) in the long run, of many requests in flight.
 * - round robin: equal, or by weight;
 * - least connections keeps in flight / weight equal, so a host gets weight / time: a fast failure draws the traffic;
 * - two choices: a host wins against another drawn at random when its load is lower; loads are Poisson around their
 *   means; at most 2/n;
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
      for (let i = 0; i < input.count; i += 1) shares[i] = at(input.weight, i) / Math.max(1e-6, at(input.timeS, i));
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
  for (let i = 0; i < count; i += 1) {
    const weight = effective(i);
    const load = (at(input.inFlight, i) + 1) / weight;
    const deviation = Math.sqrt(spread + at(input.inFlight, i) / (weight * weight));
    shares[i] = normalCdf((mean - load) / deviation);
  }
}

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
