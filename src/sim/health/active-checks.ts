/** Settings of active checks; figures of the usual ones: every 5 s, down after 2 failures, up after 2 passes. */
export interface ActiveCheckSettings {
  readonly intervalMs: number;
  readonly failuresToDown: number;
  readonly passesToUp: number;
  /**
   * A second signal: failed probes only make a host suspect; it goes down when `failed` of its last `of` requests
   * (at most 32) failed too. A shared dependency that fails every probe then takes no host out that still serves.
   */
  readonly twoSignal: { readonly failed: number; readonly of: number } | null;
}

export const ACTIVE_CHECKS: ActiveCheckSettings = {
  intervalMs: 5000,
  failuresToDown: 2,
  passesToUp: 2,
  twoSignal: null,
};

/** The second signal of the two-signal variant: at least 10 of the last 20 requests. */
export const TWO_SIGNAL = { failed: 10, of: 20 } as const;

export type HealthChange = 'down' | 'up' | null;

/**
 * One balancer's view of the health of a cluster's hosts, by probes. Probes are its own business: they are told here
 * and nowhere else, so that they count neither as load nor as answers.
 */
export class ActiveChecks {
  readonly #settings: ActiveCheckSettings;
  readonly #isDown: Uint8Array;
  readonly #failures: Uint16Array;
  readonly #passes: Uint16Array;
  /** The last requests, one bit each, failed = 1, newest lowest. */
  readonly #answers: Uint32Array;

  constructor(hosts: number, settings: ActiveCheckSettings = ACTIVE_CHECKS) {
    this.#settings = settings;
    this.#isDown = new Uint8Array(hosts);
    this.#failures = new Uint16Array(hosts);
    this.#passes = new Uint16Array(hosts);
    this.#answers = new Uint32Array(hosts);
  }

  isUp(host: number): boolean {
    return this.#isDown[host] === 0;
  }

  /** Enough probes failed, and the second signal is still missing. */
  isSuspect(host: number): boolean {
    return this.isUp(host) && (this.#failures[host] ?? 0) >= this.#settings.failuresToDown;
  }

  /** A probe of the host ended. */
  probed(host: number, passed: boolean): HealthChange {
    if (passed) {
      this.#failures[host] = 0;
      this.#passes[host] = Math.min(0xffff, (this.#passes[host] ?? 0) + 1);
      if (this.isUp(host) || (this.#passes[host] ?? 0) < this.#settings.passesToUp) return null;
      this.#isDown[host] = 0;
      this.#answers[host] = 0;
      return 'up';
    }
    this.#passes[host] = 0;
    this.#failures[host] = Math.min(0xffff, (this.#failures[host] ?? 0) + 1);
    return this.#judge(host);
  }

  /** A request to the host was answered; only the two-signal variant listens. */
  answered(host: number, failed: boolean): HealthChange {
    this.#answers[host] = (((this.#answers[host] ?? 0) << 1) | (failed ? 1 : 0)) >>> 0;
    return failed && this.#settings.twoSignal !== null ? this.#judge(host) : null;
  }

  #judge(host: number): HealthChange {
    if (!this.isUp(host) || (this.#failures[host] ?? 0) < this.#settings.failuresToDown) return null;
    const second = this.#settings.twoSignal;
    if (second !== null && failedOf(this.#answers[host] ?? 0, second.of) < second.failed) return null;
    this.#isDown[host] = 1;
    return 'down';
  }
}

function failedOf(answers: number, last: number): number {
  let bits = last >= 32 ? answers : answers & ((1 << last) - 1);
  let count = 0;
  for (; bits !== 0; bits &= bits - 1) count += 1;
  return count;
}
