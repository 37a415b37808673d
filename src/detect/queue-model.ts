/**
 * Queue of one server with random arrivals and service times (M/M/1): mean wait = rho / (mu (1 - rho)), rho =
 * utilisation, mu = connections accepted per second at most. At mu 1000/s: 4 ms at 0.80, 199 ms at 0.995.
 */
export function expectedWait(utilization: number, mu: number): number {
  return utilization >= 1 ? Number.POSITIVE_INFINITY : utilization / (mu * (1 - utilization));
}

/**
 * Utilisation that a mean wait (s) at an arrival rate (1/s) means: rate x wait = rho^2 / (1 - rho), solved for rho.
 */
export function utilizationOf(rate: number, wait: number): number {
  const waiting = rate * wait;
  // The same as (sqrt(w^2 + 4 w) - w) / 2, without its loss of digits where much waits.
  return waiting <= 0 ? 0 : (2 * waiting) / (Math.sqrt(waiting * waiting + 4 * waiting) + waiting);
}
