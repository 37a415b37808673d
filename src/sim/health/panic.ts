/** Below this healthy share a balancer stops believing its checks and uses every host. */
export const PANIC_BELOW = 0.5;

/** Whether a pool is in panic: a correlated drop of health is almost never real. `below` 0 switches panic off. */
export const isPanic = (healthy: number, total: number, below: number = PANIC_BELOW): boolean =>
  total > 0 && healthy / total < below;
