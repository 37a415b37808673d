import { logBinomialTail } from './binomial.ts';
import { logChanceNotHigher, type Sample } from './two-samples.ts';

/**
 * So unlikely by chance alone that a comparison is held, though far from saying that one side is worse. A single
 * failure of a side with up to a tenth of the traffic is as unlikely when the other side has none.
 */
export const SUSPICIOUS = 0.1;

/** Requests beyond which nothing is counted out. */
const EVENTS_MAX = 1e12;
const HALVINGS = 60;

/**
 * Requests that it takes for a fault of this rate to fail `hits` of them or more with this confidence: the smallest n
 * with P(Binomial(n, rate) >= hits) >= confidence. For one failure that is ln(1 - confidence) / ln(1 - rate), at 95 %
 * close to the rule of three, 3 / rate.
 */
export function requestsToSee(rate: number, confidence: number, hits = 1): number {
  if (!(rate > 0)) return Number.POSITIVE_INFINITY;
  if (rate >= 1) return hits;
  if (hits === 1) return Math.ceil(Math.log(1 - confidence) / Math.log1p(-rate) - 1e-9);
  return smallest(hits, (events) => logBinomialTail(hits, events, rate) >= Math.log(confidence));
}

/**
 * The lowest rate of a fault that fails `hits` or more of so many requests with this confidence: what is rarer may have
 * been missed. For one failure 1 - (1 - confidence)^(1 / requests), at 95 % close to the rule of three, 3 / requests.
 */
export function rarestFault(requests: number, confidence: number, hits = 1): number {
  const events = Math.floor(requests);
  if (events < hits) return 1;
  if (hits === 1) return -Math.expm1(Math.log(1 - confidence) / events);
  let [low, high] = [0, 1];
  for (let step = 0; step < HALVINGS; step += 1) {
    const rate = (low + high) / 2;
    if (logBinomialTail(hits, events, rate) >= Math.log(confidence)) high = rate;
    else low = rate;
  }
  return high;
}

/** Whether so many failures are so unlikely beside the other side that more requests are waited for. */
export const isSuspicious = (own: Sample, other: Sample): boolean =>
  own.hits > 0 && Math.exp(logChanceNotHigher(own, other)) <= SUSPICIOUS;

/** The least failures of so many requests that are suspicious beside the other side. */
export function failuresToHold(requests: number, other: Sample): number {
  return smallest(1, (hits) => hits > requests || isSuspicious({ hits, events: requests }, other));
}

/** What a comparison rests on, and what it could not see. */
export interface SampleSize {
  /** Failures of this side that would have held the verdict. */
  readonly failuresToHold: number;
  /** The rarest fault, as a share of requests above what the other side has, that would have done so. */
  readonly rarestFault: number;
  /** Requests of this side that a fault of the wanted rate needs to do so, the other side growing with it. */
  readonly requestsNeeded: number;
}

/** `fault` is the rate above what the other side has that must not be missed; both between 0 and 1. */
export function sampleSize(requests: number, other: Sample, fault: number, confidence: number): SampleSize {
  const events = Math.floor(requests);
  const usual = other.events > 0 ? other.hits / other.events : 0;
  const needed = events > 0 && other.events > 0 ? failuresToHold(events, other) : 1;
  const scale = events > 0 ? other.events / events : 1;
  const isEnough = (count: number): boolean => {
    const beside = { hits: Math.round(usual * scale * count), events: Math.round(scale * count) };
    const hits = beside.events > 0 ? failuresToHold(count, beside) : 1;
    return logBinomialTail(hits, count, Math.min(1, usual + fault)) >= Math.log(confidence);
  };
  return {
    failuresToHold: needed,
    rarestFault: Math.max(0, rarestFault(events, confidence, needed) - usual),
    requestsNeeded: smallest(Math.min(requestsToSee(Math.min(1, usual + fault), confidence), EVENTS_MAX), isEnough),
  };
}

/** The smallest whole number from `least` on that fits, where all above one that fits do too. */
function smallest(least: number, fits: (value: number) => boolean): number {
  let low = Math.floor(least) - 1;
  let high = Math.floor(least);
  for (let step = 1; !fits(high); step *= 2) {
    if (high > EVENTS_MAX) return Number.POSITIVE_INFINITY;
    low = high;
    high += step;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) high = middle;
    else low = middle;
  }
  return high;
}
